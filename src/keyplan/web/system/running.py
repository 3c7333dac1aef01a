"""A system, as it is declared and as it runs.

A `System` puts together what a system is made of. `Running` is one at work: its design on a store, its identity, its
files, its limits. It makes a service for each request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar, cast

from keyplan.data import Beside, DataError, Part, Plan, Store
from keyplan.data.streams import Handler
from keyplan.design import Design
from keyplan.web.media import Media
from keyplan.web.settings import Settings
from keyplan.web.system.access import Caller, Identity
from keyplan.web.system.api_routes import Api
from keyplan.web.system.page_routes import Pages
from keyplan.web.system.rates import Rates

D = TypeVar("D", bound=Design)
T = TypeVar("T")

Progress = Callable[[int, int], None]
"""Told how many of how many steps are done."""


@dataclass(frozen=True)
class System(Generic[D]):
    """What a system is made of."""

    name: str
    title: str
    summary: str
    design: type[D]
    api: Api
    pages: Pages | None = None
    handlers: Sequence[Handler[Any]] = ()
    """What is done when items change, by the tables' streams."""
    prepare: Callable[[Running[D]], None] | None = None
    """Makes what always exists; called at each start."""
    demo: Callable[[Running[D], Progress], None] | None = None
    """Fills an empty system with believable data."""
    sweep: Callable[[Running[D]], None] | None = None
    """Called from time to time, in one process: what has to be tidied up."""
    identity: Callable[[Running[D]], Identity] | None = None
    """Who a caller is, where the system has accounts of its own; else tokens of an OpenID issuer say it."""


@dataclass
class Visit:
    """What a service knows of the request that it is made for, beside the caller."""

    now: datetime
    address: str = ""
    writes_allowed: bool = False
    """Whether the permission of the running method is decided; nothing is written before."""
    entered: int = 0
    """How many of the service's methods are running, each called by the one before."""
    restart: Callable[[], None] = lambda: None
    """Called before the request's work begins again: with an `Idempotency-Key` it makes the same ids then."""


@dataclass
class Running(Generic[D]):
    """A system at work."""

    system: System[D]
    settings: Settings
    store: Store[D]
    media: Media
    rates: Rates
    make_identity: Callable[[Running[D]], Identity]
    """Says how callers are known: the system's own way, or that of the settings."""
    _kept: dict[Callable[..., object], object] = field(default_factory=dict, repr=False)

    @property
    def identity(self) -> Identity:
        """Who callers are. Found when it is first needed: a system may keep keys in its tables."""
        return self.kept(self.make_identity)

    @property
    def design(self) -> D:
        return self.store.design

    def kept(self, make: Callable[[Running[D]], T]) -> T:
        """What a function makes for this system; made when it is first asked for, and kept."""
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
        """A service for one request. `beside` is written in the same transaction as what the service writes."""
        visit = Visit(now or self.store.clock(), address)

        def allowed(plan: Plan) -> Sequence[Part]:
            if not visit.writes_allowed:
                raise DataError("a service wrote before it was decided whether the caller may do that")
            return beside(plan) if beside is not None else ()

        store = self.store.with_(clock=lambda: visit.now, beside=allowed)
        return self.system.api.service(self, store, caller, visit)
