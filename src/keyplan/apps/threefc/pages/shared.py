"""What 3FC's pages have in common."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from keyplan.apps.threefc.demo import ORGANISER, SCOREKEEPER, SPECTATOR
from keyplan.apps.threefc.models import LeagueOut, RosterOut, SeasonOut, Sheet, TeamOut
from keyplan.apps.threefc.service import Football
from keyplan.web import Forbidden, Pages, Person, View

FootballView: TypeAlias = View[Football]

pages = Pages(
    "keyplan.apps.threefc",
    title="3FC",
    people=[
        Person(ORGANISER, "Olga Brandt", about="organizes the leagues of the demo"),
        Person(SCOREKEEPER, "Sam Okafor", about="keeps score on the touchline"),
        Person(SPECTATOR, "Vera Lind", about="plays, and follows the results"),
        Person("nils", "Nils Berg", about="isn't in a league yet"),
    ],
)


@dataclass(frozen=True)
class Place:
    """Where a page is: its league and season, and the caller's role there."""

    league: LeagueOut
    season: SeasonOut | None = None

    @property
    def admin(self) -> bool:
        return self.league.role == "admin"

    @property
    def scores(self) -> bool:
        """Whether the caller may log goals."""
        return self.league.role in ("admin", "scorekeeper")


def of_league(service: Football, league: LeagueOut) -> Place:
    """The place of what is in a league."""
    return Place(league)


def of_season(service: Football, season: SeasonOut) -> Place:
    """The place of what is in a season."""
    return Place(service.league(season.league_id), season)


def place_of(view: FootballView, season_id: str) -> Place:
    """The league and season of something in a season."""
    return of_season(view.service, view.service.season(season_id))


def admins(service: Football, place: Place) -> None:
    """Refuse a page whose form only admins may send, though everybody may see what it shows."""
    only(place.admin)


OF_LEAGUE: dict[str, Any] = {"league": Football.league, "place": of_league}
OF_SEASON: dict[str, Any] = {"season": Football.season, "place": of_season}
"""What pages of a league and of a season show."""


@dataclass(frozen=True)
class Board:
    """A game as it is now: its sheet, the names on it, and the roster in the order of the players' names."""

    sheet: Sheet
    teams: dict[str, TeamOut]
    players: dict[str, str]
    roster: list[RosterOut]

    @property
    def name(self) -> str:
        """The game by its teams."""
        return " – ".join(self.teams[each].name for each in self.sheet.game.team_ids if each in self.teams)

    @property
    def session_id(self) -> str:
        return self.sheet.game.session_id

    @property
    def version(self) -> int:
        return self.sheet.game.version


def board_of(service: Football, game_id: str) -> Board:
    """A game as it is now."""
    return with_names(service, service.sheet(game_id))


def with_names(service: Football, sheet: Sheet) -> Board:
    """A game with the names on its sheet."""
    line_up = service.line_up(sheet.game.game_id)
    names = line_up.players
    roster = sorted(sheet.roster, key=lambda entry: names.get(entry.player_id, entry.player_id).casefold())
    return Board(sheet, {team.team_id: team for team in line_up.teams}, names, roster)


def only(allowed: bool) -> None:
    """Refuse a page whose form only some may send, though everybody may see what it shows."""
    if not allowed:
        raise Forbidden
