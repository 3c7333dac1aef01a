"""WavyBlog, compared with its OpenAPI document: no server errors, and only documented responses."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from keyplan.apps.wavyblog.api import SYSTEM
from keyplan.web import ANYONE
from tests.apps.blog_site import blog, write
from tests.web.contract import PHASES, ContractResult, check_against_document
from tests.web.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A blog with some content."""
    with blog(tmp_path) as served:
        for author in ("ada", "bob", "root"):
            write(served.as_(author), f"By {author}", publish=True, category="travel")
        yield served


SIGNING_IN = ("/register", "/login", "/refresh", "/logout")
OWN = ("/me", "/me/password", "/me/email", "/me/posts", "/me/images", "/images", "/images/upload", "/images/{image_id}")
USERS = ("/users", "/users/{username}", "/users/{username}/role", "/all-posts")


def _check(site: Site, held: ContractResult, seen: set[int], without: Sequence[str] = ()) -> None:
    assert held.findings == []
    assert held.phases >= PHASES
    assert held.statuses.keys() >= seen
    routes = [each for each in SYSTEM.api.routes if each.path not in without]
    assert set(held.operations) == {f"{each.verb} {each.path}" for each in routes}
    assert site.running.store.verify() == []


def test_for_a_visitor(site: Site) -> None:
    held = check_against_document(site, examples=3, scenarios=2)
    _check(site, held, {200, 204, 401, 404, 405, 422})
    answered = {each for each, seen in held.operations.items() if min(seen) < 300 or 404 in seen}
    assert answered <= {f"{each.verb} {each.path}" for each in SYSTEM.api.routes if ANYONE in each.permission.roles}


def test_for_an_author(site: Site) -> None:
    without = (*SIGNING_IN, *USERS)
    held = check_against_document(site, site.token("ada"), examples=6, scenarios=4, methods=False, without=without)
    _check(site, held, {200, 201, 204, 400, 401, 403, 404, 409, 412, 422, 428}, without)


def test_for_an_admin(site: Site) -> None:
    without = (*SIGNING_IN, *OWN)
    held = check_against_document(site, site.token("root"), examples=6, scenarios=4, methods=False, without=without)
    _check(site, held, {200, 201, 204, 400, 401, 404, 409, 412, 422, 428}, without)
