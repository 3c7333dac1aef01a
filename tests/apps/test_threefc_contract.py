"""3FC's API compared with its OpenAPI document."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apps.threefc_site import Club, club
from tests.web.contract import PHASES, ContractResult, check_against_document

OF_A_GAME = [f"/games/{{game_id}}/{part}" for part in ("sheet", "result", "status", "roster", "goals", "goals/undo")]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Club]:
    with club(tmp_path) as served:
        served.game("0")  # the ID that schemathesis tries first: a game isn't found by chance
        served.goal(game_id="0", scorer_id="p1")
        yield served


def good(held: ContractResult) -> set[str]:
    """The operations that succeeded, after checking that all of them did what the document says."""
    assert held.findings == []
    assert held.phases >= PHASES
    assert {status for status in held.statuses if status >= 500} == set()
    return {operation for operation, statuses in held.operations.items() if statuses.keys() & {200, 201, 204}}


def test_what_the_document_says(site: Club) -> None:
    token = site.site.token("olga")
    # The game's own parts first, because one of the others deletes it.
    held = check_against_document(site.site, token, examples=1, scenarios=2, methods=False, only=OF_A_GAME)
    assert {f"GET {path}" for path in OF_A_GAME if path.endswith(("sheet", "result", "roster", "goals"))} <= good(held)
    held = check_against_document(site.site, token, examples=1, scenarios=2, methods=False, without=OF_A_GAME)
    assert {"POST /leagues", "GET /seasons/{season_id}/table", "DELETE /games/{game_id}"} <= good(held)
    assert site.clean()
