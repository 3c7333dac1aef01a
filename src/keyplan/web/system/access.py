"""Who calls, and what they may."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from starlette.requests import Request

ANYONE = "anyone"
"""The role of every caller, known or not."""
SIGNED_IN = "signed in"
"""The role of every caller who is known."""


@dataclass(frozen=True)
class Caller:
    """Who sends a request, as a token or a session says."""

    sub: str
    groups: frozenset[str] = frozenset()
    claims: Mapping[str, object] = field(default_factory=dict)


class Identity(Protocol):
    """Says who sends a request."""

    async def caller(self, request: Request) -> Caller | None:
        """The caller; None where the request brings no token. A token that is not good is an `Unauthorized`."""
        ...


@dataclass(frozen=True)
class Permission:
    """Who may call a method: one of the roles, and where `also` says so, more that the method decides."""

    roles: tuple[str, ...]
    also: str | None = None


def permission_of(method: Callable[..., object]) -> Permission | None:
    """What `allow` said about a method."""
    return getattr(method, "permission", None)
