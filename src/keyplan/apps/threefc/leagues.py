"""The rules of leagues: who is in them, and their players."""

from collections.abc import Sequence

from keyplan.apps.threefc.access import ADMIN, ADMINS, READ, READERS, Access, take
from keyplan.apps.threefc.entities import Acl, League, Player, UserLeague
from keyplan.apps.threefc.models import (
    SLUG_LENGTH,
    Grant,
    GrantOut,
    ItemId,
    LeagueChange,
    LeagueOut,
    NewLeague,
    NewPlayer,
    PlayerChange,
    PlayerOut,
)
from keyplan.data import AlreadyExists, FloorReached, InUse, NotFound, StaleVersion, create, delete, update
from keyplan.design import batch_get
from keyplan.web import (
    SIGNED_IN,
    IfMatch,
    InConflict,
    Listing,
    MayMatch,
    Missing,
    Paging,
    Stale,
    Unprocessable,
    UserId,
    allow,
    slug_of,
)


class Leagues(Access):
    """Leagues, their grants and their players."""

    @allow(SIGNED_IN)
    def my_leagues(self, page: Paging) -> Listing[LeagueOut]:
        """The leagues that one has a grant in."""
        return self.chosen(self.design.my_leagues(self.me.sub), page, self._granted)

    def _granted(self, grants: Sequence[UserLeague]) -> list[LeagueOut]:
        """The leagues of these grants, without those whose deletion is under way."""
        leagues = self.store.run(batch_get(League, [grant.league_id for grant in grants])) if grants else []
        return [LeagueOut.of(one, grant.role) for one, grant in zip(leagues, grants, strict=True) if one]

    @allow(SIGNED_IN)
    def create_league(self, new: NewLeague) -> LeagueOut:
        """Found a league, and be its admin."""
        slug = new.slug or slug_of(new.name, SLUG_LENGTH)
        if not slug:
            raise Unprocessable("no-slug", "No slug can be made of this name: give one.", pointer="/slug")
        league = League(**{**new.model_dump(exclude_none=True), "slug": slug})
        self.store.transact(create(league), create(Acl(league_id=league.league_id, user_id=self.me.sub, role="admin")))
        return LeagueOut.of(league, "admin")

    @allow(SIGNED_IN, also=READ)
    def league(self, league_id: ItemId) -> LeagueOut:
        """A league."""
        role = self._in_league(league_id, READERS)
        return LeagueOut.of(self._league(league_id), role)

    @allow(SIGNED_IN, also=ADMIN)
    def rename_league(self, league_id: ItemId, change: LeagueChange, version: IfMatch) -> LeagueOut:
        """Give a league another name or slug."""
        role = self._in_league(league_id, ADMINS)
        league = self._league(league_id)
        self.current(league, version)
        take(league, change)
        return LeagueOut.of(self.store.run(update(league)), role)

    @allow(SIGNED_IN, also=ADMIN)
    def delete_league(self, league_id: ItemId, version: IfMatch) -> None:
        """Delete a league that has no seasons, with its grants and players."""
        self._in_league(league_id, ADMINS)
        league = self._league(league_id)
        self.current(league, version)
        try:
            self.store.run(delete(league))
        except InUse as error:
            raise InConflict("in-use", "There are seasons in it.") from error

    def _league(self, league_id: str) -> League:
        league = self.store.run(self.design.league(league_id))
        if league is None:  # it is being deleted
            raise Missing
        return league

    # Grants

    @allow(SIGNED_IN, also=ADMIN)
    def grants(self, league_id: ItemId, page: Paging) -> Listing[GrantOut]:
        """Who has which role in a league."""
        self._in_league(league_id, ADMINS)
        self._league(league_id)
        return self.listed(self.design.grants(league_id), page, GrantOut.of)

    @allow(SIGNED_IN, also=ADMIN)
    def grant(self, league_id: ItemId, user_id: UserId, grant: Grant, version: MayMatch) -> GrantOut:
        """Give somebody a role in a league. One admin stays."""
        self._in_league(league_id, ADMINS)

        def put() -> Acl:
            found = self.store.run(self.design.grant(league_id, user_id))
            if found is None:
                if version is not None:
                    raise Stale
                return self.store.run(create(Acl(league_id=league_id, user_id=user_id, role=grant.role)))
            self.current(found, version)
            found.role = grant.role
            return self.store.run(update(found))

        try:
            return GrantOut.of(self.persist(put, AlreadyExists, StaleVersion, NotFound))
        except FloorReached as error:
            raise _last_admin() from error

    @allow(SIGNED_IN, also=ADMIN)
    def revoke(self, league_id: ItemId, user_id: UserId, version: IfMatch) -> None:
        """Take somebody's grant away. One admin stays."""
        self._in_league(league_id, ADMINS)
        found = self.store.run(self.design.grant(league_id, user_id))
        if found is None:
            raise Missing(detail="There is no such grant.")
        self.current(found, version)
        try:
            self.store.run(delete(found))
        except FloorReached as error:
            raise _last_admin() from error

    # Players

    @allow(SIGNED_IN, also=READ)
    def players(self, league_id: ItemId, page: Paging) -> Listing[PlayerOut]:
        """The players of a league."""
        role = self._in_league(league_id, READERS)
        self._league(league_id)
        return self.listed(self.design.players(league_id), page, lambda player: PlayerOut.of(player, role))

    @allow(SIGNED_IN, also=ADMIN)
    def create_player(self, league_id: ItemId, new: NewPlayer) -> PlayerOut:
        """Add a player to a league."""
        role = self._in_league(league_id, ADMINS)
        player = Player(league_id=league_id, **new.model_dump(exclude_none=True))
        return PlayerOut.of(self.store.run(create(player)), role)

    @allow(SIGNED_IN, also=READ)
    def player(self, player_id: ItemId) -> PlayerOut:
        """A player."""
        profile, role = self._of_player(player_id, READERS)
        self._league(profile.league_id)
        return PlayerOut.of(profile, role)

    @allow(SIGNED_IN, also=ADMIN)
    def change_player(self, player_id: ItemId, change: PlayerChange, version: IfMatch) -> PlayerOut:
        """Change a player's name, or the user that it is."""
        profile, role = self._of_player(player_id, ADMINS)
        player = self.store.run(self.design.player(profile.league_id, player_id))
        if player is None:
            raise Missing
        self.current(player, version)
        take(player, change, may_be_none=["user_id"])
        return PlayerOut.of(self.store.run(update(player)), role)


def _last_admin() -> InConflict:
    return InConflict("last-one", "A league has an admin: make somebody else one first.")
