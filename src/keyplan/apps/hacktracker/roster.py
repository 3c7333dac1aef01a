"""The roster of a team: players with and without an account."""

from keyplan.apps.hacktracker.access import (
    A_MANAGER,
    A_MEMBER,
    MANAGERS,
    Access,
    LookAgain,
    managed,
    needed,
    not_deleted,
)
from keyplan.apps.hacktracker.design import ROSTER
from keyplan.apps.hacktracker.entities import Game, Player, Position, Team
from keyplan.apps.hacktracker.models import ItemId, NewPlayer, PlayerChange, PlayerOut, PlayerStatus
from keyplan.apps.hacktracker.upkeep import unlinking
from keyplan.data import (
    AlreadyExists,
    ConditionFailed,
    InUse,
    NotFound,
    ParentMissing,
    Part,
    Refused,
    UniqueViolation,
    check,
    create,
    delete,
    update,
)
from keyplan.design import absent, contains, ref
from keyplan.web import SIGNED_IN, IfMatch, InConflict, Listing, MayMatch, Missing, Paging, allow, page_of

_OWN_FIELDS = {"first_name", "last_name", "positions"}
"""What players may change of their own record."""


def in_roster_order(player: Player) -> str:
    """A text to sort by: the number, those without one last; then the names."""
    number = "none" if player.player_number is None else f"{player.player_number:02}"
    return "\0".join((number, player.last_name.casefold(), player.first_name.casefold(), player.player_id))


class Roster(Access):
    """What is done with players."""

    @allow(SIGNED_IN, also=A_MEMBER)
    def players(
        self,
        team_id: ItemId,
        page: Paging,
        status: PlayerStatus | None = None,
        position: Position | None = None,
        is_ghost: bool | None = None,
    ) -> Listing[PlayerOut]:
        """The roster of a team by number, those without one last, then by name; at most 60 players."""
        self._seat(team_id)
        found = [
            player
            for player in self.store.run(self.design.roster(team_id)).items
            if status in (None, player.status)
            and (position is None or position in player.positions)
            and is_ghost in (None, player.is_ghost)
        ]
        listing = page_of(f"roster of {team_id}", found, page, in_roster_order)
        return Listing(items=[PlayerOut.of(player, self.me.sub) for player in listing.items], next=listing.next)

    @allow(SIGNED_IN, also=A_MEMBER)
    def player(self, team_id: ItemId, player_id: ItemId) -> PlayerOut:
        """A player."""
        self._seat(team_id)
        return PlayerOut.of(self._player(team_id, player_id), self.me.sub)

    @allow(SIGNED_IN, also=A_MANAGER)
    def add_player(self, team_id: ItemId, new: NewPlayer) -> PlayerOut:
        """Add a player without an account to the roster."""
        managed(self._seat(team_id, MANAGERS))
        player = Player.model_validate({"team_id": team_id, **new.model_dump()})
        room = check(ref(Team, team_id=team_id), lambda team: absent(team.deleted_at) & (team.player_count < ROSTER))
        try:
            self.store.transact(create(player), room)
        except UniqueViolation as error:
            raise _number_taken() from error
        except (ConditionFailed, ParentMissing) as error:
            if isinstance(error.stored, Team) and error.stored.deleted_at is None:
                raise InConflict("roster-full", f"A roster has at most {ROSTER} players.") from error
            raise Missing(detail="There is no such team.") from error
        return PlayerOut.of(player, self.me.sub)

    @allow(SIGNED_IN, also=f"{A_MANAGER}, or it is your own record, of which you may change names and positions")
    def change_player(self, team_id: ItemId, player_id: ItemId, change: PlayerChange, version: IfMatch) -> PlayerOut:
        """Change a player's record."""
        changes = {name: getattr(change, name) for name in change.model_fields_set}
        needed(changes, "first_name", "last_name", "positions", "status")

        def act() -> PlayerOut:
            seat = self._seat(team_id)
            player = self._player(team_id, player_id)
            self.permit(seat.manages or (player.user_id == self.me.sub and changes.keys() <= _OWN_FIELDS))
            self.current(player, version)
            for name, value in changes.items():
                setattr(player, name, value)
            try:
                self.store.run(update(player))
            except UniqueViolation as error:
                raise _number_taken() from error
            return PlayerOut.of(player, self.me.sub)

        return self._persist(act)

    @allow(SIGNED_IN, also=A_MANAGER)
    def unlink_player(self, team_id: ItemId, player_id: ItemId, version: MayMatch) -> PlayerOut:
        """Take a player from an account. What was batted stays with who batted it."""

        def act() -> PlayerOut:
            managed(self._seat(team_id, MANAGERS))
            player = self._player(team_id, player_id)
            self.current(player, version)
            if player.is_ghost:
                raise InConflict("is-ghost", "This player has no account.")
            try:
                self.store.transact(*unlinking(self.running, player, self.now), not_deleted(team_id))
            except AlreadyExists as error:
                raise LookAgain from error
            except ConditionFailed as error:
                raise Missing(detail="There is no such team.") from error
            return PlayerOut.of(player, self.me.sub)

        return self._persist(act)

    @allow(SIGNED_IN, also=A_MANAGER)
    def remove_player(self, team_id: ItemId, player_id: ItemId, version: IfMatch) -> None:
        """Remove a player who has no account, has never batted, and is not in the game that is being played."""

        def act() -> None:
            seat = self._seat(team_id, MANAGERS)
            player = self._player(team_id, player_id)
            self.current(player, version)
            if not player.is_ghost:
                raise InConflict("is-linked", "Unlink the player first.")
            active = seat.team.active_game_id
            team = check(
                ref(Team, team_id=team_id), lambda team: absent(team.deleted_at) & (team.active_game_id == active)
            )
            parts: list[Part] = [delete(player), team]
            if active is not None:
                parts.append(check(ref(Game, game_id=active), lambda game: ~contains(game.lineup, player_id)))
            try:
                self.store.transact(*parts)
            except (ConditionFailed, InUse, NotFound) as error:
                raise _why_it_stays(error) from error

        self._persist(act)


def _why_it_stays(error: Refused) -> Exception:
    if isinstance(error, InUse):
        return InConflict("has-at-bats", "This player has batted: make them inactive instead.")
    if error.entity == "Game" and isinstance(error, ConditionFailed):
        return InConflict("in-lineup", "This player is in the game that is being played.")
    if error.entity == "Player":
        return error
    return LookAgain()  # a game began or ended meanwhile, or the team was deleted


def _number_taken() -> InConflict:
    return InConflict("number-taken", "Another player of the team has this number.")
