"""Games: the schedule, line-ups, and what a game's status may become."""

from contextlib import suppress
from typing import Literal

from keyplan.apps.hacktracker.access import (
    A_MEMBER,
    A_SCORER,
    SCORERS,
    Access,
    Seat,
    needed,
    not_deleted,
)
from keyplan.apps.hacktracker.entities import Game, GameStatus, Player, Team
from keyplan.apps.hacktracker.models import (
    GameChange,
    GameOut,
    ItemId,
    Lineup,
    NewGame,
    Season,
    StatusMove,
)
from keyplan.apps.hacktracker.upkeep import redate
from keyplan.data import Check, ConditionFailed, Conflict, NotFound, ParentMissing, check, create, delete, update
from keyplan.design import Query, absent, ref
from keyplan.web import (
    SIGNED_IN,
    IfMatch,
    InConflict,
    Listing,
    MayMatch,
    Missing,
    Paging,
    Unprocessable,
    Versions,
    allow,
)

MOVES: frozenset[tuple[GameStatus, GameStatus]] = frozenset(
    {
        ("SCHEDULED", "IN_PROGRESS"),
        ("SCHEDULED", "POSTPONED"),
        ("POSTPONED", "SCHEDULED"),
        ("IN_PROGRESS", "FINAL"),
        ("FINAL", "IN_PROGRESS"),
    }
)
"""What a status may become; a game that is over is reopened by the owner only."""


class Games(Access):
    """What is done with games."""

    @allow(SIGNED_IN, also=A_MEMBER)
    def games(
        self,
        team_id: ItemId,
        page: Paging,
        season_id: Season | None = None,
        when: Literal["coming", "past"] | None = None,
    ) -> Listing[GameOut]:
        """The games of a team in order of time, those without a date last; of the past ones the latest first."""
        self._seat(team_id)
        if season_id is not None and when is not None:
            raise Unprocessable("one-of-two", "Ask by season or by time.", pointer="?when")
        return self.listed(self._games_of(team_id, season_id, when), page, GameOut.of)

    def _games_of(self, team_id: str, season_id: str | None, when: str | None) -> Query[Game]:
        if season_id is not None:
            return self.design.season_games(team_id, season_id)
        if when == "coming":
            return self.design.coming_games(team_id, self.now)
        return self.design.past_games(team_id, self.now) if when else self.design.team_games(team_id)

    @allow(SIGNED_IN, also=A_SCORER)
    def create_game(self, team_id: ItemId, new: NewGame) -> GameOut:
        """Schedule a game."""
        self._seat(team_id, SCORERS)
        game = Game.model_validate({"team_id": team_id, **new.model_dump()})
        try:
            self.store.transact(create(game), not_deleted(team_id))
        except (ConditionFailed, ParentMissing) as error:
            raise Missing(detail="There is no such team.") from error
        return GameOut.of(game)

    @allow(SIGNED_IN, also=A_MEMBER)
    def game(self, game_id: ItemId) -> GameOut:
        """A game."""
        return GameOut.of(self._game(game_id)[0])

    @allow(SIGNED_IN, also=A_SCORER)
    def change_game(self, game_id: ItemId, change: GameChange, version: IfMatch) -> GameOut:
        """Change what is known of a game, or the opponent's score."""
        changes = {name: getattr(change, name) for name in change.model_fields_set}
        needed(changes, "opponent_score")

        def act() -> Game:
            game, _ = self._game(game_id, SCORERS)
            self.current(game, version)
            for name, value in changes.items():
                setattr(game, name, value)
            return self.store.run(update(game))

        game = self._persist(act)
        if "scheduled_start" in changes:
            with suppress(Conflict):  # too many at once: the stream finishes it
                redate(self.running, game_id)
        return GameOut.of(game)

    @allow(SIGNED_IN, also=A_SCORER)
    def delete_game(self, game_id: ItemId, version: IfMatch) -> None:
        """Delete a game with its at-bats. One that is in progress has to be ended first."""

        def act() -> None:
            game, _ = self._game(game_id, SCORERS)
            self.current(game, version)
            try:
                self.store.run(delete(game, where=lambda stored: stored.status != "IN_PROGRESS"))
            except ConditionFailed as error:
                raise InConflict("in-progress", "The game is being played: end it first.") from error

        self._persist(act)

    @allow(SIGNED_IN, also=A_SCORER)
    def set_lineup(self, game_id: ItemId, new: Lineup, version: MayMatch) -> GameOut:
        """Set who bats, in which order: players of the roster, each once."""
        return self._persist(lambda: self._with_lineup(game_id, new.lineup, version))

    def _with_lineup(self, game_id: str, lineup: list[str], version: Versions) -> GameOut:
        game, seat = self._game(game_id, SCORERS)
        self.current(game, version)
        if seat.team.team_type == "PERSONAL":
            raise Unprocessable("personal-team", "In a personal team its one player bats.")
        if game.status == "FINAL":
            raise InConflict("is-final", "The game is over.")
        if len(set(lineup)) < len(lineup):
            raise Unprocessable("twice-in-lineup", "Each player stands in the line-up once.", pointer="/lineup")
        if game.status == "IN_PROGRESS" and not lineup:
            raise _no_lineup()
        game.lineup = lineup
        try:
            self.store.transact(update(game), not_deleted(game.team_id), *_on_roster(game.team_id, lineup))
        except (ConditionFailed, NotFound) as error:
            raise _from_lineup(error, lineup) from error
        return GameOut.of(game)

    @allow(SIGNED_IN, also=f"{A_SCORER}; a game that is over is reopened by the owner only")
    def move_game(self, game_id: ItemId, move: StatusMove, version: MayMatch) -> GameOut:
        """Start a game, end it, postpone it, schedule it again, or reopen it. One game of a team is in progress."""
        return self._persist(lambda: self._moved(game_id, move.status, version))

    def _moved(self, game_id: str, to: GameStatus, version: Versions) -> GameOut:
        game, seat = self._game(game_id, SCORERS)
        self.current(game, version)
        if (game.status, to) not in MOVES:
            raise InConflict("illegal-move", f"A game that is {game.status} can not become {to}.")
        self.permit(game.status != "FINAL" or seat.role == "owner", detail="Only the owner reopens a game.")
        before, game.status = game.status, to
        if to == "IN_PROGRESS":
            # Who has left the roster since the end of a game is no reason not to correct it.
            self._begin(game, seat, game.lineup if before == "SCHEDULED" else [])
        elif before == "IN_PROGRESS":
            seat.team.active_game_id = None
            self.store.transact(update(game), update(seat.team))
        else:
            self.store.run(update(game))
        return GameOut.of(game)

    def _begin(self, game: Game, seat: Seat, batters: list[str]) -> None:
        team = seat.team
        if team.active_game_id not in (None, game.game_id):
            raise _another_game()
        if team.team_type == "MANAGED" and not game.lineup:
            raise _no_lineup()
        team.active_game_id = game.game_id
        free = update(team, where=lambda stored: absent(stored.active_game_id) & absent(stored.deleted_at))
        try:
            self.store.transact(update(game), free, *_on_roster(game.team_id, batters))
        except (ConditionFailed, NotFound) as error:
            if isinstance(error.stored, Team) and error.stored.active_game_id is not None:
                raise _another_game() from error
            raise _from_lineup(error, game.lineup) from error


def _on_roster(team_id: str, lineup: list[str]) -> list[Check[Player]]:
    """As part of a transaction: these are players who can bat."""
    return [
        check(ref(Player, team_id=team_id, player_id=player_id), lambda player: player.status != "inactive")
        for player_id in lineup
    ]


def _from_lineup(error: ConditionFailed | NotFound, lineup: list[str]) -> Exception:
    if error.entity == "Team":
        return Missing(detail="There is no such game.")
    if error.entity != "Player":
        return error
    at = lineup.index(str(error.values["player_id"]))
    about = "is inactive" if isinstance(error, ConditionFailed) else "is not on the roster"
    return Unprocessable("not-on-roster", f"Player {at + 1} of the line-up {about}.", pointer=f"/lineup/{at}")


def _no_lineup() -> Unprocessable:
    return Unprocessable("no-lineup", "Set a line-up first.", pointer="/lineup")


def _another_game() -> InConflict:
    return InConflict("another-game", "Another game of the team is in progress.")
