"""Who may do what: what groups of the token allow, what custom groups allow, and who may grant it to others.

Everything about permissions is decided here; the rest of the service only asks.
"""

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import ClassVar, NamedTuple

from keyplan.apps.funkedupshift.design import FunkedUpShiftDesign
from keyplan.apps.funkedupshift.entities import Group
from keyplan.apps.funkedupshift.fields import Permission
from keyplan.web import ANYONE, SIGNED_IN, Service, allow

ADMIN, MANAGER = "admin", "manager"
"""Groups of the token. A custom group can't have such a name, and would allow nothing if it had."""
SQUASH = "Squash"
"""The custom group whose members see the squash section."""

ALLOWS: dict[Permission, str] = {
    "sites:write": "add, change and delete sites",
    "groups:write": "manage groups and their members",
    "squash:read": "see the squash section",
    "squash:write": "see and change the squash section",
}
"""What each permission of a custom group allows its members."""
_GRANTED_BY_ADMINS = frozenset[Permission]({"squash:read", "squash:write"})
"""Permissions that only admins grant, even where others have them."""


ROLES = (ANYONE, SIGNED_IN, "sites:write", "groups:write", MANAGER, ADMIN)


class GroupRights(NamedTuple):
    """What somebody who manages groups may do with one of them."""

    may_change: bool
    """Change and delete it, and remove members."""
    may_add_members: bool
    """Add members, which grants them all that the group allows."""


def permissions_of(token_groups: Collection[str], groups: Iterable[Group]) -> frozenset[Permission]:
    """The permissions of somebody with these groups in the token, who is a member of these custom groups."""
    if ADMIN in token_groups:
        return frozenset(ALLOWS)
    found: set[Permission] = set()
    if MANAGER in token_groups:
        found.add("groups:write")
    for group in groups:
        found.update(group.permissions)
        if group.name == SQUASH:
            found.add("squash:write" if MANAGER in token_groups else "squash:read")
    if "squash:write" in found:
        found.add("squash:read")
    return frozenset(found)


class Access(Service[FunkedUpShiftDesign]):
    """The caller's permissions at this moment."""

    all_roles = ROLES
    comes_with: ClassVar = {ADMIN: ("sites:write", "groups:write"), MANAGER: ("groups:write",)}

    @property
    def _is_admin(self) -> bool:
        return self.caller is not None and ADMIN in self.caller.groups

    @cached_property
    def _permissions(self) -> frozenset[Permission]:
        """Read strongly, once in a request: a membership or group that was deleted allows nothing."""
        if self.caller is None:
            return frozenset()
        if self._is_admin:
            return permissions_of(self.caller.groups, ())
        names = [each.group_name for each in self.store.each(self.design.memberships(self.caller.sub))]
        groups = self.store.run(self.design.groups_by_names(names)) if names else []
        return permissions_of(self.caller.groups, [group for group in groups if group is not None])

    def roles(self) -> frozenset[str]:
        if self.caller is None:
            return frozenset()
        return (self.caller.groups & {ADMIN, MANAGER}) | (self._permissions & set(ROLES))

    @allow("groups:write")
    def gives(self) -> frozenset[Permission]:
        """The permissions that the caller may give to groups."""
        return self._permissions if self._is_admin else self._permissions - _GRANTED_BY_ADMINS

    @allow(ANYONE)
    def permissions(self) -> frozenset[Permission]:
        """What the caller may do beyond what everybody may."""
        return self._permissions

    def _group_rights(self, name: str, permissions: Collection[Permission]) -> GroupRights:
        """What the caller may do with a group that has this name and these permissions.

        Only admins touch what opens the squash section, or managers could let themselves in. Otherwise callers grant
        what they may do themselves, and take away anything.
        """
        may_change = self._is_admin or (name != SQUASH and _GRANTED_BY_ADMINS.isdisjoint(permissions))
        return GroupRights(may_change, may_change and self._permissions.issuperset(permissions))

    # The squash section exists only for those who may see it.

    def _permit_seeing_squash(self) -> None:
        self.permit("squash:read" in self._permissions, hidden=True)

    def _permit_changing_squash(self) -> None:
        self._permit_seeing_squash()
        self.permit("squash:write" in self._permissions)
