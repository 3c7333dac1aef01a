"""Teams: creating, changing, deleting, restoring and transferring them."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from keyplan.apps.hacktracker.entities import Membership, Player, Team
from keyplan.apps.hacktracker.fields import ItemId
from keyplan.apps.hacktracker.models import DeletedTeam, MyTeam, NewOwner, NewTeam, TeamChange, TeamOut
from keyplan.apps.hacktracker.service.access import (
    A_MANAGER,
    A_MEMBER,
    MANAGERS,
    OWNER,
    RACES,
    THE_OWNER,
    Access,
    Seat,
    still_here,
)
from keyplan.data import create, update
from keyplan.design import Refusal
from keyplan.web import SIGNED_IN, IfMatch, InConflict, Listing, MayMatch, Paging, Unprocessable, allow, missing

RESTORABLE_FOR = timedelta(days=30)
"""How long a deleted team can be restored."""
_MEMBER_GONE = Refusal("not-a-member", "This member just deleted their account.", field="user_id")


class Teams(Access):
    """What is done with teams."""

    @allow(SIGNED_IN)
    def create_team(self, new: NewTeam) -> TeamOut:
        """Create a team. You become its owner and its first player."""
        user = self.user
        team = Team.from_fields(new, owner_id=user.user_id)
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
        return TeamOut.from_fields(team, role="owner")

    @allow(SIGNED_IN)
    def my_teams(self, page: Paging) -> Listing[MyTeam]:
        """List the teams that you are an active member of."""

        def shown(memberships: Sequence[Membership]) -> Iterator[MyTeam]:
            for membership, team in self._with_teams(memberships):
                if team.deleted_at is None and membership.status == "active":
                    yield MyTeam.from_fields(team, role=membership.role)

        return self.chosen(self.design.memberships(self.me.sub), page, shown)

    @allow(SIGNED_IN)
    def my_deleted_teams(self, page: Paging) -> Listing[DeletedTeam]:
        """List the teams that you own, deleted and can still restore."""

        def shown(memberships: Sequence[Membership]) -> Iterator[DeletedTeam]:
            for membership, team in self._with_teams(memberships):
                if membership.role == "owner" and team.deleted_at is not None:
                    yield DeletedTeam.from_fields(team)

        return self.chosen(self.design.memberships(self.me.sub), page, shown)

    def _with_teams(self, memberships: Sequence[Membership]) -> Iterator[tuple[Membership, Team]]:
        teams = self.store.run(self.design.teams_by_ids([each.team_id for each in memberships]))
        for membership, team in zip(memberships, teams, strict=True):
            if team is not None:  # else it was removed, and the membership is about to be
                yield membership, team

    @allow(SIGNED_IN, also=A_MEMBER)
    def team(self, team_id: ItemId) -> TeamOut:
        """Get a team."""
        return _shown(self._seat(team_id))

    @allow(SIGNED_IN, also=A_MANAGER)
    def change_team(self, team_id: ItemId, change: TeamChange, version: IfMatch) -> TeamOut:
        """Change a team's name or description."""
        seat = self._seat(team_id, MANAGERS, version)
        self.save(seat.team, change)
        return _shown(seat)

    @allow(SIGNED_IN, also=THE_OWNER, one_way=True)
    def delete_team(self, team_id: ItemId, version: IfMatch) -> None:
        """Delete a team. Nobody can see it any more; you can restore it within 30 days."""
        team = self._seat(team_id, OWNER, version).team
        team.deleted_at, team.expires_at = self.now, self.now + RESTORABLE_FOR
        self.save(team)

    @allow(SIGNED_IN, also=THE_OWNER, retry=RACES)
    def restore_team(self, team_id: ItemId) -> TeamOut:
        """Restore a deleted team, with everything in it."""
        seat = self._seat(team_id, deleted=True)
        team, deleted_at = seat.team, seat.team.deleted_at
        if deleted_at is not None and seat.role != "owner":
            raise missing(Team)
        self.permit(seat.role == "owner")
        if deleted_at is None:
            raise InConflict("not-deleted", "The team is not deleted.")
        team.deleted_at = team.expires_at = None
        as_read = update(team, where=lambda stored: stored.deleted_at == deleted_at)
        self.store.transact(as_read, still_here(self.me.sub))
        return _shown(seat)

    @allow(SIGNED_IN, also=THE_OWNER, retry=RACES, one_way=True)
    def transfer_team(self, team_id: ItemId, new: NewOwner, version: MayMatch) -> TeamOut:
        """Make another active member the owner of a team. You become a manager."""
        seat = self._seat(team_id, OWNER, version)
        team, mine, user_id = seat.team, seat.membership, new.user_id
        theirs = self.store.run(self.design.membership(user_id, team_id))
        if theirs is None or theirs.status != "active" or user_id == self.me.sub:
            raise Unprocessable("not-a-member", "Choose another active member of the team.", pointer="/user_id")
        team.owner_id, mine.role, theirs.role = user_id, "manager", "owner"
        self.store.transact(update(team), update(mine), update(theirs), still_here(user_id, _MEMBER_GONE))
        return _shown(seat)


def _shown(seat: Seat) -> TeamOut:
    return TeamOut.from_fields(seat.team, role=seat.role)
