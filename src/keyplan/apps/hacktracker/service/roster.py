"""The roster of a team: players with and without an account."""

from keyplan.apps.hacktracker.entities import Game, Player, Team
from keyplan.apps.hacktracker.fields import ROSTER, ItemId, PlayerStatus, Position
from keyplan.apps.hacktracker.models import NewPlayer, PlayerChange, PlayerOut
from keyplan.apps.hacktracker.service.access import (
    A_MANAGER,
    A_MEMBER,
    MANAGERS,
    RACES,
    Access,
    not_deleted,
    refuse_personal,
)
from keyplan.apps.hacktracker.upkeep import unlinking
from keyplan.data import Part, check, create, delete
from keyplan.design import Refusal, absent, contains, ref
from keyplan.web import SIGNED_IN, IfMatch, InConflict, Listing, MayMatch, Paging, allow, page_of

_OWN_FIELDS = {"first_name", "last_name", "positions"}
"""What players may change about themselves."""
_IN_LINEUP = Refusal("in-lineup", "This player is in the line-up of the game in progress.")


def in_roster_order(player: Player) -> str:
    """A text to sort by: the number, players without one last; then the names."""
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
        """List the roster of a team by number, players without one last, then by name. It has at most 60 players."""
        self._seat(team_id)
        found = [
            player
            for player in self.store.run(self.design.roster(team_id)).items
            if status in (None, player.status)
            and (position is None or position in player.positions)
            and is_ghost in (None, player.is_ghost)
        ]
        listing = page_of(self.store, f"roster of {team_id}", found, page, in_roster_order)
        return Listing(items=[self._player_out(player) for player in listing.items], next=listing.next)

    @allow(SIGNED_IN, also=A_MEMBER)
    def player(self, team_id: ItemId, player_id: ItemId) -> PlayerOut:
        """Get a player."""
        self._seat(team_id)
        return self._player_out(self._player(team_id, player_id))

    def _player_out(self, player: Player) -> PlayerOut:
        return PlayerOut.from_fields(player, is_me=player.user_id == self.me.sub)

    @allow(SIGNED_IN, also=A_MANAGER, retry=RACES)
    def add_player(self, team_id: ItemId, new: NewPlayer) -> PlayerOut:
        """Add a player without an account to the roster."""
        seat = self._seat(team_id, MANAGERS)
        refuse_personal(seat)
        if seat.team.player_count >= ROSTER:
            raise InConflict("roster-full", f"The roster is full: a team can have {ROSTER} players.")
        player = Player.from_fields(new, team_id=team_id)
        room = check(ref(Team, team_id=team_id), lambda team: absent(team.deleted_at) & (team.player_count < ROSTER))
        self.store.transact(create(player), room)
        return self._player_out(player)

    @allow(SIGNED_IN, also=f"{A_MANAGER}, or it is your own record, of which you may change names and positions")
    def change_player(self, team_id: ItemId, player_id: ItemId, change: PlayerChange, version: IfMatch) -> PlayerOut:
        """Change a player."""
        seat = self._seat(team_id)

        def allowed(player: Player) -> bool:
            return seat.manages or (player.user_id == self.me.sub and change.values.keys() <= _OWN_FIELDS)

        player = self.find(self.design.player(team_id, player_id), version, allowed=allowed)
        return self._player_out(self.save(player, change))

    @allow(SIGNED_IN, also=A_MANAGER, retry=RACES, one_way=True)
    def unlink_player(self, team_id: ItemId, player_id: ItemId, version: MayMatch) -> PlayerOut:
        """Unlink a player from their account. The user keeps their statistics."""
        refuse_personal(self._seat(team_id, MANAGERS))
        player = self._player(team_id, player_id, version)
        if player.is_ghost:
            raise InConflict("is-ghost", "This player has no account.")
        self.store.transact(*unlinking(player, self.now), not_deleted(team_id))
        return self._player_out(player)

    @allow(SIGNED_IN, also=A_MANAGER, retry=RACES, one_way=True)
    def remove_player(self, team_id: ItemId, player_id: ItemId, version: IfMatch) -> None:
        """Remove a player who has no account and no at-bats, and is not in the line-up of the game in progress."""
        active = self._seat(team_id, MANAGERS).team.active_game_id
        player = self._player(team_id, player_id, version)
        if not player.is_ghost:
            raise InConflict("is-linked", "This player has an account. Unlink it first.")
        parts: list[Part] = [
            delete(player),
            check(ref(Team, team_id=team_id), lambda team: absent(team.deleted_at) & (team.active_game_id == active)),
        ]
        if active is not None:
            game = ref(Game, game_id=active)
            parts.append(check(game, lambda game: ~contains(game.lineup, player_id), refusal=_IN_LINEUP))
        self.store.transact(*parts)
