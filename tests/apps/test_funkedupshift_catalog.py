"""funkedupshift's catalog over HTTP: sites, ratings and comments, with every rule and refusal."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from keyplan.apps.funkedupshift.entities import Site as CatalogSite
from keyplan.data import create
from tests.apps.fus_site import ANY, FusSite, all_of, fus, reset, somebody
from tests.web.answers import pointers, problem
from tests.web.site import Site


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FusSite]:
    with fus(tmp_path_factory.mktemp("fus")) as started:
        yield started


@pytest.fixture
def site(served: FusSite) -> Site:
    return reset(served)


@pytest.fixture
def root(site: Site) -> httpx.Client:
    return site.as_("root", "admin")


def add(client: httpx.Client, name: str = "two", **more: object) -> dict[str, Any]:
    answer = client.post("/sites", json={"url": f"https://{name}.example.org", **more})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


class Recorder:
    """A client that records its calls."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.seen: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        def call(**request: Any) -> Any:
            self.seen.append((name, request))
            return getattr(self._client, name)(**request)

        return call

    def requests(self, name: str) -> list[dict[str, Any]]:
        return [request for asked, request in self.seen if asked == name]


def sort_keys(site: Site, site_id: str) -> list[str]:
    """What is stored under a site."""
    found = site.engine.query(
        TableName="fus-main",
        KeyConditionExpression="PK = :pk",
        ExpressionAttributeValues={":pk": {"S": f"SITE#{site_id}"}},
    )
    return [item["SK"]["S"] for item in found["Items"]]


# Sites


def test_a_site_is_added_and_read_by_everybody(site: Site, root: httpx.Client) -> None:
    made = add(root, tags=[" C# ", "Web", "web"], description="About.", scraped_content="All of it.")
    assert made["title"] == made["url"] == "https://two.example.org"
    assert made["tags"] == ["c#", "web"]
    read = site.as_().get(f"/sites/{made['site_id']}")
    assert read.json() == made
    assert read.headers["etag"].startswith('"1-')
    assert (made["rating_count"], made["average"]) == (0, None)
    listed = site.as_().get("/sites").json()["items"]
    assert [each["site_id"] for each in listed] == ["one", made["site_id"]], "by id, backwards"
    assert "scraped_content" not in listed[0]
    problem(site.as_().get("/sites/nothing"), 404, "not-found")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"url": None}, "/url"),
        ({"url": "javascript:alert(1)"}, "/url"),
        ({"url": "ftp://example.org"}, "/url"),
        ({"url": "/media/funkedupshift/x.png"}, "/url"),
        ({"url": "mailto:a@example.org"}, "/url"),
        ({"url": "https://" + "x" * 2050}, "/url"),
        ({"title": ""}, "/title"),
        ({"title": "x" * 301}, "/title"),
        ({"description": "x" * 5001}, "/description"),
        ({"tags": ["x" * 51]}, "/tags/0"),
        ({"tags": ["İ" * 26]}, "/tags/0"),  # each of them becomes two letters in lower case
        ({"tags": [" "]}, "/tags/0"),
        ({"tags": [str(each) for each in range(21)]}, "/tags"),
        ({"tags": "web"}, "/tags"),
        ({"scraped_content": "é" * 51_201}, "/scraped_content"),
        ({"rating_count": 5}, "/rating_count"),
        ({"id": "mine"}, "/id"),
    ],
)
def test_what_cannot_be_added(root: httpx.Client, change: dict[str, Any], where: str) -> None:
    answer = root.post("/sites", json={"url": "https://x.example.org", **change})
    assert pointers(problem(answer, 422, "invalid")) == [where]


def test_100_kilobytes_of_content_are_taken(site: Site, root: httpx.Client) -> None:
    made = add(root, scraped_content="é" * 51_200)
    assert len(site.as_().get(f"/sites/{made['site_id']}").json()["scraped_content"].encode()) == 100 * 1024


@pytest.mark.parametrize("tag", ["c#", "C#", " c# ", "a/b?c=d&e", "日本", "100%", "İ" * 25])
def test_sites_by_tag_with_any_character(site: Site, root: httpx.Client, tag: str) -> None:
    made = add(root, tags=[tag])
    found = site.as_().get("/sites", params={"tag": tag}).json()["items"]
    assert [each["site_id"] for each in found] == [made["site_id"]]
    assert site.as_().get("/sites", params={"tag": "c"}).json()["items"] == []


def test_sites_by_text(site: Site, root: httpx.Client) -> None:
    add(root, "alpha", title="Birds of Norway", tags=["nature"])
    add(root, "beta", description="Where norway's trains go")
    add(root, "norway-maps", tags=["nature"])

    def urls(**params: str) -> list[str]:
        return sorted(each["url"] for each in site.as_().get("/sites", params=params).json()["items"])

    at = [f"https://{name}.example.org" for name in ("alpha", "beta", "norway-maps")]
    assert urls(text="NORWAY") == at
    assert urls(text=" norway ", tag="Nature") == [at[0], at[2]]
    assert urls(text="sweden") == []
    for params in ({"text": ""}, {"text": "x" * 101}, {"tag": "  "}, {"tag": "x" * 51}):
        problem(site.as_().get("/sites", params=params), 422, "invalid")


def test_pages_are_full_though_a_search_drops_most(site: Site, root: httpx.Client) -> None:
    for number in range(40):
        add(root, f"n{number}", title="Wanted" if number % 4 == 0 else "Other", tags=["t"])
    assert len(all_of(site.as_(), "/sites", text="wanted", limit=3)) == 10
    assert len(all_of(site.as_(), "/sites", tag="t", limit=7)) == 40
    assert len(all_of(site.as_(), "/sites", tag="t", text="wanted", limit=3)) == 10
    newest_first = [each["created_at"] for each in all_of(site.as_(), "/sites", tag="t", limit=10)]
    assert newest_first == sorted(newest_first, reverse=True)


def test_a_search_that_reads_much_answers_and_goes_on(site: Site) -> None:
    """A request reads at most a thousand items; the page says if there are more."""
    store = site.running.store
    many = [CatalogSite(id=f"n{number:04}", url="https://n.example.org", title="New") for number in range(1050)]
    for start in range(0, len(many), 50):
        store.transact(*(create(each) for each in many[start : start + 50]))
    store.run(create(CatalogSite(id="a", url="https://a.example.org", title="The oldest")))
    answer = site.as_().get("/sites", params={"text": "oldest"}).json()
    assert answer["items"] == []
    rest = site.as_().get("/sites", params={"text": "oldest", "cursor": answer["next"]}).json()
    assert ([each["title"] for each in rest["items"]], rest["next"]) == (["The oldest"], None)
    shown = httpx.get(f"{site.url}/funkedupshift/?text=oldest").text
    assert "The next page searches older ones." in shown
    assert 'rel="next"' in shown


def test_tags_change_with_the_site_in_one_transaction(site: Site, root: httpx.Client) -> None:
    root.patch("/sites/one", json={"tags": ["a", "b"]}, headers=ANY)
    site.running.store.client = seen = Recorder(site.engine)
    assert root.patch("/sites/one", json={"tags": ["b", "c"]}, headers=ANY).status_code == 200
    (request,) = seen.requests("transact_write_items")
    done = {
        (kind, (members.get("Item") or members["Key"])["SK"]["S"])
        for action in request["TransactItems"]
        for kind, members in action.items()
    }
    assert done == {("Update", "METADATA"), ("Delete", "TAG#a"), ("Put", "TAG#c")}
    assert not [name for name, _ in seen.seen if name in ("put_item", "update_item", "delete_item")]


def test_changing_a_site_takes_its_old_tags_away(site: Site, root: httpx.Client) -> None:
    path = "/sites/one"
    tagged = root.patch(path, json={"tags": ["a", "b"]}, headers={"If-Match": '"1"'})
    assert tagged.json()["tags"] == ["a", "b"]
    changed = root.patch(path, json={"tags": ["b", "c"], "title": "New"}, headers=ANY).json()
    assert changed["tags"] == ["b", "c"]
    assert sort_keys(site, "one") == ["METADATA", "TAG#b", "TAG#c"]
    assert site.as_().get("/sites", params={"tag": "a"}).json()["items"] == []
    problem(root.patch(path, json={"title": "Newer"}, headers={"If-Match": '"1"'}), 412, "stale-version")
    problem(root.patch(path, json={"title": "Newer"}), 428, "if-match-missing")
    problem(root.patch("/sites/nothing", json={"title": "x"}, headers=ANY), 404, "not-found")
    for name in ("url", "tags"):
        assert pointers(problem(root.patch(path, json={name: None}, headers=ANY), 422, "required")) == [f"/{name}"]
    assert root.patch(path, json={"title": None}, headers=ANY).json()["title"] == "https://one.example.org"
    moved = root.patch(path, json={"title": None, "url": "https://1.example.org"}, headers=ANY).json()
    assert moved["title"] == "https://1.example.org"
    assert root.patch(path, json={"description": "d"}, headers=ANY).json()["description"] == "d"
    assert root.patch(path, json={"description": None}, headers=ANY).json()["description"] is None
    assert site.running.store.verify() == []


def test_a_site_is_deleted_with_all_that_hangs_on_it(site: Site, root: httpx.Client) -> None:
    for number in range(30):
        user = site.as_(f"user-{number}")
        assert user.put("/sites/one/rating", json={"stars": 1 + number % 5}).status_code == 200
        assert user.post("/sites/one/comments", json={"body": "x"}).status_code == 201
    problem(root.delete("/sites/one"), 428, "if-match-missing")
    problem(root.delete("/sites/one", headers={"If-Match": '"9"'}), 412, "stale-version")
    assert root.delete("/sites/one", headers=ANY).status_code == 204
    problem(root.delete("/sites/one", headers=ANY), 404, "not-found")
    user = site.as_("user-1")
    assert user.get("/me/ratings").json()["items"] == []
    for path in ("", "/rating", "/comments", "/rating-summary"):
        problem(user.get(f"/sites/one{path}"), 404, "not-found")
    problem(user.put("/sites/one/rating", json={"stars": 1}), 404, "not-found")
    problem(user.post("/sites/one/comments", json={"body": "x"}), 404, "not-found")
    items = site.engine.scan(TableName="fus-main")["Items"]
    assert not [item for item in items if "SITE#" in item["PK"]["S"] + item["SK"]["S"]]
    assert site.running.store.verify() == []


# Ratings


def test_rating_a_site(site: Site) -> None:
    ada, bob = site.as_("ada"), site.as_("bob")
    problem(ada.get("/sites/one/rating"), 404, "not-found")
    made = ada.put("/sites/one/rating", json={"stars": 5, "note": "So good"})
    assert made.json() | {"updated_at": None} == {
        "site_id": "one",
        "stars": 5,
        "note": "So good",
        "updated_at": None,
        "version": 1,
    }
    assert made.headers["etag"].startswith('"1-')
    assert ada.get("/sites/one/rating").json() == made.json()
    bob.put("/sites/one/rating", json={"stars": 2})
    summary = site.as_().get("/sites/one/rating-summary").json()
    assert summary == {
        "rating_count": 2,
        "rating_sum": 7,
        "average": 3.5,
        "stars": {"1": 0, "2": 1, "3": 0, "4": 0, "5": 1},
    }
    assert site.as_().get("/sites/one").json()["average"] == 3.5
    again = ada.put("/sites/one/rating", json={"stars": 4}, headers={"If-Match": '"1"'}).json()
    assert (again["stars"], again["note"], again["version"]) == (4, None, 2)
    problem(ada.put("/sites/one/rating", json={"stars": 1}, headers={"If-Match": '"1"'}), 412, "stale-version")
    problem(
        site.as_("eve").put("/sites/one/rating", json={"stars": 1}, headers={"If-Match": '"1"'}), 412, "stale-version"
    )
    problem(ada.delete("/sites/one/rating"), 428, "if-match-missing")
    problem(ada.delete("/sites/one/rating", headers={"If-Match": '"1"'}), 412, "stale-version")
    assert ada.delete("/sites/one/rating", headers={"If-Match": '"2"'}).status_code == 204
    problem(ada.delete("/sites/one/rating", headers=ANY), 404, "not-found")
    summary = site.as_().get("/sites/one/rating-summary").json()
    assert (summary["rating_count"], summary["rating_sum"]) == (1, 2)
    assert site.running.store.verify() == []


def test_the_histogram_comes_from_the_index_of_stars(site: Site) -> None:
    for number in range(12):
        site.as_(f"user-{number}").put("/sites/one/rating", json={"stars": 1 + number % 5})
    site.running.store.client = seen = Recorder(site.engine)
    summary = site.as_().get("/sites/one/rating-summary").json()
    assert summary["stars"] == {"1": 3, "2": 3, "3": 2, "4": 2, "5": 2}
    asked = seen.requests("query")
    assert [(each["IndexName"], each["Select"]) for each in asked] == [("byStars", "COUNT")] * 5
    values = [list(each["ExpressionAttributeValues"].values()) for each in asked]
    assert values == [[{"N": str(stars)}, {"S": "SITE#one"}] for stars in (1, 2, 3, 4, 5)]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "/stars"),
        ({"stars": 0}, "/stars"),
        ({"stars": 6}, "/stars"),
        ({"stars": "5"}, "/stars"),
        ({"stars": 2.5}, "/stars"),
        ({"stars": 5, "note": "x" * 2001}, "/note"),
        ({"stars": 5, "user_id": "bob"}, "/user_id"),
    ],
)
def test_what_is_no_rating(site: Site, body: dict[str, object], where: str) -> None:
    assert pointers(problem(site.as_("ada").put("/sites/one/rating", json=body), 422, "invalid")) == [where]


def test_my_ratings_are_ratings_only(site: Site, root: httpx.Client) -> None:
    ada = site.as_("ada")
    for number in range(7):
        site_id = add(root, f"n{number}", title=f"Site {number}")["site_id"]
        ada.put(f"/sites/{site_id}/rating", json={"stars": 1 + number % 5, "note": "x" * 2000})
        for _ in range(3):
            ada.post(f"/sites/{site_id}/comments", json={"body": "Between two ratings."})
    site.as_("bob").put("/sites/one/rating", json={"stars": 1})
    found = all_of(ada, "/me/ratings", limit=2)
    assert [each["title"] for each in found] == [f"Site {number}" for number in range(7)]
    assert set(found[0]) == {"site_id", "title", "url", "stars", "note", "updated_at"}


def test_ratings_of_so_many_stars_are_for_admins(site: Site, root: httpx.Client) -> None:
    site.as_("ada").put("/sites/one/rating", json={"stars": 5})
    site.as_("bob").put("/sites/one/rating", json={"stars": 5})
    site.as_("cyd").put("/sites/one/rating", json={"stars": 1})
    version = site.as_("ada").get("/me").headers["etag"]
    site.as_("ada").patch("/me", json={"display_name": "Ada L."}, headers={"If-Match": version})
    found = all_of(root, "/ratings", stars=5, limit=1)
    assert sorted((each["user_id"], each["display_name"]) for each in found) == [("ada", "Ada L."), ("bob", "Somebody")]
    everything = all_of(root, "/sites/one/ratings", limit=2)
    assert [each["stars"] for each in everything] == [5, 5, 1]
    problem(root.get("/sites/nothing/ratings"), 404, "not-found")
    for params in ({}, {"stars": "0"}, {"stars": "6"}, {"stars": "x"}):
        problem(root.get("/ratings", params=params), 422, "invalid")
    for kind in ("signed in", "manager", "sites:write"):
        problem(somebody(site, kind).get("/ratings?stars=5"), 403, "forbidden")
        problem(somebody(site, kind).get("/sites/one/ratings"), 403, "forbidden")


# Comments


def test_comments_carry_a_name_and_no_subject(site: Site, root: httpx.Client) -> None:
    ada = site.as_("ada-subject")
    first = ada.post("/sites/one/comments", json={"body": "First!"}).json()
    assert (first["display_name"], first["mine"], first["user_id"]) == ("Somebody", True, None)
    ada.patch("/me", json={"display_name": "Ada"}, headers=ANY)
    ada.post("/sites/one/comments", json={"body": "Second."})
    for reader in (site.as_(), site.as_("bob")):
        answer = reader.get("/sites/one/comments")
        assert "ada-subject" not in answer.text
        assert [(each["display_name"], each["body"]) for each in answer.json()["items"]] == [
            ("Ada", "Second."),
            ("Somebody", "First!"),
        ]
        assert not any(each["mine"] for each in answer.json()["items"])
    assert root.get("/sites/one/comments").json()["items"][1]["user_id"] == "ada-subject"
    assert site.as_().get(f"/sites/one/comments/{first['comment_id']}").json()["body"] == "First!"
    problem(site.as_().get("/sites/one/comments/nothing"), 404, "not-found")
    problem(site.as_().get("/sites/nothing/comments"), 404, "not-found")


def test_comments_are_changed_by_their_writers(site: Site, root: httpx.Client) -> None:
    ada, bob = site.as_("ada"), site.as_("bob")
    made = ada.post("/sites/one/comments", json={"body": "Good"}).json()
    path = f"/sites/one/comments/{made['comment_id']}"
    problem(ada.patch(path, json={"body": "Better"}), 428, "if-match-missing")
    changed = ada.patch(path, json={"body": "Better"}, headers={"If-Match": '"1"'})
    assert (changed.json()["body"], changed.json()["version"]) == ("Better", 2)
    of_user = f"SITE#one#COMMENT#{made['comment_id']}"
    key = {"PK": {"S": "USER#ada"}, "SK": {"S": of_user}}
    assert site.engine.get_item(TableName="fus-main", Key=key)["Item"]["body"] == {"S": "Better"}
    problem(ada.patch(path, json={"body": "Best"}, headers={"If-Match": '"1"'}), 412, "stale-version")
    for other in (bob, root, somebody(site, "manager")):
        problem(other.patch(path, json={"body": "Bad"}, headers=ANY), 403, "forbidden")
    for other in (bob, somebody(site, "manager"), somebody(site, "sites:write")):
        problem(other.delete(path, headers=ANY), 403, "forbidden")
    problem(ada.delete(path), 428, "if-match-missing")
    assert ada.delete(path, headers={"If-Match": '"2"'}).status_code == 204
    assert "Item" not in site.engine.get_item(TableName="fus-main", Key=key)
    again = ada.post("/sites/one/comments", json={"body": "Again"}).json()
    assert root.delete(f"/sites/one/comments/{again['comment_id']}", headers=ANY).status_code == 204
    assert site.as_().get("/sites/one/comments").json()["items"] == []
    assert site.running.store.verify() == []


@pytest.mark.parametrize(
    "body", [{}, {"body": ""}, {"body": "  "}, {"body": "x" * 5001}, {"body": "x", "user_id": "y"}]
)
def test_what_is_no_comment(site: Site, body: dict[str, str]) -> None:
    problem(site.as_("ada").post("/sites/one/comments", json=body), 422, "invalid")


def test_long_lists_of_comments_have_full_pages(site: Site) -> None:
    ada = site.as_("ada")
    for number in range(11):
        ada.post("/sites/one/comments", json={"body": str(number)})
    found = [each["body"] for each in all_of(site.as_(), "/sites/one/comments", limit=4)]
    assert found == [str(number) for number in reversed(range(11))], "the newest first"


def test_a_comment_that_is_sent_again_is_there_once(site: Site) -> None:
    ada = site.as_("ada")
    sent = [ada.post("/sites/one/comments", json={"body": "x"}, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert sent[0].json() == sent[1].json()
    assert len(site.as_().get("/sites/one/comments").json()["items"]) == 1
