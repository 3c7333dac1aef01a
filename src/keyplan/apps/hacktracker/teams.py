"""Teams: making, changing, deleting and restoring them, and giving them to somebody else."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from keyplan.apps.hacktracker.access import (
    A_MANAGER,
    A_MEMBER,
    MANAGERS,
    OWNER,
    THE_OWNER,
    Access,
    LookAgain,
    needed,
    still_here,
)
from keyplan.apps.hacktracker.entities import Membership, Player, Team
from keyplan.apps.hacktracker.models import (
    DeletedTeam,
    ItemId,
    MyTeam,
    NewOwner,
    NewTeam,
    TeamChange,
    TeamOut,
)
from keyplan.data import ConditionFailed, NotFound, ParentMissing, create, update
from keyplan.web import SIGNED_IN, IfMatch, InConflict, Listing, MayMatch, Missing, Paging, Unprocessable, allow

KEPT = timedelta(days=30)
"""How long a deleted team can be restored."""


class Teams(Access):
    """What is done with teams."""

    @allow(SIGNED_IN)
    def create_team(self, new: NewTeam) -> TeamOut:
        """Make a team, with oneself as its owner and as its first player."""
        user = self.user
        team = Team(name=new.name, description=new.description, owner_id=user.user_id, team_type=new.team_type)
        player = Player(
            team_id=team.team_id,
            first_name=user.first_name or "New",
            last_name=user.last_name or "Player",
            is_ghost=False,
            user_id=user.user_id,
            linked_at=self.now,
        )
        membership = Membership(user_id=user.user_id, team_id=team.team_id, role="owner", joined_at=self.now)
        self.store.transact(create(team), create(membership), create(player), still_here(user.user_id))
        return TeamOut.seen(team, "owner")

    @allow(SIGNED_IN)
    def my_teams(self, page: Paging) -> Listing[MyTeam]:
        """The teams that one is an active member of."""

        def seen(memberships: Sequence[Membership]) -> Iterator[MyTeam]:
            for membership, team in self._with_teams(memberships):
                if team.deleted_at is None and membership.status == "active":
                    yield MyTeam.seen(team, membership.role)

        return self.chosen(self.design.memberships(self.me.sub), page, seen)

    @allow(SIGNED_IN)
    def my_deleted_teams(self, page: Paging) -> Listing[DeletedTeam]:
        """The teams that one owned and deleted, while they can be restored."""

        def seen(memberships: Sequence[Membership]) -> Iterator[DeletedTeam]:
            for membership, team in self._with_teams(memberships):
                if membership.role == "owner" and self._can_be_restored(team):
                    yield DeletedTeam.of(team)

        return self.chosen(self.design.memberships(self.me.sub), page, seen)

    def _with_teams(self, memberships: Sequence[Membership]) -> Iterator[tuple[Membership, Team]]:
        teams = self.store.run(self.design.teams_by_ids([each.team_id for each in memberships]))
        for membership, team in zip(memberships, teams, strict=True):
            if team is not None:  # else it is gone for good, and the membership is about to
                yield membership, team

    def _can_be_restored(self, team: Team) -> bool:
        return team.deleted_at is not None and team.expires_at is not None and team.expires_at > self.now

    @allow(SIGNED_IN, also=A_MEMBER)
    def team(self, team_id: ItemId) -> TeamOut:
        """A team."""
        seat = self._seat(team_id)
        return TeamOut.seen(seat.team, seat.role)

    @allow(SIGNED_IN, also=A_MANAGER)
    def change_team(self, team_id: ItemId, change: TeamChange, version: IfMatch) -> TeamOut:
        """Change a team's name or description."""
        changes = {name: getattr(change, name) for name in change.model_fields_set}
        needed(changes, "name")

        def act() -> TeamOut:
            seat = self._seat(team_id, MANAGERS)
            self.current(seat.team, version)
            for name, value in changes.items():
                setattr(seat.team, name, value)
            self.store.run(update(seat.team))
            return TeamOut.seen(seat.team, seat.role)

        return self._persist(act)

    @allow(SIGNED_IN, also=THE_OWNER)
    def delete_team(self, team_id: ItemId, version: IfMatch) -> None:
        """Delete a team. It is gone for everybody at once, and can be restored for 30 days."""

        def act() -> None:
            team = self._seat(team_id, OWNER).team
            self.current(team, version)
            team.deleted_at, team.expires_at = self.now, self.now + KEPT
            self.store.run(update(team))

        self._persist(act)

    @allow(SIGNED_IN, also=THE_OWNER)
    def restore_team(self, team_id: ItemId) -> TeamOut:
        """Restore a deleted team, with all that is in it."""
        return self._persist(lambda: self._restored(team_id))

    def _restored(self, team_id: str) -> TeamOut:
        team = self.store.run(self.design.team(team_id))
        membership = self.store.run(self.design.membership(self.me.sub, team_id))
        if team is None or membership is None or membership.status != "active":
            raise Missing(detail="There is no such team.")
        deleted_at = team.deleted_at
        if deleted_at is not None and (membership.role != "owner" or not self._can_be_restored(team)):
            raise Missing(detail="There is no such team.")
        self.permit(membership.role == "owner")
        if deleted_at is None:
            raise InConflict("not-deleted", "The team is not deleted.")
        team.deleted_at = team.expires_at = None
        try:
            as_read = update(team, where=lambda stored: stored.deleted_at == deleted_at)
            self.store.transact(as_read, still_here(self.me.sub))
        except (NotFound, ParentMissing) as error:
            raise Missing(detail="There is no such team.") from error
        except ConditionFailed as error:
            if error.entity == "User":  # who has just gone comes back to nothing
                raise Missing(detail="There is no such team.") from error
            raise LookAgain from error
        return TeamOut.seen(team, "owner")

    @allow(SIGNED_IN, also=THE_OWNER)
    def transfer_team(self, team_id: ItemId, new: NewOwner, version: MayMatch) -> TeamOut:
        """Make another active member the owner. The one until now is a manager then."""
        return self._persist(lambda: self._transferred(team_id, new.user_id, version))

    def _transferred(self, team_id: str, user_id: str, version: frozenset[int] | None) -> TeamOut:
        seat = self._seat(team_id, OWNER)
        team, mine = seat.team, seat.membership
        self.current(team, version)
        theirs = self.store.run(self.design.membership(user_id, team_id))
        if theirs is None or theirs.status != "active" or user_id == self.me.sub:
            raise Unprocessable("not-a-member", "Only another active member can own the team.", pointer="/user_id")
        team.owner_id, mine.role, theirs.role = user_id, "manager", "owner"
        try:
            self.store.transact(update(team), update(mine), update(theirs), still_here(user_id))
        except (ConditionFailed, ParentMissing) as error:
            raise Unprocessable("not-a-member", "This member has just gone.", pointer="/user_id") from error
        return TeamOut.seen(team, mine.role)
