"""The rules for custom groups and their members."""

from collections.abc import Collection, Sequence

from keyplan.apps.funkedupshift.entities import Group, Membership
from keyplan.apps.funkedupshift.fields import AnyGroup, Permission
from keyplan.apps.funkedupshift.models import (
    GroupChange,
    GroupOut,
    MemberOut,
    MembershipOut,
    MyMembership,
    NewGroup,
    NewMember,
)
from keyplan.apps.funkedupshift.service.access import SQUASH, Access, GroupRights
from keyplan.apps.funkedupshift.service.catalog import shown_name
from keyplan.data import check, create, delete
from keyplan.design import Id, Refusal, ref
from keyplan.web import SIGNED_IN, IfMatch, Listing, Paging, Versions, allow

_OPENS_NO_SQUASH = "it does not open the squash section, or you are an admin"
_MAY_GRANT = "you may grant what it allows"
_GROUP_CHANGED = Refusal("group-changed", "The group was changed in the meantime. Load it again and retry.")


class Groups(Access):
    """Groups and memberships."""

    # Groups

    @allow("groups:write")
    def groups(self, page: Paging) -> Listing[GroupOut]:
        """List all custom groups by name."""
        return self.listed(self.design.groups(), page, GroupOut.from_fields)

    @allow("groups:write")
    def group(self, name: AnyGroup) -> GroupOut:
        """Get a custom group."""
        return GroupOut.from_fields(self._group(name))

    @allow("groups:write")
    def keeping(self, name: AnyGroup) -> GroupRights:
        """What you may do with a group."""
        return self._group_rights(name, self._group(name).permissions)

    @allow("groups:write", also=_MAY_GRANT)
    def create_group(self, new: NewGroup) -> GroupOut:
        """Create a custom group."""
        self._permit_granting(new.name, new.permissions)
        return GroupOut.from_fields(self.store.run(create(Group.from_fields(new))))

    @allow("groups:write", also=f"you may grant what is added to it, and {_OPENS_NO_SQUASH}")
    def change_group(self, name: AnyGroup, change: GroupChange, version: IfMatch) -> GroupOut:
        """Change a group. Its new permissions apply to its members at once."""

        def allowed(group: Group) -> bool:
            added = set(change.get(lambda new: new.permissions, group.permissions)).difference(group.permissions)
            return self._permit_changing(group) and self._permit_granting(name, added)

        group = self.find(self.design.group(name), version, allowed=allowed)
        return GroupOut.from_fields(self.save(group, change))

    @allow("groups:write", also=_OPENS_NO_SQUASH, one_way=True)
    def delete_group(self, name: AnyGroup, version: IfMatch) -> None:
        """Delete a group with its memberships. From then on it allows nothing."""
        self.store.run(delete(self._changeable_group(name, version)))

    def _group(self, name: str) -> Group:
        return self.find(self.design.group(name))

    def _changeable_group(self, name: str, version: Versions = None) -> Group:
        return self.find(self.design.group(name), version, allowed=self._permit_changing)

    def _permit_changing(self, group: Group) -> bool:
        may_change = self._group_rights(group.name, group.permissions).may_change
        self.permit(may_change, detail="Only admins can change groups that open the squash section.")
        return True

    def _permit_granting(self, name: str, permissions: Collection[Permission]) -> bool:
        may_add = self._group_rights(name, permissions).may_add_members
        self.permit(may_add, detail="This would grant permissions that you can't grant.")
        return True

    # Memberships

    @allow("groups:write", also="it is not Squash, or you are an admin")
    def members(self, name: AnyGroup, page: Paging) -> Listing[MemberOut]:
        """List the members of a group."""
        self._seen_group(name)
        return self.chosen(self.design.group_members(name), page, self._with_names)

    @allow("groups:write", also="it is not Squash, or you are an admin")
    def member(self, name: AnyGroup, user_id: Id) -> MemberOut:
        """Get a member of a group."""
        self._seen_group(name)
        return self._with_names([self.find(self.design.membership(user_id, name))])[0]

    def _seen_group(self, name: AnyGroup) -> Group:
        return self.find(self.design.group(name), allowed=lambda group: self._is_admin or group.name != SQUASH)

    def _with_names(self, members: Sequence[Membership]) -> list[MemberOut]:
        profiles = self.store.run(self.design.profiles([each.user_id for each in members]))
        return [
            MemberOut.from_fields(each, display_name=shown_name(profile))
            for each, profile in zip(members, profiles, strict=True)
        ]

    @allow("groups:write", also=_MAY_GRANT)
    def add_member(self, name: AnyGroup, new: NewMember) -> MembershipOut:
        """Add a user to a group."""
        group = self._group(name)
        self._permit_granting(name, group.permissions)
        membership = Membership.from_fields(new, group_name=name, added_by=self.me.sub)
        # Only if the group is as it was decided on: it may be given permissions at this very moment.
        unchanged = check(ref(Group, name=name), lambda stored: stored.version == group.version, refusal=_GROUP_CHANGED)
        self.store.transact(create(membership), unchanged)
        return MembershipOut.from_fields(membership)

    @allow("groups:write", also=_OPENS_NO_SQUASH, one_way=True)
    def remove_member(self, name: AnyGroup, user_id: Id) -> None:
        """Remove a user from a group. From then on it allows them nothing."""
        self._changeable_group(name)
        self.store.run(delete(self.find(self.design.membership(user_id, name))))

    @allow("groups:write")
    def memberships(self, user_id: Id, page: Paging) -> Listing[MembershipOut]:
        """List the groups that a user is in. Only admins see a membership in Squash."""
        op = self.design.memberships(user_id) if self._is_admin else self.design.memberships_but(user_id, SQUASH)
        return self.chosen(op, page, lambda found: map(MembershipOut.from_fields, self._in_existing_groups(found)))

    @allow(SIGNED_IN)
    def my_memberships(self, page: Paging) -> Listing[MyMembership]:
        """List the groups that you are in."""
        op = self.design.memberships(self.me.sub)
        return self.chosen(op, page, lambda found: map(MyMembership.from_fields, self._in_existing_groups(found)))

    def _in_existing_groups(self, memberships: Sequence[Membership]) -> list[Membership]:
        """Memberships without those whose group is being deleted."""
        groups = self.store.run(self.design.groups_by_names([each.group_name for each in memberships]))
        return [each for each, group in zip(memberships, groups, strict=True) if group is not None]
