"""3FC's demo data: always the same, fast, realistic, and enough for several pages."""

from typing import Any

import pytest

from keyplan.apps.threefc import demo
from keyplan.apps.threefc.api import SYSTEM
from tests.apps.threefc_site import ok, settings
from tests.web.site import Site, site


def items(served: Site) -> list[dict[str, Any]]:
    """All stored items, without their times."""
    found: list[dict[str, Any]] = []
    start: dict[str, Any] = {}
    while True:
        answer = served.engine.scan(TableName="3fc-dev-app", **start)
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            break
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    return sorted(({"pk": each["pk"]["S"], "sk": each["sk"]["S"]} for each in found), key=str)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with site(SYSTEM, settings(tmp_path_factory.mktemp("demo"))) as served:
        demo.fill(served.running, lambda done, total: None)
        yield served


def test_every_list_has_more_than_two_pages(filled: Site) -> None:
    olga = filled.as_(demo.ORGANISER)
    for path in (
        "/leagues",
        f"/leagues/{demo.MAIN}/seasons",
        f"/leagues/{demo.MAIN}/players",
        f"/leagues/{demo.MAIN}/acl",
        f"/seasons/{demo.SPRING}/teams",
        f"/seasons/{demo.SPRING}/sessions",
        f"/seasons/{demo.SPRING}/scorers",
        f"/sessions/{demo.TODAY}/games",
        f"/sessions/{demo.TODAY}/results",
        f"/games/{demo.MARATHON}/roster",
        f"/games/{demo.MARATHON}/goals",
    ):
        sizes, cursor = [], None
        while True:
            page = ok(olga.get(path, params={"cursor": cursor} if cursor else {}))
            sizes.append(len(page["items"]))
            cursor = page["next"]
            if cursor is None:
                break
        assert sizes[:2] == [50, 50], path
        assert len(sizes) > 2, path


def test_it_agrees_with_the_design_and_stays_when_filled_again(filled: Site) -> None:
    """Filling again makes the same items, so that nothing is added."""
    before = items(filled)
    demo.fill(filled.running, lambda done, total: None)
    assert items(filled) == before
    assert filled.running.store.verify() == []


def test_the_minutes_of_a_game_go_on_through_its_thirds(filled: Site) -> None:
    """Minutes as the clock of the game page counts them: one to three digits, in order."""
    goals = ok(filled.as_(demo.SPECTATOR).get(f"/games/{demo.MARATHON}/sheet"))["timeline"]
    assert len(goals) == demo.SCORED
    assert [each["minute"] for each in goals] == sorted(each["minute"] for each in goals)
    assert {len(str(each["minute"])) for each in goals} == {1, 2, 3}
    assert {each["third"] for each in goals} == {1, 2, 3}


def test_a_goal_of_today_is_the_last_one_of_the_demo(filled: Site) -> None:
    """Undo removes the goal that was entered last."""
    sam = filled.as_(demo.SCOREKEEPER)
    game = ok(sam.get("/games/demo-game-027-02"))
    assert game["status"] == "live"
    goal = {"third": 1, "minute": 1, "conceding_team_id": game["team_ids"][0], "scoring_team_id": game["team_ids"][1]}
    made = ok(sam.post("/games/demo-game-027-02/goals", json=goal))
    assert ok(sam.post("/games/demo-game-027-02/goals/undo")) == made
