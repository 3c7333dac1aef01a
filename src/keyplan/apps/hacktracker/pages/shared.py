"""What hacktracker's pages have in common."""

from typing import TypeAlias

from starlette.responses import Response

from keyplan.apps.hacktracker.demo import PEOPLE
from keyplan.apps.hacktracker.fields import AccountNames
from keyplan.apps.hacktracker.models import AccountChange, PlayerOut, TeamOut
from keyplan.apps.hacktracker.service import HackTracker
from keyplan.apps.hacktracker.service.access import MANAGERS, SCORERS
from keyplan.design import CHECKED_ON_WRITE
from keyplan.web import In, Pages, View, all_of

HackView: TypeAlias = View[HackTracker]

pages = Pages("keyplan.apps.hacktracker", title="HackTracker", people=PEOPLE)


@pages.on_every_page
def menu(view: HackView) -> dict[str, object]:
    """What the menu depends on."""
    return {"admin": view.caller is not None and "admin" in view.caller.groups}


class Named(AccountNames, In):
    """The caller's name, which the other members of a team see. It is asked for if the account has none."""

    def save_name(self, view: HackView) -> None:
        """Put the name into the account, if one was typed."""
        names = self.model_dump(include={*AccountNames.model_fields}, exclude_none=True)
        if names:
            view.service.me_change(AccountChange.model_validate(names, context=CHECKED_ON_WRITE), None)


def roster_of(view: HackView, team_id: str) -> list[PlayerOut]:
    """All players of a team, in the order of the roster."""
    return all_of(lambda page: view.service.players(team_id, page))


def player_label(player: PlayerOut) -> str:
    """A player as an option in a list."""
    number = "" if player.player_number is None else f"{player.player_number} "
    return f"{number}{player.first_name} {player.last_name}"


def show(view: HackView, template: str, /, *, team: TeamOut | None = None, **values: object) -> Response:
    """A page, with the team and what the caller may do in it."""
    values["team"] = team
    values["manages"] = team is not None and team.role in MANAGERS
    values["scores"] = team is not None and team.role in SCORERS
    values["owns"] = team is not None and team.role == "owner"
    return view.render(template, status=200, sends_files=False, **values)
