"""Members of a team: listing them, invitations, roles, and leaving."""

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from datetime import timedelta

from keyplan.apps.hacktracker.entities import Invitation, Member, Membership, Player
from keyplan.apps.hacktracker.fields import GivenRole, ItemId, Role
from keyplan.apps.hacktracker.models import (
    Accepted,
    InvitationOut,
    MemberOut,
    MembershipOut,
    Offer,
    RoleChange,
    Secret,
    TeamOut,
)
from keyplan.apps.hacktracker.service.access import (
    A_MANAGER,
    A_MEMBER,
    MANAGERS,
    OWNER,
    RACES,
    Access,
    Seat,
    display_name,
    not_deleted,
    refuse_personal,
    still_here,
)
from keyplan.data import Check, ConditionFailed, NotFound, Part, check, create, delete, update
from keyplan.design import Refusal, UserId, one_of, ref
from keyplan.web import SIGNED_IN, IfMatch, InConflict, Listing, MayMatch, Missing, Paging, Versions, allow

VALID_FOR = timedelta(days=7)
"""How long an invitation can be accepted: shorter than a deleted team is kept, so that none outlives its team."""
_INVITES = f"{A_MANAGER}; managers give the roles player and scorekeeper only"
_CHANGES = f"{A_MANAGER}; managers change players and scorekeepers only"
_LAPSED = Refusal(
    "invitation-lapsed", "The person who invited you can no longer do so. Ask the team for another invitation."
)


class Members(Access):
    """What is done with the members of a team."""

    @allow(SIGNED_IN, also=A_MEMBER)
    def members(self, team_id: ItemId, page: Paging) -> Listing[MemberOut]:
        """List the members of a team, including those who left."""
        seat = self._seat(team_id)

        def shown(members: Sequence[Member]) -> Iterator[MemberOut]:
            users = self.store.run(self.design.users_by_ids([each.user_id for each in members]))
            for member, user in zip(members, users, strict=True):
                known = seat.manages or member.user_id == self.me.sub
                user_id = member.user_id if known else None
                yield MemberOut.from_fields(member, user_id=user_id, name=display_name(user))

        return self.chosen(self.design.members(team_id), page, shown)

    @allow(SIGNED_IN, also=f"{A_MANAGER}, or it is your own membership")
    def member(self, team_id: ItemId, user_id: UserId) -> MembershipOut:
        """Get a membership."""
        seat = self._seat(team_id)
        self.permit(seat.manages or user_id == self.me.sub)
        return self._shown(self.find(self.design.membership(user_id, team_id)))

    def _shown(self, membership: Membership) -> MembershipOut:
        name = display_name(self.store.run(self.design.user(membership.user_id)))
        return MembershipOut.from_fields(membership, name=name)

    # Roles

    @allow(SIGNED_IN, also=_CHANGES, one_way=True)
    def change_role(self, team_id: ItemId, user_id: UserId, change: RoleChange, version: MayMatch) -> MembershipOut:
        """Give a member another role."""
        seat = self._seat(team_id, MANAGERS)
        self._check_can_give(seat, change.role)
        membership = self._to_manage(seat, user_id, version)
        if membership.status != "active":
            raise InConflict("has-left", "This member has left the team. Invite them again.")
        membership.role = change.role
        return self._shown(self.save(membership))

    @allow(SIGNED_IN, also=_CHANGES, one_way=True)
    def remove_member(self, team_id: ItemId, user_id: UserId, version: IfMatch) -> None:
        """Remove a member. Their player stays on the roster."""
        seat = self._seat(team_id, MANAGERS)
        self.store.run(delete(self._to_manage(seat, user_id, version)))

    def _to_manage(self, seat: Seat, user_id: str, version: Versions) -> Membership:
        membership = self.find(self.design.membership(user_id, seat.team.team_id), version)
        if membership.role == "owner":
            raise _owner_stays()
        self.permit(seat.role == "owner" or membership.role not in MANAGERS)
        return membership

    def _check_can_give(self, seat: Seat, role: GivenRole) -> None:
        self.permit(seat.role in _givers(role), detail="Only the owner can make somebody a manager.")

    @allow(SIGNED_IN, also=A_MEMBER, retry=RACES, one_way=True)
    def leave_team(self, team_id: ItemId) -> None:
        """Leave a team. Its owner must transfer it first."""
        membership = self._seat(team_id).membership
        if membership.role == "owner":
            raise _owner_stays()
        membership.status = "left"
        self.save(membership)

    # Invitations

    @allow(SIGNED_IN, also=_INVITES, retry=RACES)
    def invite_member(self, team_id: ItemId, new: RoleChange) -> InvitationOut:
        """Invite somebody to join with a role. Whoever has the link can use it, once, within 7 days.

        It stops working if you are no longer allowed to give that role.
        """
        seat = self._seat(team_id, MANAGERS)
        self._check_can_give(seat, new.role)
        refuse_personal(seat)
        return self._invite(team_id, new.role, None)

    @allow(SIGNED_IN, also=A_MANAGER, retry=RACES)
    def invite_to_link(self, team_id: ItemId, player_id: ItemId) -> InvitationOut:
        """Invite somebody to link their account to a player who has none."""
        refuse_personal(self._seat(team_id, MANAGERS))
        if not self._player(team_id, player_id).is_ghost:
            raise InConflict("is-linked", "This player already has an account.")
        return self._invite(team_id, None, player_id)

    def _invite(self, team_id: str, role: GivenRole | None, player_id: str | None) -> InvitationOut:
        secret = secrets.token_urlsafe(32)
        invitation = Invitation(
            secret_hash=_hashed(secret),
            team_id=team_id,
            role=role,
            player_id=player_id,
            invited_by=self.me.sub,
            expires_at=self.now + VALID_FOR,
        )
        self.store.transact(create(invitation), not_deleted(team_id))
        base = self.running.settings.base_url or ""
        link = f"{base}/{self.running.system.name}/join/{secret}"
        return InvitationOut.from_fields(invitation, secret=secret, link=link)

    @allow(SIGNED_IN, also="you have the invitation", raises=(InConflict,))
    def offer(self, secret: Secret) -> Offer:
        """Get what an invitation offers."""
        invitation = self._invitation(secret)
        team = self.store.run(self.design.team(invitation.team_id))
        if team is None or team.deleted_at is not None:
            raise _no_invitation()
        inviter = self.store.run(self.design.membership(invitation.invited_by, team.team_id))
        if inviter is None or inviter.status != "active" or inviter.role not in _givers(invitation.role):
            raise _lapsed()
        account = self.store.run(self.design.user(invitation.invited_by))
        if account is None or account.deleted_at is not None:
            raise _lapsed()
        player = self._ghost(invitation)
        return Offer.from_fields(
            invitation,
            team_name=team.name,
            role=invitation.role or "player",
            player_name=f"{player.first_name} {player.last_name}" if player else None,
        )

    @allow(SIGNED_IN, also="you have the invitation", retry=RACES)
    def accept_invitation(self, accepted: Accepted) -> TeamOut:
        """Accept an invitation: join the team, or link your account to the player that is offered. It works once."""
        invitation = self._invitation(accepted.secret)
        team_id, me = invitation.team_id, self.user.user_id
        parts: list[Part] = [delete(invitation), not_deleted(team_id), _can_still_give(invitation), still_here(me)]
        # The memberships of somebody who deletes their account are removed a moment later, one by one.
        if me != invitation.invited_by:
            parts.append(still_here(invitation.invited_by, _LAPSED))
        player = self._ghost(invitation)
        if player is not None:
            player.user_id, player.linked_at, player.is_ghost = me, self.now, False
            parts.append(update(player))
        parts += self._joining(invitation, linking=player is not None)
        try:
            self.store.transact(*parts)
        except (ConditionFailed, NotFound) as error:
            if error.entity in ("Invitation", "Team"):
                raise _no_invitation() from error
            raise
        seat = self._seat(team_id)
        return TeamOut.from_fields(seat.team, role=seat.role)

    def _invitation(self, secret: str) -> Invitation:
        invitation = self.store.run(self.design.invitation(_hashed(secret)))
        if invitation is None:
            raise _no_invitation()
        self.permit(True)
        return invitation

    def _ghost(self, invitation: Invitation) -> Player | None:
        """The player that an invitation offers."""
        if invitation.player_id is None:
            return None
        player = self.store.run(self.design.player(invitation.team_id, invitation.player_id))
        if player is None or not player.is_ghost:
            raise InConflict("is-linked", "This player was removed or already has an account.")
        return player

    def _joining(self, invitation: Invitation, *, linking: bool) -> list[Part]:
        """The writes that make the caller an active member; none if they are one and only link their account."""
        team_id, me, inviter = invitation.team_id, self.me.sub, invitation.invited_by
        found = self.store.run(self.design.membership(me, team_id))
        is_active = found is not None and found.status == "active"
        if me == inviter and not is_active:
            raise _lapsed()  # the check of the inviter says nothing here: the transaction itself makes them active
        if is_active and not linking:
            raise InConflict("already-member", "You are already a member of this team.")
        if is_active:
            return []
        membership = found or Membership(user_id=me, team_id=team_id, role="player")
        membership.role = invitation.role or "player"
        membership.status, membership.joined_at, membership.invited_by = "active", self.now, inviter
        return [create(membership) if found is None else update(membership)]


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _givers(role: GivenRole | None) -> tuple[Role, ...]:
    """The roles that may invite to a role, or to link a player."""
    return OWNER if role == "manager" else MANAGERS


def _can_still_give(invitation: Invitation) -> Check[Membership]:
    """As part of a transaction: the inviter could still make this invitation."""
    inviter = ref(Membership, user_id=invitation.invited_by, team_id=invitation.team_id)
    givers = _givers(invitation.role)
    return check(inviter, lambda member: (member.status == "active") & one_of(member.role, givers), refusal=_LAPSED)


def _lapsed() -> InConflict:
    return InConflict(_LAPSED.code, _LAPSED.detail or "")


def _no_invitation() -> Missing:
    return Missing("no-such-invitation", "This invitation doesn't exist, was already used, or has expired.")


def _owner_stays() -> InConflict:
    return InConflict("owner-stays", "The owner can't leave or be changed. Transfer the team first.")
