"""How many requests to DynamoDB each operation of WavyBlog needs, and which."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, cast

import httpx
import pytest

from keyplan.apps.wavyblog.api import SYSTEM
from keyplan.engine import Engine
from keyplan.web.system.observe import current
from tests.apps.blog_requests import GOOD, new_post
from tests.apps.blog_site import ANY, PASSWORD, add_posts, blog, write
from tests.web.site import Site


class Recorder:
    """A client that records the calls for each HTTP request."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.sent: defaultdict[str, list[str]] = defaultdict(list)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._engine, name)

        def call(**request: Any) -> Any:
            trace = current.get()
            self.sent["" if trace is None else trace.request_id].append(_described(name, request))
            return method(**request)

        return call

    def for_(self, answer: httpx.Response) -> list[str]:
        """The calls that were sent for a response."""
        assert answer.is_success, answer.text
        return self.sent[answer.headers["x-request-id"]]


def _described(operation: str, request: dict[str, Any]) -> str:
    """An operation, with the index that it reads, or the number of its actions; `own` is the housekeeping table."""
    own = "own " if request.get("TableName", "").endswith("-keyplan") else ""
    if "TransactItems" in request:
        return f"transact_write_items {len(request['TransactItems'])}"
    return f"{own}{operation} {request.get('IndexName', '')}".strip()


@pytest.fixture(scope="module")
def recorder() -> Iterator[Recorder]:
    with Engine() as engine:
        yield Recorder(engine)


@pytest.fixture(scope="module")
def site(recorder: Recorder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with blog(tmp_path_factory.mktemp("requests"), cast("Engine", recorder)) as served:
        served.without_limits()  # they are looked at below
        add_posts(served, 120, category="travel", is_published=True)
        _warm(served)
        yield served


def _warm(site: Site) -> None:
    """Keys and secrets are created when they are first needed, and kept."""
    assert site.as_("ada").get("/posts?limit=1").status_code == 200


ME = "get_item"
"""The caller's account, whose role counts."""

REQUESTS: dict[str, list[str]] = {
    "GET /posts": ["query GSI4"],
    "GET /posts/{slug}": ["get_item"],
    "GET /authors/{username}/posts": ["get_item", ME, "query GSI1"],  # visitors have no account
    "GET /categories": ["query GSI3"],
    "GET /categories/{slug}": ["get_item"],
    "GET /categories/{slug}/posts": ["get_item", ME, "query GSI2"],
    "GET /me": [ME],
    "GET /me/posts": [ME, "query GSI1"],
    "GET /me/images": [ME, "query"],
    # The post, its guard, and one more for its author and its category.
    "POST /posts": [ME, "transact_write_items 4"],
    "PATCH /posts/{slug}": [ME, "get_item", "update_item"],
    "POST /posts/{slug}/publish": [ME, "get_item"],  # it was published
    "POST /posts/{slug}/unpublish": [ME, "get_item", "update_item"],
    "DELETE /posts/{slug}": [ME, "get_item", "transact_write_items 4"],
    "POST /posts/delete": [ME, "batch_get_item", "transact_write_items 4"],
    # An account with its guard; a sign-in that needs the account, and a token with its guard.
    "POST /register": ["transact_write_items 2", "transact_write_items 4"],
    "POST /login": ["get_item", "transact_write_items 4"],
    # The guard of the token and the token; that it is used; the account and the sign-in; the next token, and how long
    # the sign-in lasts by it.
    "POST /refresh": [
        *("own get_item", "own get_item", "own update_item"),
        *("get_item", "own get_item", "transact_write_items 3"),
    ],
    "POST /me/email": [ME, "transact_write_items 3"],
    # What the person has uploaded, and which of these uploads have expired; then the new one, within the quota.
    "POST /images/upload": [ME, "own get_item", "batch_get_item", "transact_write_items 2"],
    "POST /images": [ME, "own get_item", "transact_write_items 5"],
    # A note that its file must be deleted; the image; then a query for files to delete, which no longer count.
    "DELETE /images/{image_id}": [
        *(ME, "get_item", "own put_item", "delete_item"),
        *("own query", "get_item", "own get_item", "transact_write_items 2", "own delete_item"),
    ],
    "GET /all-posts": [ME, "query GSI3"],
    "POST /categories": [ME, "put_item"],
    "PATCH /categories/{slug}": [ME, "get_item", "update_item"],
    "DELETE /categories/{slug}": [ME, "get_item", "delete_item"],
    "GET /users": [ME, "query GSI3"],
    "GET /users/{username}": [ME, "get_item"],
    # The account, and the number of admins.
    "PUT /users/{username}/role": [ME, "get_item", "transact_write_items 2"],
}
AS_MANY_AS_THERE_ARE = {"POST /logout", "POST /me/password", "DELETE /users/{username}"}
"""These end sign-ins, and what hangs on them."""


def test_every_operation_is_stated() -> None:
    routes = {f"{route.verb} {route.path}" for route in SYSTEM.api.routes}
    assert REQUESTS.keys() | AS_MANY_AS_THERE_ARE == routes


@pytest.mark.parametrize("route", REQUESTS)
def test_an_operation_takes(site: Site, recorder: Recorder, route: str) -> None:
    for_admins = {each[0] + " " + each[1] for each in SYSTEM.api.who_may_do_what() if each[2]["user"] == "no"}
    who = "root" if route in for_admins else "ada" if ME in REQUESTS[route][:1] else None
    if route == "POST /images/upload":
        GOOD[route](site, site.as_(who), "ada")  # the first makes a secret, which is kept
    answer = GOOD[route](site, site.as_(who), who or "ada")
    assert recorder.for_(answer) == REQUESTS[route]


def test_a_page_takes_one_query_however_long_it_is(site: Site, recorder: Recorder) -> None:
    first = site.as_().get("/posts?limit=100")
    assert len(first.json()["items"]) == 100
    assert recorder.for_(first) == ["query GSI4"]
    second = site.as_().get("/posts", params={"limit": 100, "cursor": first.json()["next"]})
    assert recorder.for_(second) == ["query GSI4"]


def test_that_a_sign_in_still_holds_takes_no_request_of_its_own(site: Site, recorder: Recorder) -> None:
    client = site.as_()
    token = client.post("/login", json={"user": "ada", "password": PASSWORD}).json()["access_token"]
    client.headers["Authorization"] = f"Bearer {token}"
    assert recorder.for_(client.get("/me")) == ["batch_get_item"]
    assert recorder.for_(client.get("/me/posts")) == ["batch_get_item", "query GSI1"]
    assert recorder.for_(client.get("/posts")) == ["query GSI4"]


def test_a_draft_needs_the_account_of_its_reader(site: Site, recorder: Recorder) -> None:
    path = f"/posts/{new_post(site, 'ada', publish=False)}"
    assert recorder.for_(site.as_("ada").get(path)) == ["get_item", ME]
    assert recorder.for_(site.as_("root").get(path)) == ["get_item", ME]


def test_a_list_with_drafts_needs_the_account_of_its_reader(site: Site, recorder: Recorder) -> None:
    for who, account in ((None, []), ("ada", [ME]), ("root", [ME])):
        client = site.as_(who)
        assert recorder.for_(client.get("/authors/ada/posts")) == ["get_item", *account, "query GSI1"]
        assert recorder.for_(client.get("/categories/travel/posts")) == ["get_item", *account, "query GSI2"]


def test_publishing_is_one_write(site: Site, recorder: Recorder) -> None:
    path = f"/posts/{new_post(site, 'ada', publish=False)}/publish"
    assert recorder.for_(site.as_("ada").post(path)) == [ME, "get_item", "update_item"]


def test_what_moves_is_one_transaction(site: Site, recorder: Recorder) -> None:
    ada, path = site.as_("ada"), f"/posts/{new_post(site, 'ada')}"
    # The post, its old category and its new category.
    moved = ada.patch(path, json={"category": "travel"}, headers=ANY)
    assert recorder.for_(moved) == [ME, "get_item", "transact_write_items 3"]
    # The post and its guard, under the old and the new slug.
    renamed = ada.patch(path, json={"title": "Another name"}, headers=ANY)
    assert recorder.for_(renamed) == [ME, "get_item", "transact_write_items 4"]


def test_a_title_that_is_in_use_needs_another_try(site: Site, recorder: Recorder) -> None:
    write(site.as_("ada"), "Twice")
    again = site.as_("ada").post("/posts", json={"title": "Twice", "content": "x"})
    assert recorder.for_(again) == [ME, "transact_write_items 4", "get_item", "transact_write_items 4"]


def test_several_posts_are_deleted_in_one_transaction(site: Site, recorder: Recorder) -> None:
    slugs = [new_post(site, "ada") for _ in range(5)]
    answer = site.as_("ada").post("/posts/delete", json={"slugs": slugs})
    assert recorder.for_(answer) == [ME, "batch_get_item", "transact_write_items 12"]


def test_once_takes_a_claim_and_an_answer_more(site: Site, recorder: Recorder) -> None:
    """And its step is one more action in the transaction of the effect."""
    body, key = {"title": "Once only", "content": "x"}, {"Idempotency-Key": "once"}
    first = site.as_("ada").post("/posts", json=body, headers=key)
    assert recorder.for_(first) == ["own put_item", ME, "transact_write_items 5", "own update_item"]
    again = site.as_("ada").post("/posts", json=body, headers=key)
    assert recorder.for_(again) == ["own put_item", "own get_item"]


def test_limits_are_counted_by_the_share(tmp_path_factory: pytest.TempPathFactory) -> None:
    """With limits of 200 and 400: a write for 10 requests of a caller, and one for 20 of visitors from an address."""
    with Engine() as engine:
        counting = Recorder(engine)
        folder = tmp_path_factory.mktemp("limits")
        with blog(folder, cast("Engine", counting), rate_identity=200, rate_address=400) as served:
            _warm(served)
            later = served.running.store.clock() + timedelta(minutes=2)
            served.running.store.clock = lambda: later  # all in one minute
            ada = served.as_("ada")
            by_ada = [each for _ in range(40) for each in counting.for_(ada.get("/posts"))]
            visitor = served.as_()
            by_visitors = [each for _ in range(40) for each in counting.for_(visitor.get("/posts"))]
    assert sorted(by_ada) == ["own update_item"] * 4 + ["query GSI4"] * 40
    assert sorted(by_visitors) == ["own update_item"] * 2 + ["query GSI4"] * 40
