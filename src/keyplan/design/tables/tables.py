"""Tables and indexes of a design, in DynamoDB's terms."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeAlias, TypeVar, get_args

from keyplan.design.errors import DesignError, Unusable, is_collecting, recorded
from keyplan.design.keys.formats import TimePrecision
from keyplan.design.tables.attributes import ALL, KeyAttribute, Projection, attributes_of
from keyplan.design.tables.vector_indexes import (
    VectorIndex,
    VectorIndexKey,
    VectorPlacement,
    bound_index,
    broken_vector_index,
    check_vector_indexes,
)
from keyplan.design.words import Consumer, TableClass, check_operations

Case: TypeAlias = Literal["as is", "camel", "pascal"]
StreamView: TypeAlias = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]
Billing: TypeAlias = Literal["PAY_PER_REQUEST", "PROVISIONED"]

E = TypeVar("E")

_ENVIRONMENT = re.compile(r"\{([a-z_]+)(?:=([^{}]*))?\}")


_MOST_LOCAL = 5
_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")


@dataclass(frozen=True)
class KeyAccess(Generic[E]):
    """A key by which an entity's items can be queried, primary or in an index: `query(Post.by_author, ...)`."""

    entity: type[E]
    declared: "Key | Placement"


@dataclass(frozen=True, eq=False)
class Key:
    """A hash key and optionally a sort key: attribute names in a table, templates in an entity.

    An attribute name can include its type: `starRating:N`. In an index, each part can have several attributes.
    """

    hash: tuple[str, ...]
    range: tuple[str, ...] = ()

    def __get__(self, instance: object, owner: type[E]) -> KeyAccess[E]:
        return KeyAccess(owner, self)


def key(hash: str | tuple[str, ...], range: str | tuple[str, ...] | None = None) -> Key:
    """The key of a table, an index or an entity."""
    return Key(_tuple(hash), () if range is None else _tuple(range))


def _tuple(part: str | tuple[str, ...]) -> tuple[str, ...]:
    return (part,) if isinstance(part, str) else part


@dataclass(frozen=True, eq=False)
class Placement:
    """The keys that put an entity's items into an index; with `when`, only some of them."""

    index: "Index"
    key: Key
    when: str | None = None

    def __get__(self, instance: object, owner: type[E]) -> KeyAccess[E]:
        return KeyAccess(owner, self)


@dataclass(frozen=True, eq=False)
class Index:
    """A secondary index of a table."""

    table_name: str
    name: str
    hash: tuple[KeyAttribute, ...]
    range: tuple[KeyAttribute, ...]
    projection: Projection
    local: bool = False
    why: str = ""
    """What it is for."""
    broken: bool = False
    """Whether its declaration has errors, which were recorded."""

    @property
    def attributes(self) -> tuple[KeyAttribute, ...]:
        return self.hash + self.range


@dataclass(frozen=True)
class IndexKey:
    """An index as a table declares it."""

    key: Key
    projection: Projection = ALL
    local: bool = False
    why: str = ""


def index(key: Key, projection: Projection = ALL, *, why: str = "") -> IndexKey:
    """A global secondary index with a projection. (For all attributes, `key(...)` is enough.) `why`: what it is for."""
    return IndexKey(key, projection, why=why)


def local(range: str, projection: Projection = ALL, *, why: str = "") -> IndexKey:
    """A local secondary index: the table's hash key with another sort key. `why`: what it is for."""
    return IndexKey(Key((), (range,)), projection, local=True, why=why)


@dataclass(eq=False)
class Table:
    """A DynamoDB table.

    `name` can contain environment templates, with or without a default (`hacktracker-{env}`, `{table=WavyBlog}`).
    `case` is how field names become names of stored attributes. `type_attribute` is the attribute with the entity's
    type, if the document has one.
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
    """Read and write capacity units, for PROVISIONED."""
    times: TimePrecision = "milliseconds"
    envelope: str | None = None
    """The attribute that contains the item's fields as JSON text, if the document has such an envelope."""
    vectors: Mapping[str, VectorIndexKey] = field(default_factory=dict)
    """The vector indexes."""
    protected: bool | None = None
    """Whether the table is protected from being deleted. None: not said."""
    recovery: int | bool | None = None
    """Point-in-time recovery: for how many days (True: 35), False for deliberately none. None: not said."""
    table_class: TableClass = "STANDARD"
    encryption: str | None = None
    """`AWS_OWNED`, `AWS_MANAGED`, or the ARN of a key. None: not said, which is `AWS_OWNED`."""
    tags: Mapping[str, str] = field(default_factory=dict)
    consumers: Sequence[Consumer] = ()
    """What reads the stream."""
    why: str = ""
    """Why the table is as it is."""
    hash: tuple[KeyAttribute, ...] = field(init=False, default=())
    range: tuple[KeyAttribute, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        self.broken = True
        """Whether its key has errors, which were recorded."""
        with recorded():
            self._set_key()
            self.broken = False
        self.key_names = tuple(attribute.name for attribute in self.hash + self.range)
        self.key_types = tuple((attribute.name, attribute.type) for attribute in self.hash + self.range)
        self.by_name: dict[str, Index] = {}
        for name, given in self.indexes.items():
            with recorded():
                self.by_name[name] = self._index(name, given)
        self.vectors_by_name: dict[str, VectorIndex] = {}
        for name, vectors in self.vectors.items():
            with recorded():
                self.vectors_by_name[name] = bound_index(self.name, name, vectors)
        self.has_parts = False
        """Whether it has items that are parts of large values. Set by the entities that have such values."""
        self._check_names()
        self._check_limits()

    def _set_key(self) -> None:
        self.hash = attributes_of(self.key.hash, self.name)
        self.range = attributes_of(self.key.range, self.name)
        if len(self.hash) != 1 or len(self.range) > 1:
            raise DesignError(
                "table-key",
                self.name,
                "a table has one hash key attribute and at most one range key attribute",
                "Use key(hash, range).",
            )

    def _index(self, name: str, given: Key | IndexKey) -> Index:
        declared = given if isinstance(given, IndexKey) else IndexKey(given)
        place = f"{self.name}.{name}"
        hash_ = self.hash if declared.local else attributes_of(declared.key.hash, place)
        range_ = attributes_of(declared.key.range, place)
        if len(hash_) > 4 or len(range_) > 4:
            raise DesignError(
                "index-key", place, "a part of the key has more than four attributes", "Use four or fewer."
            )
        return Index(self.name, name, hash_, range_, declared.projection, declared.local, declared.why)

    def _check_limits(self) -> None:
        """Refuse what DynamoDB would reject when the table is created."""
        for word, kind in (("stream", StreamView), ("billing", Billing), ("case", Case), ("times", TimePrecision)):
            with recorded():
                self._check_setting(word, get_args(kind))
        with recorded():
            check_vector_indexes(self.name, self.vectors_by_name.values(), billing=self.billing)
        with recorded():
            self._check_local_indexes()
        with recorded():
            self._check_capacity()
        check_operations(
            self.name,
            recovery=self.recovery,
            table_class=self.table_class,
            encryption=self.encryption,
            tags=self.tags,
            consumers=self.consumers,
            has_stream=self.stream is not None,
        )

    def _check_setting(self, word: str, choices: tuple[str, ...]) -> None:
        value = getattr(self, word)
        if value is not None and value not in choices:
            listed = f"{', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}"
            raise DesignError("table-setting", self.name, f"{word}={value!r} isn't one of its values", f"Use {listed}.")

    def _check_local_indexes(self) -> None:
        if self.broken:
            return
        local = [index.name for index in self.by_name.values() if index.local]
        if local and (not self.range or len(local) > _MOST_LOCAL):
            raise DesignError(
                "local-index",
                f"{self.name}.{local[-1]}",
                f"local indexes need a table with a range key, and there can be at most {_MOST_LOCAL}",
                "Make it a global index: key(hash, range).",
            )

    def _check_capacity(self) -> None:
        if (self.billing == "PROVISIONED") != (self.capacity is not None):
            raise DesignError(
                "capacity",
                self.name,
                f"its billing is {self.billing}, {'without' if self.capacity is None else 'with'} a capacity",
                'Use capacity=(read, write) with billing="PROVISIONED", and only with it.',
            )

    def _check_names(self) -> None:
        for name in (_ENVIRONMENT.sub("xxx", self.name), *self.by_name, *self.vectors_by_name):
            with recorded():
                self._check_name(name)
        with recorded():
            self._check_different(self.name, self.hash + self.range)
        for index in self.by_name.values():
            with recorded():
                self._check_different(f"{self.name}.{index.name}", index.attributes)
        types: dict[str, str] = {}
        for attribute in self.key_attributes:
            with recorded():
                self._check_type(attribute, types.setdefault(attribute.name, attribute.type))

    def _check_name(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            problem = f"DynamoDB doesn't allow the name {name!r}"
            raise DesignError("name", self.name, problem, "Use 3 to 255 letters, digits, _, - and dots.")
        if name in self.vectors_by_name and name in self.by_name:
            raise DesignError("same-name", f"{self.name}.{name}", "two indexes have this name", "Rename one of them.")

    def _check_different(self, place: str, attributes: tuple[KeyAttribute, ...]) -> None:
        names = [attribute.name for attribute in attributes]
        if len(set(names)) != len(names):
            problem = f"{names[0]!r} is in the key twice, which DynamoDB rejects"
            raise DesignError("same-name-twice", place, problem, "Use only the hash key.")

    def _check_type(self, attribute: KeyAttribute, other: str) -> None:
        if other != attribute.type:
            place = f"{self.name}.{attribute.name}"
            problem = "the attribute has different types in different keys"
            raise DesignError("two-types", place, problem, "Use the same type in all keys.")

    @property
    def key_attributes(self) -> tuple[KeyAttribute, ...]:
        """The attributes of all keys of the table and its indexes, some more than once."""
        indexed = tuple(attribute for index in self.by_name.values() for attribute in index.attributes)
        return self.hash + self.range + indexed + self.search_attributes

    @property
    def search_attributes(self) -> tuple[KeyAttribute, ...]:
        """The attributes that searches of its vector indexes can be limited by, some more than once."""
        return tuple(attribute for index in self.vectors_by_name.values() for attribute in index.elements)

    def nearest_by(self, name: str) -> VectorPlacement:
        """Put an entity's items into a vector index: `by_meaning = notes.nearest_by("ByMeaning")`."""
        with recorded():
            if name not in self.vectors_by_name:
                self._refuse_broken(name)
                known = ", ".join(self.vectors_by_name) or "none"
                remedy = f"The vector indexes are: {known}."
                raise DesignError("no-such-index", f"{self.name}.{name}", "no such vector index", remedy)
            return VectorPlacement(self.vectors_by_name[name])
        return VectorPlacement(broken_vector_index(self.name, name))

    def _refuse_broken(self, name: str) -> None:
        """Raise `Unusable` if an index was declared, but with errors."""
        if self.broken or name in self.indexes or name in self.vectors:
            raise Unusable(f"{self.name}.{name}")

    def __getitem__(self, name: str) -> "Placer":
        with recorded():
            if name not in self.by_name:
                self._refuse_broken(name)
                known = ", ".join(self.indexes) or "none"
                remedy = f"The indexes are: {known}."
                raise DesignError("no-such-index", f"{self.name}.{name}", "no such index", remedy)
            return Placer(self.by_name[name])
        return Placer(Index(self.name, name, (), (), ALL, broken=True))

    def __getattr__(self, name: str) -> "Placer":
        if name.startswith("_") or "by_name" not in self.__dict__:
            raise AttributeError(name)
        if name not in self.by_name and not is_collecting():
            known = ", ".join(self.by_name) or "none"
            raise AttributeError(f"The table {self.name} has no index {name}. Its indexes are: {known}.")
        return self[name]

    def actual_name(self, environment: Mapping[str, str]) -> str:
        """The name with its environment templates filled in."""

        def value(match: re.Match[str]) -> str:
            if match[1] not in environment and match[2] is not None:
                return match[2]
            if match[1] not in environment:
                raise DesignError(
                    "environment", self.name, f"no value for {{{match[1]}}}", f"Pass environment={{{match[1]!r}: ...}}."
                )
            return environment[match[1]]

        return _ENVIRONMENT.sub(value, self.name)


HOUSEKEEPING = Table("{document}-keyplan", key("pk", "sk"), case="camel", ttl="expiresAt")
"""The table for what isn't part of the document: journals, idempotency records, checkpoints, sessions.

Every design has one, named after its first table. Entities can be declared in it. Those that belong to no design, such
as the HTTP kit's, can be stored there by any system.
"""


@dataclass(frozen=True)
class Placer:
    """An index of a table, which an entity calls with its templates: `by_author = blog.GSI1("...", "...")`."""

    index: Index

    def __call__(
        self, hash: str | tuple[str, ...], range: str | tuple[str, ...] | None = None, *, when: str | None = None
    ) -> Placement:
        """Put the entity's items into the index. With `when`, the name of a field, only those in which it is true."""
        return Placement(self.index, key(hash, range), when)
