"""Who wins a game and who leads a season: 32 games computed by hand, as functions and over HTTP."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest

from keyplan.apps.threefc.entities import Game, Goal, Roster, Session, Team
from keyplan.apps.threefc.service.scores import Score, Standing, outcome, season_table
from keyplan.data import create, update
from tests.apps.threefc_site import Club, club, ok
from tests.web.answers import pointers, problem

# The teams, the goals, and who is at the top: one team wins, several draw.
# "AB": A conceded, B scored; "A": A's own goal.
GAMES = [
    ("ABC", "AB AB CB", "B"),  # B conceded nothing
    ("ABC", "", "ABC"),
    ("ABC", "AB BA", "C"),  # nobody scored against C
    ("ABC", "AB BA CA", "A"),  # one each conceded; A scored two
    ("ABC", "AB BC CA", "ABC"),  # all alike
    ("ABC", "A B C", "ABC"),  # own goals are conceded, not scored
    ("ABC", "A B CA", "A"),
    ("ABC", "A A B", "C"),
    ("ABC", "AB", "B"),  # C conceded none either, but B scored
    ("ABC", "A", "BC"),
    ("ABD", "DA DB", "AB"),
    ("ABD", "DA DA DB", "A"),
    ("ABD", "AD BD", "D"),
    ("ABD", "AD BD DA DB", "AB"),  # D scored as many, and conceded two
    ("ABD", "AD BD D D D", "AB"),
    ("ABD", "AD BD DA", "D"),
    ("ABD", "AD BA DA", "A"),
    ("ABD", "A B D DA DB", "AB"),
    ("ACD", "CA", "A"),
    ("ACD", "CA DA", "A"),
    ("ACD", "CD DC", "A"),
    ("ACD", "AC AC AD CD DC", "C"),
    ("ACD", "AC AD CD DC", "CD"),
    ("ACD", "A C D", "ACD"),
    ("ACD", "A C DC", "C"),
    ("BCD", "BC BD", "CD"),
    ("BCD", "BC BD CB DB", "CD"),
    ("BCD", "CB DB", "B"),
    ("BCD", "C D", "B"),
    ("BCD", "B C D BC", "C"),
    ("BCD", "B B CD", "D"),
    ("BCD", "BD CD DC DC", "C"),
]
# Team: played, won, drawn, lost, conceded, scored, points. E is in the season, and has not played yet.
TABLE = {
    "A": (25, 7, 8, 10, 24, 16, 29),
    "C": (24, 6, 8, 10, 18, 13, 26),
    "B": (25, 4, 8, 13, 21, 15, 20),
    "D": (22, 3, 4, 15, 27, 19, 13),
    "E": (0, 0, 0, 0, 0, 0, 0),
}
COLUMNS = ("played", "won", "drawn", "lost", "conceded", "scored", "points")


def goals_of(text: str, game_id: str = "g") -> list[Goal]:
    return [
        Goal(
            game_id=game_id,
            third=1,
            minute=number,
            conceding_team_id=each[0],
            scoring_team_id=each[1:] or None,
            own_goal=len(each) == 1,
        )
        for number, each in enumerate(text.split())
    ]


@pytest.mark.parametrize(("teams", "goals", "top"), GAMES)
def test_who_wins(teams: str, goals: str, top: str) -> None:
    found = outcome(teams, goals_of(goals))
    assert sorted(found.top) == list(top)
    assert found.winner == (top if len(top) == 1 else None)


def test_the_season_table() -> None:
    outcomes = [outcome(teams, goals_of(goals)) for teams, goals, _ in GAMES]
    rows = season_table({team: f"Team {team}" for team in "EDCBA"}, outcomes)
    assert {row.team_id: tuple(getattr(row, name) for name in COLUMNS) for row in rows} == TABLE
    assert [row.team_id for row in rows] == list(TABLE)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Standing("x", "X", won=1, conceded=9), Standing("a", "A", drawn=2, conceded=1)),
        (Standing("x", "X", drawn=3, conceded=4), Standing("a", "A", won=1, conceded=5, scored=9)),
        (Standing("x", "X", won=1, conceded=4, scored=7), Standing("a", "A", won=1, conceded=4, scored=6)),
        (Standing("x", "alpha", won=1), Standing("a", "Beta", won=1)),
        (Standing("a", "Same", won=1), Standing("b", "Same", won=1)),
    ],
)
def test_the_order_of_the_table(better: Standing, worse: Standing) -> None:
    assert sorted([worse, better], key=lambda row: row.rank) == [better, worse]


def test_equal_teams_stand_as_the_game_names_them() -> None:
    assert outcome("CAB", []).scores == (Score("C", 0, 0), Score("A", 0, 0), Score("B", 0, 0))


# Over HTTP


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Club]:
    """The season `spring` with all these games, in sessions of eight."""
    with club(tmp_path_factory.mktemp("threefc")) as started:
        _play(started)
        yield started


def _play(site: Club) -> None:
    store = site.site.running.store
    place: dict[str, Any] = {"season_id": "spring", "league_id": "north"}
    for team_id in (*"ABCD", "E"):
        store.run(create(Team(team_id=team_id, name=f"Team {team_id}", colour="red", **place)))
    for team_id in ("red", "blue", "gold", "green"):
        site.olga.delete(f"/seasons/spring/teams/{team_id}", headers={"If-Match": "*"})
    for number, (teams, goals, _) in enumerate(GAMES):
        session_id = f"session-{number // 8}"
        if number % 8 == 0:
            store.run(create(Session(session_id=session_id, session_date=date(2026, 5, 1), **place)))
        start = datetime(2026, 5, 1, 10, number, tzinfo=UTC)
        game = Game.model_validate(
            {
                "game_id": f"game-{number}",
                "session_id": session_id,
                "game_start_ts": start,
                "team_ids": tuple(teams),
                "status": "live",
                **place,
            }
        )
        store.run(create(game))
        for goal in goals_of(goals, game.game_id):
            store.run(create(goal))
        game.status = "finished"
        store.run(update(game))
    # These do not count: a game that is live, and one that has not begun.
    for game_id, status in (("now", "live"), ("later", "scheduled")):
        later = {"game_id": game_id, "session_id": "session-0", "team_ids": ("A", "B", "C"), "status": status}
        store.run(create(Game.model_validate({**later, "game_start_ts": datetime(2026, 6, 1, tzinfo=UTC), **place})))
    for goal in goals_of("AB AB AB", "now"):
        store.run(create(goal))


def test_the_season_table_over_http(site: Club) -> None:
    table = ok(site.vera.get("/seasons/spring/table"))
    assert (table["season_id"], table["game_count"]) == ("spring", len(GAMES))
    assert {row["team_id"]: tuple(row[name] for name in COLUMNS) for row in table["rows"]} == TABLE
    assert [row["name"] for row in table["rows"]] == [f"Team {team}" for team in TABLE]


def test_each_result_over_http(site: Club) -> None:
    for number, (_, _, top) in enumerate(GAMES):
        result = ok(site.vera.get(f"/games/game-{number}/result"))
        assert result["winner_id"] == (top if len(top) == 1 else None)
        assert sorted(result["drawn_ids"]) == ([] if len(top) == 1 else list(top))
        assert result["status"] == "finished"


def test_a_reopened_game_does_not_count(site: Club) -> None:
    ok(site.olga.put("/games/game-0/status", json={"status": "live"}))
    table = ok(site.vera.get("/seasons/spring/table"))
    rows = {row["team_id"]: row for row in table["rows"]}
    assert (table["game_count"], rows["B"]["won"], rows["B"]["points"]) == (len(GAMES) - 1, 3, 17)
    ok(site.olga.put("/games/game-0/status", json={"status": "finished"}))
    assert ok(site.vera.get("/seasons/spring/table"))["game_count"] == len(GAMES)


def test_scorers(site: Club) -> None:
    """Ordered by goals, then assists, then name; own goals are shown but don't count."""
    store = site.site.running.store
    scored = [
        # scorer, assists, own goal
        ("p1", ("p2", "p3"), False),
        ("p1", (), False),
        ("p4", ("p2",), False),
        ("p4", ("p1",), False),
        ("p2", (), True),
        ("p0", (), False),
        (None, ("p3",), False),
    ]
    game = store.run(site.site.running.design.game("game-1"))
    for player_id in ("p0", "p1", "p2", "p3", "p4"):
        store.run(create(Roster(game_id="game-1", team_id="A", player_id=player_id)))
    for number, (scorer, assists, own) in enumerate(scored):
        teams = {"conceding_team_id": "A" if own else "B", "scoring_team_id": None if own else "A"}
        made = {"scorer_id": scorer, "assist_ids": assists, "own_goal": own, "third": 1, "minute": number, **teams}
        store.run(create(Goal.model_validate({"game_id": "game-1", **made})))
    assert game.status == "finished"
    expected = [
        # player, goals, assists, own goals
        ("p1", 2, 1, 0),
        ("p4", 2, 0, 0),
        ("p0", 1, 0, 0),
        ("p2", 0, 2, 1),
        ("p3", 0, 2, 0),
    ]
    scorers = ok(site.vera.get("/seasons/spring/scorers"))
    shown = [(each["player_id"], each["goals"], each["assists"], each["own_goals"]) for each in scorers["items"]]
    assert shown == expected
    assert scorers["items"][0]["display_name"] == "Player 1"
    first = ok(site.vera.get("/seasons/spring/scorers?limit=3"))
    rest = ok(site.vera.get("/seasons/spring/scorers", params={"limit": 3, "cursor": first["next"]}))
    assert [each["player_id"] for each in first["items"] + rest["items"]] == [each[0] for each in expected]
    assert rest["next"] is None
    answer = site.vera.get("/seasons/spring/sessions", params={"cursor": first["next"]})
    assert pointers(problem(answer, 400, "bad-cursor")) == ["?cursor"]
