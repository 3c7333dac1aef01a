"""What a field declares besides its type: stamps, versions, counts, secrets, who may set and see it, other names.

A field is declared once, in a subclass of `Fields`. The entity, the bodies that callers send, the forms and the answers
inherit it from there.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, Field, JsonValue, Secret, SecretBytes, SecretStr, StringConstraints
from pydantic.fields import FieldInfo

from keyplan.design.tables.tables import Case
from keyplan.design.values.aliases import expand_aliases
from keyplan.design.values.annotations import inner_markers, without_none
from keyplan.design.values.ids import IdFactory
from keyplan.design.values.storable import classes_in

FieldKind: TypeAlias = Literal["plain", "created", "updated", "version", "ttl", "count"]
FieldAccess: TypeAlias = Literal["open", "create-only", "read-only", "hidden"]
"""Who may set and see a field. Callers may set it always, on create only, or never. A hidden field is never shown."""


class Fields(BaseModel):
    """Base class for declaring fields once, for everything that has them:

    class PostFields(Fields):
        title: Title
        content: Content

    class Post(PostFields, Entity, table=blog): ...     # what is stored
    class NewPost(PostFields, In): ...                  # the body of POST
    class PostChange(Change[PostFields]): ...           # the body of PATCH: every field optional
    class PostOut(PostFields, Out): ...                 # the answer
    """

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: object) -> None:
        expand_aliases(cls)  # before the other base classes look at the fields
        super().__pydantic_init_subclass__(**kwargs)


@dataclass(frozen=True)
class Kind:
    """Marks a field that the store manages."""

    kind: FieldKind


@dataclass(frozen=True)
class Stored:
    """The name of the stored attribute, if it differs from the table's rule."""

    name: str


@dataclass(frozen=True)
class Public:
    """The name that callers use for the field, if it differs from the entity's."""

    name: str


@dataclass(frozen=True)
class Open:
    """Who may set and see the field, if it isn't what its type suggests."""

    access: FieldAccess


@dataclass(frozen=True)
class NoSeparator:
    """Marks text that never contains the separator, so that keys made of it are unambiguous."""


@dataclass(frozen=True)
class OnTop:
    """Marks a field that is also stored outside the envelope."""


READ_ONLY: Final = Open("read-only")
"""Callers see the field, but can't set it: `author_id: Annotated[Id, READ_ONLY]`."""
CREATE_ONLY: Final = Open("create-only")
"""Callers can set the field on create, but can't change it."""
HIDDEN: Final = Open("hidden")
"""Callers can neither set nor see the field."""
OPEN: Final = Open("open")
"""Callers can set and see the field, although its type suggests otherwise."""


def on_top() -> OnTop:
    """In a table with an envelope, also store the field outside it, for conditions: `Annotated[str, on_top()]`."""
    return OnTop()


def stored(name: str) -> Stored:
    """The field is stored under this name: `user_id: Annotated[str, stored("UserID")]`."""
    return Stored(name)


def public(name: str) -> Public:
    """Callers know the field by this name: `author_id: Annotated[Username, public("author")]`."""
    return Public(name)


def about(label: str, help: str | None = None, *, example: object = None) -> Any:  # noqa: ANN401 - as pydantic's Field
    """What people read about a field: `title: Annotated[str, about("Title", "Shown in lists.", example="Hello")]`.

    An empty label is for what a page sends along, and people don't see.
    """
    return Field(title=label, description=help, examples=None if example is None else [example])


Created: TypeAlias = Annotated[datetime, Kind("created")]
"""When the item was created; set by the store unless given."""
Updated: TypeAlias = Annotated[datetime, Kind("updated")]
"""When the item was last changed. Set by the store."""
Version: TypeAlias = Annotated[int, Kind("version")]
"""The version for optimistic locking: each update increments it, and fails if the stored version is another one. A
missing attribute counts as 0."""
Ttl: TypeAlias = Annotated[datetime, Kind("ttl")]
"""When DynamoDB may delete the item. Stored in seconds, as DynamoDB expects."""
Count: TypeAlias = Annotated[int, Kind("count")]
"""A number that is kept up to date by writes of other items, and never written by an update of its own item."""
Id: TypeAlias = Annotated[str, NoSeparator(), StringConstraints(min_length=1, max_length=128, pattern=r"^[^#]+$")]
"""An identifier: 1 to 128 characters, without the separator `#`."""


def _now() -> datetime:
    return datetime.now(UTC)


def created() -> datetime:
    """The default of a `Created` field."""
    stamp: datetime = Field(default_factory=_now)
    return stamp


def updated() -> datetime:
    """The default of an `Updated` field."""
    return created()


class CreatedAt(Fields):
    """The time of creation."""

    created_at: Created = created()


class UpdatedAt(Fields):
    """The time of the last change."""

    updated_at: Updated = updated()


class Stamped(UpdatedAt, CreatedAt):
    """The times of creation and of the last change."""


class Versioned(Fields):
    """The version, for optimistic locking."""

    version: Version = 0


def markers(info: FieldInfo) -> list[object]:
    """All markers of a field."""
    return [*info.metadata, *inner_markers(info.annotation)]


def kind_of(info: FieldInfo) -> FieldKind:
    """How the store manages a field."""
    return next((mark.kind for mark in markers(info) if isinstance(mark, Kind)), "plain")


def access_of(info: FieldInfo) -> FieldAccess:
    """Who may set and see a field: what is declared, or else what its type suggests.

    Secrets are hidden. Values that the server makes (stamps, versions, counts, new ids) are read-only.
    """
    for mark in markers(info):
        if isinstance(mark, Open):
            return mark.access
    if any(issubclass(each, Secret | SecretStr | SecretBytes) for each in classes_in(info.annotation)):
        return "hidden"
    made = kind_of(info) != "plain" or isinstance(info.default_factory, IdFactory)
    return "read-only" if made else "open"


def public_name(name: str, info: FieldInfo) -> str:
    """The name that callers use for a field."""
    return next((mark.name for mark in markers(info) if isinstance(mark, Public)), name)


def label_of(name: str, info: FieldInfo) -> str:
    """The label of a field."""
    return info.title or name.removesuffix("_id").replace("_", " ").capitalize()


_ANYTHING = (Any, object, JsonValue)
"""Types that None is of, too."""


def takes_none(info: FieldInfo) -> bool:
    """Whether a field may be None."""
    return without_none(info.annotation)[1] or info.annotation in _ANYTHING


@cache
def _in_common(target: type[BaseModel], source: type[BaseModel]) -> tuple[tuple[str, bool], ...]:
    """The fields that two models have in common, and whether each may be None in `target`."""
    fields = target.model_fields
    return tuple((name, takes_none(fields[name])) for name in source.model_fields if name in fields)


def values_in_common(target: type[BaseModel], source: BaseModel) -> dict[str, object]:
    """The values of `source` for the fields that `target` has too, without a None that `target` doesn't allow."""
    common = _in_common(target, type(source))
    held = source.__dict__  # a value that isn't loaded is missing there, and `getattr` says so
    return {
        name: value
        for name, optional in common
        if (value := held[name] if name in held else getattr(source, name)) is not None or optional
    }


def stored_name(field: str, case: Case) -> str:
    """The name of the stored attribute, by the table's rule."""
    if case == "as is":
        return field
    camel = re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), field)
    return camel[0].upper() + camel[1:] if case == "pascal" else camel
