"""What hacktracker's pages have in common."""

from typing import Any, TypeAlias

from starlette.responses import Response

from keyplan.apps.hacktracker.demo import PEOPLE
from keyplan.apps.hacktracker.fields import AccountNames, ItemId
from keyplan.apps.hacktracker.models import AccountChange, GameOut, PlayerOut, TeamOut
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


def roster_of(service: HackTracker, team_id: ItemId) -> list[PlayerOut]:
    """All players of a team, in the order of the roster."""
    return all_of(lambda page: service.players(team_id, page))


def player_label(player: PlayerOut) -> str:
    """A player as an option in a list."""
    number = "" if player.player_number is None else f"{player.player_number} "
    return f"{number}{player.first_name} {player.last_name}"


def manages(service: HackTracker, team: TeamOut) -> bool:
    """Whether the caller manages the team."""
    return team.role in MANAGERS


def scores(service: HackTracker, team: TeamOut) -> bool:
    """Whether the caller may score the team's games."""
    return team.role in SCORERS


def owns(service: HackTracker, team: TeamOut) -> bool:
    """Whether the caller owns the team."""
    return team.role == "owner"


def of_game(service: HackTracker, game: GameOut) -> TeamOut:
    """The team of a game."""
    return service.team(game.team_id)


OF_TEAM: dict[str, Any] = {"team": HackTracker.team, "manages": manages, "scores": scores, "owns": owns}
"""What every page of a team shows: the team, and what the caller may do in it."""
OF_GAME: dict[str, Any] = {**OF_TEAM, "team": of_game, "game": HackTracker.game}
"""The same for every page of a game."""


def show(view: HackView, template: str, /, *, team: TeamOut, **values: Any) -> Response:  # noqa: ANN401 - anything
    """A page of a team, with what the caller may do in it."""
    may = {each.__name__: each(view.service, team) for each in (manages, scores, owns)}
    return view.render(template, team=team, **may, **values)
