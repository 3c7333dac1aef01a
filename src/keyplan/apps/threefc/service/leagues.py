"""The rules of leagues: who has which role, and their players."""

from collections.abc import Sequence

from keyplan.apps.threefc.entities import Acl, League, Player, PlayerProfile, UserLeague
from keyplan.apps.threefc.fields import SLUG_LENGTH, ItemId, Role
from keyplan.apps.threefc.models import (
    Grant,
    GrantOut,
    LeagueChange,
    LeagueOut,
    NewLeague,
    NewPlayer,
    PlayerChange,
    PlayerOut,
)
from keyplan.apps.threefc.service.access import ADMIN, ADMINS, READ, READERS, Access
from keyplan.data import AlreadyExists, NotFound, create, delete
from keyplan.design import UserId, batch_get
from keyplan.web import SIGNED_IN, IfMatch, Listing, MayMatch, Paging, Unprocessable, allow, slug_of


class Leagues(Access):
    """Leagues, their grants and their players."""

    @allow(SIGNED_IN)
    def my_leagues(self, page: Paging) -> Listing[LeagueOut]:
        """The leagues that the caller has a grant in."""
        return self.chosen(self.design.my_leagues(self.me.sub), page, self._granted)

    def _granted(self, grants: Sequence[UserLeague]) -> list[LeagueOut]:
        """The leagues of these grants, without those that are being deleted."""
        leagues = self.store.run(batch_get(League, [grant.league_id for grant in grants])) if grants else []
        found = zip(leagues, grants, strict=True)
        return [LeagueOut.from_fields(league, role=grant.role) for league, grant in found if league]

    @allow(SIGNED_IN)
    def create_league(self, new: NewLeague) -> LeagueOut:
        """Create a league. The caller becomes its admin."""
        slug = new.slug or slug_of(new.name, SLUG_LENGTH)
        if not slug:
            raise Unprocessable("no-slug", "This name has no letters for a short name. Enter one.", pointer="/slug")
        league = League.from_fields(new, slug=slug)
        grant = Acl(league_id=league.league_id, user_id=self.me.sub, role="admin")
        self.store.transact(create(league), create(grant))
        return LeagueOut.from_fields(league, role=grant.role)

    @allow(SIGNED_IN, also=READ)
    def league(self, league_id: ItemId) -> LeagueOut:
        """A league."""
        league, role = self._league(league_id, READERS)
        return LeagueOut.from_fields(league, role=role)

    @allow(SIGNED_IN, also=ADMIN)
    def rename_league(self, league_id: ItemId, change: LeagueChange, version: IfMatch) -> LeagueOut:
        """Change a league's name or slug."""
        league, role = self._league(league_id, ADMINS, version)
        return LeagueOut.from_fields(self.save(league, change), role=role)

    @allow(SIGNED_IN, also=ADMIN, one_way=True)
    def delete_league(self, league_id: ItemId, version: IfMatch) -> None:
        """Delete a league that has no seasons, with its grants and players."""
        self.store.run(delete(self._league(league_id, ADMINS, version)[0]))

    # Grants

    @allow(SIGNED_IN, also=ADMIN)
    def grants(self, league_id: ItemId, page: Paging) -> Listing[GrantOut]:
        """Who has which role in a league."""
        self._league(league_id, ADMINS)
        return self.listed(self.design.grants(league_id), page, GrantOut.from_fields)

    @allow(SIGNED_IN, also=ADMIN, retry=(AlreadyExists, NotFound), one_way=True)
    def grant(self, league_id: ItemId, user_id: UserId, grant: Grant, version: MayMatch) -> GrantOut:
        """Give somebody a role in a league. The last admin stays an admin."""
        self._in_league(league_id, ADMINS)
        found = self.find_or_none(self.design.grant(league_id, user_id), version)
        if found is None:
            made = self.store.run(create(Acl.from_fields(grant, league_id=league_id, user_id=user_id)))
            return GrantOut.from_fields(made)
        found.role = grant.role
        return GrantOut.from_fields(self.save(found))

    @allow(SIGNED_IN, also=ADMIN, one_way=True)
    def revoke(self, league_id: ItemId, user_id: UserId, version: IfMatch) -> None:
        """Remove somebody from a league. The last admin stays."""
        self._in_league(league_id, ADMINS)
        self.store.run(delete(self.find(self.design.grant(league_id, user_id), version)))

    # Players

    @allow(SIGNED_IN, also=READ)
    def players(self, league_id: ItemId, page: Paging) -> Listing[PlayerOut]:
        """The players of a league."""
        _, role = self._league(league_id, READERS)
        return self.listed(self.design.players(league_id), page, lambda player: _shown(player, role))

    @allow(SIGNED_IN, also=ADMIN)
    def create_player(self, league_id: ItemId, new: NewPlayer) -> PlayerOut:
        """Add a player to a league."""
        role = self._in_league(league_id, ADMINS)
        return _shown(self.store.run(create(Player.from_fields(new, league_id=league_id))), role)

    @allow(SIGNED_IN, also=READ)
    def player(self, player_id: ItemId) -> PlayerOut:
        """A player."""
        profile, role = self._profile(player_id, READERS)
        self.find(self.design.league(profile.league_id))  # a league that is being deleted has no players
        return _shown(profile, role)

    @allow(SIGNED_IN, also=ADMIN)
    def change_player(self, player_id: ItemId, change: PlayerChange, version: IfMatch) -> PlayerOut:
        """Change a player's name or user account."""
        profile, role = self._profile(player_id, ADMINS)
        player = self.find(self.design.player(profile.league_id, player_id), version)
        return _shown(self.save(player, change), role)


def _shown(player: Player | PlayerProfile, role: Role) -> PlayerOut:
    """A player, with the user account for admins only."""
    found = PlayerOut.from_fields(player)
    return found if role == "admin" else found.model_copy(update={"user_id": None})
