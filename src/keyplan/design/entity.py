"""Entities: pydantic models that know their keys, and what must change together with them."""

from typing import Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

from keyplan.design.compat import own_fields_set
from keyplan.design.entity_spec import DECLARATIONS, EntitySpec
from keyplan.design.errors import DesignError
from keyplan.design.fields import values_in_common
from keyplan.design.limits import relax
from keyplan.design.refusals import Refusal
from keyplan.design.specs import FieldSpec, KeyPart, KeySpec
from keyplan.design.tables import Access, Table

E = TypeVar("E", bound="Entity")


class Entity(BaseModel):
    """Base of all entities: `class User(Entity, table=blog, type="USER")`.

    Fields are pydantic's; `primary` is the key; placements in indexes, guards, mirrors and the like stand beside it.
    `noun` is what people call one of them, and `exists` what callers are told when one exists already.
    Making an entity and assigning to it checks types. Limits (lengths, ranges, patterns) are checked when it is
    written.
    """

    model_config = ConfigDict(
        ignored_types=DECLARATIONS,
        validate_assignment=True,
        extra="forbid",
        arbitrary_types_allowed=False,
        defer_build=True,  # until the limits are taken off
    )

    # The item as it was read or written last, in DynamoDB's form: what an update is compared with. A slot, since it
    # is neither a field nor part of what makes two entities equal.
    __slots__ = ("__keyplan_stored__",)

    spec: ClassVar[EntitySpec]
    declared_fields: ClassVar[dict[str, FieldInfo]] = {}
    """The fields as they were declared, with their limits."""

    @classmethod
    def from_fields(cls, source: BaseModel, /, **more: object) -> Self:
        """An entity with the fields that `source` has too, such as the body of a request, and with `more`.

        A None for a field that can't be None is left out, so that an id that callers may choose is made instead.
        """
        return cls.model_validate({**values_in_common(cls, source), **more})

    @classmethod
    def evolve(cls, item: dict[str, Any]) -> dict[str, Any]:
        """Bring an item of an older shape up to date; called with a copy of each item that is read."""
        return item

    def __init_subclass__(
        cls,
        *,
        table: Table | None = None,
        type: str | None = None,
        noun: str | None = None,
        exists: Refusal | None = None,
        **kwargs: object,
    ) -> None:
        if kwargs or (type is not None and table is None):
            raise DesignError(
                "class-options",
                cls.__name__,
                f"it is declared with {', '.join(kwargs) or 'a type and no table'}",
                'An entity takes table=... and, with it, type="...", noun="..." and exists=Refusal(...).',
            )
        super().__init_subclass__()

    @classmethod
    def __pydantic_init_subclass__(
        cls,
        *,
        table: Table | None = None,
        type: str | None = None,
        noun: str | None = None,
        exists: Refusal | None = None,
        **kwargs: object,
    ) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls.declared_fields = {name: _as_declared(cls, name, info) for name, info in cls.model_fields.items()}
        relax(cls)
        if table is not None:
            cls.spec = EntitySpec(cls, table, type, noun, exists)

    @property
    def model_fields_set(self) -> set[str]:
        """The names of the fields that were given, or stored."""
        return own_fields_set(self, super().model_fields_set)

    @property
    def key_values(self) -> dict[str, object]:
        """The values of the primary key's fields."""
        return {name: getattr(self, name) for name in self.spec.primary.fields}


def _as_declared(entity: type[Entity], name: str, info: FieldInfo) -> FieldInfo:
    """A field with its limits, which were taken off where it is inherited from another entity."""
    if name in vars(entity).get("__annotations__", {}):
        return info
    for base in entity.__mro__[1:]:
        if issubclass(base, Entity) and name in base.declared_fields:
            return base.declared_fields[name]
        if issubclass(base, BaseModel) and not issubclass(base, Entity) and name in base.model_fields:
            return info
    return info


__all__ = ["Access", "Entity", "EntitySpec", "FieldSpec", "KeyPart", "KeySpec"]
