"""News and events over HTTP: slugs, drafts, dates, rich text, excerpts and images."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.apps.vcm_site import ANY, announce, as_role, club, doc, editor, made, picture, put_media, visitor, write
from tests.web.answers import pointers, problem
from tests.web.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with club(tmp_path) as served:
        yield served


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A club for requests that are refused, and so change nothing."""
    with club(tmp_path_factory.mktemp("steady")) as served:
        yield served


def moment(**ahead: float) -> str:
    return f"{datetime.now(UTC) + timedelta(**ahead):%Y-%m-%dT%H:%M:%S.000Z}"


def titles(site: Site, path: str, **params: str | int) -> list[str]:
    return [each["title"] for each in visitor(site).get(path, params=params).json()["items"]]


# News


def test_an_article_is_a_draft_until_it_is_published(site: Site) -> None:
    article = write(site, "Größe zählt: Straße & Öl!")
    assert (article["slug"], article["status"]) == ("groesse-zaehlt-strasse-oel", "draft")
    assert article["authorIds"] == ["mona"]
    for path in (f"/news/{article['id']}", "/news/by-slug/groesse-zaehlt-strasse-oel"):
        problem(visitor(site).get(path), 404, "not-found")
        problem(as_role(site, "signed in").get(path), 404, "not-found")
        assert editor(site).get(path).json() == article
    assert titles(site, "/news") == []
    published = editor(site).post(f"/news/{article['id']}/publish").json()
    assert published["status"] == "published"
    shown = visitor(site).get("/news/by-slug/groesse-zaehlt-strasse-oel").json()
    assert shown["html"] == "<p>Drei zu null.</p>"
    assert shown["authorIds"] is None
    assert titles(site, "/news") == ["Größe zählt: Straße & Öl!"]
    assert editor(site).post(f"/news/{article['id']}/unpublish").json()["status"] == "draft"
    problem(visitor(site).get(f"/news/{article['id']}"), 404, "not-found")


def test_an_article_is_read_once_its_date_has_come(site: Site) -> None:
    ahead = write(site, "Morgen", publish=True, publishedDate=moment(hours=1))
    write(site, "Gestern", publish=True, publishedDate=moment(days=-1))
    write(site, "Heute", publish=True)
    assert titles(site, "/news") == ["Heute", "Gestern"]
    problem(visitor(site).get(f"/news/{ahead['id']}"), 404, "not-found")
    problem(visitor(site).get("/news/by-slug/morgen"), 404, "not-found")
    clock = site.running.store.clock
    site.running.store.clock = lambda: clock() + timedelta(hours=2)
    assert titles(site, "/news") == ["Morgen", "Heute", "Gestern"]
    assert visitor(site).get("/news/by-slug/morgen").status_code == 200


def test_editors_list_all_of_it(site: Site) -> None:
    for number in range(5):
        write(site, f"Nummer {number}", publish=number % 2 == 0, publishedDate=moment(days=-number))
    listed: list[str] = []
    page = editor(site).get("/news/all", params={"limit": 2}).json()
    while True:
        listed += [each["title"] for each in page["items"]]
        if page["next"] is None:
            break
        page = editor(site).get("/news/all", params={"limit": 2, "cursor": page["next"]}).json()
    assert listed == [f"Nummer {number}" for number in range(5)]
    drafts = editor(site).get("/news/all", params={"status": "draft"}).json()["items"]
    assert [each["title"] for each in drafts] == ["Nummer 1", "Nummer 3"]
    published = editor(site).get("/news/all", params={"status": "published", "limit": 2}).json()["items"]
    assert [each["title"] for each in published] == ["Nummer 0", "Nummer 2"]
    answer = editor(site).get("/news/all", params={"status": "gone"})
    assert pointers(problem(answer, 422, "invalid")) == ["?status"]


def test_titles_that_are_alike_get_slugs_with_numbers(site: Site) -> None:
    slugs = [write(site, title)["slug"] for title in ("Derby", "DERBY!", "derby", "– Dérby –")]
    assert slugs == ["derby", "derby-2", "derby-3", "derby-4"]
    assert [write(site, title)["slug"] for title in ("日本", "???")] == ["news", "news-2"]
    assert announce(site, "Derby")["slug"] == "derby", "events have slugs of their own"
    assert announce(site, "日本")["slug"] == "event"
    assert site.running.store.verify() == []


def test_another_title_moves_the_slug(site: Site) -> None:
    article = write(site, "Derby", publish=True)
    path = f"/news/{article['id']}"
    same = made(editor(site).patch(path, json={"title": "DERBY"}, headers=ANY))
    assert (same["title"], same["slug"]) == ("DERBY", "derby")
    renamed = made(editor(site).patch(path, json={"title": "Pokal"}, headers=ANY))
    assert renamed["slug"] == "pokal"
    problem(visitor(site).get("/news/by-slug/derby"), 404, "not-found")
    assert visitor(site).get("/news/by-slug/pokal").json()["id"] == article["id"]
    assert write(site, "Derby")["slug"] == "derby", "the old one is free again"
    assert made(editor(site).patch(path, json={"title": "Derby"}, headers=ANY))["slug"] == "derby-2"
    assert editor(site).delete(path, headers=ANY).status_code == 204
    assert write(site, "Derby")["slug"] == "derby-2"
    assert site.running.store.verify() == []


def test_excerpts_are_made_of_the_content_unless_they_are_given(site: Site) -> None:
    long = write(site, content=doc("Wort " * 100, "Ende"))
    assert long["excerpt"] == "Wort " * 47 + "Wort …"
    path = f"/news/{long['id']}"
    assert made(editor(site).patch(path, json={"content": doc("Kurz.")}, headers=ANY))["excerpt"] == "Kurz."
    assert made(editor(site).patch(path, json={"excerpt": "Eigener"}, headers=ANY))["excerpt"] == "Eigener"
    assert made(editor(site).patch(path, json={"content": doc("Neu.")}, headers=ANY))["excerpt"] == "Eigener"
    assert made(editor(site).patch(path, json={"excerpt": None}, headers=ANY))["excerpt"] == "Neu."
    assert write(site, excerpt="Gegeben")["excerpt"] == "Gegeben"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"title": ""}, "/title"),
        ({"title": "x" * 201}, "/title"),
        ({"content": None}, "/content"),
        ({"content": "Text"}, "/content"),
        ({"publishedDate": "gestern"}, "/publishedDate"),
        ({"publishedDate": "2026-01-01T00:00:00"}, "/publishedDate"),
        ({"publishedDate": "0001-01-01T00:00:00+14:00"}, "/publishedDate"),
        ({"imageIds": ["a#b"]}, "/imageIds/0"),
        ({"imageIds": ["x"] * 21}, "/imageIds"),
        ({"authorIds": [""]}, "/authorIds/0"),
        ({"slug": "mine"}, "/slug"),
        ({"status": "published"}, "/status"),
        ({"published_date": "2026-01-01T00:00:00Z"}, "/published_date"),
    ],
)
def test_what_an_article_cannot_be(steady: Site, change: dict[str, Any], where: str) -> None:
    answer = editor(steady).post("/news", json={"title": "T", "content": doc("x"), **change})
    assert pointers(problem(answer, 422, "invalid")) == [where]


@pytest.mark.parametrize("field", ["title", "content", "publishedDate", "imageIds", "authorIds"])
def test_what_an_article_cannot_be_without(steady: Site, field: str) -> None:
    article = write(steady)
    answer = editor(steady).patch(f"/news/{article['id']}", json={field: None}, headers=ANY)
    assert pointers(problem(answer, 422, "required")) == [f"/{field}"]


def nested(levels: int) -> dict[str, Any]:
    node: dict[str, Any] = {"type": "paragraph"}
    for _ in range(levels):
        node = {"type": "blockquote", "content": [node]}
    return {"type": "doc", "content": [node]}


def test_a_text_that_cannot_be_stored_is_refused_and_says_so(steady: Site) -> None:
    fits = write(steady, "Tief", content=nested(14))
    assert editor(steady).get(f"/news/{fits['id']}").json()["content"] == nested(14)
    deep = editor(steady).post("/news", json={"title": "T", "content": nested(15)})
    assert "nested" in str(problem(deep, 422, "too-deep")["detail"])
    deeper = editor(steady).post("/news", json={"title": "T", "content": nested(400)})
    problem(deeper, 422, "too-deep")
    large = editor(steady).post("/news", json={"title": "T", "content": doc("ä" * 160_000)})
    assert pointers(problem(large, 422, "too-large")) == ["/content"]
    assert write(steady, "Lang", content=doc("ä" * 140_000))["slug"] == "lang"
    problem(editor(steady).post("/news", json={"title": "T", "content": doc("x" * 1_100_000)}), 413, "body-too-large")


def test_blanks_at_the_ends_of_texts_stay(steady: Site) -> None:
    pieces = [
        {"type": "text", "text": "Wir "},
        {"type": "text", "text": "alle", "marks": [{"type": "bold"}]},
        {"type": "text", "text": " hier"},
    ]
    content = {"type": "doc", "content": [{"type": "paragraph", "content": pieces}]}
    article = write(steady, content=content)
    assert article["html"] == "<p>Wir <strong>alle</strong> hier</p>"
    changed = made(editor(steady).patch(f"/news/{article['id']}", json={"content": content}, headers=ANY))
    assert changed["content"] == content


def test_a_text_that_the_schema_does_not_know_is_refused(steady: Site) -> None:
    script = {"type": "doc", "content": [{"type": "script", "content": []}]}
    answer = editor(steady).post("/news", json={"title": "T", "content": script})
    assert pointers(problem(answer, 422, "bad-rich-text")) == ["/content/content/0/type"]
    mark = {"type": "link", "attrs": {"href": "javascript:alert(1)"}}
    text = {"type": "paragraph", "content": [{"type": "text", "text": "x", "marks": [mark]}]}
    answer = editor(steady).post("/news", json={"title": "T", "content": {"type": "doc", "content": [text]}})
    where = "/content/content/0/content/0/marks/0/attrs/href"
    assert pointers(problem(answer, 422, "bad-rich-text")) == [where]


def test_images_are_those_that_are_named_and_those_of_the_text(site: Site) -> None:
    put_media(site, "a", "b", "c")
    content = {"type": "doc", "content": [picture("b"), picture("b"), *doc("x")["content"]]}
    article = write(site, content=content, imageIds=["a", "a"])
    assert article["imageIds"] == ["a", "b"]
    assert [each["id"] for each in article["images"]] == ["a", "b"]
    source = article["images"][1]["url"]
    assert article["content"]["content"][0]["attrs"]["src"] == source
    assert f'<img src="{source}" alt="Ein Bild"' in article["html"]
    path = f"/news/{article['id']}"
    changed = made(editor(site).patch(path, json={"imageIds": ["c"]}, headers=ANY))
    assert changed["imageIds"] == ["c", "b"], "the text still shows b"
    answer = editor(site).patch(path, json={"imageIds": ["none"]}, headers=ANY)
    assert pointers(problem(answer, 422, "no-such-media")) == ["/imageIds"]
    answer = editor(site).patch(path, json={"content": {"type": "doc", "content": [picture("none")]}}, headers=ANY)
    problem(answer, 422, "no-such-media")
    put_media(site, *(f"m{number}" for number in range(21)))
    many = {"type": "doc", "content": [picture(f"m{number}") for number in range(21)]}
    problem(editor(site).patch(path, json={"content": many}, headers=ANY), 422, "too-many-images")
    assert site.running.store.verify() == []


# Events


def test_an_event_is_upcoming_until_it_is_over(site: Site) -> None:
    announce(site, "Morgen", publish=True, startDate=moment(days=1))
    announce(site, "Läuft", publish=True, startDate=moment(days=-20), endDate=moment(days=1))
    announce(site, "Vorbei", publish=True, startDate=moment(days=-3), endDate=moment(days=-2))
    announce(site, "Ohne Ende", publish=True, startDate=moment(hours=-1))
    announce(site, "Entwurf", startDate=moment(days=2))
    assert titles(site, "/events") == ["Läuft", "Morgen"]
    assert titles(site, "/events/past") == ["Ohne Ende", "Vorbei"]
    everything = [each["title"] for each in editor(site).get("/events/all").json()["items"]]
    assert everything == ["Entwurf", "Morgen", "Ohne Ende", "Vorbei", "Läuft"]
    page = visitor(site).get("/events", params={"limit": 1}).json()
    assert [each["title"] for each in page["items"]] == ["Läuft"]
    assert titles(site, "/events", limit=1, cursor=page["next"]) == ["Morgen"]


def test_an_event_is_found_by_its_slug(site: Site) -> None:
    event = announce(site, "Fußball? Nein!", description=doc("Volleyball."), address={"name": "Halle", "city": "MA"})
    assert event["slug"] == "fussball-nein"
    problem(visitor(site).get("/events/by-slug/fussball-nein"), 404, "not-found")
    problem(visitor(site).get(f"/events/{event['id']}"), 404, "not-found")
    editor(site).post(f"/events/{event['id']}/publish")
    shown = visitor(site).get("/events/by-slug/fussball-nein").json()
    assert shown["html"] == "<p>Volleyball.</p>"
    assert shown["address"] == {"name": "Halle", "street": None, "postalCode": None, "city": "MA"}
    assert shown["authorIds"] is None
    changed = made(
        editor(site).patch(
            f"/events/{event['id']}", json={"title": "Fest", "description": None, "address": None}, headers=ANY
        )
    )
    assert (changed["slug"], changed["description"], changed["address"]) == ("fest", None, None)
    problem(visitor(site).get("/events/by-slug/fussball-nein"), 404, "not-found")
    assert visitor(site).get("/events/by-slug/fest").status_code == 200
    assert editor(site).post(f"/events/{event['id']}/unpublish").json()["status"] == "draft"
    assert editor(site).delete(f"/events/{event['id']}", headers=ANY).status_code == 204
    assert site.running.store.verify() == []


def test_a_description_that_says_nothing_is_none(steady: Site) -> None:
    blank = {"type": "doc", "content": [{"type": "paragraph"}, {"type": "paragraph"}]}
    event = announce(steady, description=blank)
    assert (event["description"], event["html"]) == (None, "")
    path = f"/events/{event['id']}"
    assert made(editor(steady).patch(path, json={"description": doc("Mit Kuchen.")}, headers=ANY))["html"]
    assert made(editor(steady).patch(path, json={"description": blank}, headers=ANY))["description"] is None


@pytest.mark.parametrize(
    ("end", "code"),
    [("2029-12-31T23:59:59Z", "ends-too-early"), ("2030-02-01T00:00:01Z", "too-long")],
)
def test_when_an_event_cannot_end(steady: Site, end: str, code: str) -> None:
    body = {"title": "E", "startDate": "2030-01-01T00:00:00Z", "endDate": end}
    assert pointers(problem(editor(steady).post("/events", json=body), 422, code)) == ["/endDate"]
    event = announce(steady, startDate="2030-01-01T00:00:00Z", endDate="2030-02-01T00:00:00Z")
    problem(editor(steady).patch(f"/events/{event['id']}", json={"endDate": end}, headers=ANY), 422, code)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"startDate": None}, "/startDate"),
        ({"title": "x" * 201}, "/title"),
        ({"address": {"city": ""}}, "/address/city"),
        ({"address": {"country": "DE"}}, "/address/country"),
    ],
)
def test_what_an_event_cannot_be(steady: Site, change: dict[str, Any], where: str) -> None:
    answer = editor(steady).post("/events", json={"title": "E", "startDate": "2030-01-01T00:00:00Z", **change})
    assert pointers(problem(answer, 422, "invalid")) == [where]


@pytest.mark.parametrize("field", ["title", "startDate", "imageIds", "authorIds"])
def test_what_an_event_cannot_be_without(steady: Site, field: str) -> None:
    event = announce(steady)
    answer = editor(steady).patch(f"/events/{event['id']}", json={field: None}, headers=ANY)
    assert pointers(problem(answer, 422, "required")) == [f"/{field}"]


@pytest.mark.parametrize("path", ["/news/none", "/news/by-slug/none", "/events/none", "/events/by-slug/none"])
def test_what_is_not_there(steady: Site, path: str) -> None:
    problem(visitor(steady).get(path), 404, "not-found")
    problem(editor(steady).get(path), 404, "not-found")


@pytest.mark.parametrize("id", ["a%23b", "x" * 129])
def test_ids_that_cannot_be(steady: Site, id: str) -> None:
    problem(visitor(steady).get(f"/news/{id}"), 422, "invalid")
