"""Members of a team: who they are, inviting and accepting, roles, and leaving."""

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from datetime import timedelta

from keyplan.apps.hacktracker.access import (
    A_MANAGER,
    A_MEMBER,
    MANAGERS,
    OWNER,
    Access,
    LookAgain,
    Seat,
    display_name,
    managed,
    not_deleted,
    still_here,
)
from keyplan.apps.hacktracker.entities import Invitation, Member, Membership, Player, Role
from keyplan.apps.hacktracker.models import (
    Accepted,
    Given,
    InvitationOut,
    ItemId,
    MemberOut,
    MembershipOut,
    Offer,
    RoleChange,
    Secret,
    TeamOut,
)
from keyplan.data import (
    AlreadyExists,
    Check,
    ConditionFailed,
    NotFound,
    ParentMissing,
    Part,
    Refused,
    check,
    create,
    delete,
    update,
)
from keyplan.design import one_of, ref
from keyplan.web import SIGNED_IN, IfMatch, InConflict, Listing, MayMatch, Missing, Paging, UserId, Versions, allow

GOOD_FOR = timedelta(days=7)
"""How long an invitation can be accepted: shorter than a deleted team is kept, so that none outlives its team."""
_INVITES = f"{A_MANAGER}; managers give the roles player and scorekeeper only"
_CHANGES = f"{A_MANAGER}; managers change players and scorekeepers only"


class Members(Access):
    """What is done with the members of a team."""

    @allow(SIGNED_IN, also=A_MEMBER)
    def members(self, team_id: ItemId, page: Paging) -> Listing[MemberOut]:
        """The members of a team, those included who left."""
        seat = self._seat(team_id)

        def shown(members: Sequence[Member]) -> Iterator[MemberOut]:
            users = self.store.run(self.design.users_by_ids([each.user_id for each in members]))
            for member, user in zip(members, users, strict=True):
                known = seat.manages or member.user_id == self.me.sub
                yield MemberOut(
                    user_id=member.user_id if known else None,
                    name=display_name(user),
                    role=member.role,
                    status=member.status,
                    joined_at=member.joined_at,
                )

        return self.chosen(self.design.members(team_id), page, shown)

    @allow(SIGNED_IN, also=f"{A_MANAGER}, or it is your own membership")
    def member(self, team_id: ItemId, user_id: UserId) -> MembershipOut:
        """A membership."""
        seat = self._seat(team_id)
        self.permit(seat.manages or user_id == self.me.sub)
        return self._shown(self._membership(team_id, user_id))

    def _membership(self, team_id: str, user_id: str) -> Membership:
        membership = self.store.run(self.design.membership(user_id, team_id))
        if membership is None:
            raise Missing(detail="There is no such member.")
        return membership

    def _shown(self, membership: Membership) -> MembershipOut:
        return MembershipOut.of(membership, display_name(self.store.run(self.design.user(membership.user_id))))

    # Roles

    @allow(SIGNED_IN, also=_CHANGES)
    def change_role(self, team_id: ItemId, user_id: UserId, change: RoleChange, version: MayMatch) -> MembershipOut:
        """Give a member another role."""

        def act() -> MembershipOut:
            seat = self._seat(team_id, MANAGERS)
            self._may_give(seat, change.role)
            membership = self._to_manage(seat, user_id, version)
            if membership.status != "active":
                raise InConflict("has-left", "This member has left; invite them again.")
            membership.role = change.role
            self.store.run(update(membership))
            return self._shown(membership)

        return self._persist(act)

    @allow(SIGNED_IN, also=_CHANGES)
    def remove_member(self, team_id: ItemId, user_id: UserId, version: IfMatch) -> None:
        """Remove a member. Their player stays as it is."""

        def act() -> None:
            seat = self._seat(team_id, MANAGERS)
            self.store.run(delete(self._to_manage(seat, user_id, version)))

        self._persist(act)

    def _to_manage(self, seat: Seat, user_id: str, version: Versions) -> Membership:
        membership = self._membership(seat.team.team_id, user_id)
        self.current(membership, version)
        if membership.role == "owner":
            raise _owner_stays()
        self.permit(seat.role == "owner" or membership.role not in MANAGERS)
        return membership

    def _may_give(self, seat: Seat, role: Given) -> None:
        self.permit(seat.role in _givers(role), detail="Only the owner makes managers.")

    @allow(SIGNED_IN, also=A_MEMBER)
    def leave_team(self, team_id: ItemId) -> None:
        """Leave a team. Its owner has to transfer it first."""

        def act() -> None:
            membership = self._seat(team_id).membership
            if membership.role == "owner":
                raise _owner_stays()
            membership.status = "left"
            self.store.run(update(membership))

        self._persist(act)

    # Invitations

    @allow(SIGNED_IN, also=_INVITES)
    def invite_member(self, team_id: ItemId, new: RoleChange) -> InvitationOut:
        """Invite somebody to join with a role. Pass the link on: whoever has it can use it, once, within 7 days.

        It is good only while you may still invite to that role.
        """
        seat = self._seat(team_id, MANAGERS)
        self._may_give(seat, new.role)
        managed(seat)
        return self._invited(team_id, new.role, None)

    @allow(SIGNED_IN, also=A_MANAGER)
    def invite_to_link(self, team_id: ItemId, player_id: ItemId) -> InvitationOut:
        """Invite somebody to be a player of the roster who has no account yet."""
        managed(self._seat(team_id, MANAGERS))
        if not self._player(team_id, player_id).is_ghost:
            raise _is_linked()
        return self._invited(team_id, None, player_id)

    def _invited(self, team_id: str, role: Given | None, player_id: str | None) -> InvitationOut:
        secret = secrets.token_urlsafe(32)
        invitation = Invitation(
            secret_hash=_hashed(secret),
            team_id=team_id,
            role=role,
            player_id=player_id,
            invited_by=self.me.sub,
            expires_at=self.now + GOOD_FOR,
        )
        try:
            self.store.transact(create(invitation), not_deleted(team_id))
        except (ConditionFailed, ParentMissing) as error:
            raise Missing(detail="There is no such team.") from error
        base = self.running.settings.base_url or ""
        link = f"{base}/{self.running.system.name}/join/{secret}"
        return InvitationOut(secret=secret, link=link, expires_at=invitation.expires_at)

    @allow(SIGNED_IN, also="you have the invitation")
    def offer(self, secret: Secret) -> Offer:
        """What an invitation offers."""
        invitation = self._invitation(secret)
        team = self.store.run(self.design.team(invitation.team_id))
        if team is None or team.deleted_at is not None:
            raise _no_invitation()
        maker = self.store.run(self.design.membership(invitation.invited_by, team.team_id))
        if maker is None or maker.status != "active" or maker.role not in _givers(invitation.role):
            raise _lapsed()
        account = self.store.run(self.design.user(invitation.invited_by))
        if account is None or account.deleted_at is not None:
            raise _lapsed()
        player = self._ghost(invitation)
        return Offer(
            team_id=team.team_id,
            team_name=team.name,
            role=invitation.role or "player",
            player_id=invitation.player_id,
            player_name=f"{player.first_name} {player.last_name}" if player else None,
            expires_at=invitation.expires_at,
        )

    @allow(SIGNED_IN, also="you have the invitation")
    def accept_invitation(self, accepted: Accepted) -> TeamOut:
        """Accept an invitation: join the team, or become the player that it is for. Its secret is used up."""
        return self._persist(lambda: self._accepted(accepted.secret))

    def _invitation(self, secret: str) -> Invitation:
        invitation = self.store.run(self.design.invitation(_hashed(secret)))
        # One whose time is over may still be there for days: DynamoDB removes it when it gets to it.
        if invitation is None or invitation.expires_at <= self.now:
            raise _no_invitation()
        self.permit(True)
        return invitation

    def _ghost(self, invitation: Invitation) -> Player | None:
        """The player that an invitation is for."""
        if invitation.player_id is None:
            return None
        player = self.store.run(self.design.player(invitation.team_id, invitation.player_id))
        if player is None or not player.is_ghost:
            raise InConflict("is-linked", "Somebody else is this player by now, or nobody.")
        return player

    def _accepted(self, secret: str) -> TeamOut:
        invitation = self._invitation(secret)
        team_id, me = invitation.team_id, self.user.user_id
        parts: list[Part] = [delete(invitation), not_deleted(team_id), _may_still_give(invitation)]
        # Who has gone keeps their memberships for a moment: they are removed one by one.
        parts += [still_here(each) for each in dict.fromkeys((me, invitation.invited_by))]
        if player := self._ghost(invitation):
            player.user_id, player.linked_at, player.is_ghost = me, self.now, False
            parts.append(update(player))
        membership = self.store.run(self.design.membership(me, team_id))
        if me == invitation.invited_by and (membership is None or membership.status != "active"):
            raise _lapsed()  # no check would tell: of an item that the transaction itself puts, none is made
        if membership is None:
            role = invitation.role or "player"
            by = invitation.invited_by
            parts.append(create(Membership(user_id=me, team_id=team_id, role=role, joined_at=self.now, invited_by=by)))
        elif membership.status != "active":
            membership.status, membership.joined_at, membership.invited_by = "active", self.now, invitation.invited_by
            membership.role = invitation.role or "player"
            parts.append(update(membership))
        elif player is None:
            raise InConflict("already-member", "You are a member of this team already.")
        try:
            self.store.transact(*parts)
        except AlreadyExists as error:
            raise LookAgain from error  # two invitations at once: one of them made the membership
        except (NotFound, ConditionFailed, ParentMissing) as error:
            raise _not_accepted(error, invitation) from error
        seat = self._seat(team_id)
        return TeamOut.seen(seat.team, seat.role)


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _givers(role: Given | None) -> tuple[Role, ...]:
    """Who may invite to a role, or to be a player of the roster."""
    return OWNER if role == "manager" else MANAGERS


def _may_still_give(invitation: Invitation) -> Check[Membership]:
    """As part of a transaction: who made the invitation could make it now, too."""
    maker = ref(Membership, user_id=invitation.invited_by, team_id=invitation.team_id)
    givers = _givers(invitation.role)
    return check(maker, lambda member: (member.status == "active") & one_of(member.role, givers))


def _not_accepted(error: Refused, invitation: Invitation) -> InConflict | Missing:
    """What an invitation that could not be accepted is answered with."""
    if error.entity == "User" and error.values["user_id"] == invitation.invited_by:
        return _lapsed()
    if error.entity == "Membership":
        return _lapsed() if error.constraint == "check" else LookAgain()
    return _no_invitation()


def _lapsed() -> InConflict:
    return InConflict("invitation-lapsed", "Who made this invitation may no longer invite. Ask for another one.")


def _no_invitation() -> Missing:
    return Missing("no-such-invitation", "This invitation was used, is too old, or was never there.")


def _owner_stays() -> InConflict:
    return InConflict("owner-stays", "The owner stays until the team is transferred.")


def _is_linked() -> InConflict:
    return InConflict("is-linked", "This player has an account already.")
