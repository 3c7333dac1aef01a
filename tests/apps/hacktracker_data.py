"""Teams with data: one with a roster, weekly games and at-bats, and many small ones."""

from datetime import UTC, datetime, timedelta

from keyplan.apps.hacktracker.design import HackTrackerDesign
from keyplan.apps.hacktracker.entities import (
    AtBat,
    FormerPlayer,
    Game,
    Invitation,
    Membership,
    Player,
    Team,
    User,
)
from keyplan.data import Store, create

START = datetime(2025, 11, 1, 19, 30, tzinfo=UTC)
CENTURY = timedelta(days=36500)
GAMES = 30
"""Of the first team, at scale 1; the last two have no date."""
TEAMS = 30
"""And as many users, at scale 1."""
PLAYERS = 12
AT_BATS = 10
"""Of the first game."""


def user(user_id: str) -> User:
    """A user who signed up."""
    return User(user_id=user_id, cognito_sub=user_id, email=f"{user_id}@example.com", first_name="Jo", last_name="Doe")


def new_team(store: Store[HackTrackerDesign], team: Team) -> Player:
    """The team, the owner's membership and the owner's player, in one transaction."""
    owner = team.owner_id
    player = Player(
        team_id=team.team_id,
        player_id=f"{team.team_id}-owner",
        first_name="Jo",
        last_name="Doe",
        is_ghost=False,
        user_id=owner,
        linked_at=START,
    )
    membership = Membership(user_id=owner, team_id=team.team_id, role="owner", joined_at=START)
    store.transact(create(team), create(membership), create(player))
    return player


def ghost(number: int, **fields: object) -> Player:
    """A ghost of the first team."""
    names = {"first_name": f"Ghost {number}", "last_name": "Roe", "player_number": number}
    return Player.model_validate({"team_id": "team-000", "player_id": f"player-{number:03}", **names, **fields})


def at_bat(game_id: str, at_bat_id: str, **fields: object) -> AtBat:
    """A single by the owner of the first team that scored a run."""
    player = {"player_id": "team-000-owner", "user_id": "user-000", "team_id": "team-000", "team_name": "Team 000"}
    play = {"result": "1B", "inning": 1, "outs": 0, "rbi": 1, "runs": 1, "game_date": START}
    return AtBat.model_validate({"game_id": game_id, "at_bat_id": at_bat_id, **player, **play, **fields})


def fill(store: Store[HackTrackerDesign], scale: int = 1) -> None:
    """All kinds of items; twice as many with a scale of 2."""
    _teams(store, scale)
    _games(store, scale)


def _teams(store: Store[HackTrackerDesign], scale: int) -> None:
    for number in range(TEAMS * scale):
        store.run(create(user(f"user-{number:03}")))
    for number in range(TEAMS * scale):
        # user-000 owns every other team; one team was deleted.
        owner = "user-000" if number % 2 == 0 else f"user-{number:03}"
        gone = {"deleted_at": START, "expires_at": START + CENTURY} if number == 1 else {}
        given = {"team_id": f"team-{number:03}", "name": f"Team {number:03}", "owner_id": owner, **gone}
        new_team(store, Team.model_validate(given))
    for number in range(1, TEAMS * scale):
        store.run(create(Membership(user_id=f"user-{number:03}", team_id="team-000", role="player", joined_at=START)))
    for number in range(1, PLAYERS):
        store.run(create(ghost(number)))
    store.run(create(FormerPlayer(team_id="team-000", user_id="user-000", player_id="player-003")))
    for number in range(3 * scale):
        invitation = Invitation(
            secret_hash=f"hash-{number:03}",
            team_id="team-000",
            player_id="player-004",
            invited_by="user-000",
            expires_at=START + CENTURY,
        )
        store.run(create(invitation))


def _games(store: Store[HackTrackerDesign], scale: int) -> None:
    dated = GAMES * scale - 2
    for number in range(GAMES * scale):
        # The later a game is made, the earlier it is played.
        start = START + timedelta(weeks=dated - number) if number < dated else None
        season = "fall" if number % 2 == 0 else "spring"
        game_id = f"game-{number:03}"
        store.run(create(Game(game_id=game_id, team_id="team-000", scheduled_start=start, season_id=season)))
        for batter in range(AT_BATS if number == 0 else 1):
            store.run(create(at_bat(game_id, f"at-bat-{number:03}-{batter:03}")))
        # Before the ghost was unlinked, it was user-000.
        former = {"player_id": "player-003", "user_id": "user-000" if number % 2 == 0 else None}
        store.run(create(at_bat(game_id, f"at-bat-{number:03}-former", runs=0, **former)))
