"""What a picture can show: entities and their relations, items in collections, and the actions of a write."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

EdgeKind: TypeAlias = Literal["cascade", "refuse", "keep", "copy", "count"]


@dataclass(frozen=True)
class Node:
    """An entity: its name, and lines about its keys, each with what it is (`PK`) and its text."""

    name: str
    lines: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Edge:
    """How an entity depends on another one. `source` belongs to, counts on, or is a copy of `target`."""

    source: str
    target: str
    kind: EdgeKind
    name: str


@dataclass(frozen=True)
class Relations:
    """Entities and how they depend on each other."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]


@dataclass(frozen=True)
class Row:
    """An item: its sort key, what it is, and its other attributes."""

    sort: str
    what: str
    attributes: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class ItemGroup:
    """The items under one partition key, in the order of the sort key."""

    partition: str
    rows: Sequence[Row]


@dataclass(frozen=True)
class Collections:
    """Items by partition, as a table or an index has them."""

    partition_name: str
    sort_name: str
    groups: Sequence[ItemGroup]


@dataclass(frozen=True)
class Action:
    """What a write does to one item."""

    verb: str
    table: str
    key: str
    what: str
    change: str
    condition: str


@dataclass(frozen=True)
class Actions:
    """One write with all items that it touches."""

    name: str
    operation: str
    actions: Sequence[Action]
