"""The example system compared with its OpenAPI document: no internal error, and only documented answers."""

from dataclasses import replace
from typing import cast

import httpx
import pytest
from starlette.responses import Response

from keyplan.web import ANYONE, Api, Problem, allow
from keyplan.web.settings import Settings
from tests.web.contract import PHASES, check_against_document
from tests.web.library import SYSTEM, Librarian, ShelfOut
from tests.web.site import Site, site

ON_PURPOSE = ("/crash", "/forgetful")
"""These fail on purpose."""


@pytest.mark.parametrize(
    ("who", "seen"),
    [
        ((), {200, 400, 401, 404, 405, 422}),
        (("ada",), {200, 201, 204, 400, 401, 403, 404, 405, 409, 412, 422, 428}),
        (("root", "admin"), {200, 201, 204, 400, 401, 404, 405, 409, 412, 422, 428}),
    ],
    ids=["visitor", "signed in", "admin"],
)
def test_the_system_does_what_its_document_says(library: Site, who: tuple[str, ...], seen: set[int]) -> None:
    token = library.token(*who) if who else None
    held = check_against_document(library, token, examples=20, scenarios=6, without=ON_PURPOSE)
    assert held.findings == []
    assert held.phases >= PHASES
    assert held.statuses.keys() == seen
    assert library.running.store.verify() == []


class Teapot(Problem):
    """A problem that isn't documented."""

    status = 418


class Kitchen(Librarian):
    """Answers that don't match the document."""

    @allow(ANYONE)
    def coffee(self) -> ShelfOut:
        raise Teapot("teapot", "Short and stout.")

    @allow(ANYONE)
    def tea(self) -> ShelfOut:
        return cast("ShelfOut", Response('{"shelf_id": 7}', media_type="application/json"))

    @allow(ANYONE)
    def water(self) -> ShelfOut:
        raise ZeroDivisionError


def test_violations_are_found(settings: Settings) -> None:
    api = Api(Kitchen)
    api.get("/coffee", Kitchen.coffee)
    api.get("/tea", Kitchen.tea)
    api.get("/water", Kitchen.water)
    teapot = "GET /api/library/coffee answered 418, which its document doesn't have"
    with site(replace(SYSTEM, api=api, handlers=()), settings, undocumented=[teapot]) as kitchen:
        held = check_against_document(kitchen, examples=1)
    found = {each.splitlines()[0].partition(" ")[2] for each in held.findings}
    assert found == {
        "status_code_conformance: GET /coffee",
        "positive_data_acceptance: GET /coffee",
        "response_schema_conformance: GET /tea",
        "response_headers_conformance: GET /tea",  # without an ETag
        "not_a_server_error: GET /water",
    }


def test_any_test_of_a_system_finds_an_undocumented_status(settings: Settings) -> None:
    api = Api(Kitchen)
    api.get("/coffee", Kitchen.coffee)
    with (
        pytest.raises(AssertionError, match="GET /api/library/coffee answered 418"),
        site(replace(SYSTEM, api=api, handlers=()), settings) as kitchen,
    ):
        assert httpx.get(f"{kitchen.api}/coffee").status_code == 418


def test_a_method_can_declare_a_problem_that_is_documented(settings: Settings) -> None:
    class Barista(Librarian):
        @allow(ANYONE, raises=(Teapot,))
        def coffee(self) -> ShelfOut:
            raise Teapot("teapot", "Short and stout.")

    api = Api(Barista)
    api.get("/coffee", Barista.coffee)
    with site(replace(SYSTEM, api=api, handlers=()), settings) as kitchen:
        assert kitchen.as_().get("/coffee").status_code == 418
        document = kitchen.as_().get("/openapi.json").json()
        assert document["paths"]["/coffee"]["get"]["responses"]["418"]["content"].keys() == {"application/problem+json"}
