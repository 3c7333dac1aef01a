"""What 3FC's pages have in common."""

from dataclasses import dataclass
from typing import TypeAlias

from keyplan.apps.threefc.demo import ORGANISER, SCOREKEEPER, SPECTATOR
from keyplan.apps.threefc.models import LeagueOut, LineUp, RosterOut, SeasonOut, Sheet, TeamOut
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


def place_of(view: FootballView, season_id: str) -> Place:
    """The league and season of something in a season."""
    season = view.service.season(season_id)
    return Place(view.service.league(season.league_id), season)


@dataclass(frozen=True)
class Board:
    """A game's sheet, and the names on it."""

    sheet: Sheet
    line_up: LineUp

    @property
    def players(self) -> dict[str, str]:
        return self.line_up.players

    @property
    def teams(self) -> dict[str, TeamOut]:
        return {team.team_id: team for team in self.line_up.teams}

    @property
    def name(self) -> str:
        """The game by its teams."""
        teams = self.teams
        return " – ".join(teams[each].name if each in teams else each for each in self.sheet.game.team_ids)

    @property
    def version(self) -> int:
        return self.sheet.game.version

    @property
    def roster(self) -> list[RosterOut]:
        """The roster in the order of the players' names."""
        return sorted(
            self.sheet.roster, key=lambda entry: self.players.get(entry.player_id, entry.player_id).casefold()
        )

    def values(self) -> dict[str, object]:
        """What templates get."""
        return {"sheet": self.sheet, "teams": self.teams, "players": self.players, "roster": self.roster}


def board_of(service: Football, game_id: str) -> Board:
    """A game as it is now."""
    return Board(service.sheet(game_id), service.line_up(game_id))


def only(allowed: bool) -> None:
    """Refuse a page whose form only some may send, though everybody may see what it shows."""
    if not allowed:
        raise Forbidden
