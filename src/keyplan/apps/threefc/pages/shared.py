"""What 3FC's pages have in common."""

from dataclasses import dataclass
from typing import TypeAlias

from keyplan.apps.threefc.demo import ORGANISER, SCOREKEEPER, SPECTATOR
from keyplan.apps.threefc.models import LeagueOut, LineUp, RosterOut, SeasonOut, Sheet
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


def by_name(sheet: Sheet, line_up: LineUp) -> list[RosterOut]:
    """The roster in the order of the players' names."""
    return sorted(sheet.roster, key=lambda entry: line_up.players.get(entry.player_id, entry.player_id).casefold())


def only(allowed: bool) -> None:
    """Refuse a page whose form only some may send, though everybody may see what it shows."""
    if not allowed:
        raise Forbidden
