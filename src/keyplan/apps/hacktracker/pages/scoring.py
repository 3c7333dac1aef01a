"""The page where a game is scored, and the part of it that shows what others score."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from pydantic import Field, StringConstraints
from starlette.responses import Response

from keyplan.apps.hacktracker.fields import HitLocation, ItemId, Result
from keyplan.apps.hacktracker.models import AtBatOut, GameChange, GameOut, NewAtBat, PlayerOut
from keyplan.apps.hacktracker.pages.shared import HackView, pages, player_label, roster_of, show
from keyplan.apps.hacktracker.service import HackTracker
from keyplan.data import ItemChanged
from keyplan.design import about
from keyplan.web import In, InConflict, Stale, all_of, isolated, not_modified

RESULTS: tuple[tuple[Result, str], ...] = (
    ("1B", "Single"),
    ("2B", "Double"),
    ("3B", "Triple"),
    ("HR", "Home run"),
    ("BB", "Walk"),
    ("HBP", "Hit by pitch"),
    ("K", "Strikeout"),
    ("OUT", "Out"),
    ("FC", "Fielder's choice"),
    ("SAC", "Sacrifice"),
    ("SF", "Sacrifice fly"),
    ("E", "Error"),
)
_OUTS = {"K", "OUT", "FC", "SAC", "SF"}
"""Results that usually end with somebody out."""
PLACES: dict[str, tuple[float, float]] = {
    "Left field": (0.2, 0.7),
    "Left center": (0.35, 0.85),
    "Center field": (0.5, 0.9),
    "Right center": (0.65, 0.85),
    "Right field": (0.8, 0.7),
    "Third base": (0.33, 0.22),
    "Shortstop": (0.41, 0.36),
    "Second base": (0.59, 0.36),
    "First base": (0.67, 0.22),
    "Pitcher": (0.5, 0.2),
    "Catcher": (0.5, 0.04),
}
"""Where a ball went, for those who can't tap on the field."""
Place: TypeAlias = Annotated[str, StringConstraints(max_length=30), about("Hit location")]
_ANY = "*"
_PLAYS = 8
"""How many plays are shown."""


def location_of(place: str) -> HitLocation | None:
    """Where a ball went, by the name of the place."""
    x, y = PLACES.get(place, (None, None))
    return None if x is None or y is None else HitLocation(x=x, y=y)


class Play(NewAtBat):
    """What happened, as it is tapped in. What is left out is what it usually is."""

    place: Place = ""
    x: Annotated[Annotated[float, Field(ge=0, le=1)] | None, about("")] = None
    y: Annotated[Annotated[float, Field(ge=0, le=1)] | None, about("")] = None
    after: Annotated[str, StringConstraints(max_length=128), about("")] = _ANY
    """The last at-bat that was shown beside the form; empty before the first."""

    def at_bat(self) -> NewAtBat:
        """The at-bat, complete."""
        given = self.model_fields_set
        runs = self.runs if "runs" in given else int(self.result == "HR")
        rbi = self.rbi if "rbi" in given else 0 if self.result == "E" else runs
        tapped = HitLocation(x=self.x, y=self.y) if self.x is not None and self.y is not None else None
        return NewAtBat.from_fields(self, runs=runs, rbi=rbi, hit_location=tapped or location_of(self.place))


@dataclass(frozen=True)
class Next:
    """Who probably bats next, in which inning, with how many outs."""

    player_id: str
    inning: int
    outs: int


def next_after(order: Sequence[str], last: AtBatOut | None) -> Next:
    """What probably comes after an at-bat."""
    if last is None or not order:
        return Next(order[0] if order else "", 1, 0)
    at = order.index(last.player_id) if last.player_id in order else -1
    outs = last.outs + (last.result in _OUTS)
    inning = last.inning + 1 if outs > 2 else last.inning
    return Next(order[(at + 1) % len(order)], inning, outs % 3)


@dataclass(frozen=True)
class Board:
    """A game as it is now."""

    game: GameOut
    names: dict[str, str]
    plays: list[AtBatOut]
    batters: list[PlayerOut]
    next: Next

    @property
    def last_id(self) -> str:
        """The play that undo removes; empty before the first."""
        return self.plays[-1].at_bat_id if self.plays else ""

    @property
    def latest(self) -> list[AtBatOut]:
        """The last plays, the latest first."""
        return self.plays[: -_PLAYS - 1 : -1]


def board_of(view: HackView, game_id: str) -> Board:
    """The game, what was scored in it, and who bats."""
    game = view.service.game(game_id)
    players = {player.player_id: player for player in roster_of(view.service, game.team_id)}
    plays = all_of(lambda page: view.service.at_bats(game_id, page))
    order = [each for each in game.lineup if each in players] or list(players)[:1]
    return Board(
        game,
        {each.player_id: f"{each.first_name} {each.last_name}" for each in players.values()},
        plays,
        [players[each] for each in order],
        next_after(order, plays[-1] if plays else None),
    )


@pages.get("/games/{game_id}/score")
def score(view: HackView, game_id: ItemId) -> Response:
    board = board_of(view, game_id)
    # What others score meanwhile changes who bats next. Whoever chose a batter keeps theirs.
    view.form.asking(Play).starting_from({**vars(board.next), "after": board.last_id}, version="after")
    return show(
        view,
        "score.html",
        team=view.service.team(board.game.team_id),
        board=board,
        game=board.game,
        results=RESULTS,
        places=[("", "–"), *((each, each) for each in PLACES)],
        batters=[(each.player_id, player_label(each)) for each in board.batters],
    )


@pages.post("/games/{game_id}/score")
def play(view: HackView, game_id: ItemId, play: Play) -> Response:
    if play.after != _ANY:
        _check_last(board_of(view, game_id), play.after)
    view.service.add_at_bat(game_id, play.at_bat())
    return view.redirect("/games/{game_id}/score", game_id=game_id)


def _check_last(board: Board, after: str) -> None:
    """Refuse an at-bat if others were scored since the page was shown: it may be one of them."""
    if board.last_id == after:
        return
    if not board.plays:
        raise InConflict(
            "scored-since",
            "The last at-bat was undone in the meantime. To add yours, check the batter and press it again.",
        )
    last = board.plays[-1]
    said = f"{last.result} for {isolated(board.names.get(last.player_id, ''))}"
    raise InConflict(
        "scored-since",
        f"In the meantime, the last at-bat is {said}. To add yours, check the batter and press it again.",
    )


pages.form(
    "/games/{game_id}/undo", HackTracker.undo, to="/games/{game_id}/score", notice="{result} undone", again=score
)


class TheirScore(In):
    """One more or one less for the opponent."""

    by: Annotated[int, Field(ge=-1, le=1)]
    seen: int | None = None
    """The score that was shown beside the button."""


@pages.post("/games/{game_id}/opponent", again=score)
def opponent(view: HackView, game_id: ItemId, change: TheirScore) -> Response:
    def act() -> None:
        game = view.service.game(game_id)
        if change.seen not in (None, game.opponent_score):  # somebody else may have counted the same run
            detail = f"The opponent's score is {game.opponent_score} now. To change it, press again."
            raise InConflict("scored-since", detail)
        scored = GameChange.model_validate({"opponent_score": max(0, game.opponent_score + change.by)})
        view.service.change_game(game_id, scored, frozenset({game.version}))

    view.service.persist(act, Stale, ItemChanged)
    return view.redirect("/games/{game_id}/score", game_id=game_id)


@pages.get("/games/{game_id}/live")
def live(view: HackView, game_id: ItemId) -> Response:
    """The part of a page that changes while a game is played. Browsers ask for it again and again."""
    board = board_of(view, game_id)
    response = show(view, "live.html", team=view.service.team(board.game.team_id), board=board, game=board.game)
    tag = f'"{hashlib.sha256(bytes(response.body)).hexdigest()[:32]}"'
    if not_modified(view.request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers={"ETag": tag})
    response.headers["ETag"] = tag
    return response
