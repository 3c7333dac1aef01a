"""Games: scheduling and editing one, its box score, its line-up, and its status."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, StringConstraints
from starlette.responses import Response

from keyplan.apps.hacktracker.fields import ROSTER, ItemId
from keyplan.apps.hacktracker.models import GameOut, Lineup, StatusMove
from keyplan.apps.hacktracker.pages.shared import OF_GAME, OF_TEAM, HackView, pages, roster_of, show
from keyplan.apps.hacktracker.service import HackTracker
from keyplan.design import about
from keyplan.web import Confirm, OfVersion, Paging, Unprocessable, isolated


class Order(OfVersion):
    """A line-up as it is typed: the place and the id of each player who bats."""

    places: Annotated[
        list[Annotated[str, StringConstraints(pattern=r"^[0-9]{1,2} .+$")]], Field(max_length=ROSTER), about("Line-up")
    ]

    def taken(self) -> list[tuple[int, str]]:
        """The places that are taken, and the players, by place."""
        pairs = (each.split(" ", 1) for each in self.places)
        return sorted(((int(place), player_id) for place, player_id in pairs), key=lambda pair: pair[0])


_GAME = "/games/{game_id}"


def versus(game: GameOut) -> str:
    """A game in a sentence."""
    return f"game against {isolated(game.opponent_name)}" if game.opponent_name else "game"


class Moved(StatusMove, OfVersion):
    """The new status of a game."""


pages.show("/teams/{team_id}/new-game", "new_game.html", asks=HackTracker.create_game, **OF_TEAM)
pages.form("/teams/{team_id}/new-game", HackTracker.create_game, to=_GAME, notice="Game scheduled")
game = pages.show(_GAME, "game.html", box=HackTracker.box_score, chart=HackTracker.game_spray_chart, **OF_GAME)
edit = pages.show(f"{_GAME}/edit", "edit_game.html", asks=HackTracker.change_game, starts_from="game", **OF_GAME)
pages.form(f"{_GAME}/edit", HackTracker.change_game, to=_GAME, notice="Game saved")
pages.form(
    f"{_GAME}/delete",
    HackTracker.delete_game,
    to="/teams/{team_id}",
    notice="Game deleted",
    again=edit,
    before=HackTracker.game,
    confirm=Confirm(
        lambda view, game: f"Delete the {versus(game)}?",
        "Delete game",
        "This deletes the game and everything that was scored in it.",
        about=HackTracker.game,
    ),
)


@pages.post(
    f"{_GAME}/status",
    again=game,
    confirm=Confirm(
        lambda view, game: f"End the {versus(game)}?",
        "End game",
        "Nothing can be scored any more. Only the owner of the team can reopen the game.",
        about=HackTracker.game,
        shows="game_now.html",
        when=lambda moved: moved.status == "FINAL",
    ),
)
def move(view: HackView, game_id: ItemId, moved: Moved) -> Response:
    changed = view.service.move_game(game_id, moved, moved.seen)
    if changed.status == "IN_PROGRESS":
        return view.redirect(f"{_GAME}/score", game_id=game_id, notice="Game started. Play ball!")
    return view.redirect(_GAME, game_id=game_id, notice=_NOTICES[changed.status])


_NOTICES = {"FINAL": "Game ended", "POSTPONED": "Game postponed", "SCHEDULED": "Game rescheduled"}


@pages.get(f"{_GAME}/lineup")
def lineup(view: HackView, game_id: ItemId) -> Response:
    found = view.service.game(game_id)
    players = [each for each in roster_of(view.service, found.team_id) if each.status != "inactive"]
    there = {each.player_id for each in players}
    order = [each for each in found.lineup or _last_lineup(view, found.team_id) if each in there]
    places = [f"{at} {each}" for at, each in enumerate(order, 1)]
    view.form.asking(Order).starting_from({"places": places, "version": found.version})
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


@pages.post(f"{_GAME}/lineup")
def set_lineup(view: HackView, game_id: ItemId, order: Order) -> Response:
    taken = order.taken()
    _check_places(view, game_id, taken)
    view.service.set_lineup(game_id, Lineup(lineup=[player_id for _, player_id in taken]), order.seen)
    moved = [place for place, _ in taken] != [*range(1, len(taken) + 1)]
    notice = (
        "Line-up saved. Places without a player were skipped: the next players moved up." if moved else "Line-up saved"
    )
    return view.redirect(_GAME, game_id=game_id, notice=notice)


def _check_places(view: HackView, game_id: str, taken: Sequence[tuple[int, str]]) -> None:
    """Refuse a place that was given to several players: who bats first there isn't known."""
    by_place: dict[int, list[str]] = {}
    for place, player_id in taken:
        by_place.setdefault(place, []).append(player_id)
    doubled = {place: ids for place, ids in by_place.items() if len(ids) > 1}
    if not doubled:
        return
    team_id = view.service.game(game_id).team_id
    names = {each.player_id: f"{each.first_name} {each.last_name}" for each in roster_of(view.service, team_id)}
    found = "; ".join(
        f"place {place} ({', '.join(isolated(names.get(each, 'somebody else')) for each in ids)})"
        for place, ids in doubled.items()
    )
    detail = f"Several players have the same place: {found}. Choose another place for all but one of them."
    raise Unprocessable("place-taken", detail, pointer="/places")
