"""Scoring: what happens at bat while a game is in progress."""

from collections.abc import Callable

from keyplan.apps.hacktracker.entities import AtBat, Game, Player
from keyplan.apps.hacktracker.fields import ItemId
from keyplan.apps.hacktracker.models import AtBatChange, AtBatOut, NewAtBat
from keyplan.apps.hacktracker.service.access import A_MEMBER, A_SCORER, RACES, SCORERS, Access, Seat, not_deleted
from keyplan.data import NotFound, Part, check, create, delete, update
from keyplan.design import contains, ref
from keyplan.web import SIGNED_IN, IfMatch, InConflict, Listing, Paging, Unprocessable, allow


class Scoring(Access):
    """What is done with at-bats."""

    @allow(SIGNED_IN, also=A_MEMBER)
    def at_bats(self, game_id: ItemId, page: Paging) -> Listing[AtBatOut]:
        """List the at-bats of a game, in order."""
        self._game(game_id)
        return self.listed(self.design.game_at_bats(game_id), page, AtBatOut.from_fields)

    @allow(SIGNED_IN, also=A_MEMBER)
    def at_bat(self, game_id: ItemId, at_bat_id: ItemId) -> AtBatOut:
        """Get an at-bat."""
        self._game(game_id)
        return AtBatOut.from_fields(self.find(self.design.at_bat(game_id, at_bat_id)))

    @allow(SIGNED_IN, also=A_SCORER, retry=RACES)
    def add_at_bat(self, game_id: ItemId, new: NewAtBat) -> AtBatOut:
        """Score an at-bat in a game that is in progress. The team's score follows."""
        game, seat = self._game(game_id, SCORERS)
        batter = self._batter(game, seat, new.player_id)
        at_bat = AtBat.from_fields(
            new,
            game_id=game_id,
            player_id=batter.player_id,
            user_id=batter.user_id,
            team_id=game.team_id,
            team_name=seat.team.name,
            game_date=game.scheduled_start,
        )
        self._score(game, seat, create(at_bat), batter)
        return AtBatOut.from_fields(at_bat)

    @allow(SIGNED_IN, also=A_SCORER, retry=RACES)
    def change_at_bat(self, game_id: ItemId, at_bat_id: ItemId, change: AtBatChange, version: IfMatch) -> AtBatOut:
        """Correct an at-bat while the game is in progress."""
        game, seat = self._game(game_id, SCORERS)
        at_bat = self.find(self.design.at_bat(game_id, at_bat_id), version)
        batter = None
        player_id = change.get(lambda at_bat: at_bat.player_id, at_bat.player_id)
        if player_id != at_bat.player_id:
            batter = self._batter(game, seat, player_id)
            # Otherwise it stays with the user who batted, even if the player was unlinked since.
            at_bat.user_id = batter.user_id
        change.apply_to(at_bat)
        self._score(game, seat, update(at_bat), batter)
        return AtBatOut.from_fields(at_bat)

    @allow(SIGNED_IN, also=A_SCORER, retry=RACES, one_way=True)
    def remove_at_bat(self, game_id: ItemId, at_bat_id: ItemId, version: IfMatch) -> None:
        """Remove an at-bat while the game is in progress."""
        game, seat = self._game(game_id, SCORERS)
        self._score(game, seat, delete(self.find(self.design.at_bat(game_id, at_bat_id), version)), None)

    @allow(SIGNED_IN, also=A_SCORER, retry=RACES)
    def undo(self, game_id: ItemId, at_bat_id: ItemId | None = None) -> AtBatOut:
        """Remove the latest at-bat and return it; with `at_bat_id`, only if it is this one."""
        game, seat = self._game(game_id, SCORERS)
        last = self.store.run(self.design.last_at_bats(game_id).limit(1)).items
        if not last:
            raise InConflict("nothing-to-undo", "Nothing has been scored yet.")
        if at_bat_id not in (None, last[0].at_bat_id):
            raise InConflict("not-the-last", "Another at-bat was scored since, or this one was already undone.")
        undone = AtBatOut.from_fields(last[0])
        try:
            self._score(game, seat, delete(last[0]), None)
        except NotFound as error:
            if error.entity != "AtBat":
                raise
            # Somebody else was faster. Undoing the at-bat before it would be more than was asked for.
            raise InConflict("undone-already", "This at-bat was already undone.") from error
        return undone

    def _batter(self, game: Game, seat: Seat, player_id: str | None) -> Player:
        """The player who bats: one of the line-up, or the one player of a personal team."""
        personal = seat.team.team_type == "PERSONAL"
        if personal and player_id is None:
            player_id = self.store.run(self.design.roster(game.team_id)).items[0].player_id
        if player_id is None or not (personal or player_id in game.lineup):
            raise _not_in_lineup()
        batter = self.store.run(self.design.player(game.team_id, player_id))
        if batter is None:
            raise _not_in_lineup()
        return batter

    def _score(self, game: Game, seat: Seat, part: Part, batter: Player | None) -> None:
        """Write an at-bat, if the game is in progress and everything else is still as it was read."""
        if game.status != "IN_PROGRESS":
            raise InConflict("not-in-progress", "The game is not in progress.")
        parts: list[Part] = [part, not_deleted(game.team_id)]
        parts.append(check(ref(Game, game_id=game.game_id), _as_read(game, seat, batter)))
        if batter is not None:
            user_id = batter.user_id
            player = ref(Player, team_id=batter.team_id, player_id=batter.player_id)
            parts.append(check(player, lambda player: player.user_id == user_id))
        self.store.transact(*parts)


def _as_read(game: Game, seat: Seat, batter: Player | None) -> Callable[[Game], object]:
    """The condition on the game: it is in progress, has the same start, and the batter is in its line-up."""
    start = game.scheduled_start

    def condition(stored: Game) -> object:
        playing = (stored.status == "IN_PROGRESS") & (stored.scheduled_start == start)
        if batter is None or seat.team.team_type == "PERSONAL":
            return playing
        return playing & contains(stored.lineup, batter.player_id)

    return condition


def _not_in_lineup() -> Unprocessable:
    return Unprocessable("not-in-lineup", "This player is not in the line-up.", pointer="/player_id")
