"""A system, and a running one.

A `System` has the parts of a system. `Running` runs it: its design on a store, with an identity, files and limits. It
makes a service for each request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from keyplan.data import Beside, DataError, Part, Plan, Store
from keyplan.data.streams import Handler
from keyplan.design import Design
from keyplan.web.media import Media
from keyplan.web.settings import Settings
from keyplan.web.system.access import Caller, Identity
from keyplan.web.system.api_routes import Api
from keyplan.web.system.hashing import HashingQueue
from keyplan.web.system.page_routes import Pages
from keyplan.web.system.rates import Rates
from keyplan.web.system.turns import begins_to_write

D = TypeVar("D", bound=Design)
T = TypeVar("T")

Progress = Callable[[int, int], None]
"""Called with the number of finished steps and the number of all steps."""


@dataclass(frozen=True)
class System(Generic[D]):
    """The parts of a system."""

    name: str
    title: str
    summary: str
    design: type[D]
    api: Api
    pages: Pages | None = None
    handlers: Sequence[Handler[Any]] = ()
    """Handlers of changes, which get them from the tables' streams."""
    prepare: Callable[[Running[D]], None] | None = None
    """Creates what must always exist. Called at each start."""
    demo: Callable[[Running[D], Progress], None] | None = None
    """Fills an empty system with demo data."""
    sweep: Callable[[Running[D]], None] | None = None
    """Cleans up. Called regularly, in one process."""
    identity: Callable[[Running[D]], Identity] | None = None
    """Finds callers, if the system has its own accounts. By default, tokens of an OpenID issuer are used."""


class WouldWriteError(Exception):
    """A service that only rehearses got to what it would write: no rule refuses it."""


@dataclass
class Visit:
    """What a service knows about its request, besides the caller."""

    now: datetime
    address: str = ""
    writes_allowed: bool = False
    """Whether the permission of the running method was checked. Nothing can be written before."""
    rehearses: bool = False
    """Whether nothing is to be written: `WouldWriteError` is raised instead."""
    entered: int = 0
    """How many methods of the service are running, each called by the previous one."""
    restart: Callable[[], None] = lambda: None
    """Called before the request's work starts again: with an `Idempotency-Key`, it then makes the same IDs."""


@dataclass
class Running(Generic[D]):
    """A running system."""

    system: System[D]
    settings: Settings
    store: Store[D]
    media: Media
    rates: Rates
    make_identity: Callable[[Running[D]], Identity]
    """Makes the identity: the system's own, or that of the settings."""
    _kept: dict[Callable[..., object], object] = field(default_factory=dict, repr=False)

    @property
    def identity(self) -> Identity:
        """Finds callers. It is made when it is first needed, because a system may have keys in its tables."""
        return self.kept(self.make_identity)

    @property
    def design(self) -> D:
        return self.store.design

    @cached_property
    def hashing(self) -> HashingQueue:
        """The queue for requests that hash passwords."""
        given = self.settings
        return HashingQueue(places=given.hashing_places, seconds=given.hashing_seconds, threads=given.hashing_threads)

    def kept(self, make: Callable[[Running[D]], T]) -> T:
        """The result of a function for this system. It is called once, and the result is kept."""
        if make not in self._kept:
            self._kept[make] = make(self)
        return cast("T", self._kept[make])

    def service(
        self,
        caller: Caller | None,
        address: str = "",
        *,
        beside: Beside | None = None,
        now: datetime | None = None,
    ) -> Any:  # noqa: ANN401 - the system's own service class
        """A service for one request. `beside` is written in the same transaction as each write of the service."""
        visit = Visit(now or self.store.clock(), address)

        def allowed(plan: Plan) -> Sequence[Part]:
            if not visit.writes_allowed:
                raise DataError("a service wrote before it was decided whether the caller may do that")
            if visit.rehearses:
                raise WouldWriteError
            begins_to_write()
            return beside(plan) if beside is not None else ()

        store = self.store.with_(clock=lambda: visit.now, beside=allowed)
        return self.system.api.service(self, store, caller, visit)
