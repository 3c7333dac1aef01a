"""Scoring: what happens at bat while a game is in progress."""

from collections.abc import Callable

from keyplan.apps.hacktracker.access import A_MEMBER, A_SCORER, SCORERS, Access, LookAgain, Seat, needed, not_deleted
from keyplan.apps.hacktracker.entities import AtBat, Game, Player
from keyplan.apps.hacktracker.models import AtBatChange, AtBatOut, ItemId, NewAtBat
from keyplan.data import ConditionFailed, InUse, NotFound, ParentMissing, Part, Refused, check, create, delete, update
from keyplan.design import contains, ref
from keyplan.web import SIGNED_IN, IfMatch, InConflict, Listing, Missing, Paging, Unprocessable, allow


class Scoring(Access):
    """What is done with at-bats."""

    @allow(SIGNED_IN, also=A_MEMBER)
    def at_bats(self, game_id: ItemId, page: Paging) -> Listing[AtBatOut]:
        """The at-bats of a game, in order."""
        self._game(game_id)
        return self.listed(self.design.game_at_bats(game_id), page, AtBatOut.of)

    @allow(SIGNED_IN, also=A_MEMBER)
    def at_bat(self, game_id: ItemId, at_bat_id: ItemId) -> AtBatOut:
        """An at-bat."""
        self._game(game_id)
        return AtBatOut.of(self._at_bat(game_id, at_bat_id))

    def _at_bat(self, game_id: str, at_bat_id: str) -> AtBat:
        at_bat = self.store.run(self.design.at_bat(game_id, at_bat_id))
        if at_bat is None:
            raise Missing(detail="There is no such at-bat.")
        return at_bat

    @allow(SIGNED_IN, also=A_SCORER)
    def add_at_bat(self, game_id: ItemId, new: NewAtBat) -> AtBatOut:
        """Score an at-bat in the game that is being played. The team's score follows."""

        def act() -> AtBatOut:
            game, seat = self._game(game_id, SCORERS)
            batter = self._batter(game, seat, new.player_id)
            at_bat = AtBat(
                game_id=game_id,
                player_id=batter.player_id,
                user_id=batter.user_id,
                team_id=game.team_id,
                team_name=seat.team.name,
                game_date=game.scheduled_start,
                **new.model_dump(exclude={"player_id"}),
            )
            self._score(game, seat, create(at_bat), batter)
            return AtBatOut.of(at_bat)

        return self._persist(act)

    @allow(SIGNED_IN, also=A_SCORER)
    def change_at_bat(self, game_id: ItemId, at_bat_id: ItemId, change: AtBatChange, version: IfMatch) -> AtBatOut:
        """Correct an at-bat while the game is being played."""
        changes = {name: getattr(change, name) for name in change.model_fields_set}
        needed(changes, "player_id", "result", "inning", "outs", "rbi", "runs")

        def act() -> AtBatOut:
            game, seat = self._game(game_id, SCORERS)
            at_bat = self._at_bat(game_id, at_bat_id)
            self.current(at_bat, version)
            batter = None
            # Who batted stays who it was, whoever is that player by now, unless it was another player.
            if changes.get("player_id", at_bat.player_id) != at_bat.player_id:
                batter = self._batter(game, seat, changes["player_id"])
                at_bat.user_id = batter.user_id
            for name, value in changes.items():
                setattr(at_bat, name, value)
            self._score(game, seat, update(at_bat), batter)
            return AtBatOut.of(at_bat)

        return self._persist(act)

    @allow(SIGNED_IN, also=A_SCORER)
    def remove_at_bat(self, game_id: ItemId, at_bat_id: ItemId, version: IfMatch) -> None:
        """Take back an at-bat while the game is being played."""

        def act() -> None:
            game, seat = self._game(game_id, SCORERS)
            at_bat = self._at_bat(game_id, at_bat_id)
            self.current(at_bat, version)
            self._score(game, seat, delete(at_bat), None)

        self._persist(act)

    @allow(SIGNED_IN, also=A_SCORER)
    def undo(self, game_id: ItemId, at_bat_id: ItemId | None = None) -> AtBatOut:
        """Take back the at-bat that was scored last; with `at_bat_id`, only if that is this one.

        It is answered with, as it was.
        """

        def act() -> AtBatOut:
            game, seat = self._game(game_id, SCORERS)
            last = self.store.run(self.design.last_at_bats(game_id).limit(1)).items
            if not last:
                raise InConflict("nothing-to-undo", "Nothing was scored yet.")
            if at_bat_id not in (None, last[0].at_bat_id):
                raise InConflict("not-the-last", "Another one was scored since, or this one was taken back already.")
            undone = AtBatOut.of(last[0])
            try:
                self._score(game, seat, delete(last[0]), None)
            except NotFound as error:
                # Somebody else was faster. To take back the one before it would be more than was asked for.
                raise InConflict("undone-already", "It was taken back already.") from error
            return undone

        return self._persist(act)

    def _batter(self, game: Game, seat: Seat, player_id: str | None) -> Player:
        """Who bats: somebody of the line-up, or the one player of a personal team."""
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
        """Write an at-bat, if the game is being played and everything else is as it was read."""
        if game.status != "IN_PROGRESS":
            raise _not_in_progress()
        parts: list[Part] = [part, not_deleted(game.team_id)]
        parts.append(check(ref(Game, game_id=game.game_id), _as_read(game, seat, batter)))
        if batter is not None:
            user_id = batter.user_id
            whose = ref(Player, team_id=batter.team_id, player_id=batter.player_id)
            parts.append(check(whose, lambda player: player.user_id == user_id))
        try:
            self.store.transact(*parts)
        except (ConditionFailed, InUse, NotFound, ParentMissing) as error:
            raise _why_not_scored(error) from error


def _as_read(game: Game, seat: Seat, batter: Player | None) -> Callable[[Game], object]:
    """The condition on the game: it is being played, at the same time, and the batter is in its line-up."""
    start = game.scheduled_start

    def condition(stored: Game) -> object:
        playing = (stored.status == "IN_PROGRESS") & (stored.scheduled_start == start)
        if batter is None or seat.team.team_type == "PERSONAL":
            return playing
        return playing & contains(stored.lineup, batter.player_id)

    return condition


def _why_not_scored(error: Refused) -> Exception:
    if isinstance(error.stored, Game) and error.stored.status != "IN_PROGRESS":
        return _not_in_progress()
    if isinstance(error, NotFound) and error.entity == "AtBat":
        return error
    return LookAgain()


def _not_in_progress() -> InConflict:
    return InConflict("not-in-progress", "The game is not being played.")


def _not_in_lineup() -> Unprocessable:
    return Unprocessable("not-in-lineup", "This player is not in the line-up.", pointer="/player_id")
