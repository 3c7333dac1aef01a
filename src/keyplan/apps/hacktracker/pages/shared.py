"""What hacktracker's pages have in common."""

from datetime import UTC, datetime
from typing import TypeAlias

from starlette.responses import Response

from keyplan.apps.hacktracker.access import MANAGERS, SCORERS
from keyplan.apps.hacktracker.demo import PEOPLE
from keyplan.apps.hacktracker.entities import PlayerName
from keyplan.apps.hacktracker.models import AccountChange, PlayerOut, TeamOut
from keyplan.apps.hacktracker.service import HackTracker
from keyplan.web import In, Pages, View, all_of

HackView: TypeAlias = View[HackTracker]

pages = Pages("keyplan.apps.hacktracker", title="HackTracker", people=PEOPLE)


@pages.on_every_page
def known(view: HackView) -> dict[str, object]:
    """What the menu depends on."""
    return {"admin": view.caller is not None and "admin" in view.caller.groups}


def in_utc(typed: datetime | None) -> datetime | None:
    """A time as a form sends it: without a zone, which is said beside the field to be UTC."""
    return typed.replace(tzinfo=UTC) if typed is not None and typed.tzinfo is None else typed


class Named(In):
    """One's name, which is asked for where the account has none: the others of a team see it."""

    first_name: PlayerName | None = None
    last_name: PlayerName | None = None

    def introduce(self, view: HackView) -> None:
        """Enter the name into the account, where one was typed."""
        names = self.model_dump(include={"first_name", "last_name"}, exclude_none=True)
        if names:
            view.service.me_change(AccountChange.model_validate(names), None)


def roster_of(view: HackView, team_id: str) -> list[PlayerOut]:
    """All players of a team, in the roster's order."""
    return all_of(lambda page: view.service.players(team_id, page))


def called(player: PlayerOut) -> str:
    """A player as an entry of a list to choose from."""
    number = "" if player.player_number is None else f"{player.player_number} "
    return f"{number}{player.first_name} {player.last_name}"


def show(view: HackView, template: str, /, *, team: TeamOut | None = None, **values: object) -> Response:
    """A page, with what all of a team's need to know: the team, and what the caller may do there."""
    values["team"] = team
    values["manages"] = team is not None and team.role in MANAGERS
    values["scores"] = team is not None and team.role in SCORERS
    values["owns"] = team is not None and team.role == "owner"
    return view.render(template, status=200, sends_files=False, **values)
