"""What a design says of a field and of a key, worked out."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from keyplan.design.absence import NOTHING
from keyplan.design.errors import DesignError
from keyplan.design.fields import FieldAccess, FieldKind
from keyplan.design.tables import Index, KeyAttribute
from keyplan.design.templates import Template


@dataclass(frozen=True)
class FieldSpec:
    """A field, as far as storing it is concerned."""

    name: str
    stored: str
    annotation: object
    """The type without `None` and without markers."""
    optional: bool
    kind: FieldKind
    no_separator: bool
    on_top: bool
    """Whether it stands beside the envelope too, where a condition can see it."""
    absent: object = NOTHING
    """What is read where there is no attribute and no default."""
    access: FieldAccess = "open"
    """Who may set and see it."""
    public: str = ""
    """The name that callers use for it."""
    label: str = ""
    """What people call it."""
    help: str | None = None
    """What people read beside it."""


@dataclass(frozen=True)
class KeyPart:
    """One attribute of a key and where its value comes from: a template, or the field itself for N and B keys."""

    attribute: KeyAttribute
    template: Template | None
    field: str | None

    @cached_property
    def fields(self) -> tuple[str, ...]:
        if self.template is not None:
            return self.template.fields
        return (self.field,) if self.field else ()

    @property
    def source(self) -> str:
        """Where its value comes from, as it was declared."""
        return self.template.text if self.template is not None else f"{{{self.field}}}"


@dataclass(frozen=True)
class KeySpec:
    """A key of an entity: the table's own, or its place in an index."""

    name: str
    place: str
    """Where it was declared: `Post.by_author`."""
    index: Index | None
    hash: tuple[KeyPart, ...]
    range: tuple[KeyPart, ...]
    when: str | None = None

    @cached_property
    def parts(self) -> tuple[KeyPart, ...]:
        return self.hash + self.range

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(field for part in self.parts for field in part.fields))

    @cached_property
    def field_set(self) -> frozenset[str]:
        return frozenset(self.fields)

    def check_all(self, values: Mapping[str, object]) -> None:
        """Refuse anything but one value for each of its fields."""
        if values.keys() == self.field_set:
            return
        missing = [name for name in self.fields if name not in values]
        unknown = [name for name in values if name not in self.fields]
        problems = [f"no value for {', '.join(missing)}"] if missing else []
        problems += [f"{', '.join(unknown)} is not in the key"] if unknown else []
        remedy = f"The key is made of: {', '.join(self.fields) or 'nothing'}."
        raise DesignError("key-fields", self.place, ", and ".join(problems), remedy)
