"""The rules for people: custom groups and who is in them, and profiles."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

from keyplan.apps.funkedupshift.access import ADMIN, MANAGER, SQUASH, Access, Keeping
from keyplan.apps.funkedupshift.entities import Group, LeftoverFile, Membership, Profile
from keyplan.apps.funkedupshift.models import (
    MOST_AVATAR,
    AnyGroup,
    GroupChange,
    GroupOut,
    ItemId,
    MemberOut,
    MembershipOut,
    MyMembership,
    NewAvatar,
    NewGroup,
    NewMember,
    ProfileChange,
    ProfileOut,
    SentAvatar,
)
from keyplan.apps.funkedupshift.upkeep import sweep_files
from keyplan.apps.funkedupshift.values import Permission
from keyplan.data import AlreadyExists, ConditionFailed, ParentMissing, Part, check, create, delete, touch, update
from keyplan.design import absent, between, ref
from keyplan.web import (
    SIGNED_IN,
    IfMatch,
    InConflict,
    Listing,
    MayMatch,
    Missing,
    Paging,
    Unprocessable,
    Versions,
    allow,
)
from keyplan.web.media import Ticket

LOGIN_STAMP_LASTS = timedelta(minutes=1)
"""How often it is noted at most that somebody was here."""
_EVER = datetime.min.replace(tzinfo=UTC)
_KEEPS = "it does not lead to squash, or you are an admin"
_HANDS_ON = "you may hand on what it allows"


class People(Access):
    """Groups, memberships and profiles."""

    # Groups

    @allow("groups:write")
    def groups(self, page: Paging) -> Listing[GroupOut]:
        """All custom groups, by name."""
        return self.listed(self.design.groups(), page, GroupOut.of)

    @allow("groups:write")
    def group(self, name: AnyGroup) -> GroupOut:
        """A custom group."""
        return GroupOut.of(self._group(name))

    @allow("groups:write")
    def keeping(self, name: AnyGroup) -> Keeping:
        """What one may do with a group."""
        return self._keeping(name, self._group(name).permissions)

    @allow("groups:write", also=_HANDS_ON)
    def create_group(self, new: NewGroup) -> GroupOut:
        """Make a custom group."""
        self._permit_handing_on(new.name, new.permissions)
        group = Group(name=new.name, description=new.description or None, permissions=_once(new.permissions))
        try:
            return GroupOut.of(self.store.run(create(group)))
        except AlreadyExists as error:
            raise InConflict("name-taken", "There is a group of this name.") from error

    @allow(
        "groups:write", also="you may hand on what is new in it, and it does not lead to squash, or you are an admin"
    )
    def change_group(self, name: AnyGroup, change: GroupChange, version: IfMatch) -> GroupOut:
        """Change a group. Its members may do at once what its permissions say then."""
        group = self._group(name)
        if "permissions" in change.model_fields_set and change.permissions is None:
            raise Unprocessable("required", "A group has these, if only none.", pointer="/permissions")
        self._permit_keeping(name, group.permissions)
        self._permit_handing_on(name, set(change.permissions or ()).difference(group.permissions))
        self.current(group, version)
        if "description" in change.model_fields_set:
            group.description = change.description or None
        if change.permissions is not None:
            group.permissions = _once(change.permissions)
        return GroupOut.of(self.store.run(update(group)))

    @allow("groups:write", also=_KEEPS)
    def delete_group(self, name: AnyGroup, version: IfMatch) -> None:
        """Delete a group, with its memberships. It allows nothing any more from this moment on."""
        group = self._group(name)
        self._permit_keeping(name, group.permissions)
        self.current(group, version)
        self.store.run(delete(group))

    def _group(self, name: str) -> Group:
        group = self.store.run(self.design.group(name))
        if group is None:
            raise _no_group()
        return group

    def _permit_keeping(self, name: str, permissions: Collection[Permission]) -> None:
        self.permit(self._keeping(name, permissions).changes, detail="What leads to squash is a matter of admins.")

    def _permit_handing_on(self, name: str, permissions: Collection[Permission]) -> None:
        self.permit(self._keeping(name, permissions).lets_in, detail="This allows more than you may hand on.")

    # Memberships

    @allow("groups:write", also="it is not Squash, or you are an admin")
    def members(self, name: AnyGroup, page: Paging) -> Listing[MemberOut]:
        """Who is in a group."""
        self._group(name)
        self.permit(self._is_admin or name != SQUASH)

        def shown(members: Sequence[Membership]) -> list[MemberOut]:
            profiles = self.store.run(self.design.profiles([each.user_id for each in members]))
            return [MemberOut.named(each, profile) for each, profile in zip(members, profiles, strict=True)]

        return self.chosen(self.design.group_members(name), page, shown)

    @allow("groups:write", also=_HANDS_ON)
    def add_member(self, name: AnyGroup, new: NewMember) -> MembershipOut:
        """Let somebody into a group."""
        group = self._group(name)
        self._permit_handing_on(name, group.permissions)
        membership = Membership(user_id=new.user_id, group_name=name, added_by=self.me.sub)
        try:
            # Of the group as it was looked at: it may be given permissions this very moment.
            seen = check(ref(Group, name=name), where=lambda stored: stored.version == group.version)
            self.store.transact(create(membership), seen)
        except AlreadyExists as error:
            raise InConflict("member-already", "They are in this group already.") from error
        except ParentMissing as error:
            raise _no_group() from error
        except ConditionFailed as error:
            raise InConflict("group-changed", "The group was changed meanwhile. Look at it again.") from error
        return MembershipOut.of(membership)

    @allow("groups:write", also=_KEEPS)
    def remove_member(self, name: AnyGroup, user_id: ItemId) -> None:
        """Take somebody out of a group. It allows them nothing any more from this moment on."""
        group = self._group(name)
        self._permit_keeping(name, group.permissions)
        membership = self.store.run(self.design.membership(user_id, name))
        if membership is None:
            raise Missing(detail="They are not in this group.")
        self.store.run(delete(membership))

    @allow("groups:write")
    def memberships(self, user_id: ItemId, page: Paging) -> Listing[MembershipOut]:
        """The groups that somebody is in; that it is Squash is shown to admins only."""
        op = self.design.memberships(user_id) if self._is_admin else self.design.memberships_but(user_id, SQUASH)
        return self.chosen(op, page, lambda found: map(MembershipOut.of, self._holding(found)))

    @allow(SIGNED_IN)
    def my_memberships(self, page: Paging) -> Listing[MyMembership]:
        """The groups that one is in."""
        op = self.design.memberships(self.me.sub)
        return self.chosen(op, page, lambda found: map(MyMembership.of, self._holding(found)))

    def _holding(self, memberships: Sequence[Membership]) -> list[Membership]:
        """Memberships without those whose group is being deleted."""
        groups = self.store.run(self.design.groups_by_names([each.group_name for each in memberships]))
        return [each for each, group in zip(memberships, groups, strict=True) if group is not None]

    # Profiles

    @allow(SIGNED_IN)
    def profile(self) -> ProfileOut:
        """One's own profile. When and from where one was here last is noted, once a minute at most."""
        return self._shown_profile(self._stamped(self._my_profile()))

    def _stamped(self, profile: Profile) -> Profile:
        """The profile with this visit noted, unless one was a moment ago: which of two at once notes it, the write
        decides.
        """
        before = self.now - LOGIN_STAMP_LASTS
        if profile.last_login_at is not None and profile.last_login_at > before:
            return profile
        now = self.now.replace(microsecond=self.now.microsecond // 1000 * 1000)  # as it is stored
        stamps = {"last_login_at": now, "last_login_ip": self.visit.address or None}

        def due(stored: Profile) -> object:
            return absent(stored.last_login_at) | between(stored.last_login_at, _EVER, before)

        try:
            self.store.run(touch(ref(Profile, user_id=profile.user_id), where=due, **stamps))
        except ConditionFailed:
            return self._my_profile()
        return profile.model_copy(update=stamps)

    @allow(SIGNED_IN)
    def change_profile(self, change: ProfileChange, version: IfMatch) -> ProfileOut:
        """Change one's display name and description. Comments keep the name that they were written under."""
        profile = self._my_profile()
        self.current(profile, version)
        for name in change.model_fields_set:
            setattr(profile, name, getattr(change, name) or None)
        return self._shown_profile(self.store.run(update(profile)))

    def _my_profile(self) -> Profile:
        """One's profile; made when it is first asked for."""

        def found_or_made() -> Profile:
            found = self.store.run(self.design.profile(self.me.sub))
            return self.store.run(create(Profile(user_id=self.me.sub))) if found is None else found

        return self._insist(None, found_or_made)

    def _shown_profile(self, profile: Profile) -> ProfileOut:
        avatar = self.media.url(profile.avatar_key) if profile.avatar_key else None
        return ProfileOut.of(profile, avatar, self.me.groups & {ADMIN, MANAGER}, self._powers)

    # Avatars

    @allow(SIGNED_IN)
    def upload_avatar(self, new: NewAvatar) -> Ticket:
        """Ask for an upload. Send the picture as the answer says, then put it in place."""
        under = ["profile", "avatars", self.me.sub]
        most = min(new.size, MOST_AVATAR)
        return self.media.ask(new.content_type, purpose=self._avatar, max_bytes=most, under=under)

    @property
    def _avatar(self) -> str:
        return f"avatar of {self.me.sub}"

    @allow(SIGNED_IN)
    def put_avatar(self, sent: SentAvatar, version: MayMatch) -> ProfileOut:
        """Take a picture that was sent; the one until now is deleted."""
        checked = self.media.check(sent.upload_id, purpose=self._avatar)
        try:
            return self._shown_profile(
                self._insist(version, lambda: self._with_avatar(checked.file.name, version, checked.keep))
            )
        except ConditionFailed as error:
            raise InConflict("added-already", "This upload was taken already, or is over.") from error

    @allow(SIGNED_IN)
    def delete_avatar(self, version: MayMatch) -> None:
        """Remove one's picture."""
        self._insist(version, lambda: self._with_avatar(None, version))

    def _with_avatar(self, name: str | None, version: Versions, *keep: Part) -> Profile:
        """The profile with another picture: with the same write, the old one becomes a file to be deleted."""
        profile = self._my_profile()
        self.current(profile, version)
        old, profile.avatar_key = profile.avatar_key, name
        if old == name:
            return profile
        parts = [create(LeftoverFile(file=old))] if old is not None else []
        self.store.transact(update(profile), *parts, *keep)
        sweep_files(self.running)
        return profile


def _no_group() -> Missing:
    return Missing(detail="There is no such group.")


def _once(permissions: Sequence[Permission]) -> list[Permission]:
    return list(dict.fromkeys(permissions))
