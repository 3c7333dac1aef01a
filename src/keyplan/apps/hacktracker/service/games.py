"""Games: the schedule, line-ups, and the status of a game."""

from contextlib import suppress
from typing import Literal

from keyplan.apps.hacktracker.entities import Game, Player
from keyplan.apps.hacktracker.fields import AnySeason, GameStatus, ItemId
from keyplan.apps.hacktracker.models import GameChange, GameOut, Lineup, NewGame, StatusMove
from keyplan.apps.hacktracker.service.access import A_MEMBER, A_SCORER, RACES, SCORERS, Access, Seat, not_deleted
from keyplan.apps.hacktracker.upkeep import redate
from keyplan.data import Check, Conflict, check, create, delete, update
from keyplan.design import Query, Refusal, absent, ref
from keyplan.web import SIGNED_IN, IfMatch, InConflict, Listing, MayMatch, Paging, Unprocessable, allow

_IN_PROGRESS = Refusal("in-progress", "The game is in progress. End it first.")
MOVES: frozenset[tuple[GameStatus, GameStatus]] = frozenset(
    {
        ("SCHEDULED", "IN_PROGRESS"),
        ("SCHEDULED", "POSTPONED"),
        ("POSTPONED", "SCHEDULED"),
        ("IN_PROGRESS", "FINAL"),
        ("FINAL", "IN_PROGRESS"),
    }
)
"""From which status to which a game can be moved. Only the owner can reopen a game that is over."""


class Games(Access):
    """What is done with games."""

    @allow(SIGNED_IN, also=A_MEMBER)
    def games(
        self,
        team_id: ItemId,
        page: Paging,
        season_id: AnySeason | None = None,
        when: Literal["coming", "past"] | None = None,
    ) -> Listing[GameOut]:
        """List the games of a team by start, those without a date last; past games are listed latest first."""
        self._seat(team_id)
        if season_id is not None and when is not None:
            raise Unprocessable("one-of-two", "Filter by season_id or by when, not both.", pointer="?when")
        return self.listed(self._games_of(team_id, season_id, when), page, GameOut.from_fields)

    def _games_of(self, team_id: str, season_id: str | None, when: str | None) -> Query[Game]:
        if season_id is not None:
            return self.design.season_games(team_id, season_id)
        if when == "coming":
            return self.design.coming_games(team_id, self.now)
        return self.design.past_games(team_id, self.now) if when else self.design.team_games(team_id)

    @allow(SIGNED_IN, also=A_SCORER, retry=RACES)
    def create_game(self, team_id: ItemId, new: NewGame) -> GameOut:
        """Schedule a game."""
        self._seat(team_id, SCORERS)
        game = Game.from_fields(new, team_id=team_id)
        self.store.transact(create(game), not_deleted(team_id))
        return GameOut.from_fields(game)

    @allow(SIGNED_IN, also=A_MEMBER)
    def game(self, game_id: ItemId) -> GameOut:
        """Get a game."""
        return GameOut.from_fields(self._game(game_id)[0])

    @allow(SIGNED_IN, also=A_SCORER)
    def change_game(self, game_id: ItemId, change: GameChange, version: IfMatch) -> GameOut:
        """Change the details of a game, or the opponent's score."""
        game, _ = self._game(game_id, SCORERS, version)
        self.save(game, change)
        if change.gives(lambda game: game.scheduled_start):
            with suppress(Conflict):  # too many changes at once: the stream handler finishes it
                redate(self.running, game_id)
        return GameOut.from_fields(game)

    @allow(SIGNED_IN, also=A_SCORER, one_way=True)
    def delete_game(self, game_id: ItemId, version: IfMatch) -> None:
        """Delete a game with its at-bats. A game in progress has to be ended first."""
        game, _ = self._game(game_id, SCORERS, version)
        self.store.run(delete(game, where=lambda stored: stored.status != "IN_PROGRESS", refusal=_IN_PROGRESS))

    @allow(SIGNED_IN, also=A_SCORER, retry=RACES)
    def set_lineup(self, game_id: ItemId, new: Lineup, version: MayMatch) -> GameOut:
        """Set the line-up: players of the roster in batting order, each of them once."""
        game, seat = self._game(game_id, SCORERS, version)
        if seat.team.team_type == "PERSONAL":
            raise Unprocessable("personal-team", "A personal team has no line-up: its one player bats.")
        if game.status == "FINAL":
            raise InConflict("is-final", "The game is over.")
        if game.status == "IN_PROGRESS" and not new.lineup:
            raise _no_lineup()
        game.lineup = new.lineup
        self.store.transact(update(game), not_deleted(game.team_id), *_on_roster(game.team_id, new.lineup))
        return GameOut.from_fields(game)

    @allow(SIGNED_IN, also=f"{A_SCORER}; a game that is over is reopened by the owner only", retry=RACES, one_way=True)
    def move_game(self, game_id: ItemId, move: StatusMove, version: MayMatch) -> GameOut:
        """Start, end, postpone, reschedule or reopen a game. A team has one game in progress at a time."""
        game, seat = self._game(game_id, SCORERS, version)
        if (game.status, move.status) not in MOVES:
            raise InConflict("illegal-move", f"A game that is {game.status} can't become {move.status}.")
        self.permit(game.status != "FINAL" or seat.role == "owner", detail="Only the owner can reopen a game.")
        before, game.status = game.status, move.status
        if game.status == "IN_PROGRESS":
            # A game can be reopened even if somebody has left the roster since.
            self._begin(game, seat, game.lineup if before == "SCHEDULED" else [])
        elif before == "IN_PROGRESS":
            seat.team.active_game_id = None
            self.store.transact(update(game), update(seat.team))
        else:
            self.save(game)
        return GameOut.from_fields(game)

    def _begin(self, game: Game, seat: Seat, batters: list[str]) -> None:
        team = seat.team
        if team.active_game_id not in (None, game.game_id):
            raise InConflict("another-game", "Another game of the team is in progress.")
        if team.team_type == "MANAGED" and not game.lineup:
            raise _no_lineup()
        team.active_game_id = game.game_id
        free = update(team, where=lambda stored: absent(stored.active_game_id) & absent(stored.deleted_at))
        self.store.transact(update(game), free, *_on_roster(game.team_id, batters))


def _on_roster(team_id: str, lineup: list[str]) -> list[Check[Player]]:
    """As part of a transaction: these are players of the team who can bat."""

    def can_bat(at: int, player_id: str) -> Check[Player]:
        sentence = f"Player {at + 1} in the line-up is inactive or not on the roster."
        refusal = Refusal("not-on-roster", sentence, field=f"lineup/{at}")
        player = ref(Player, team_id=team_id, player_id=player_id)
        return check(player, lambda player: player.status != "inactive", refusal=refusal)

    return [can_bat(at, player_id) for at, player_id in enumerate(lineup)]


def _no_lineup() -> Unprocessable:
    return Unprocessable("no-lineup", "Set a line-up first.", pointer="/lineup")
