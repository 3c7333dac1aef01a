"""What is stored for the items of hacktracker, and what changes together with them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from keyplan.apps.hacktracker.design import HackTrackerDesign
from keyplan.apps.hacktracker.entities import AtBat, Game, Invitation, Membership, Player, Team, User
from keyplan.data import ConditionFailed, InUse, ParentMissing, Store, UniqueViolation, check, create, delete, update
from keyplan.design import InvalidValue, ref
from keyplan.engine import Engine
from tests.apps.hacktracker_data import START, at_bat, ghost, new_team, user

NOW = datetime(2025, 10, 25, 12, 0, tzinfo=UTC)
STAMP = {"S": "2025-10-25T12:00:00.000Z"}


@pytest.fixture
def store() -> Iterator[Store[HackTrackerDesign]]:
    with Engine() as engine:
        design = HackTrackerDesign({"environment": "test"})
        made = Store(design, engine, clock=lambda: NOW, secret=b"cursors of tests")
        made.create_tables()
        yield made


@pytest.fixture
def team(store: Store[HackTrackerDesign]) -> Team:
    """A team of user-000 with its owner's player."""
    store.run(create(user("user-000")))
    made = Team(team_id="team-000", name="Seattle Sluggers", owner_id="user-000")
    new_team(store, made)
    return made


def items(store: Store[HackTrackerDesign]) -> dict[tuple[str, str], dict[str, Any]]:
    """All that is stored, by key."""
    client: Any = store.client
    found = client.scan(TableName="hacktracker-test")["Items"]
    return {(item["PK"]["S"], item["SK"]["S"]): item for item in found}


def _game(store: Store[HackTrackerDesign], **fields: object) -> Game:
    return store.run(create(Game.model_validate({"game_id": "g", "team_id": "team-000", **fields})))


def _owned(store: Store[HackTrackerDesign]) -> int:
    found = store.run(store.design.user("user-000"))
    assert found is not None
    return found.owned_team_count


def test_a_user_is_stored_as_the_document_has_it(store: Store[HackTrackerDesign]) -> None:
    store.run(create(User(user_id="1-fg", cognito_sub="1-fg", email="john.doe@example.com", first_name="John")))
    assert items(store)["USER#1-fg", "METADATA"] == {
        "PK": {"S": "USER#1-fg"},
        "SK": {"S": "METADATA"},
        "userId": {"S": "1-fg"},
        "email": {"S": "john.doe@example.com"},
        "firstName": {"S": "John"},
        "ownedTeamCount": {"N": "0"},
        "createdAt": STAMP,
        "updatedAt": STAMP,
        "version": {"N": "1"},
        "GSI1PK": {"S": "COGNITO#1-fg"},
        "GSI1SK": {"S": "USER"},
        "GSI2PK": {"S": "ENTITY#USER"},
        "GSI2SK": {"S": "METADATA#1-fg"},
    }


def test_an_anonymised_user_is_not_found_by_their_token(store: Store[HackTrackerDesign]) -> None:
    made = store.run(create(user("ann")))
    made.cognito_sub = made.email = made.first_name = made.last_name = None
    store.run(update(made, where=lambda each: each.owned_team_count == 0))
    assert store.run(store.design.user_by_cognito_sub("ann")).items == []
    assert store.run(store.design.user("ann")) is not None


def test_a_team_is_made_in_one_transaction(store: Store[HackTrackerDesign], team: Team) -> None:
    found = items(store)
    assert sorted(found) == [
        ("TEAM#team-000", "MEMBER#user-000"),
        ("TEAM#team-000", "METADATA"),
        ("TEAM#team-000", "PLAYER#team-000-owner"),
        ("USER#user-000", "METADATA"),
        ("USER#user-000", "TEAM#team-000"),
    ]
    assert found["TEAM#team-000", "METADATA"]["team_type"] == {"S": "MANAGED"}
    assert found["TEAM#team-000", "PLAYER#team-000-owner"]["GSI4PK"] == {"S": "USER#user-000"}
    assert _owned(store) == 1


def test_a_deleted_team_does_not_hold_its_owner_back(store: Store[HackTrackerDesign], team: Team) -> None:
    team.deleted_at, team.expires_at = NOW, NOW + timedelta(days=30)
    store.run(update(team))
    assert items(store)["TEAM#team-000", "METADATA"]["expiresAt"] == {"N": str(int(NOW.timestamp()) + 30 * 86400)}
    assert _owned(store) == 0
    assert store.run(store.design.teams()).items == []
    team.deleted_at = team.expires_at = None
    store.run(update(team, where=lambda each: each.deleted_at == NOW))
    assert _owned(store) == 1


def test_an_owner_stays_until_the_team_is_gone(store: Store[HackTrackerDesign], team: Team) -> None:
    owner = store.run(store.design.user("user-000"))
    assert owner is not None
    with pytest.raises(InUse):
        store.run(delete(owner))
    team.deleted_at, team.expires_at = NOW, NOW + timedelta(days=30)
    store.run(update(team))
    store.run(delete(owner))
    # It can't be restored if its owner no longer exists.
    team.deleted_at = team.expires_at = None
    with pytest.raises(ParentMissing):
        store.run(update(team))


def test_a_team_that_changes_hands_is_counted_for_its_new_owner(store: Store[HackTrackerDesign], team: Team) -> None:
    store.run(create(user("ben")))
    team.owner_id = "ben"
    store.run(update(team))
    ben = store.run(store.design.user("ben"))
    assert ben is not None
    assert (_owned(store), ben.owned_team_count) == (0, 1)


def test_the_member_under_the_team_follows_the_membership(store: Store[HackTrackerDesign], team: Team) -> None:
    made = store.run(create(Membership(user_id="ben", team_id="team-000", role="player")))
    made.role = "scorekeeper"
    store.run(update(made))
    assert [member.role for member in store.run(store.design.members("team-000")).items] == ["scorekeeper", "owner"]
    store.run(delete(made))
    assert [member.user_id for member in store.run(store.design.members("team-000")).items] == ["user-000"]
    with pytest.raises(ParentMissing):
        store.run(create(Membership(user_id="ben", team_id="no-team", role="player")))


def test_a_number_is_taken_once_in_a_team(store: Store[HackTrackerDesign], team: Team) -> None:
    seven = store.run(create(ghost(7)))
    with pytest.raises(UniqueViolation):
        store.run(create(ghost(8, player_number=7)))
    seven.player_number = None
    store.run(update(seven))
    store.run(create(ghost(8, player_number=7)))
    assert ("TEAM#team-000", "NUMBER#07") in items(store)
    found = store.run(store.design.player_by_number("team-000", 7))
    assert found is not None
    assert found.player_id == "player-008"


def test_a_roster_can_be_kept_small(store: Store[HackTrackerDesign], team: Team) -> None:
    room = check(ref(Team, team_id="team-000"), lambda each: each.player_count < 3)
    for number in (1, 2):
        store.transact(create(ghost(number)), room)
    with pytest.raises(ConditionFailed):
        store.transact(create(ghost(3)), room)
    assert len(store.run(store.design.roster("team-000")).items) == 3


def test_a_linked_player_is_found_by_user(store: Store[HackTrackerDesign], team: Team) -> None:
    made = store.run(create(ghost(7)))
    assert "GSI4PK" not in items(store)["TEAM#team-000", "PLAYER#player-007"]
    made.user_id, made.is_ghost, made.linked_at = "ben", False, NOW
    store.run(update(made))
    assert [player.player_id for player in store.run(store.design.user_players("ben")).items] == ["player-007"]
    made.user_id, made.is_ghost, made.linked_at = None, True, None
    store.run(update(made))
    assert store.run(store.design.user_players("ben")).items == []


def test_a_game_stands_in_the_schedule_by_its_start(store: Store[HackTrackerDesign], team: Team) -> None:
    made = _game(store)

    def sort_key() -> object:
        return items(store)["GAME#g", "METADATA"]["GSI3SK"]["S"]

    assert sort_key() == "GAME#9999#g"
    made.scheduled_start = START
    store.run(update(made))
    assert sort_key() == "GAME#2025-11-01T19:30:00.000Z#g"
    made.scheduled_start = None
    store.run(update(made))
    assert sort_key() == "GAME#9999#g"


def test_a_game_is_stored_as_the_document_has_it(store: Store[HackTrackerDesign], team: Team) -> None:
    _game(store, scheduled_start=START, opponent_name="Tacoma")
    assert items(store)["GAME#g", "METADATA"] == {
        "PK": {"S": "GAME#g"},
        "SK": {"S": "METADATA"},
        "gameId": {"S": "g"},
        "teamId": {"S": "team-000"},
        "status": {"S": "SCHEDULED"},
        "scheduledStart": {"S": "2025-11-01T19:30:00.000Z"},
        "opponentName": {"S": "Tacoma"},
        "teamScore": {"N": "0"},
        "opponentScore": {"N": "0"},
        "lineup": {"L": []},
        "createdAt": STAMP,
        "updatedAt": STAMP,
        "version": {"N": "1"},
        "GSI2PK": {"S": "ENTITY#GAME"},
        "GSI2SK": {"S": "METADATA#g"},
        "GSI3PK": {"S": "TEAM#team-000"},
        "GSI3SK": {"S": "GAME#2025-11-01T19:30:00.000Z#g"},
    }


def test_score_and_at_bats_follow_every_change(store: Store[HackTrackerDesign], team: Team) -> None:
    _game(store)
    store.run(create(ghost(7)))

    def numbers() -> tuple[int, int, int]:
        game, seven = store.run(store.design.game("g")), store.run(store.design.player("team-000", "player-007"))
        owner = store.run(store.design.player("team-000", "team-000-owner"))
        assert game is not None
        assert seven is not None
        assert owner is not None
        return game.team_score, owner.at_bat_count, seven.at_bat_count

    made = store.run(create(at_bat("g", "1", runs=2, hit_location={"x": 0.25, "y": 1})))
    store.run(create(at_bat("g", "2", runs=0, player_id="player-007", user_id=None)))
    assert numbers() == (2, 1, 1)
    made.runs, made.player_id = 3, "player-007"
    store.run(update(made))
    assert numbers() == (3, 0, 2)
    found = store.run(store.design.at_bat("g", "1"))
    assert found is not None
    assert found.hit_location is not None
    assert (found.hit_location.x, found.hit_location.y) == (0.25, 1.0)
    store.run(delete(made))
    assert numbers() == (0, 0, 1)


def test_a_player_with_at_bats_stays(store: Store[HackTrackerDesign], team: Team) -> None:
    _game(store)
    store.run(create(ghost(7)))
    batted = store.run(create(at_bat("g", "1", player_id="player-007", user_id=None)))

    def player() -> Player:
        found = store.run(store.design.player("team-000", "player-007"))
        assert found is not None
        return found

    with pytest.raises(InUse):
        store.run(delete(player()))
    store.run(delete(batted))
    store.run(delete(player()))
    assert ("TEAM#team-000", "NUMBER#07") not in items(store)


def test_a_deleted_game_takes_its_at_bats(store: Store[HackTrackerDesign], team: Team) -> None:
    made = _game(store)
    _game(store, game_id="g2")
    store.run(create(ghost(7)))
    for number in range(30):
        batter = {"player_id": "player-007", "user_id": None} if number % 2 else {}
        store.run(create(at_bat("g", f"{number:02}", **batter)))
    store.run(create(at_bat("g2", "other")))
    store.run(delete(made))
    assert [key for key in items(store) if key[0] == "GAME#g"] == []
    other = store.run(store.design.game("g2"))
    assert other is not None
    assert other.team_score == 1
    assert [each.at_bat_id for each in store.run(store.design.player_at_bats("team-000-owner")).items] == ["other"]
    assert [player.at_bat_count for player in store.run(store.design.roster("team-000")).items] == [0, 1]
    assert store.verify() == []


def test_a_removed_team_leaves_at_bats_and_linked_players(store: Store[HackTrackerDesign], team: Team) -> None:
    for number in (7, 8):
        store.run(create(ghost(number)))
    made = _game(store, scheduled_start=START)
    for number in range(30):
        batter = {"player_id": "player-007", "user_id": None} if number % 2 else {}
        store.run(create(at_bat("g", f"{number:02}", **batter)))
    found = store.run(store.design.team("team-000"))
    assert found is not None
    assert found.player_count == 3
    # Deleted, and then removed by its time to live.
    found.deleted_at, found.expires_at = NOW, NOW + timedelta(days=30)
    store.run(update(found))
    client: Any = store.client
    client.delete_item(TableName="hacktracker-test", Key={"PK": {"S": "TEAM#team-000"}, "SK": {"S": "METADATA"}})
    _remove_what_belonged_to_it(store, made)
    at_bats = [("GAME#g", f"ATBAT#{number:02}") for number in range(30)]
    assert sorted(items(store)) == [*at_bats, ("TEAM#team-000", "PLAYER#team-000-owner"), ("USER#user-000", "METADATA")]
    (player,) = store.run(store.design.user_players("user-000")).items
    assert len(store.run(store.design.user_at_bats(player.player_id, "user-000")).items) == 15
    assert store.verify() == []


def _remove_what_belonged_to_it(store: Store[HackTrackerDesign], game: Game) -> None:
    design = store.design
    for member in store.run(design.members("team-000")).items:
        membership = store.run(design.membership(member.user_id, "team-000"))
        assert membership is not None
        store.run(delete(membership))
    assert store.run(design.keep_at_bats(game.game_id, NOW.isoformat())) == 30
    for found in store.run(design.team_games("team-000")).items:
        store.run(delete(found))
    for player in store.run(design.roster("team-000")).items:
        if player.is_ghost:
            store.run(delete(player))
        else:
            player.removed_at, player.player_number = NOW, None
            store.run(update(player))


def test_an_invitation_has_a_time_to_live(store: Store[HackTrackerDesign], team: Team) -> None:
    store.run(
        create(Invitation(secret_hash="h", team_id="team-000", role="player", invited_by="user-000", expires_at=NOW))
    )
    stored = items(store)["INVITE#h", "METADATA"]
    assert stored["expiresAt"] == {"N": str(int(NOW.timestamp()))}
    client: Any = store.client
    described = client.describe_time_to_live(TableName="hacktracker-test")["TimeToLiveDescription"]
    assert described["AttributeName"] == "expiresAt"


@pytest.mark.parametrize("inning", [0, 100])
def test_an_inning_has_the_limits_of_the_api(store: Store[HackTrackerDesign], team: Team, inning: int) -> None:
    _game(store)
    with pytest.raises(InvalidValue) as refused:
        store.run(create(at_bat("g", "a", inning=inning)))
    assert refused.value.field == "inning"
    stored = store.run(create(at_bat("g", "a", inning=99)))
    stored.inning = inning
    with pytest.raises(InvalidValue):
        store.run(update(stored))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("positions", ["P", "P"]),
        ("positions", ["P", "C", "1B", "2B"]),
        ("player_number", 100),
        ("first_name", "x" * 31),
    ],
)
def test_a_player_has_the_limits_of_the_api(
    store: Store[HackTrackerDesign], team: Team, field: str, value: object
) -> None:
    with pytest.raises(InvalidValue) as refused:
        store.run(create(ghost(5, **{field: value})))
    assert refused.value.field == field


def test_an_at_bat_over_its_limits_is_still_read_and_changed_elsewhere(
    store: Store[HackTrackerDesign], team: Team
) -> None:
    """The item was written when an inning had no upper limit."""
    _game(store)
    store.run(create(at_bat("g", "a")))
    client: Any = store.client
    client.update_item(
        TableName="hacktracker-test",
        Key={"PK": {"S": "GAME#g"}, "SK": {"S": "ATBAT#a"}},
        UpdateExpression="SET inning = :i",
        ExpressionAttributeValues={":i": {"N": "120"}},
    )
    found = store.run(store.design.at_bat("g", "a"))
    assert isinstance(found, AtBat)
    assert found.inning == 120
    found.rbi = 0
    assert store.run(update(found)).rbi == 0
    assert [each.kind for each in store.verify()] == ["over-limit"]
