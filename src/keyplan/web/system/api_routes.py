"""Routes: one line for each thing that a service can do.

    api = Api(Blog)
    api.get("/posts/{slug}", Blog.post)
    api.post("/posts", Blog.create_post)

The method's signature says the rest: names in the path are path parameters, an `In` is the body, a `Paging` is `limit`
and `cursor`, an `IfMatch` is the header, anything else is a query parameter; what it returns is the answer. Nothing is
said twice, and the table of who may do what can be read off the routes.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, TypeAlias

from keyplan.web.models.signatures import signature_of
from keyplan.web.system.access import ANYONE, SIGNED_IN, Permission, permission_of

Method: TypeAlias = Callable[..., object]


class ServiceClass(Protocol):
    """A class of services, as routes know it: it makes one for a request, and says which roles there are."""

    @property
    def all_roles(self) -> tuple[str, ...]: ...

    @property
    def comes_with(self) -> Mapping[str, tuple[str, ...]]: ...

    def __call__(self, running: Any, store: Any, caller: Any, visit: Any, /) -> Any:  # noqa: ANN401 - a Service
        ...


@dataclass(frozen=True)
class SetCookie:
    """A cookie that a route's answers set: from a field of the result, or none where there is no result.

    No script sees it, no other site's page sends it, and it is sent to this system's API only.
    """

    name: str
    field: str
    lasts: timedelta


@dataclass(frozen=True)
class Route:
    """A path and method of HTTP, and what it calls."""

    verb: str
    path: str
    method: Method
    status: int
    once: bool
    permission: Permission
    rate: int | None = None
    """How many requests a minute one address may send, where that is less than elsewhere."""
    cookie: SetCookie | None = None
    behind: Method | None = None
    """Refuses those for whom the route is not there; asked before a caller is told what is wrong with a request."""


class Api:
    """The routes of a service."""

    def __init__(self, service: ServiceClass) -> None:
        self.service = service
        self.routes: list[Route] = []
        self._behind: Method | None = None

    def behind(self, refuses: Method) -> "Api":
        """The same routes, for adding some that are not there for everybody: `refuses` is the method that says so."""
        section = copy(self)
        section._behind = refuses
        return section

    def get(self, path: str, method: Method, *, rate: int | None = None) -> None:
        """Read something."""
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
    ) -> None:
        """Do something. With `once`, an `Idempotency-Key` makes sending it again safe."""
        self._add("POST", path, method, status, once=once, rate=rate, cookie=cookie)

    def put(self, path: str, method: Method) -> None:
        """Make something be as it is sent."""
        self._add("PUT", path, method, 200)

    def patch(self, path: str, method: Method) -> None:
        """Change a part of something."""
        self._add("PATCH", path, method, 200)

    def delete(self, path: str, method: Method) -> None:
        """Remove something."""
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
    ) -> None:
        permission = permission_of(method)
        if permission is None:
            raise TypeError(f"{verb} {path}: {method.__qualname__} doesn't say who may call it")
        if signature_of(method).returns is type(None):
            status = 204
        self.routes.append(Route(verb, path, method, status, once, permission, rate, cookie, self._behind))

    def who_may_do_what(self) -> Iterator[tuple[str, str, dict[str, str]]]:
        """For each route what each role may: "yes", "no", or "if ..."."""
        for route in self.routes:
            allowed = f"if {route.permission.also}" if route.permission.also else "yes"
            roles = {role: self._may(role, route.permission) for role in self.service.all_roles}
            yield route.verb, route.path, {role: allowed if may else "no" for role, may in roles.items()}

    def _may(self, role: str, permission: Permission) -> bool:
        """Whether a role is one of those that are allowed, or comes with one: whoever has a role is signed in."""
        known = () if role == ANYONE else (SIGNED_IN, *self.service.comes_with.get(role, ()))
        return not {ANYONE, role, *known}.isdisjoint(permission.roles)
