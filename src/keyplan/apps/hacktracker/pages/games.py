"""Games: scheduling and editing one, its box score, its line-up, and its status."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field, StringConstraints, field_validator
from starlette.responses import Response

from keyplan.apps.hacktracker.fields import ROSTER, ItemId
from keyplan.apps.hacktracker.models import GameChange, Lineup, NewGame, StatusMove
from keyplan.apps.hacktracker.pages.shared import HackView, pages, roster_of, show
from keyplan.web import In, OfVersion, Paging


class StartInUtc(In):
    """A form with a start that is typed without a time zone. The page says that it is UTC."""

    @field_validator("scheduled_start", mode="before", check_fields=False)
    @classmethod
    def _in_utc(cls, typed: object) -> object:
        try:
            start = datetime.fromisoformat(typed) if isinstance(typed, str) else None
        except ValueError:
            return typed
        return typed if start is None or start.tzinfo is not None else start.replace(tzinfo=UTC)


class PlannedGame(NewGame, StartInUtc):
    """A new game, as it is typed."""


class EditedGame(GameChange, StartInUtc, OfVersion):
    """A changed game, as it is typed."""


class Order(OfVersion):
    """A line-up as it is typed: the place and the id of each player who bats."""

    places: Annotated[list[Annotated[str, StringConstraints(pattern=r"^[0-9]{1,2} .+$")]], Field(max_length=ROSTER)]

    def lineup(self) -> list[str]:
        """The players by their places; players with the same place are in the order of the roster."""
        taken = (each.split(" ", 1) for each in self.places)
        return [player_id for _, player_id in sorted(taken, key=lambda pair: int(pair[0]))]


class Moved(StatusMove, OfVersion):
    """The new status of a game."""


@pages.get("/teams/{team_id}/new-game")
def new_game(view: HackView, team_id: ItemId) -> Response:
    view.form.asking(PlannedGame)
    return show(view, "new_game.html", team=view.service.team(team_id))


@pages.post("/teams/{team_id}/new-game")
def create(view: HackView, team_id: ItemId, planned: PlannedGame) -> Response:
    made = view.service.create_game(team_id, planned)
    return view.redirect("/games/{game_id}", game_id=made.game_id, notice="Game scheduled")


@pages.get("/games/{game_id}")
def game(view: HackView, game_id: ItemId) -> Response:
    found = view.service.game(game_id)
    return show(
        view,
        "game.html",
        team=view.service.team(found.team_id),
        game=found,
        box=view.service.box_score(game_id),
        chart=view.service.game_spray_chart(game_id),
    )


@pages.get("/games/{game_id}/edit")
def edit(view: HackView, game_id: ItemId) -> Response:
    found = view.service.game(game_id)
    start = found.scheduled_start
    typed = {"scheduled_start": f"{start:%Y-%m-%dT%H:%M}" if start else None}
    view.form.asking(EditedGame).starting_from({**found.model_dump(), **typed})
    return show(view, "edit_game.html", team=view.service.team(found.team_id), game=found)


@pages.post("/games/{game_id}/edit")
def change(view: HackView, game_id: ItemId, edited: EditedGame) -> Response:
    view.service.change_game(game_id, edited, edited.seen)
    return view.redirect("/games/{game_id}", game_id=game_id, notice="Game saved")


@pages.post("/games/{game_id}/delete", again=edit)
def delete(view: HackView, game_id: ItemId, which: OfVersion) -> Response:
    team_id = view.service.game(game_id).team_id
    view.service.delete_game(game_id, which.seen)
    return view.redirect("/teams/{team_id}", team_id=team_id, notice="Game deleted")


@pages.post("/games/{game_id}/status", again=game)
def move(view: HackView, game_id: ItemId, moved: Moved) -> Response:
    changed = view.service.move_game(game_id, moved, moved.seen)
    if changed.status == "IN_PROGRESS":
        return view.redirect("/games/{game_id}/score", game_id=game_id, notice="Game started. Play ball!")
    return view.redirect("/games/{game_id}", game_id=game_id, notice=_NOTICES[changed.status])


_NOTICES = {"FINAL": "Game ended", "POSTPONED": "Game postponed", "SCHEDULED": "Game rescheduled"}


@pages.get("/games/{game_id}/lineup")
def lineup(view: HackView, game_id: ItemId) -> Response:
    found = view.service.game(game_id)
    players = [each for each in roster_of(view, found.team_id) if each.status != "inactive"]
    there = {each.player_id for each in players}
    order = [each for each in found.lineup or _last_lineup(view, found.team_id) if each in there]
    view.form.asking(Order).starting_from({"places": [f"{at} {each}" for at, each in enumerate(order, 1)]})
    return show(
        view,
        "lineup.html",
        team=view.service.team(found.team_id),
        game=found,
        players=players,
        suggested=bool(order) and not found.lineup,
    )


def _last_lineup(view: HackView, team_id: str) -> list[str]:
    """The line-up of the last game, which is often nearly the same."""
    before = view.service.games(team_id, Paging(limit=1), when="past").items
    return before[0].lineup if before else []


@pages.post("/games/{game_id}/lineup")
def set_lineup(view: HackView, game_id: ItemId, order: Order) -> Response:
    view.service.set_lineup(game_id, Lineup(lineup=order.lineup()), order.seen)
    return view.redirect("/games/{game_id}", game_id=game_id, notice="Line-up saved")
