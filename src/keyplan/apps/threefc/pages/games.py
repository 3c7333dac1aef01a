"""A game, as everybody follows it and as a scorekeeper scores it."""

from typing import Annotated

from starlette.responses import Response

from keyplan.apps.threefc.fields import GoalDetails, ItemId
from keyplan.apps.threefc.models import NewGoal, Sheet
from keyplan.apps.threefc.pages.shared import FootballView, Place, board_of, only, pages, place_of, with_names
from keyplan.apps.threefc.service import Football
from keyplan.design import about
from keyplan.web import Confirm, In, form_of, not_modified

GAME = "/games/{game_id}"
_LONGEST = 180
"""Minutes after which a live game no longer sets the clock: somebody forgot to finish it."""


class Tapped(GoalDetails, In):
    """A goal as it is tapped: who conceded it, and who scored it. The same team twice is an own goal."""

    scored_by: Annotated[ItemId, about("Scoring team")]

    def goal(self) -> NewGoal:
        """The body that the service takes."""
        own = self.scored_by == self.conceding_team_id
        return NewGoal.from_fields(self, scoring_team_id=None if own else self.scored_by, own_goal=own)


def _tag(sheet: Sheet, place: Place) -> str:
    """The entity tag of what somebody in this role sees of a game."""
    return f'"{sheet.version}-{place.league.role}"'


def _minute(view: FootballView, sheet: Sheet) -> int:
    """The current minute: counted from when the game went live, and no earlier than the last goal's."""
    passed = int((view.service.now - sheet.changed_at).total_seconds() // 60)
    last = sheet.last_goal.minute if sheet.last_goal else 0
    return max(passed, last) if passed <= _LONGEST else last


@pages.get(GAME)
def game(view: FootballView, game_id: ItemId) -> Response:
    board = board_of(view.service, game_id)
    sheet = board.sheet
    third = sheet.last_goal.third if sheet.last_goal else 1
    view.form.asking(Tapped).starting_from({"third": third, "minute": _minute(view, sheet)})
    session = view.service.session(sheet.game.session_id)
    place = place_of(view, sheet.game.season_id)
    return view.render("game.html", **vars(board), place=place, session=session, tag=_tag(sheet, place))


@pages.get(f"{GAME}/live")
def live(view: FootballView, game_id: ItemId) -> Response:
    """The part of a game's page that changes; 304 if the page shows it already."""
    sheet = view.service.sheet(game_id)
    place = Place(view.service.league(sheet.game.league_id))
    headers = {"ETag": _tag(sheet, place)}
    if not_modified(view.request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    response = view.render("live.html", **vars(with_names(view.service, sheet)), place=place)
    response.headers.update(headers)
    return response


pages.form(
    f"{GAME}/status",
    Football.change_status,
    to=GAME,
    again=game,
    confirm=Confirm(
        "End the game {name}?",
        "End game",
        "Nothing can be scored any more. Only an admin of the league can reopen the game.",
        about=board_of,
        shows="game_now.html",
        when=lambda moved: moved.status == "finished",
    ),
)


@pages.get(f"{GAME}/edit")
def edit_game(view: FootballView, game_id: ItemId) -> Response:
    found = view.service.game(game_id)
    place = place_of(view, found.season_id)
    only(place.admin)
    view.form.asking(form_of(Football.change_game)).starting_from(found)
    return view.render("edit_game.html", place=place, game=found)


pages.form(f"{GAME}/edit", Football.change_game, to=GAME, notice="Game saved")
pages.delete(
    f"{GAME}/delete",
    Football.delete_game,
    "game",
    "This also deletes its roster and its goals.",
    one=board_of,
    shows="game_now.html",
    to="/sessions/{session_id}",
    again=edit_game,
)
