"""A game, as everybody follows it and as a scorekeeper keeps it."""

from datetime import UTC

from pydantic import NaiveDatetime
from starlette.responses import Response

from keyplan.apps.threefc.entities import Status
from keyplan.apps.threefc.models import GameChange, ItemId, SessionOut, StatusChange
from keyplan.apps.threefc.pages.shared import FootballView, Place, by_name, only, pages, place_of
from keyplan.apps.threefc.results import Sheet
from keyplan.web import In, OfVersion, not_modified

_LONGEST = 180
"""Minutes in which a game is taken to be under way; later, its clock is not believed."""


class NewStatus(In):
    """Where a game goes on."""

    status: Status


class NewStart(OfVersion):
    """When a game starts; a browser says no time zone."""

    game_start_ts: NaiveDatetime


def _tag(sheet: Sheet, place: Place) -> str:
    """The state of what a page shows of a game, to somebody in this role."""
    return f'"{sheet.version}-{place.league.role}"'


def _minute(view: FootballView, sheet: Sheet) -> int:
    """What the minute is now: counted from when the game went live, and no less than that of the last goal."""
    passed = int((view.service.now - sheet.changed_at).total_seconds() // 60)
    last = sheet.last_goal.minute if sheet.last_goal else 0
    return max(passed, last) if passed <= _LONGEST else last


def _shown(
    view: FootballView, template: str, sheet: Sheet, place: Place, session: SessionOut | None = None
) -> Response:
    line_up = view.service.line_up(sheet.game.game_id)
    return view.render(
        template,
        sheet=sheet,
        teams={team.team_id: team for team in line_up.teams},
        players=line_up.players,
        roster=by_name(sheet, line_up),
        place=place,
        session=session,
        tag=_tag(sheet, place),
    )


@pages.get("/games/{game_id}")
def game(view: FootballView, game_id: ItemId) -> Response:
    sheet = view.service.sheet(game_id)
    third = sheet.last_goal.third if sheet.last_goal else 1
    view.form.starting_from({"third": third, "minute": _minute(view, sheet)})
    session = view.service.session(sheet.game.session_id)
    return _shown(view, "game.html", sheet, place_of(view, sheet.game.season_id), session)


@pages.get("/games/{game_id}/live")
def live(view: FootballView, game_id: ItemId) -> Response:
    """The part of a game's page that changes, for who has an older one."""
    sheet = view.service.sheet(game_id)
    place = Place(view.service.league(sheet.game.league_id))
    headers = {"ETag": _tag(sheet, place)}
    if not_modified(view.request.headers.get("if-none-match"), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    response = _shown(view, "live.html", sheet, place)
    response.headers.update(headers)
    return response


@pages.post("/games/{game_id}/status", again=game)
def change_status(view: FootballView, game_id: ItemId, new: NewStatus) -> Response:
    view.service.change_status(game_id, StatusChange(status=new.status), None)
    return view.redirect("/games/{game_id}", game_id=game_id)


@pages.get("/games/{game_id}/edit")
def edit_game(view: FootballView, game_id: ItemId) -> Response:
    found = view.service.game(game_id)
    place = place_of(view, found.season_id)
    only(place.admin)
    start = found.game_start_ts.astimezone(UTC).strftime("%Y-%m-%dT%H:%M")
    view.form.starting_from({"game_start_ts": start})
    return view.render("edit_game.html", place=place, game=found)


@pages.post("/games/{game_id}/edit")
def change_game(view: FootballView, game_id: ItemId, new: NewStart) -> Response:
    change = GameChange(game_start_ts=new.game_start_ts.replace(tzinfo=UTC))
    view.service.change_game(game_id, change, new.seen)
    return view.redirect("/games/{game_id}", game_id=game_id, notice="It is saved.")


@pages.post("/games/{game_id}/delete", again=edit_game)
def delete_game(view: FootballView, game_id: ItemId, which: OfVersion) -> Response:
    session_id = view.service.game(game_id).session_id
    view.service.delete_game(game_id, which.seen)
    return view.redirect("/sessions/{session_id}", session_id=session_id, notice="The game is deleted.")
