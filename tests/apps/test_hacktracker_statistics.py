"""hacktracker's statistics, compared with seasons that are counted in another way; and what outlives a team."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest

from keyplan.apps.hacktracker.entities import AtBat
from keyplan.apps.hacktracker.fields import Result
from keyplan.apps.hacktracker.service.statistics import statistics_of
from keyplan.engine import Engine
from keyplan.web import Caller, Missing
from keyplan.web.server.work import Worker
from tests.apps.hack_site import ANY, Team, league, made
from tests.web.answers import problem
from tests.web.site import Site

RESULTS: list[Result] = ["K", "BB", "HBP", "1B", "2B", "3B", "HR", "OUT", "SAC", "SF", "FC", "E"]

# What each result adds, as one would tick it off on paper: plate appearances, at-bats, hits, total bases, times on base
# for OBP, and what OBP is divided by.
SHEET = {
    "K": (1, 1, 0, 0, 0, 1),
    "BB": (1, 0, 0, 0, 1, 1),
    "HBP": (1, 0, 0, 0, 1, 1),
    "1B": (1, 1, 1, 1, 1, 1),
    "2B": (1, 1, 1, 2, 1, 1),
    "3B": (1, 1, 1, 3, 1, 1),
    "HR": (1, 1, 1, 4, 1, 1),
    "OUT": (1, 1, 0, 0, 0, 1),
    "SAC": (1, 0, 0, 0, 0, 0),
    "SF": (1, 0, 0, 0, 0, 1),
    "FC": (1, 1, 0, 0, 0, 1),
    "E": (1, 1, 0, 0, 0, 1),
}

# Eight batters over a season, 240 plate appearances in all: how often each result came up.
#         K  BB HBP 1B 2B 3B HR OUT SAC SF FC E
SEASON = {
    "a": (3, 4, 1, 7, 2, 0, 1, 9, 1, 1, 0, 1),
    "b": (0, 0, 0, 10, 5, 1, 4, 8, 0, 2, 0, 0),
    "c": (9, 0, 0, 0, 0, 0, 0, 21, 0, 0, 0, 0),
    "d": (0, 12, 8, 0, 0, 0, 0, 0, 6, 4, 0, 0),
    "e": (2, 3, 0, 8, 3, 2, 0, 7, 1, 1, 2, 1),
    "f": (5, 1, 1, 6, 0, 0, 5, 10, 0, 0, 1, 1),
    "g": (1, 2, 2, 9, 4, 1, 2, 5, 2, 1, 1, 0),
    "h": (4, 5, 0, 5, 1, 0, 0, 11, 0, 0, 2, 2),
}
# By hand: AB = PA - BB - HBP - SAC - SF; the averages to three places. None: nothing to divide by.
EXPECTED: dict[str, tuple[int, int, int, int, str | None, str | None, str | None, str | None]] = {
    #   PA  AB  H   TB   AVG      OBP      SLG      OPS
    "a": (30, 23, 10, 15, "0.435", "0.517", "0.652", "1.169"),
    "b": (30, 28, 20, 39, "0.714", "0.667", "1.393", "2.060"),
    "c": (30, 30, 0, 0, "0.000", "0.000", "0.000", "0.000"),
    "d": (30, 0, 0, 0, None, "0.833", None, None),
    "e": (30, 25, 13, 20, "0.520", "0.552", "0.800", "1.352"),
    "f": (30, 28, 11, 26, "0.393", "0.433", "0.929", "1.362"),
    "g": (30, 23, 16, 28, "0.696", "0.714", "1.217", "1.932"),
    "h": (30, 25, 6, 7, "0.240", "0.367", "0.280", "0.647"),
}
TOTAL = (240, 182, 76, 135, "0.418", "0.500", "0.742", "1.242")
# The same season by its labels: everybody, and batter e.
BY_LABEL = {
    "fall": (
        (120, 95, 36, 54, "0.379", "0.487", "0.568", "1.055"),
        (15, 12, 5, 7, "0.417", "0.533", "0.583", "1.117"),
    ),
    "spring": (
        (120, 87, 40, 81, "0.460", "0.513", "0.931", "1.444"),
        (15, 13, 8, 13, "0.615", "0.571", "1.000", "1.571"),
    ),
}
# And game by game, with the home runs first.
BY_GAME = (
    (0, 40, 25, 5, 5, "0.200", "0.500", "0.200", "0.700"),
    (0, 40, 26, 21, 21, "0.808", "0.875", "0.808", "1.683"),
    (2, 40, 35, 30, 45, "0.857", "0.875", "1.286", "2.161"),
    (9, 40, 35, 19, 60, "0.543", "0.600", "1.714", "2.314"),
    (1, 40, 35, 1, 4, "0.029", "0.029", "0.114", "0.143"),
    (0, 40, 26, 0, 0, "0.000", "0.000", "0.000", "0.000"),
)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with league(tmp_path) as served:
        yield served


def shown(statistics: dict[str, Any]) -> tuple[object, ...]:
    """A line as the tables above have it."""
    rates = [statistics[name] for name in ("avg", "obp", "slg", "ops")]
    counts = [statistics[name] for name in ("plate_appearances", "at_bats", "hits", "total_bases")]
    return (*counts, *(None if rate is None else f"{rate:.3f}" for rate in rates))


def on_paper(results: list[str]) -> tuple[object, ...]:
    """The same, counted result by result, with decimals instead of fractions."""
    pa, ab, hits, bases, on, of = (sum(SHEET[each][column] for each in results) for column in range(6))

    def rate(exact: Decimal | None) -> str | None:
        return None if exact is None else str(exact.quantize(Decimal("0.001"), ROUND_HALF_UP))

    avg = Decimal(hits) / ab if ab else None
    obp = Decimal(on) / of if of else None
    slg = Decimal(bases) / ab if ab else None
    ops = None if obp is None or slg is None else obp + slg
    return (pa, ab, hits, bases, rate(avg), rate(obp), rate(slg), rate(ops))


def at_bat(result: Result, number: int = 0, **fields: Any) -> AtBat:
    given = {"game_id": "g", "player_id": "p", "team_id": "t", "team_name": "T", "inning": 1, "outs": 0}
    return AtBat.model_validate({**given, "at_bat_id": f"{number:04}", "result": result, **fields})


@pytest.mark.parametrize("name", SEASON)
def test_a_season_by_hand(name: str) -> None:
    results = [result for result, times in zip(RESULTS, SEASON[name], strict=True) for _ in range(times)]
    assert on_paper(list(results)) == EXPECTED[name], "the tables above agree with each other"
    assert shown(statistics_of(at_bat(each) for each in results).model_dump()) == EXPECTED[name]


def test_any_at_bats() -> None:
    made_up = random.Random(1845)
    for _ in range(300):
        results = [made_up.choice(RESULTS) for _ in range(made_up.randrange(40))]
        assert shown(statistics_of(at_bat(each) for each in results).model_dump()) == on_paper(list(results))


def test_a_whole_season_over_http(site: Site) -> None:
    """240 plate appearances of eight batters in six games with two season labels, each scored by a request.

    Everybody's results come in the order of the table above, five in each game; a home run brings its batter in.
    """
    team = Team(site)
    batters = dict(zip(SEASON, [*team.ghosts, *(team.add(number) for number in range(20, 25))], strict=True))
    results = {
        name: [result for result, times in zip(RESULTS, counts, strict=True) for _ in range(times)]
        for name, counts in SEASON.items()
    }
    games = []
    for number in range(6):
        games.append(team.game(play=True, lineup=list(batters.values()), season_id=("fall", "spring")[number % 2]))
        for turn in range(5):
            for at, (name, player_id) in enumerate(batters.items()):
                result = results[name][number * 5 + turn]
                runs = int(result == "HR")
                team.bat(games[-1], player_id, result=result, inning=turn + 1, outs=at % 3, runs=runs, rbi=runs)
        team.move(games[-1], "FINAL")
    reader = team.as_("player")
    whole = made(reader.get(f"{team.path}/statistics"), 200)
    assert shown(whole["total"]) == TOTAL
    assert (whole["total"]["home_runs"], whole["total"]["rbi"], whole["total"]["runs"]) == (12, 12, 12)
    assert {line["player_id"]: shown(line["statistics"]) for line in whole["players"]} == {
        batters[name]: line for name, line in EXPECTED.items()
    }
    for name, player_id in batters.items():
        one = made(reader.get(f"{team.path}/players/{player_id}/statistics"), 200)
        assert shown(one["statistics"]) == EXPECTED[name]
    for season, (of_all, of_e) in BY_LABEL.items():
        found = made(reader.get(f"{team.path}/statistics", params={"season_id": season}), 200)
        assert shown(found["total"]) == of_all
        path = f"{team.path}/players/{batters['e']}/statistics"
        assert shown(made(reader.get(path, params={"season_id": season}), 200)["statistics"]) == of_e
    lines = made(reader.get(f"{team.path}/seasons"), 200)["seasons"]
    assert [(line["season_id"], shown(line["statistics"])) for line in lines] == [
        (season, of_all) for season, (of_all, _) in BY_LABEL.items()
    ]
    for game, (homers, *expected) in zip(games, BY_GAME, strict=True):
        box = made(reader.get(f"/games/{game}/box-score"), 200)
        assert shown(box["total"]) == tuple(expected)
        assert box["team_score"] == homers == sum(line["runs"] for line in box["innings"]) == box["total"]["runs"]
        assert [line["player_id"] for line in box["players"]] == list(batters.values())
    assert site.running.store.verify() == []


def test_a_spray_chart(site: Site) -> None:
    team = Team(site)
    game = team.game(play=True, season_id="fall")
    for x in (0.1, 0.5, 0.9):
        team.bat(game, hit_location={"x": x, "y": 1})
    team.bat(game, result="K")
    for path in (f"{team.path}/players/{team.ghosts[0]}", team.path, f"/games/{game}"):
        points = made(team.as_("player").get(f"{path}/spray-chart"), 200)["points"]
        assert [point["x"] for point in points] == [0.9, 0.5, 0.1]
    none = made(team.owner.get(f"{team.path}/spray-chart", params={"season_id": "spring"}), 200)
    assert none["points"] == []
    assert made(team.owner.get("/me/spray-chart"), 200)["points"] == []


def test_a_game_that_is_being_deleted_does_not_count(site: Site) -> None:
    """Its deletion was interrupted before its at-bats were deleted: nobody sees the game or the at-bats anymore."""
    team = Team(site)
    team.link(team.ghosts[0], "player")
    kept, gone = team.game(lineup=team.ghosts, season_id="fall"), team.game(lineup=team.ghosts, season_id="fall")
    for game in (kept, gone):
        team.move(game, "IN_PROGRESS")
        team.bat(game, hit_location={"x": 0.5, "y": 0.5})
        team.move(game, "FINAL")
    site.engine.update_item(
        TableName="hacktracker-dev",
        Key={"PK": {"S": f"GAME#{gone}"}, "SK": {"S": "METADATA"}},
        UpdateExpression="SET keyplanDeleting = :now",
        ExpressionAttributeValues={":now": {"S": "2026-05-01T18:00:00.000Z"}},
    )
    player = team.as_("player")
    for season in ({}, {"season_id": "fall"}):
        for path in (team.path, f"{team.path}/players/{team.ghosts[0]}", "/me"):
            found = made(player.get(f"{path}/statistics", params=season), 200)
            assert (found.get("total") or found["statistics"])["plate_appearances"] == 1, path
            points = made(player.get(f"{path}/spray-chart", params=season), 200)["points"]
            assert [point["game_id"] for point in points] == [kept], path
    (line,) = made(player.get(f"{team.path}/seasons"), 200)["seasons"]
    assert (line["season_id"], line["statistics"]["plate_appearances"]) == ("fall", 1)


# What outlives a team


def _items(site: Site) -> list[tuple[str, str]]:
    found: Any = site.engine.scan(TableName="hacktracker-dev")
    return sorted((item["PK"]["S"], item["SK"]["S"].partition("#")[0]) for item in found["Items"])


def test_statistics_survive_the_removal_of_a_team(tmp_path: Path) -> None:
    """The team is deleted, expired and cleaned up: the player's at-bats for it still exist."""
    moment = datetime.now(UTC)
    with Engine(clock=lambda: moment.timestamp()) as engine, league(tmp_path, engine) as site:
        team, other = Team(site), Team(site, "Second team")
        team.link(team.ghosts[0], "player")
        other.link(other.ghosts[0], "player")
        for each in (team, other):
            game = each.game(play=True, season_id="fall")
            for result in ("HR", "1B", "K"):
                each.bat(game, each.ghosts[0], result=result, hit_location={"x": 0.5, "y": 0.5})
            each.bat(game, each.ghosts[1], result="2B")
            each.game()
        # Once as a player who was unlinked since.
        team.link(team.ghosts[2], "stats")
        team.bat(made(team.owner.get(team.path), 200)["active_game_id"], team.ghosts[2], result="3B")
        team.owner.post(f"{team.path}/players/{team.ghosts[2]}/unlink")
        player, stats = team.as_("player"), team.as_("stats")
        before = [made(client.get("/me/statistics"), 200) for client in (player, stats)]
        assert [line["team_name"] for line in before[0]["teams"]] == ["Second team", "Sluggers"]
        team.owner.delete(team.path, headers=ANY)
        worker = Worker([site.running], engine)
        worker.run_once()
        assert made(player.get("/me/statistics"), 200) == before[0], "a deleted team's at-bats count"
        moment += timedelta(days=31)
        # DynamoDB removes expired items late, but nobody sees them anymore.
        assert site.running.store.run(site.running.design.team(team.id)) is not None
        with pytest.raises(Missing):
            site.running.service(Caller("owner"), now=moment).restore_team(team.id)
        engine.sweep_expired()
        assert site.running.store.run(site.running.design.team(team.id)) is None
        worker.run_once()
        problem(team.owner.post(f"{team.path}/restore"), 404, "not-found")
        assert [made(client.get("/me/statistics"), 200) for client in (player, stats)] == before
        assert len(made(player.get("/me/spray-chart"), 200)["points"]) == 6
        left = [sort for hash_key, sort in _items(site) if hash_key == f"TEAM#{team.id}"]
        assert sorted(left) == ["FORMER", "PLAYER", "PLAYER"], "the owner's record, the player's, and a former one"
        assert len([1 for hash_key, sort in _items(site) if sort == "ATBAT"]) == 9
        games = [hash_key for hash_key, sort in _items(site) if hash_key.startswith("GAME#") and sort == "METADATA"]
        assert len(games) == 2, "those of the other team"
        assert len(made(team.owner.get("/teams"), 200)["items"]) == 1
        season = made(player.get("/me/statistics", params={"season_id": "fall"}), 200)
        assert season["total"]["plate_appearances"] == 3, "games of a removed team have no label any more"
        assert site.running.store.verify() == []
        worker.run_once()
        assert site.running.store.verify() == []
