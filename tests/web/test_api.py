"""The API of a system, over real HTTP: problems, pages, versions, permissions."""

import json
import re
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from keyplan.data import create
from keyplan.web import Api, compat
from keyplan.web.settings import Settings
from tests.web.answers import pointers, problem, shelf
from tests.web.library import SYSTEM, Librarian, Library, Shelf
from tests.web.site import Site, changed, site

pytestmark = pytest.mark.usefixtures("both_ways")


def test_anyone_can_read_what_a_user_created(library: Site) -> None:
    made = shelf(library.as_("ada"))
    read = library.as_().get(f"/shelves/{made['shelf_id']}")
    assert read.json() == made == {"shelf_id": made["shelf_id"], "name": "Novels", "book_count": 0, "version": 1}
    assert "owner" not in read.json()


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, ["/name"]),
        ({"name": ""}, ["/name"]),
        ({"name": 3}, ["/name"]),
        ({"name": "a", "colour": "red"}, ["/colour"]),
        ([], [""]),
        ("text", [""]),
    ],
)
def test_each_invalid_value_has_a_pointer(library: Site, body: object, where: list[str]) -> None:
    answer = library.as_("ada").post("/shelves", json=body)
    assert pointers(problem(answer, 422, "invalid")) == where


def test_an_invalid_query_parameter_has_a_pointer(library: Site) -> None:
    answer = library.as_().get("/shelves", params={"limit": 101})
    assert pointers(problem(answer, 422, "invalid")) == ["?limit"]


@pytest.mark.parametrize("body", [b"{", b"", b'{"name": "\xff"}', b"NaN", b'{"name": Infinity}'])
def test_a_body_that_is_not_json_is_refused(library: Site, body: bytes) -> None:
    answer = library.as_("ada").post("/shelves", content=body, headers={"Content-Type": "application/json"})
    problem(answer, 400, "not-json")


def test_other_content_types_are_refused(library: Site) -> None:
    answer = library.as_("ada").post("/shelves", data={"name": "x"})
    problem(answer, 400, "not-json")


def test_too_deep_and_too_long_bodies_are_refused(library: Site) -> None:
    client = library.as_("ada")
    deep = "[" * 40 + "]" * 40
    problem(client.post("/shelves", content=deep, headers={"Content-Type": "application/json"}), 422, "too-deep")
    very_deep = "[" * 100_000 + "]" * 100_000
    problem(client.post("/shelves", content=very_deep, headers={"Content-Type": "application/json"}), 400, "not-json")
    problem(client.post("/shelves", json={"name": "x" * 2_000_000}), 413, "body-too-large")

    def chunks() -> Iterator[bytes]:
        for _ in range(40):
            yield b" " * 65_536

    answer = client.post("/shelves", content=chunks(), headers={"Content-Type": "application/json"})
    problem(answer, 413, "body-too-large")


def test_unknown_paths_and_methods(library: Site) -> None:
    problem(library.as_().get("/nothing"), 404, "no-such-path")
    problem(httpx.get(f"{library.url}/nothing"), 404, "no-such-path")
    answer = library.as_().put("/shelves")
    problem(answer, 405, "wrong-method")
    assert answer.headers["allow"] == "GET, HEAD, POST"
    answer = library.as_().post("/shelves/x")
    assert answer.headers["allow"] == "DELETE, GET, HEAD, PATCH"


def test_head_answers_like_get_without_a_body(library: Site) -> None:
    """Also if there is a problem."""
    shelf(library.as_("ada"), "Second")
    path = f"/shelves/{shelf(library.as_('ada'))['shelf_id']}"
    client, own = library.as_(), {"date", "x-request-id"}
    client.get("/shelves?limit=1")  # the first cursor creates a secret, which is kept
    for at in (path, "/shelves?limit=1", "/shelves/nothing", "/shelves?limit=0", "/openapi.json", "/docs", "/gone"):
        read, asked = client.get(at), client.head(at)
        assert asked.status_code == read.status_code
        assert asked.content == b""
        assert read.content
        assert {name: text for name, text in asked.headers.items() if name not in own} == {
            name: text for name, text in read.headers.items() if name not in own
        }
    assert client.head("/shelves?limit=1").headers["link"]
    assert client.head(path, headers={"If-None-Match": client.head(path).headers["etag"]}).status_code == 304
    answer = library.as_("root", "admin").head("/crash")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    text = httpx.get(f"{library.url}/metrics").text
    assert 'keyplan_requests_total{method="HEAD",route="/api/library/shelves",status="200"}' in text


BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.mark.parametrize(
    ("method", "path", "status", "says"),
    [
        ("GET", "/nothing", 404, "There is nothing at this address."),
        ("GET", "/media/library/none.png", 404, "Not found."),
        ("POST", "/healthz", 405, "Allowed methods: GET, HEAD."),
        ("POST", "/nothing", 404, "There is nothing at this address."),
    ],
)
def test_a_browser_gets_an_html_page_for_an_unknown_address(
    library: Site, method: str, path: str, status: int, says: str
) -> None:
    page = httpx.request(method, library.url + path, headers=BROWSER)
    assert page.status_code == status
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert says in page.text
    assert '<a href="/">' in page.text
    assert page.headers["x-request-id"] in page.text
    plain = httpx.request(method, library.url + path, headers={"Accept": "*/*"})
    assert plain.json()["status"] == status
    assert plain.headers["vary"] == page.headers["vary"] == "Accept"
    assert plain.headers.get("allow") == page.headers.get("allow")


def test_a_browser_gets_an_html_page_for_a_body_that_is_too_large(library: Site) -> None:
    page = httpx.post(f"{library.url}/library/shelves/new", content=b"x" * 2_000_000, headers=BROWSER)
    assert page.status_code == 413
    assert "This is more than can be sent at once: at most 1 MB." in page.text


def test_the_api_answers_with_json_to_browsers_too(library: Site) -> None:
    problem(library.as_().get("/nothing", headers=BROWSER), 404, "no-such-path")
    problem(library.as_().get("/shelves/nothing", headers=BROWSER), 404, "not-found")
    problem(httpx.get(f"{library.url}/api/nothing", headers=BROWSER), 404, "no-such-path")


def test_an_internal_error_reveals_nothing(library: Site) -> None:
    answer = library.as_("root", "admin").post("/crash")
    problem(answer, 500, "internal-error")
    assert "SHELF" not in answer.text
    assert "Zero" not in answer.text
    assert library.as_().get("/shelves").status_code == 200


def test_a_conflict_reveals_no_key(library: Site) -> None:
    client = library.as_("ada")
    shelf(client)
    answer = client.post("/shelves", json={"name": "NOVELS"})
    problem(answer, 409, "already-taken")
    assert "SHELFNAME" not in answer.text
    assert "GSI1" not in answer.text


def test_lists_are_split_into_pages(library: Site) -> None:
    store = library.running.store
    for number in range(25):
        store.run(create(Shelf(name=f"shelf {number:02}", owner="ada")))
    client, names, url = library.as_(), [], f"{library.api}/shelves?limit=10"
    sizes = []
    while url:
        answer = client.get(url)
        page = answer.json()
        sizes.append(len(page["items"]))
        names += [item["name"] for item in page["items"]]
        link = re.fullmatch(r'<([^>]+)>; rel="next"', answer.headers.get("link", ""))
        assert (page["next"] is None) == (link is None)
        url = f"{library.url}{link[1]}" if link else ""
    assert sizes == [10, 10, 5]
    assert names == [f"shelf {number:02}" for number in range(25)]


def test_a_cursor_of_another_list_is_refused(library: Site) -> None:
    store = library.running.store
    for number in range(3):
        store.run(create(Shelf(name=f"shelf {number}", owner="ada")))
    made = shelf(library.as_("ada"))
    cursor = library.as_().get("/shelves", params={"limit": 1}).json()["next"]
    answer = library.as_().get(f"/shelves/{made['shelf_id']}/books", params={"cursor": cursor})
    assert pointers(problem(answer, 400, "bad-cursor")) == ["?cursor"]
    assert pointers(problem(library.as_().get("/shelves?cursor=forged"), 400, "bad-cursor")) == ["?cursor"]


def test_a_changed_count_changes_the_etag_but_not_the_version(library: Site) -> None:
    client = library.as_("ada")
    path = f"/shelves/{shelf(client)['shelf_id']}"
    tag = client.get(path).headers["etag"]
    assert client.post(f"{path}/books", json={"isbn": "1234567890", "title": "Counted"}).status_code == 201
    seen = client.get(path, headers={"If-None-Match": tag})
    assert (seen.status_code, seen.json()["book_count"]) == (200, 1)
    assert client.patch(path, json={"name": "B"}, headers={"If-Match": tag}).status_code == 200


def test_versions_are_sent_as_etags(library: Site) -> None:
    client = library.as_("ada")
    path = f"/shelves/{shelf(client)['shelf_id']}"
    tag = client.get(path).headers["etag"]
    assert client.get(path, headers={"If-None-Match": tag}).status_code == 304
    problem(client.patch(path, json={"name": "B"}), 428, "if-match-missing")
    changed = client.patch(path, json={"name": "B"}, headers={"If-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"].startswith('"2-')
    assert changed.headers["etag"] != tag
    problem(client.patch(path, json={"name": "C"}, headers={"If-Match": tag}), 412, "stale-version")
    problem(client.patch(path, json={"name": "C"}, headers={"If-Match": 'W/"2"'}), 412, "stale-version")
    problem(client.patch(path, json={"name": "C"}, headers={"If-Match": "2"}), 400, "bad-if-match")
    assert client.patch(path, json={"name": "C"}, headers={"If-Match": '"7", "2"'}).status_code == 200
    assert client.delete(path, headers={"If-Match": "*"}).status_code == 204
    problem(client.get(path), 404, "not-found")


def test_a_caller_without_permission_is_refused(library: Site) -> None:
    path = f"/shelves/{shelf(library.as_('ada'))['shelf_id']}"
    rename: dict[str, Any] = {"json": {"name": "X"}, "headers": {"If-Match": "*"}}
    answer = library.as_().patch(path, **rename)
    problem(answer, 401, "no-token")
    assert answer.headers["www-authenticate"] == "Bearer"
    problem(library.as_("eve").patch(path, **rename), 403, "forbidden")
    problem(library.as_("eve").get("/gone"), 403, "forbidden")
    assert library.as_("root", "admin").patch(path, **rename).status_code == 200


def test_an_unknown_caller_is_refused_before_the_body_is_read(library: Site) -> None:
    problem(library.as_().post("/shelves", content=b"{"), 401, "no-token")


def test_nothing_is_written_before_the_permission_is_checked(library: Site) -> None:
    answer = library.as_("ada").post("/forgetful")
    problem(answer, 500, "internal-error")
    assert library.as_().get("/shelves").json()["items"] == []


def test_a_service_method_without_permissions_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Forgetful\.open doesn't say who may call it"):

        class Forgetful(Librarian):
            def open(self) -> None: ...


def test_a_path_parameter_that_the_method_does_not_take_is_refused() -> None:
    told = r"GET /shelves/{id}: Librarian\.shelf doesn't take id\. Names in a path .* it takes: shelf_id\."
    with pytest.raises(TypeError, match=told):
        Api(Librarian).get("/shelves/{id}", Librarian.shelf)


def test_adding_a_route_twice_is_refused() -> None:
    api = Api(Librarian)
    api.get("/shelves/{shelf_id}", Librarian.shelf)
    api.delete("/shelves/{shelf_id}", Librarian.delete_shelf)
    with pytest.raises(TypeError, match=r"^GET /shelves/{shelf_id} was added before\. Remove one of them"):
        api.behind(Librarian.gone).get("/shelves/{shelf_id}", Librarian.shelf)


def test_the_table_of_permissions_lists_roles_for_every_route() -> None:
    table = {f"{verb} {path}": roles for verb, path, roles in SYSTEM.api.who_may_do_what()}
    yours = "if it is your shelf, or you are an admin"
    assert table["GET /shelves"] == {"anyone": "yes", "signed in": "yes", "admin": "yes"}
    assert table["POST /shelves"] == {"anyone": "no", "signed in": "yes", "admin": "yes"}
    assert table["PATCH /shelves/{shelf_id}"] == {"anyone": "no", "signed in": yours, "admin": yours}
    assert table["GET /gone"] == {"anyone": "no", "signed in": "no", "admin": "yes"}


def test_a_domain_rule_has_its_own_problem_code(library: Site) -> None:
    client = library.as_("ada")
    made = shelf(client)
    answer = client.post(f"/shelves/{made['shelf_id']}/books", json={"isbn": "1234567890", "title": "Forbidden"})
    assert pointers(problem(answer, 422, "forbidden-title")) == ["/title"]


def test_requests_are_limited_per_caller_and_per_address(settings: Settings) -> None:
    limited = changed(settings, rate_identity=5, rate_address=8)
    with site(SYSTEM, limited) as library:
        ada = library.as_("ada")
        answers = [ada.get("/shelves").status_code for _ in range(6)]
        if 429 not in answers[:5]:  # a new minute may have started
            assert answers == [200] * 5 + [429]
        visits = [library.as_().get("/shelves") for _ in range(10)]
        refused = [answer for answer in visits if answer.status_code == 429]
        assert refused
        assert 1 <= int(refused[0].headers["retry-after"]) <= 60
        problem(refused[0], 429, "too-many-requests")


def test_forwarded_addresses_are_trusted_only_from_known_proxies(settings: Settings) -> None:
    def refused(trusted: list[str], forwarded: list[str]) -> list[int]:
        limited = changed(settings, rate_address=1, trusted_proxies=trusted)
        with site(SYSTEM, limited) as library:
            headers = [{"X-Forwarded-For": each} for each in forwarded]
            return [library.as_().get("/shelves", headers=each).status_code for each in headers]

    different = ["10.0.0.1", "10.0.0.2", "10.0.0.3"]
    assert refused([], different).count(429) >= 1
    assert refused(["127.0.0.1"], different) == [200, 200, 200]
    assert refused(["127.0.0.0/8", "10.9.0.0/16"], [f"{each}, 10.9.1.1" for each in different]) == [200, 200, 200]
    # What a caller puts in front isn't trusted: the last address that isn't one of our proxies counts.
    assert refused(["127.0.0.1"], [f"{each}, 10.1.1.1" for each in different]).count(429) >= 1


def test_a_redirect_does_not_name_the_host_of_the_request(library: Site) -> None:
    for path in ("/api/library/shelves/", "/api/library/shelves/?limit=1"):
        answer = httpx.get(f"{library.url}{path}", headers={"Host": "evil.example"})
        assert answer.status_code == 307
        assert answer.headers["location"] == path.replace("shelves/", "shelves")


def test_every_answer_says_that_its_type_is_not_to_be_guessed(library: Site) -> None:
    paths = ("/api/library/shelves", "/api/library/none", "/healthz", "/metrics", "/", "/static/style.css", "/none")
    for path in paths:
        answer = httpx.get(f"{library.url}{path}")
        assert answer.headers.get_list("x-content-type-options") == ["nosniff"], path
    crash = library.as_("root", "admin").post("/crash")
    assert (crash.status_code, crash.headers["x-content-type-options"]) == (500, "nosniff")
    host, port = library.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        received = connection.recv(4096)
    assert received.startswith(b"HTTP/1.1 400 ")
    assert b"x-content-type-options: nosniff" in received.lower() or not compat.fast_http


def test_health_and_readiness(library: Site) -> None:
    assert httpx.get(f"{library.url}/healthz").text == "ok\n"
    assert httpx.get(f"{library.url}/readyz").text == "ready\n"
    table = library.running.design.table_name(Library.tables[0])
    library.engine.delete_table(TableName=f"{table}-keyplan")
    problem(httpx.get(f"{library.url}/readyz"), 503, "not-ready")


def test_metrics_and_capacity(library: Site) -> None:
    made = library.as_("ada").post("/shelves", json={"name": "Metered"})
    assert made.headers["x-dynamodb-capacity"] == "calls=1, read=0, write=5"  # shelf, its index entry, guard
    text = httpx.get(f"{library.url}/metrics").text
    assert 'keyplan_requests_total{method="POST",route="/api/library/shelves",status="201"}' in text
    assert 'keyplan_dynamodb_capacity_units_total{kind="write",table="Library"}' in text


def test_the_openapi_document(library: Site) -> None:
    document = httpx.get(f"{library.api}/openapi.json").json()
    patch = document["paths"]["/shelves/{shelf_id}"]["patch"]
    assert patch["operationId"] == "rename_shelf"
    assert {"401", "403", "412", "428"} <= patch["responses"].keys()
    assert patch["security"] == [{"bearer": []}]
    assert [each["name"] for each in patch["parameters"]] == ["shelf_id", "If-Match"]
    assert document["servers"] == [{"url": "/api/library"}]
    assert "Problem" in document["components"]["schemas"]
    names = [each["name"] for each in document["paths"]["/shelves"]["get"]["parameters"]]
    assert names == ["limit", "cursor"]
    json.dumps(document)
