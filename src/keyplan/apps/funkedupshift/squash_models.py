"""What goes into and out of the squash section."""

import datetime
import re
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field, StringConstraints

from keyplan.apps.funkedupshift.entities import SquashMatch, SquashPlayer
from keyplan.design import Id
from keyplan.web import In, Out, Time


def _as_written(value: object) -> object:
    """Numbers are no dates, though pydantic would take them for times."""
    if isinstance(value, str) and not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        raise ValueError("a date is written YYYY-MM-DD")
    return value


Day: TypeAlias = Annotated[datetime.date, BeforeValidator(_as_written)]
"""A date in an address. In JSON, dates are read strictly anyway."""
PlayerName: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Email: TypeAlias = Annotated[str, StringConstraints(max_length=254, pattern=r"^[^@\s]+@[^@\s]+$")]
Team: TypeAlias = Literal["A", "B"]
Games: TypeAlias = Annotated[int, Field(ge=0, le=3)]


class NewPlayer(In):
    """A player, perhaps linked to a user by the subject of their token."""

    name: PlayerName
    email: Email | None = None
    user_id: Id | None = None


class PlayerChange(In):
    """What is to be changed of a player; what is not named stays."""

    name: PlayerName | None = None
    email: Email | None = None
    user_id: Id | None = None


class PlayerOut(Out):
    """A player. E-mail address and user are for those who may change them."""

    player_id: str
    name: str
    email: str | None
    user_id: str | None
    match_count: int
    created_at: Time
    updated_at: Time
    version: int

    @classmethod
    def of(cls, player: SquashPlayer, *, private: bool) -> "PlayerOut":
        return cls(
            player_id=player.id,
            name=player.name,
            email=player.email if private else None,
            user_id=player.user_id if private else None,
            match_count=player.match_count,
            created_at=player.created_at,
            updated_at=player.updated_at,
            version=player.version,
        )


class Played(In):
    """A match among four different players, and how it ended."""

    date: datetime.date
    team_a_player1_id: Id
    team_a_player2_id: Id
    team_b_player1_id: Id
    team_b_player2_id: Id
    team_a_games: Games
    team_b_games: Games


class NewMatch(Played):
    """A match among four different players. The winning team has 3 games, the other 0, 1 or 2."""

    winning_team: Team


class MatchChange(In):
    """What is to be changed of a match; what is not named stays."""

    date: datetime.date | None = None
    team_a_player1_id: Id | None = None
    team_a_player2_id: Id | None = None
    team_b_player1_id: Id | None = None
    team_b_player2_id: Id | None = None
    winning_team: Team | None = None
    team_a_games: Games | None = None
    team_b_games: Games | None = None


class MatchOut(Out):
    """A match."""

    match_id: str
    date: datetime.date
    team_a_player1_id: str
    team_a_player2_id: str
    team_b_player1_id: str
    team_b_player2_id: str
    winning_team: Team
    team_a_games: int
    team_b_games: int
    created_at: Time
    updated_at: Time
    version: int

    @classmethod
    def of(cls, match: SquashMatch) -> "MatchOut":
        return cls.model_validate(match)


class Standing(Out):
    """What a player did in the matches of a range."""

    player_id: str
    name: str
    matches: int = 0
    wins: int = 0
    games_won: int = 0
    games_lost: int = 0


class Standings(Out):
    """The squash table: most wins first, then the better games."""

    date_from: datetime.date | None
    date_to: datetime.date | None
    matches: int
    rows: list[Standing]
