"""Services: the rules of a system, and who may do what.

A service is made for one request. Its public methods are what callers can do, over HTTP or from a page. Each says with
`allow` who may call it; a class with a method that doesn't can't be made. A condition that depends on the item itself
(its owner, a role in its team) is described with `also` and checked with `permit` or `find`; before that, nothing can
be written.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from keyplan.data import AlreadyExists, ItemChanged, Refused, Store, UniqueViolation, update
from keyplan.design import Design, Entity, ListOp, Op, Page, Query, entity_of
from keyplan.web.media import Media
from keyplan.web.models.bodies import Change
from keyplan.web.models.paging import Listing, Paging
from keyplan.web.models.problems import Forbidden, Missing, Problem, Stale, Unauthorized
from keyplan.web.models.refusals import changed_meanwhile, missing
from keyplan.web.models.signatures import signature_of
from keyplan.web.models.versions import Versions
from keyplan.web.system.access import ANYONE, SIGNED_IN, Caller, Permission, permission_of
from keyplan.web.system.api_routes import Roles
from keyplan.web.system.running import Running, Visit

D = TypeVar("D", bound=Design)
S = TypeVar("S", bound="Service[Any]")
P = ParamSpec("P")
R = TypeVar("R")
E = TypeVar("E", bound=Entity)
T = TypeVar("T")

_TRIES = 12
_RETRIES = 5
"""How often a change of any version is retried after it lost a race."""
_BUDGET = 1000
"""The maximum number of items that a list reads for one page."""


def allow(
    *roles: str,
    also: str | None = None,
    retry: tuple[type[Refused], ...] = (),
    raises: tuple[type[Problem], ...] = (),
    one_way: bool = False,
) -> Callable[[Callable[Concatenate[S, P], R]], Callable[Concatenate[S, P], R]]:
    """Declare which roles may call a method of a service.

    `also` describes a further condition; the method checks it with `permit` or `find` before it writes. `retry` has the
    errors that mean that another request was faster: the method then runs again, with all its rules, a few times. An
    error with its own `refusal` is final. `raises` has problems that callers wouldn't expect, such as a conflict of a
    method that only reads; they are documented. `one_way` says that the caller can't undo it, such as a delete: forms
    that call it have to ask first.
    """
    permission = Permission(roles, also, raises, one_way)
    both: tuple[type[Refused], ...] = (ItemChanged, *retry)

    def declare(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
        def entered(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            with self._entered(permission):
                return method(self, *args, **kwargs)

        @functools.wraps(method)
        def checked(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return entered(self, *args, **kwargs)
            except both as error:
                lost = both if _takes_any_version(method, self, args, kwargs) else retry
                if self.visit.entered or error.refusal is not None or not isinstance(error, lost):
                    raise
            return _retried(self, lambda fresh: entered(fresh, *args, **kwargs), lost)

        checked.permission = permission  # type: ignore[attr-defined]  # read by permission_of
        return checked

    return declare


def _takes_any_version(method: Callable[..., object], service: object, args: Any, kwargs: Any) -> bool:  # noqa: ANN401
    """Whether a method that changes something was called for any version: with `If-Match: *`, or without it."""
    given = inspect.signature(method).bind(service, *args, **kwargs).arguments
    return any(given.get(name) is None for name in signature_of(method).versions)


def _retried(service: S, act: Callable[[S], R], lost: tuple[type[Refused], ...]) -> R:
    """Run something again that lost a race, with all its rules, a few times."""
    for attempt in range(_RETRIES):
        time.sleep(random.random() * 0.02 * (attempt + 1))
        service.visit.restart()
        try:
            return act(service.fresh())
        except lost as error:
            if error.refusal is not None:
                raise
    raise changed_meanwhile()


class Service(Roles, Generic[D]):
    """Base class of a system's service."""

    def __init_subclass__(cls) -> None:
        for name, method in vars(cls).items():
            if name.startswith("_") or not inspect.isfunction(method) or name in vars(Service):
                continue
            permission = permission_of(method)
            if permission is None:
                raise TypeError(f"{cls.__name__}.{name} doesn't say who may call it: put @allow(...) on it.")
            unknown = set(permission.roles) - set(cls.all_roles)
            if unknown:
                raise TypeError(f"{cls.__name__}.{name} allows {', '.join(sorted(unknown))}, which isn't in all_roles.")

    def __init__(self, running: Running[D], store: Store[D], caller: Caller | None, visit: Visit) -> None:
        self.running = running
        self.store = store
        self.design = store.design
        self.caller = caller
        self.visit = visit

    @property
    def now(self) -> datetime:
        """The time of the request. It doesn't change during the request."""
        return self.visit.now

    @property
    def me(self) -> Caller:
        """The signed-in caller. Raises `Unauthorized` if there is none."""
        if self.caller is None:
            raise Unauthorized
        return self.caller

    @property
    def media(self) -> Media:
        """The store of uploaded files."""
        return self.running.media

    @functools.cached_property
    def my_roles(self) -> frozenset[str]:
        """The caller's roles, looked up once per request."""
        found = self.roles() | ({ANYONE} if self.caller is None else {ANYONE, SIGNED_IN})
        return found.union(*(self.comes_with.get(role, ()) for role in found))

    def roles(self) -> frozenset[str]:
        """The roles of the caller besides `ANYONE` and `SIGNED_IN`; by default the groups of the token."""
        return frozenset() if self.caller is None else self.caller.groups

    def fresh(self) -> Self:
        """A new service for the same request, without anything that was looked up."""
        return type(self)(self.running, self.store, self.caller, self.visit)

    def find(
        self,
        op: Op[E | None] | Query[E],
        versions: Versions = None,
        *,
        allowed: Callable[[E], bool] | None = None,
        hidden: Callable[[E], bool] | bool = False,
        sought: type[Entity] | None = None,
    ) -> E:
        """The item of an access pattern, if the caller may have it and has seen its latest version.

        Of a query it is the first item. Else a problem: it isn't found, or `allowed` says no (where it is `hidden` from
        those, it isn't found either), or its version is not among `versions`. `sought` is what the caller asked for,
        where that is something else than what is read: a league, where a grant in it is looked for.
        """
        found = next(iter(self.store.run(op.limit(1)).items), None) if isinstance(op, Query) else self.store.run(op)
        is_refused = found is not None and allowed is not None and not allowed(found)
        if found is None or (is_refused and (hidden(found) if callable(hidden) else hidden)):
            # What is hidden is missing in the same words, or they would tell that it exists.
            raise missing(sought or (op.entities[0] if isinstance(op, Query) else entity_of(op)))
        if is_refused:
            raise Forbidden
        if allowed is not None:
            self.visit.writes_allowed = True
        self.current(found, versions)
        return found

    def find_or_none(self, op: Op[E | None], versions: Versions = None) -> E | None:
        """What an access pattern leads to, for a PUT that creates it where there is none.

        Refused if its version is not among `versions`; a caller who names any has seen one, so none is refused too.
        """
        found = self.store.run(op)
        if found is not None:
            self.current(found, versions)
        elif versions is not None:
            raise Stale
        return found

    def save(self, entity: E, change: Change[Any] | None = None) -> E:
        """Apply a partial change, if given, and write what changed."""
        if change is not None:
            change.apply_to(entity)
        return self.store.run(update(entity))

    def with_free_slug(self, text: str, write: Callable[[str], T], taken: Callable[[str], Op[bool]]) -> T:
        """What `write` gives for the first slug that is free: the text itself, then with -2, -3 ..."""
        for number in itertools.count(1):
            slug = text if number == 1 else f"{text}-{number}"
            # The plain slug is nearly always free, so it is tried without a check.
            if number > 1 and self.store.run(taken(slug)):
                continue
            try:
                return write(slug)
            except (UniqueViolation, AlreadyExists):
                # Another rule refuses it, and will refuse every slug, if this one is still free.
                if number > 1 and not self.store.run(taken(slug)):
                    raise
        raise AssertionError("there is always another slug")

    def require(self, method: Callable[..., object]) -> None:
        """Refuse callers without a role that may call a method, before they are shown a page that leads to it."""
        permission = permission_of(method)
        if permission is None or not self._has_one_of(permission.roles):
            raise Unauthorized if self.caller is None else Forbidden

    def permit(
        self, allowed: bool, *, hidden: bool = False, detail: str = "You don't have permission to do this."
    ) -> None:
        """Check the condition of `also`. With `hidden`, a refused caller gets a 404 instead of a 403."""
        if not allowed:
            raise Missing if hidden else Forbidden(detail=detail)
        self.visit.writes_allowed = True

    def current(self, entity: Any, versions: Versions) -> None:  # noqa: ANN401 - any versioned entity
        """Refuse a change of a version that the caller hasn't seen."""
        if versions is not None and entity.version not in versions:
            raise Stale

    def listed(self, op: ListOp[E], paging: Paging, shown: Callable[[E], T]) -> Listing[T]:
        """A page of an access pattern. `shown` makes the response of each entity."""
        op = op.limit(paging.limit)
        page: Page[E] = self.store.run(op.after(paging.cursor) if paging.cursor is not None else op)
        return Listing[T](items=[shown(each) for each in page.items], next=page.next)

    def chosen(
        self,
        op: ListOp[E],
        paging: Paging,
        shown: Callable[[Sequence[E]], Iterable[T]],
    ) -> Listing[T]:
        """A page of an access pattern. `shown` makes the responses of several entities at once, and may leave some out;
        then more are read to fill the page.
        """
        items: list[T] = []
        cursor, read = paging.cursor, 0
        while len(items) < paging.limit and read < _BUDGET:
            part = op.limit(paging.limit - len(items))
            page: Page[E] = self.store.run(part.after(cursor) if cursor is not None else part)
            items += shown(page.items)
            cursor, read = page.next, read + max(len(page.items), 1)
            if cursor is None:
                break
        return Listing[T](items=items, next=cursor)

    def persist(self, act: Callable[[], T], *lost: type[Exception]) -> T:
        """Call `act`, and again if it raises one of these errors: another request was faster.

        Each call reads again, and compares the version that the caller named, if any, with what it finds.
        """
        for attempt in range(_TRIES):
            try:
                return act()
            except lost:
                time.sleep(random.random() * 0.01 * (attempt + 1))
        return act()

    @contextmanager
    def _entered(self, permission: Permission) -> Iterator[None]:
        before = self.visit.writes_allowed
        if not self._has_one_of(permission.roles):
            raise Unauthorized if self.caller is None else Forbidden
        self.visit.writes_allowed = before or permission.also is None
        self.visit.entered += 1
        try:
            yield
            if not self.visit.writes_allowed:
                raise RuntimeError(f"{type(self).__name__}: a method with also={permission.also!r} didn't call permit")
        finally:
            self.visit.entered -= 1
            self.visit.writes_allowed = before

    def _has_one_of(self, roles: tuple[str, ...]) -> bool:
        # Looking up roles may need a read, so it comes last.
        if ANYONE in roles or (SIGNED_IN in roles and self.caller is not None):
            return True
        return not self.my_roles.isdisjoint(roles)
