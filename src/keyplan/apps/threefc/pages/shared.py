"""What 3FC's pages have in common."""

from dataclasses import dataclass
from typing import TypeAlias

from keyplan.apps.threefc.demo import ORGANISER, SCOREKEEPER, SPECTATOR
from keyplan.apps.threefc.models import LeagueOut, RosterOut, SeasonOut
from keyplan.apps.threefc.results import LineUp, Sheet
from keyplan.apps.threefc.service import Football
from keyplan.web import Forbidden, Pages, Person, View

FootballView: TypeAlias = View[Football]

pages = Pages(
    "keyplan.apps.threefc",
    title="3FC",
    people=[
        Person(ORGANISER, "Olga Brandt", about="organises the leagues of the demo"),
        Person(SCOREKEEPER, "Sam Okafor", about="keeps the score, on the touchline"),
        Person(SPECTATOR, "Vera Lind", about="plays, and looks at the results"),
        Person("nils", "Nils Berg", about="is in no league yet"),
    ],
)

LISTED = 50


@dataclass(frozen=True)
class Place:
    """Where a page is: the way up, and what the caller is there."""

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
    """The way up from something in a season."""
    season = view.service.season(season_id)
    return Place(view.service.league(season.league_id), season)


def by_name(sheet: Sheet, line_up: LineUp) -> list[RosterOut]:
    """The roster as people look for each other in it."""
    return sorted(sheet.roster, key=lambda entry: line_up.players.get(entry.player_id, entry.player_id).casefold())


def only(allowed: bool) -> None:
    """For pages that show no more than others do, but lead to what only some may do."""
    if not allowed:
        raise Forbidden
