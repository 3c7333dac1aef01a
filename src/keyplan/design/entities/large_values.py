"""Large values: texts and bytes that may be larger than an item.

`body: Annotated[str, large()]` declares one. Its value is a plain `str` or `bytes`. The data layer compresses it if
that makes it smaller, and stores it in one of these forms:

| form | when | stored in the item |
| --- | --- | --- |
| as it is | up to 1 KB, or if it fits and can't be compressed | the text or the bytes, as for any other field |
| compressed | up to `inline` bytes | a map with the compressed content |
| in parts | larger, with `kept_in="parts"` | a map with the number of parts and the content's digest |
| in object storage | larger, with `kept_in="objects"` | a map with the object's name and the content's digest |

All forms can be read whatever is declared, so values that were stored before the field was large, or with another
limit, stay readable. The next change of the value writes it in the form that is declared now.

Parts are items in the partition of their item, at most 10 of 368 KB, so that an item can always be deleted with all its
parts in one transaction. Their sort key begins with `PARTS`. When a design is imported, it is refused if a key of
another item could begin like that, or if a list of other items would read parts.

A list doesn't read parts and objects. There, the field holds an `Unread`: reading the field raises `NotLoaded`, and
writing the entity leaves the value alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from keyplan.design.fields.declarations import markers

if TYPE_CHECKING:
    from keyplan.design.entities.entity import Entity

PARTS: Final = "~PART#"
"""What the sort keys of parts begin with. It sorts after all letters and digits."""

KeptIn: TypeAlias = Literal["parts", "objects"]


class NotLoaded(Exception):
    """A large value that was not read. Only `get` and `lookup` read it; lists and others read only items."""

    code = "not-loaded"

    def __init__(self, entity: str, field: str, values: dict[str, object]) -> None:
        key = "".join(f", {name}={value!r}" for name, value in values.items())
        super().__init__(
            f"{entity}.{field} was not read: it is stored outside its item, and only get and lookup read that. "
            f"Read it with get({entity}{key}). [{self.code}]"
        )
        self.entity = entity
        self.field = field


def content_digest(value: str | bytes) -> bytes:
    """The SHA-256 of a value's content; of a text, in UTF-8."""
    return sha256(value.encode() if isinstance(value, str) else value).digest()


@dataclass(frozen=True, slots=True, eq=False)
class Unread:
    """Stands for a large value that is stored outside its item. Equals every value with the same content."""

    stored: Any = field(repr=False)
    """The attribute as it is stored, which names the parts or the object."""
    digest: bytes = field(repr=False)
    size: int
    """The size of the content in bytes."""
    value: str | bytes | None = field(default=None, repr=False)
    """The value itself, if it is known."""

    @property
    def is_loaded(self) -> bool:
        return self.value is not None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Unread):
            return self.digest == other.digest
        return isinstance(other, str | bytes) and self.digest == content_digest(other)

    def __hash__(self) -> int:
        return hash(self.digest)


def is_unread(value: object) -> bool:
    """Whether a field's value was not read."""
    return type(value) is Unread and not value.is_loaded


def is_uploaded(value: object) -> bool:
    """Whether a field's value was just written to object storage, before its item."""
    return type(value) is Unread and value.is_loaded


@dataclass(frozen=True)
class Large:
    """Marks a large value; see `large`."""

    inline: int
    kept_in: KeptIn

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        return core_schema.no_info_wrap_validator_function(
            _validated,
            schema,
            serialization=core_schema.wrap_serializer_function_ser_schema(_serialized, schema=schema),
        )


def _validated(value: object, validate: Callable[[object], object]) -> object:
    return value if type(value) is Unread else validate(value)


def _serialized(value: object, serialize: Callable[[object], object]) -> object:
    if type(value) is Unread:
        if not value.is_loaded:
            raise ValueError("a large value was not read: read the entity with get(), or exclude the field")
        value = value.value
    return serialize(value)


def large(*, inline: int = 16_384, kept_in: KeptIn = "parts") -> Large:
    """A value that may be larger than an item: `body: Annotated[str, large()]`, with other markers before it.

    Up to `inline` bytes after compression are stored in the item. More is split over several items of the same
    partition, up to 3.6 MB, or with `kept_in="objects"` stored in the store's object storage.
    """
    return Large(inline, kept_in)


def large_of(info: FieldInfo) -> Large | None:
    """How a field's value is stored if it is a large one."""
    return next((mark for mark in markers(info) if isinstance(mark, Large)), None)


class _Access:
    """Reads a large field of an entity."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, entity: "Entity | None", owner: type) -> object:
        if entity is None:
            raise AttributeError(self._name)  # as any other field of a model
        try:
            value = entity.__dict__[self._name]
        except KeyError:
            raise AttributeError(self._name) from None
        if type(value) is Unread:
            if not value.is_loaded:
                raise NotLoaded(owner.__name__, self._name, entity.key_values)
            return value.value
        return value

    def __set__(self, entity: "Entity", value: object) -> None:
        entity.__dict__[self._name] = value


def guard_access(model: type[BaseModel]) -> None:
    """Let the large fields of an entity raise `NotLoaded` if they were not read."""
    for name, info in model.model_fields.items():
        if large_of(info) is not None:
            setattr(model, name, _Access(name))
