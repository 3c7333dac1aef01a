"""What a traffic file says, as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from keyplan.capacity.quantities import Rate
from keyplan.capacity.traffic.shape import Job, Popularity

WriteKind: TypeAlias = Literal["create", "put", "update", "patch", "upsert", "delete"]
CapacityMode: TypeAlias = Literal["on-demand", "provisioned"]
Reserved: TypeAlias = Literal["no", "1 year", "3 years"]


@dataclass(frozen=True)
class PatternTraffic:
    """How often a pattern runs."""

    rate: Rate
    items: int | None = None
    """How many items it finds; for a list, on a page. None: as many as the design says or one."""
    missing: float = 0.0
    """The share of runs that find nothing."""
    retries: float = 0.0
    """The share of runs that are repeated, and paid for twice."""
    line: int = 0


@dataclass(frozen=True)
class WriteTraffic:
    """How often a write of an entity runs."""

    rate: Rate
    refused: float = 0.0
    """The share of runs whose condition fails, which cost as much as if they had succeeded."""
    retries: float = 0.0
    """The share of runs that are repeated, and paid for twice."""
    changes: tuple[str, ...] = ()
    """The fields that an update or a patch changes. None given: a field that is in no key."""
    line: int = 0


@dataclass(frozen=True)
class ItemTraffic:
    """How many items of an entity there are, and how large they are."""

    count: int = 0
    size: int | None = None
    """The average size in bytes. None: as the design expects, or as large as an example."""
    growth: Rate | None = None
    """How many are added."""
    fixed: bool = False
    """Whether there are as many however many users there are: categories, roles."""
    line: int = 0


@dataclass(frozen=True)
class TableUse:
    """How a table is run, as far as it differs from what the design declares."""

    capacity: CapacityMode | None = None
    utilization: float = 0.7
    """The target of auto scaling: how much of the provisioned capacity is used."""
    reserved: Reserved = "no"
    infrequent: bool | None = None
    """Whether it has the table class Standard-IA."""
    recovery: bool | None = None
    """Whether it has point-in-time recovery."""
    backups: float = 0
    """How many backups are kept in warm storage."""
    cold_backups: float = 0
    """How many backups are kept in cold storage."""
    restores: Rate | None = None
    exports: Rate | None = None
    imports: Rate | None = None
    stream_reads: Rate | None = None
    """How often GetRecords is called. What Lambda and Keyplan's runner on a schedule of their own read is said here."""
    kinesis: bool = False
    """Whether its changes go to Kinesis Data Streams."""
    line: int = 0


@dataclass(frozen=True)
class Traffic:
    """A traffic file that was read."""

    file: str
    users: int = 0
    requests: Rate | None = None
    """How many requests users send: what a cost per request is divided by."""
    peak: float = 1.0
    """How many times the average load the busiest hour of a day has."""
    patterns: Mapping[str, PatternTraffic] = field(default_factory=dict)
    writes: Mapping[tuple[str, WriteKind], WriteTraffic] = field(default_factory=dict)
    """By the entity's name and the kind of write."""
    items: Mapping[str, ItemTraffic] = field(default_factory=dict)
    """By the entity's name."""
    tables: Mapping[str, TableUse] = field(default_factory=dict)
    """By the table's name."""
    hours: Sequence[float] = ()
    """How busy each hour of a day is, compared with the others. None given: a curve with this `peak`."""
    popularity: Mapping[str, Popularity] = field(default_factory=dict)
    """How unequally the items of an entity are asked for, by the entity's name."""
    jobs: Sequence[Job] = ()

    @property
    def requests_per_second(self) -> float:
        """The requests of all users."""
        return 0.0 if self.requests is None else self.requests.per_second(self.users)

    def per_month(self, rate: Rate) -> float:
        """How often something with this rate happens in a month."""
        return rate.per_month(self.users, self.requests_per_second)

    def per_second(self, rate: Rate) -> float:
        """How often something with this rate happens in a second, on average."""
        return rate.per_second(self.users, self.requests_per_second)
