"""The routes of an API: one line for each method of a service.

    api = Api(Blog)
    api.get("/posts/{slug}", Blog.post)
    api.post("/posts", Blog.create_post)

The method's signature says the rest: names in the path are path parameters, an `In` is the body, a `Paging` is `limit`
and `cursor`, an `IfMatch` is the header, anything else is a query parameter; what it returns is the response. The
table of who may do what is made from the routes.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, TypeAlias

from keyplan.web.models.signatures import check_path, signature_of
from keyplan.web.system.access import ANYONE, SIGNED_IN, Permission, permission_of

Method: TypeAlias = Callable[..., object]


class Roles:
    """Base of services: the roles that routes ask for, and what a service is made of.

    A base class, not a protocol: pyright takes a class for a protocol only if it repeats `ClassVar` on its own roles.
    """

    all_roles: ClassVar[tuple[str, ...]] = (ANYONE, SIGNED_IN)
    """All roles of the system, for the table of who may do what."""
    comes_with: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The roles that come with a role: an admin is a user, too."""

    def __init__(self, running: Any, store: Any, caller: Any, visit: Any) -> None: ...  # noqa: ANN401 - see `Service`


@dataclass(frozen=True)
class SetCookie:
    """A cookie that a route's responses set: to a field of the result, or deleted if there is no result.

    Scripts can't read it, pages of other sites can't send it, and it is sent to this system's API only.
    """

    name: str
    field: str
    lasts: timedelta


@dataclass(frozen=True)
class Route:
    """An HTTP method and path, and the method that it calls."""

    verb: str
    path: str
    method: Method
    status: int
    once: bool
    permission: Permission
    rate: int | None = None
    """The maximum requests per minute from an address, if lower than the general limit."""
    cookie: SetCookie | None = None
    hashes: bool = False
    """Whether it hashes a password, and so waits in the queue for that."""
    behind: Method | None = None
    """Refuses callers for whom the route doesn't exist, before they learn what is wrong with their request."""


class Api:
    """The routes of a service."""

    def __init__(self, service: type[Roles]) -> None:
        self.service = service
        self.routes: list[Route] = []
        self._behind: Method | None = None

    def behind(self, refuses: Method) -> "Api":
        """The same routes, for adding some that don't exist for the callers whom the method `refuses` refuses."""
        section = copy(self)
        section._behind = refuses
        return section

    def get(self, path: str, method: Method, *, rate: int | None = None) -> None:
        """Add a route that reads something."""
        self._add("GET", path, method, 200, rate=rate)

    def post(
        self,
        path: str,
        method: Method,
        *,
        status: int = 201,
        once: bool = True,
        rate: int | None = None,
        cookie: SetCookie | None = None,
        hashes: bool = False,
    ) -> None:
        """Add a route that does something. With `once`, an `Idempotency-Key` makes it safe to send it again.

        With `hashes`, it hashes a password: it waits in the queue for that, and is refused if the queue is full.
        """
        self._add("POST", path, method, status, once=once, rate=rate, cookie=cookie, hashes=hashes)

    def put(self, path: str, method: Method) -> None:
        """Add a route that creates or replaces something."""
        self._add("PUT", path, method, 200)

    def patch(self, path: str, method: Method) -> None:
        """Add a route that changes a part of something."""
        self._add("PATCH", path, method, 200)

    def delete(self, path: str, method: Method) -> None:
        """Add a route that deletes something."""
        self._add("DELETE", path, method, 204)

    def _add(
        self,
        verb: str,
        path: str,
        method: Method,
        status: int,
        *,
        once: bool = False,
        rate: int | None = None,
        cookie: SetCookie | None = None,
        hashes: bool = False,
    ) -> None:
        permission = permission_of(method)
        if permission is None:
            raise TypeError(f"{verb} {path}: {method.__qualname__} doesn't say who may call it: put @allow(...) on it.")
        check_path(f"{verb} {path}", method)
        if any((each.verb, each.path) == (verb, path) for each in self.routes):
            raise TypeError(f"{verb} {path} was added before. Remove one of them: only the first would be called.")
        if signature_of(method).returns is type(None):
            status = 204
        self.routes.append(Route(verb, path, method, status, once, permission, rate, cookie, hashes, self._behind))

    def who_may_do_what(self) -> Iterator[tuple[str, str, dict[str, str]]]:
        """For each route, whether each role may use it: "yes", "no", or "if ..."."""
        for route in self.routes:
            allowed = f"if {route.permission.also}" if route.permission.also else "yes"
            roles = {role: self._may(role, route.permission) for role in self.service.all_roles}
            yield route.verb, route.path, {role: allowed if may else "no" for role, may in roles.items()}

    def _may(self, role: str, permission: Permission) -> bool:
        """Whether a role, or one that comes with it, is allowed. Everybody with a role is signed in."""
        known = () if role == ANYONE else (SIGNED_IN, *self.service.comes_with.get(role, ()))
        return not {ANYONE, role, *known}.isdisjoint(permission.roles)
