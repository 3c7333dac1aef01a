"""What goes into and out of hacktracker's API, beside what its fields declare."""

from typing import Annotated, TypeAlias

from pydantic import Field, StringConstraints

from keyplan.apps.hacktracker import fields
from keyplan.design import UserId, Versioned, about
from keyplan.web import Change, In, Out

Secret: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{20,100}$")]


# Accounts


class AccountChange(Change[fields.AccountFields]):
    """Changes to your account. Fields that are left out stay as they are."""


class Account(fields.AccountStored, Out):
    """An account, as its owner and admins see it."""


# Teams


class NewTeam(fields.TeamFields, In):
    """A new team. A PERSONAL team has one player, its owner, and no other members."""


class TeamChange(Change[fields.TeamFields]):
    """Changes to a team. Fields that are left out stay as they are."""


class TeamHead(fields.TeamListed, Out):
    """A team in a list."""


class MyTeam(fields.TeamListed, fields.InRole, Out):
    """One of your teams, with your role in it."""


class DeletedTeam(fields.TeamIdentified, fields.TeamDeletion, Out):
    """A deleted team that you own and can still restore."""


class TeamOut(fields.TeamListed, fields.TeamFields, fields.InRole, fields.Tracked, Out):
    """A team, with your role in it."""


class NewOwner(In):
    """The active member who becomes the owner of the team."""

    user_id: UserId


# Members


class MemberOut(fields.MemberFields, Out):
    """A member of a team. Only the member and those who manage the team see the id."""

    user_id: str | None
    name: str


class MembershipOut(Versioned, MemberOut):
    """A membership, with its version."""


class RoleChange(In):
    """A role to give to a member."""

    role: fields.GivenRole


class InvitationOut(fields.InvitationExpiry, Out):
    """An invitation to share. The secret is shown only once."""

    secret: str
    link: Annotated[str, Field(description="The page where it is accepted.")]


class Accepted(In):
    """An invitation that you received."""

    secret: Secret


class Offer(fields.InvitationFields, fields.ForTeam, Out):
    """What an invitation offers."""

    role: Annotated[fields.GivenRole, Field(description="The role that you get if you aren't a member yet.")]
    player_name: str | None


# Players


class NewPlayer(fields.PlayerFields, In):
    """A new player, who has no account yet."""


class PlayerChange(Change[fields.PlayerFields]):
    """Changes to a player. Fields that are left out stay as they are."""


class PlayerOut(fields.PlayerStored, Out):
    """A player on a roster."""

    is_me: bool


# Games


class NewGame(fields.GameFields, In):
    """A new game. Its line-up is set later."""


class GameChange(Change[fields.GameEditable]):
    """Changes to a game. Fields that are left out stay as they are."""


class StatusMove(In):
    """The new status of a game."""

    status: fields.GameStatus


class Lineup(In):
    """Players in batting order."""

    lineup: fields.BattingOrder


class GameOut(fields.GameStored, Out):
    """A game."""


# At-bats


class NewAtBat(fields.AtBatPlay, In):
    """What happened at bat."""

    player_id: Annotated[fields.ItemId | None, about("At bat", "The batter. Optional in a PERSONAL team.")] = None


class AtBatChange(Change[fields.AtBatFields]):
    """Changes to an at-bat. Fields that are left out stay as they are."""


class AtBatOut(fields.AtBatStored, Out):
    """An at-bat."""


# Statistics


class Statistics(Out):
    """Batting statistics. Averages have three decimals; they are null where there is nothing to divide by."""

    games: int
    plate_appearances: int
    at_bats: Annotated[int, Field(description="All but BB, HBP, SAC and SF.")]
    hits: int
    singles: int
    doubles: int
    triples: int
    home_runs: int
    total_bases: int
    walks: int
    hit_by_pitch: int
    strikeouts: int
    sacrifices: int
    sacrifice_flies: int
    fielders_choices: int
    errors: Annotated[int, Field(description="Reached base by an error.")]
    rbi: int
    runs: Annotated[int, Field(description="Runs scored on the plays.")]
    avg: Annotated[float | None, Field(description="H / AB")]
    obp: Annotated[float | None, Field(description="(H + BB + HBP) / (AB + BB + HBP + SF)")]
    slg: Annotated[float | None, Field(description="Total bases / AB")]
    ops: Annotated[float | None, Field(description="OBP + SLG")]


class PlayerLine(fields.PlayerIdentified, fields.PlayerNumbered, Out):
    """A player's line in a table of statistics."""

    name: str
    statistics: Statistics


class PlayerStatistics(fields.OfTeam, fields.PlayerIdentified, fields.OfSeason, Out):
    """The statistics of a player."""

    statistics: Statistics


class TeamStatistics(fields.OfTeam, fields.OfSeason, Out):
    """The statistics of a team, and of each player who batted."""

    total: Statistics
    players: list[PlayerLine]


class SeasonLine(fields.OfSeason, Out):
    """The statistics of a team in one season; null for games without a season."""

    statistics: Statistics


class Seasons(fields.OfTeam, Out):
    """The statistics of a team, season by season."""

    seasons: list[SeasonLine]


class InningLine(fields.InInning, Out):
    """The runs of an inning."""


class BoxScore(fields.GameScored, Out):
    """The statistics of a game: the batters in order, and the runs of each inning."""

    innings: list[InningLine]
    total: Statistics
    players: list[PlayerLine]


class TeamLine(fields.ForTeam, Out):
    """What somebody batted for one team."""

    statistics: Statistics


class UserStatistics(fields.OfSeason, Out):
    """What somebody batted for all their teams, including removed ones."""

    total: Statistics
    teams: list[TeamLine]


class Point(fields.AtBatIdentified, fields.OfBatter, fields.WithResult, fields.AtBatDated, Out):
    """Where a ball went: x from left to right, y from home plate outwards, both from 0 to 1."""

    x: float
    y: float


class SprayChart(Out):
    """The points of a spray chart, the latest first; at most 1000."""

    points: list[Point]
