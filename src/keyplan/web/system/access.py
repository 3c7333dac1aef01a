"""Callers, roles and permissions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from starlette.requests import Request

from keyplan.web.models.problems import Problem

ANYONE = "anyone"
"""The role of every caller, signed in or not."""
SIGNED_IN = "signed in"
"""The role of every signed-in caller."""


@dataclass(frozen=True)
class Caller:
    """The user who sends a request, from a token or a session."""

    sub: str
    groups: frozenset[str] = frozenset()
    claims: Mapping[str, object] = field(default_factory=dict)


class Identity(Protocol):
    """Finds the caller of a request."""

    async def caller(self, request: Request) -> Caller | None:
        """The caller; None without a token. Raises `Unauthorized` for a token that isn't valid."""
        ...


@dataclass(frozen=True)
class Permission:
    """Who may call a method: callers with one of the roles, if the condition in `also` holds, too."""

    roles: tuple[str, ...]
    also: str | None = None
    raises: tuple[type[Problem], ...] = ()
    """Problems that the document must list for this method, besides those of every route of its kind."""
    one_way: bool = False
    """Whether the caller can't undo it: a form that does it asks first."""


def permission_of(method: Callable[..., object]) -> Permission | None:
    """The permission that `allow` declared for a method."""
    return getattr(method, "permission", None)
