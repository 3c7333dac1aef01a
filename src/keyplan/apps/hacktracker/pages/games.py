"""Games: what is known of one, its box score, its line-up, and its status."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints
from starlette.responses import Response

from keyplan.apps.hacktracker.entities import GameStatus
from keyplan.apps.hacktracker.models import (
    LINEUP,
    GameChange,
    ItemId,
    Lineup,
    NewGame,
    Score,
    Season,
    StatusMove,
    Text,
)
from keyplan.apps.hacktracker.pages.shared import HackView, in_utc, pages, roster_of, show
from keyplan.web import In, OfVersion, Paging


class Planned(In):
    """A game as it is typed; its time is without a zone."""

    scheduled_start: datetime | None = None
    opponent_name: Text | None = None
    location: Text | None = None
    season_id: Season | None = None

    def fields(self) -> dict[str, object]:
        """As the service takes it."""
        typed = self.model_dump(exclude={"version"})
        return {**typed, "scheduled_start": in_utc(self.scheduled_start)}


class EditedGame(Planned, OfVersion):
    """A game as it is to be."""

    opponent_score: Score = 0


class Order(OfVersion):
    """A line-up as it is typed: for each player who bats the place and the player."""

    places: Annotated[list[Annotated[str, StringConstraints(pattern=r"^[0-9]{1,2} .+$")]], Field(max_length=LINEUP)]

    def lineup(self) -> list[str]:
        """The players by their places; those who share one in the roster's order."""
        taken = (each.split(" ", 1) for each in self.places)
        return [player_id for _, player_id in sorted(taken, key=lambda pair: int(pair[0]))]


class Moved(OfVersion):
    """What a game becomes."""

    status: GameStatus


@pages.get("/teams/{team_id}/new-game")
def new_game(view: HackView, team_id: ItemId) -> Response:
    return show(view, "new_game.html", team=view.service.team(team_id))


@pages.post("/teams/{team_id}/new-game")
def create(view: HackView, team_id: ItemId, planned: Planned) -> Response:
    made = view.service.create_game(team_id, NewGame.model_validate(planned.fields()))
    return view.redirect("/games/{game_id}", game_id=made.game_id, notice="The game is scheduled.")


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
    view.form.starting_from({**found.model_dump(), **typed})
    return show(view, "edit_game.html", team=view.service.team(found.team_id), game=found)


@pages.post("/games/{game_id}/edit")
def change(view: HackView, game_id: ItemId, edited: EditedGame) -> Response:
    view.service.change_game(game_id, GameChange.model_validate(edited.fields()), edited.seen)
    return view.redirect("/games/{game_id}", game_id=game_id, notice="It is saved.")


@pages.post("/games/{game_id}/delete", again=edit)
def delete(view: HackView, game_id: ItemId, which: OfVersion) -> Response:
    team_id = view.service.game(game_id).team_id
    view.service.delete_game(game_id, which.seen)
    return view.redirect("/teams/{team_id}", team_id=team_id, notice="The game is deleted.")


@pages.post("/games/{game_id}/status", again=game)
def move(view: HackView, game_id: ItemId, moved: Moved) -> Response:
    changed = view.service.move_game(game_id, StatusMove(status=moved.status), moved.seen)
    if changed.status == "IN_PROGRESS":
        return view.redirect("/games/{game_id}/score", game_id=game_id, notice="Play ball!")
    return view.redirect("/games/{game_id}", game_id=game_id, notice=_NOTICES[changed.status])


_NOTICES = {"FINAL": "The game is over.", "POSTPONED": "The game is postponed.", "SCHEDULED": "The game is on again."}


@pages.get("/games/{game_id}/lineup")
def lineup(view: HackView, game_id: ItemId) -> Response:
    found = view.service.game(game_id)
    players = [each for each in roster_of(view, found.team_id) if each.status != "inactive"]
    there = {each.player_id for each in players}
    order = [each for each in found.lineup or _last_lineup(view, found.team_id) if each in there]
    return show(
        view,
        "lineup.html",
        team=view.service.team(found.team_id),
        game=found,
        players=players,
        places={player_id: at for at, player_id in enumerate(order, 1)},
    )


def _last_lineup(view: HackView, team_id: str) -> list[str]:
    """The line-up of the game before: mostly it is nearly the same again."""
    before = view.service.games(team_id, Paging(limit=1), when="past").items
    return before[0].lineup if before else []


@pages.post("/games/{game_id}/lineup")
def set_lineup(view: HackView, game_id: ItemId, order: Order) -> Response:
    view.service.set_lineup(game_id, Lineup(lineup=order.lineup()), order.seen)
    return view.redirect("/games/{game_id}", game_id=game_id, notice="The line-up is set.")
