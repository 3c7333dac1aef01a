"""Tables and indexes of a design, by DynamoDB's own words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeAlias, TypeVar

from keyplan.design.errors import DesignError
from keyplan.design.formats import TimePrecision

Case: TypeAlias = Literal["as is", "camel", "pascal"]
StreamView: TypeAlias = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]
Billing: TypeAlias = Literal["PAY_PER_REQUEST", "PROVISIONED"]

E = TypeVar("E")

_ENVIRONMENT = re.compile(r"\{([a-z_]+)(?:=([^{}]*))?\}")


_MOST_LOCAL = 5
_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")


@dataclass(frozen=True)
class Access(Generic[E]):
    """A way to an entity's items: its primary key or its place in an index. `query(Post.by_author, ...)`."""

    entity: type[E]
    declared: "Key | Placement"


@dataclass(frozen=True, eq=False)
class Key:
    """A hash part and perhaps a range part: attribute names in a table, templates in an entity.

    An attribute name may carry its type: `starRating:N`. A part of several attributes is a tuple (in an index).
    """

    hash: tuple[str, ...]
    range: tuple[str, ...] = ()

    def __get__(self, instance: object, owner: type[E]) -> Access[E]:
        return Access(owner, self)


def key(hash: str | tuple[str, ...], range: str | tuple[str, ...] | None = None) -> Key:
    """The key of a table, an index or an entity."""
    return Key(_tuple(hash), () if range is None else _tuple(range))


def _tuple(part: str | tuple[str, ...]) -> tuple[str, ...]:
    return (part,) if isinstance(part, str) else part


@dataclass(frozen=True)
class KeyAttribute:
    """An attribute that is part of a key."""

    name: str
    type: str


def _attributes(parts: tuple[str, ...], place: str) -> tuple[KeyAttribute, ...]:
    attributes = []
    for part in parts:
        name, _, kind = part.partition(":")
        if kind not in ("", "S", "N", "B"):
            raise DesignError("key-type", place, f"{kind!r} is no type of a key", "Keys are of type S, N or B.")
        attributes.append(KeyAttribute(name, kind or "S"))
    return tuple(attributes)


@dataclass(frozen=True)
class Projection:
    """What an index holds: `ALL`, `KEYS_ONLY`, or `INCLUDE` with names of stored attributes."""

    type: Literal["ALL", "KEYS_ONLY", "INCLUDE"] = "ALL"
    attributes: tuple[str, ...] = ()


ALL = Projection()
KEYS_ONLY = Projection("KEYS_ONLY")


def include(*attributes: str) -> Projection:
    """The keys and these attributes."""
    return Projection("INCLUDE", attributes)


@dataclass(frozen=True, eq=False)
class Placement:
    """Where an entity's items stand in an index: templates for the index's key, perhaps only for some items."""

    index: "Index"
    key: Key
    when: str | None = None

    def __get__(self, instance: object, owner: type[E]) -> Access[E]:
        return Access(owner, self)


@dataclass(frozen=True, eq=False)
class Index:
    """A secondary index of a table. Called with templates, it places an entity's items in it."""

    table_name: str
    name: str
    hash: tuple[KeyAttribute, ...]
    range: tuple[KeyAttribute, ...]
    projection: Projection
    local: bool = False

    @property
    def attributes(self) -> tuple[KeyAttribute, ...]:
        return self.hash + self.range


@dataclass(frozen=True)
class IndexKey:
    """An index as a table declares it."""

    key: Key
    projection: Projection = ALL
    local: bool = False


def index(key: Key, projection: Projection = ALL) -> IndexKey:
    """A global index that does not hold all attributes."""
    return IndexKey(key, projection)


def local(range: str, projection: Projection = ALL) -> IndexKey:
    """A local index: the table's hash key and another range key."""
    return IndexKey(Key((), (range,)), projection, local=True)


@dataclass(eq=False)
class Table:
    """A DynamoDB table.

    `name` may hold environment templates, with or without a default (`hacktracker-{env}`, `{table=WavyBlog}`).
    `case` is how field names become names of stored attributes. `type_attribute` names an attribute that holds an
    entity's type, where the document has one.
    """

    name: str
    key: Key
    indexes: Mapping[str, Key | IndexKey] = field(default_factory=dict)
    case: Case = "as is"
    type_attribute: str | None = None
    ttl: str | None = None
    stream: StreamView | None = None
    billing: Billing = "PAY_PER_REQUEST"
    capacity: tuple[int, int] | None = None
    """Read and write units, for PROVISIONED."""
    times: TimePrecision = "milliseconds"
    envelope: str | None = None
    """The attribute that holds the item's fields as one JSON text, where the document has such an envelope."""

    def __post_init__(self) -> None:
        self.hash = _attributes(self.key.hash, self.name)
        self.range = _attributes(self.key.range, self.name)
        if len(self.hash) != 1 or len(self.range) > 1:
            raise DesignError(
                "table-key", self.name, "a table has one hash and at most one range attribute", "Give key(hash, range)."
            )
        self.key_names = tuple(attribute.name for attribute in self.hash + self.range)
        self.by_name = {name: self._index(name, given) for name, given in self.indexes.items()}
        self._check_names()
        self._check_limits()

    def _index(self, name: str, given: Key | IndexKey) -> Index:
        declared = given if isinstance(given, IndexKey) else IndexKey(given)
        place = f"{self.name}.{name}"
        hash_ = self.hash if declared.local else _attributes(declared.key.hash, place)
        range_ = _attributes(declared.key.range, place)
        if len(hash_) > 4 or len(range_) > 4:
            raise DesignError("index-key", place, "more than four attributes in a part of the key", "Use four or less.")
        return Index(self.name, name, hash_, range_, declared.projection, declared.local)

    def _check_limits(self) -> None:
        """What DynamoDB would reject when the table is made."""
        local = [index.name for index in self.by_name.values() if index.local]
        if local and (not self.range or len(local) > _MOST_LOCAL):
            raise DesignError(
                "local-index",
                f"{self.name}.{local[-1]}",
                f"a table has local indexes only beside a range key, and at most {_MOST_LOCAL}",
                "Make it a global one: key(hash, range).",
            )
        if (self.billing == "PROVISIONED") != (self.capacity is not None):
            raise DesignError(
                "capacity",
                self.name,
                f"it is billed {self.billing}, {'without' if self.capacity is None else 'with'} a capacity",
                'Give capacity=(read, write) with billing="PROVISIONED", and only with it.',
            )

    def _check_names(self) -> None:
        for name in (_ENVIRONMENT.sub("xxx", self.name), *self.by_name):
            if not _NAME.fullmatch(name):
                raise DesignError(
                    "name",
                    self.name,
                    f"DynamoDB takes no name {name!r}",
                    "Use 3 to 255 letters, digits, _, - and dots.",
                )
        for name, attributes in [
            (self.name, self.hash + self.range),
            *((f"{self.name}.{index.name}", index.attributes) for index in self.by_name.values()),
        ]:
            names = [attribute.name for attribute in attributes]
            if len(set(names)) != len(names):
                raise DesignError(
                    "same-name-twice",
                    name,
                    f"DynamoDB rejects {names[0]!r} twice in one key",
                    "Use the hash key alone.",
                )
        types: dict[str, str] = {}
        for attribute in self.key_attributes:
            if types.setdefault(attribute.name, attribute.type) != attribute.type:
                raise DesignError(
                    "two-types",
                    f"{self.name}.{attribute.name}",
                    "the attribute has two types in two keys",
                    "An attribute has one type in all keys.",
                )

    @property
    def key_attributes(self) -> tuple[KeyAttribute, ...]:
        """Every attribute in a key of the table or an index; some more than once."""
        return self.hash + self.range + tuple(a for index in self.by_name.values() for a in index.attributes)

    def __getitem__(self, name: str) -> "Placer":
        try:
            return Placer(self.by_name[name])
        except KeyError:
            known = ", ".join(self.by_name) or "none"
            raise DesignError("no-such-index", f"{self.name}.{name}", "no such index", f"There are: {known}.") from None

    def __getattr__(self, name: str) -> "Placer":
        if name.startswith("_") or "by_name" not in self.__dict__ or name not in self.by_name:
            raise AttributeError(name)
        return self[name]

    def actual_name(self, environment: Mapping[str, str]) -> str:
        """The name with its environment templates filled in."""

        def value(match: re.Match[str]) -> str:
            if match[1] not in environment and match[2] is not None:
                return match[2]
            if match[1] not in environment:
                raise DesignError(
                    "environment", self.name, f"no value for {{{match[1]}}}", f"Give environment={{{match[1]!r}: ...}}."
                )
            return environment[match[1]]

        return _ENVIRONMENT.sub(value, self.name)


HOUSEKEEPING = Table("{document}-keyplan", key("pk", "sk"), case="camel", ttl="expiresAt")
"""The table for what is not the document's: journals, idempotency records, checkpoints, sessions.

Every design has one, named after its first table. Entities may be declared in it; one that belongs to no design (the
HTTP kit has such) can be stored beside the entities of any.
"""


@dataclass(frozen=True)
class Placer:
    """An index, to be called with the templates of an entity."""

    index: Index

    def __call__(
        self, hash: str | tuple[str, ...], range: str | tuple[str, ...] | None = None, *, when: str | None = None
    ) -> Placement:
        """Place the entity's items in the index; with `when`, a field, only those for which it is true."""
        return Placement(self.index, key(hash, range), when)
