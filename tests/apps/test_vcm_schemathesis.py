"""The club's API, compared with its OpenAPI document: no server errors, and only documented responses."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from keyplan.apps.vcm.api import SYSTEM
from keyplan.web import ANYONE
from tests.apps.vcm_site import add, announce, club, put_media, write
from tests.web.contract import PHASES, ContractResult, check_against_document
from tests.web.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A club with some content."""
    with club(tmp_path) as served:
        put_media(served, "m1", "m2")
        write(served, "Derby", publish=True, imageIds=["m1"])
        announce(served, "Fest", publish=True)
        add(served, "/teams", name="Damen 1", gender="woman", publish=True)
        add(served, "/sponsors", name="S", logoId="m2")
        yield served


def _check(site: Site, held: ContractResult, seen: set[int]) -> None:
    assert not held.findings, "\n\n".join(held.findings)
    assert held.phases >= PHASES
    assert held.statuses.keys() >= seen
    assert site.running.store.verify() == []


def test_for_a_visitor(site: Site) -> None:
    """Some operations of each kind; permissions are tested for every route elsewhere."""
    only = ("/news", "/news/{id}", "/events/by-slug/{slug}", "/media/by-ids")
    held = check_against_document(site, examples=2, scenarios=1, only=only)
    _check(site, held, {200, 401, 404, 405, 422})
    answered = {each for each, seen in held.operations.items() if min(seen) < 300}
    assert answered <= {f"{each.verb} {each.path}" for each in SYSTEM.api.routes if ANYONE in each.permission.roles}


def test_for_an_admin(site: Site) -> None:
    held = check_against_document(site, site.token("anja", "Admin"), examples=1, scenarios=1, methods=False)
    _check(site, held, {200, 201, 404, 422, 428})
    assert set(held.operations) == {f"{each.verb} {each.path}" for each in SYSTEM.api.routes}
