"""What 3FC's creates and changes write, item by item, in the document's keys; and what they refuse."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest

from keyplan.apps.threefc.design import ThreeFC
from keyplan.apps.threefc.entities import Acl, Game, Goal, League, Player, Roster, Season, Session, Team
from keyplan.data import (
    AlreadyExists,
    FloorReached,
    InUse,
    ParentMissing,
    StaleVersion,
    Store,
    UniqueViolation,
    create,
    delete,
    move,
    update,
)
from keyplan.design import Entity, InvalidValue, get
from tests.apps.support import World, world
from tests.apps.threefc_data import game, goal, league


def _start(store: Store[ThreeFC]) -> None:
    made, grant = league("north")
    store.transact(create(made), create(grant))
    store.run(create(Season(season_id="season-00", league_id="north", name="Spring")))
    for team_id in ("red", "blue", "gold", "green"):
        team = Team(team_id=team_id, season_id="season-00", league_id="north", name=team_id, colour=team_id)
        store.run(create(team))
    session = {"session_id": "session-00", "season_id": "season-00", "league_id": "north"}
    store.run(create(Session.model_validate({**session, "session_date": date(2026, 5, 1)})))


@pytest.fixture
def app() -> Iterator[World[ThreeFC]]:
    with world(ThreeFC({"env": "test"}), _start) as made:
        yield made


@pytest.fixture
def store(app: World[ThreeFC]) -> Store[ThreeFC]:
    return app.stores["in-process"]


def _items(store: Store[ThreeFC]) -> dict[tuple[str, str], dict[str, Any]]:
    client: Any = store.client
    found = client.scan(TableName="3fc-test-app")["Items"]
    return {(item["pk"]["S"], item["sk"]["S"]): item for item in found}


def _new(store: Store[ThreeFC], before: dict[tuple[str, str], dict[str, Any]]) -> set[tuple[str, str]]:
    return _items(store).keys() - before.keys()


WRITES = [
    (League(league_id="south", name="South", slug="south"), {("LEAGUE#south", "METADATA")}),
    (
        Season(season_id="autumn", league_id="north", name="Autumn"),
        {("LEAGUE#north", "SEASON#autumn"), ("SEASON#autumn", "METADATA")},
    ),
    (
        Team(team_id="black", season_id="season-00", league_id="north", name="Black", colour="black"),
        {("SEASON#season-00", "TEAM#black")},
    ),
    (
        Session(session_id="s2", season_id="season-00", league_id="north", session_date=date(2026, 5, 8)),
        {("SEASON#season-00", "SESSION#s2"), ("SESSION#s2", "METADATA")},
    ),
    (game("g1"), {("GAME#g1", "METADATA"), ("SESSION#session-00", "GAME#2026-05-01T18:00:00.000Z#g1")}),
    (
        Acl(league_id="north", user_id="sam", role="scorekeeper"),
        {("LEAGUE#north", "ACL#USER#sam"), ("USER#sam", "LEAGUE#north")},
    ),
    (
        Player(player_id="p1", league_id="north", display_name="Pat"),
        {("PLAYER#p1", "PROFILE"), ("LEAGUE#north", "PLAYER#p1")},
    ),
]


@pytest.mark.parametrize(("entity", "keys"), WRITES, ids=lambda value: type(value).__name__)
def test_a_create_is_one_transaction(app: World[ThreeFC], entity: Any, keys: set[tuple[str, str]]) -> None:
    store = app.stores["in-process"]
    before = _items(store)
    with app.recorders["in-process"].recording() as sent:
        store.run(create(entity.model_copy()))
    assert len(sent) == 1
    assert _new(store, before) == keys
    with pytest.raises(AlreadyExists):
        store.run(create(entity.model_copy()))


@pytest.mark.parametrize(
    ("entity", "keys"),
    [
        (goal("e1", 1, 7), {("GAME#game-00", "GOAL#1#0007#e1")}),
        (
            Roster(game_id="game-00", team_id="red", player_id="p1"),
            {("GAME#game-00", "ROSTER#red#p1"), ("GAME#game-00", "ROSTERPLAYER#p1")},
        ),
    ],
    ids=["Goal", "Roster"],
)
def test_what_belongs_to_a_game(store: Store[ThreeFC], entity: Any, keys: set[tuple[str, str]]) -> None:
    with pytest.raises(ParentMissing):
        store.run(create(entity.model_copy()))
    store.run(create(game("game-00")))
    before = _items(store)
    store.run(create(entity.model_copy()))
    assert _new(store, before) == keys


def test_the_envelope(store: Store[ThreeFC]) -> None:
    store.run(create(game("game-00")))
    item = _items(store)["GAME#game-00", "METADATA"]
    envelope = {"pk", "sk", "entityType", "createdAt", "updatedAt", "data"}
    assert item.keys() == envelope | {"version", "status", "playerCount", "goalCount"}
    assert item["entityType"] == {"S": "GAME"}
    assert item["status"] == {"S": "live"}
    data = json.loads(item["data"]["S"])
    assert data.keys() == {"gameId", "sessionId", "seasonId", "leagueId", "gameStartTs", "status", "teamIds"}
    assert data["teamIds"] == ["red", "blue", "gold"]


def test_a_league_is_not_overwritten(store: Store[ThreeFC]) -> None:
    made, grant = league("north", admin="mallory")
    with pytest.raises(AlreadyExists):
        store.transact(create(made), create(grant))
    assert store.run(store.design.grant("north", "mallory")) is None


def test_the_last_admin_stays(store: Store[ThreeFC]) -> None:
    olga = store.run(store.design.grant("north", "olga"))
    assert olga is not None
    olga.role = "viewer"
    with pytest.raises(FloorReached):
        store.run(update(olga))
    store.run(create(Acl(league_id="north", user_id="otto", role="admin")))
    store.run(update(olga))
    assert [grant.role for grant in store.run(store.design.my_leagues("olga")).items] == ["viewer"]
    north = store.run(store.design.league("north"))
    assert north is not None
    assert (north.admin_count, north.season_count, north.version) == (1, 1, 1)


def test_a_player_is_on_one_team_of_a_game(store: Store[ThreeFC]) -> None:
    store.run(create(game("game-00")))
    entry = store.run(create(Roster(game_id="game-00", team_id="red", player_id="p1")))
    with pytest.raises(UniqueViolation):
        store.run(create(Roster(game_id="game-00", team_id="blue", player_id="p1")))
    store.run(move(entry, team_id="blue"))
    found = store.run(store.design.roster_entry("game-00", "p1"))
    assert found is not None
    assert found.team_id == "blue"
    assert [each.team_id for each in store.run(store.design.roster("game-00")).items] == ["blue"]


def test_a_changed_start_replaces_the_index_item(store: Store[ThreeFC]) -> None:
    made = store.run(create(game("game-00")))
    made.game_start_ts = datetime(2026, 5, 1, 19, 30, tzinfo=UTC)
    store.run(update(made))
    (listed,) = store.run(store.design.games("session-00")).items
    assert (listed.game_start_ts, listed.version) == (made.game_start_ts, 2)


def test_a_changed_minute_replaces_the_goal(store: Store[ThreeFC]) -> None:
    store.run(create(game("game-00")))
    first = store.run(create(goal("e1", 1, 9)))
    store.run(create(goal("e2", 1, 10)))
    store.run(move(first, minute=11))
    assert [(each.minute, each.event_id) for each in store.run(store.design.timeline("game-00")).items] == [
        (10, "e2"),
        (11, "e1"),
    ]


def test_nothing_is_deleted_while_in_use(store: Store[ThreeFC]) -> None:
    made = store.run(create(game("game-00")))
    north = store.run(get(League, league_id="north"))
    season = store.run(get(Season, league_id="north", season_id="season-00"))
    session = store.run(get(Session, season_id="season-00", session_id="session-00"))
    red = store.run(get(Team, season_id="season-00", team_id="red"))
    for used in (north, season, session, red):
        assert used is not None
        with pytest.raises(InUse):
            store.run(delete(used))
    store.run(delete(made))
    for unused in (red, session):
        assert unused is not None
        store.run(delete(unused))
    assert ("SESSION#session-00", "METADATA") not in _items(store)


def test_a_game_needs_three_different_teams_of_its_season(store: Store[ThreeFC]) -> None:
    with pytest.raises(ParentMissing):
        store.run(create(game("g1", team_ids=("red", "blue", "pink"))))
    with pytest.raises(InvalidValue, match="three different teams"):
        store.run(create(game("g1", team_ids=("red", "blue", "red"))))


@pytest.mark.parametrize(
    ("entity", "field"),
    [
        (League(name="", slug="west"), "name"),
        (League(name="West", slug="West End"), "slug"),
        (League(league_id="a/b", name="West", slug="west"), "league_id"),
        (Team(season_id="season-00", league_id="north", name="x" * 81, colour="red"), "name"),
        (Team(season_id="season-00", league_id="north", name="x", colour="no color"), "colour"),
        (Player(league_id="north", display_name="Pat", user_id="a#b"), "user_id"),
        (game("g1", game_start_ts=datetime(2026, 5, 1, 18, 0)), "game_start_ts"),  # noqa: DTZ001 - without a time zone
        (goal("event-00", 1, 1000), "minute"),
        (goal("event-00", 1, 5, assist_ids=("a", "b", "c", "d")), "assist_ids"),
    ],
)
def test_limits_hold_on_every_write(store: Store[ThreeFC], entity: Entity, field: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        store.run(create(entity))
    assert refused.value.field == field


def test_a_change_is_held_to_the_limits_too(store: Store[ThreeFC]) -> None:
    team = store.run(store.design.team("season-00", "red"))
    assert team is not None
    team.colour = "no color"
    with pytest.raises(InvalidValue, match="colour"):
        store.run(update(team))


def test_two_scorekeepers_do_not_undo_each_other(store: Store[ThreeFC]) -> None:
    store.run(create(game("game-00")))
    one, other = store.run(store.design.game("game-00")), store.run(store.design.game("game-00"))
    assert one is not None
    assert other is not None
    one.status = "finished"
    store.run(update(one))
    other.team_ids = ("red", "blue", "green")
    with pytest.raises(StaleVersion):
        store.run(update(other))


def test_event_ids_are_ulids_in_order_of_entry() -> None:
    made = [Goal(game_id="g", third=1, minute=1, conceding_team_id="red").event_id for _ in range(50)]
    assert made == sorted(made)
    assert all(len(each) == 26 and each.isalnum() and each == each.upper() for each in made)


def test_stored_games_are_read_back(store: Store[ThreeFC]) -> None:
    made = store.run(create(game("game-00")))
    assert isinstance(made, Game)
    found = store.run(store.design.game("game-00"))
    assert found is not None
    assert found.model_dump(exclude={"created_at", "updated_at"}) == made.model_dump(
        exclude={"created_at", "updated_at"}
    )


def test_a_goal_names_players_of_the_team(store: Store[ThreeFC]) -> None:
    store.run(create(game("game-00")))
    for player_id, team_id in (("p1", "red"), ("p2", "blue"), ("p3", "blue"), ("p4", "blue")):
        store.run(create(Roster(game_id="game-00", team_id=team_id, player_id=player_id)))
    with pytest.raises(ParentMissing):
        store.run(create(goal("e1", 1, 9, scorer_id="p1")))
    with pytest.raises(ParentMissing):
        store.run(create(goal("e1", 1, 9, scorer_id="p2", assist_ids=("p1",))))
    scored = store.run(create(goal("e1", 1, 9, scorer_id="p2", assist_ids=("p3",))))
    store.run(create(goal("e2", 1, 10, scoring_team_id=None, own_goal=True, scorer_id="p1")))
    assert _goal_counts(store) == {"p1": 1, "p2": 1, "p3": 1, "p4": 0}
    scored.assist_ids = ("p4",)
    store.run(update(scored))
    store.run(move(scored, minute=11))
    assert _goal_counts(store) == {"p1": 1, "p2": 1, "p3": 0, "p4": 1}
    assert store.verify() == []


def _goal_counts(store: Store[ThreeFC]) -> dict[str, int]:
    return {entry.player_id: entry.goal_count for entry in store.run(store.design.roster("game-00")).items}


def test_a_player_with_a_goal_stays_on_the_team(store: Store[ThreeFC]) -> None:
    store.run(create(game("game-00")))
    store.run(create(Roster(game_id="game-00", team_id="blue", player_id="p2")))
    scored = store.run(create(goal("e1", 1, 9, scorer_id="p2")))
    entry = store.run(store.design.roster_entry("game-00", "p2"))
    assert entry is not None
    with pytest.raises(InUse):
        store.run(delete(entry))
    with pytest.raises(InUse):
        store.run(move(entry, team_id="red"))
    store.run(delete(scored))
    free = store.run(store.design.roster_entry("game-00", "p2"))
    assert free is not None
    store.run(move(free, team_id="red"))
    assert store.verify() == []


def test_a_deleted_game_leaves_nothing(store: Store[ThreeFC]) -> None:
    before = _items(store).keys()
    made = store.run(create(game("game-00")))
    store.run(create(Roster(game_id="game-00", team_id="blue", player_id="p1")))
    store.run(create(goal("e1", 1, 9, scorer_id="p1")))
    store.run(delete(made))
    assert _items(store).keys() == before
    assert store.verify() == []


def test_a_deleted_game_leaves_the_others(store: Store[ThreeFC]) -> None:
    for game_id in ("game-00", "game-000"):
        store.run(create(game(game_id)))
        for number in range(20):
            store.run(create(Roster(game_id=game_id, team_id="red", player_id=f"p{number}")))
            store.run(create(goal(f"e{number:02}", 1 + number % 3, number, game_id=game_id)))
    made = store.run(store.design.game("game-00"))
    assert made is not None
    store.run(delete(made))
    assert [each.game_id for each in store.run(store.design.games("session-00")).items] == ["game-000"]
    assert len(store.run(store.design.game_sheet("game-000")).items) == 41
    assert store.run(store.design.game_sheet("game-00")).items == []
    red = store.run(store.design.team("season-00", "red"))
    assert red is not None
    assert red.game_count == 1
    assert store.verify() == []


def test_a_season_is_deleted_with_its_teams_and_after_its_sessions(store: Store[ThreeFC]) -> None:
    store.run(create(Season(season_id="season-01", league_id="north", name="Autumn")))
    team = Team(team_id="red", season_id="season-01", league_id="north", name="Red", colour="red")
    store.run(create(team))
    season = store.run(store.design.season("north", "season-00"))
    session = store.run(store.design.session("season-00", "session-00"))
    assert season is not None
    assert session is not None
    with pytest.raises(InUse):
        store.run(delete(season))
    assert len(store.run(store.design.teams("season-00")).items) == 4
    store.run(delete(session))
    store.run(delete(season))
    assert [key for key in _items(store) if "season-00" in "".join(key)] == []
    assert [each.team_id for each in store.run(store.design.teams("season-01")).items] == ["red"]
    north = store.run(store.design.league("north"))
    assert north is not None
    assert north.season_count == 1
    assert store.verify() == []


def test_a_deleted_league_leaves_nothing(store: Store[ThreeFC]) -> None:
    made, grant = league("south")
    store.transact(create(made), create(grant))
    store.run(create(Player(player_id="p1", league_id="south", display_name="Pat")))
    store.run(delete(made))
    assert [key for key in _items(store) if "south" in key[0] or key[0] == "PLAYER#p1"] == []
    assert [grant.league_id for grant in store.run(store.design.my_leagues("olga")).items] == ["north"]
    assert store.verify() == []
