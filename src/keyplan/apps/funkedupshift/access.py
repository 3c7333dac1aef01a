"""Who has which power: what groups of the token give, what custom groups give, and who may hand it on.

A power is a permission by its name. Everything about powers is decided here; services only ask.
"""

from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from typing import ClassVar, NamedTuple, TypeVar

from keyplan.apps.funkedupshift.design import FunkedUpShiftDesign
from keyplan.apps.funkedupshift.entities import Group
from keyplan.apps.funkedupshift.values import Permission
from keyplan.data import AlreadyExists, NotFound, StaleVersion
from keyplan.web import ANYONE, SIGNED_IN, Service, Versions, allow

T = TypeVar("T")

ADMIN, MANAGER = "admin", "manager"
"""Groups of the token. A custom group of such a name can not be made, and would count for nothing."""
SQUASH = "Squash"
"""The custom group whose members see the squash section."""

ALLOWS: dict[Permission, str] = {
    "sites:write": "add, change and delete sites",
    "groups:write": "look after groups and their members",
    "squash:read": "see the squash section",
    "squash:write": "see the squash section, and change what is in it",
}
"""What each permission of a custom group allows its members."""
_ONLY_BY_ADMINS = frozenset[Permission]({"squash:read", "squash:write"})
"""Powers that even those who have them do not hand on."""


ROLES = (ANYONE, SIGNED_IN, "sites:write", "groups:write", MANAGER, ADMIN)


class Keeping(NamedTuple):
    """What somebody who looks after groups may do with one of them."""

    changes: bool
    """Change and delete it, and take members out of it."""
    lets_in: bool
    """Let somebody into it: that hands on all that it allows."""


def powers_of(token_groups: Collection[str], groups: Iterable[Group]) -> frozenset[Permission]:
    """The powers of somebody with these groups in the token, who is a member of these custom groups."""
    if ADMIN in token_groups:
        return frozenset(ALLOWS)
    powers: set[Permission] = set()
    if MANAGER in token_groups:
        powers.add("groups:write")
    for group in groups:
        powers.update(group.permissions)
        if group.name == SQUASH:
            powers.add("squash:write" if MANAGER in token_groups else "squash:read")
    if "squash:write" in powers:
        powers.add("squash:read")
    return frozenset(powers)


class Access(Service[FunkedUpShiftDesign]):
    """The caller's powers, as they are now."""

    all_roles = ROLES
    comes_with: ClassVar = {ADMIN: ("sites:write", "groups:write"), MANAGER: ("groups:write",)}

    @property
    def _is_admin(self) -> bool:
        return self.caller is not None and ADMIN in self.caller.groups

    @cached_property
    def _powers(self) -> frozenset[Permission]:
        """Read strongly, once in a request: a membership or group that is gone gives nothing."""
        if self.caller is None:
            return frozenset()
        if self._is_admin:
            return powers_of(self.caller.groups, ())
        names = [each.group_name for each in self.store.each(self.design.memberships(self.caller.sub))]
        groups = self.store.run(self.design.groups_by_names(names)) if names else []
        return powers_of(self.caller.groups, [group for group in groups if group is not None])

    def roles(self) -> frozenset[str]:
        if self.caller is None:
            return frozenset()
        return (self.caller.groups & {ADMIN, MANAGER}) | (self._powers & set(ROLES))

    @allow("groups:write")
    def gives(self) -> frozenset[Permission]:
        """What the caller may give to groups."""
        return self._powers if self._is_admin else self._powers - _ONLY_BY_ADMINS

    @allow(ANYONE)
    def permissions(self) -> frozenset[Permission]:
        """What the caller may do beside what everybody may."""
        return self._powers

    def _keeping(self, name: str, permissions: Collection[Permission]) -> Keeping:
        """What the caller may do with a group of this name and with these permissions.

        Nobody but admins touches what leads to squash, or one could let oneself in. Else one gives to others what one
        has oneself, and takes away whatever it is.
        """
        changes = self._is_admin or (name != SQUASH and _ONLY_BY_ADMINS.isdisjoint(permissions))
        return Keeping(changes, changes and self._powers.issuperset(permissions))

    # The squash section is there only for those who may see it.

    def _sees_squash(self) -> None:
        self.permit("squash:read" in self._powers, hidden=True)

    def _changes_squash(self) -> None:
        self._sees_squash()
        self.permit("squash:write" in self._powers)

    # What the parts of the service share

    def _insist(self, version: Versions, act: Callable[[], T]) -> T:
        """Do it anew where somebody else was faster, unless it is to be done to one version only."""
        return act() if version is not None else self.persist(act, AlreadyExists, NotFound, StaleVersion)
