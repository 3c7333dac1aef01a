"""Entities: pydantic models that know their keys and what must change together with them."""

from typing import Any, ClassVar, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

from keyplan.design.compat import own_fields_set
from keyplan.design.entities.abstract import make_abstract, make_unusable, own_declarations
from keyplan.design.entities.entity_spec import DECLARATIONS, EntitySpec
from keyplan.design.entities.large_values import guard_access
from keyplan.design.entities.refusals import Refusal
from keyplan.design.errors import DesignError, Unusable, recorded
from keyplan.design.fields.declarations import values_in_common
from keyplan.design.tables.tables import Table
from keyplan.design.values.aliases import expand_aliases
from keyplan.design.values.relaxed import relax
from keyplan.design.words import Claims, Expected

E = TypeVar("E", bound="Entity")
_Own: TypeAlias = tuple[str | None, str | None, Refusal | None, Expected | None, Claims]
"""What a class says about its items: type, noun, the error if one exists already, what is expected and claimed."""


class Entity(BaseModel):
    """Base class of all entities: `class User(Entity, table=blog, type="USER")`.

    Fields are declared as in any pydantic model. `primary` is the primary key; placements in indexes, guards, mirrors
    and so on are declared next to it. `noun` is the word for one item in messages, and `exists` the error that callers
    get when they create one that already exists.
    Creating an entity and assigning to it checks types. Limits (lengths, ranges, patterns) are checked on write.

    With `abstract=True`, a class is no entity itself. Its fields, keys and rules, and its table if it has one, are
    those of all entities that inherit from it.
    """

    model_config = ConfigDict(
        ignored_types=DECLARATIONS,
        validate_assignment=True,
        extra="forbid",
        arbitrary_types_allowed=False,
        defer_build=True,  # until the limits are removed
    )

    # The item as it was last read or written, in DynamoDB's form, with which an update is compared. A slot, because it
    # is neither a field nor part of equality.
    __slots__ = ("__keyplan_stored__",)

    spec: ClassVar[EntitySpec]
    declared_fields: ClassVar[dict[str, FieldInfo]] = {}
    """The fields as they were declared, with their limits."""
    inherited_table: ClassVar[Table | None] = None
    """The table of an abstract entity, and of those that inherit from it without a table of their own."""

    @classmethod
    def from_fields(cls, source: BaseModel, /, **more: object) -> Self:
        """An entity with the values of `source`, such as the body of a request, and with `more`.

        Fields that `source` doesn't have, or that are None and can't be, get their defaults: an id that callers may
        choose is generated if they don't.
        """
        return cls.model_validate({**values_in_common(cls, source), **more})

    @classmethod
    def evolve(cls, item: dict[str, Any]) -> dict[str, Any]:
        """Convert an item that was stored in an older form. Called with a copy of each item that is read."""
        return item

    def __init_subclass__(
        cls,
        *,
        table: Table | None = None,
        type: str | None = None,
        noun: str | None = None,
        exists: Refusal | None = None,
        expected: Expected | None = None,
        claims: Claims = (),
        abstract: bool = False,
        **kwargs: object,
    ) -> None:
        with recorded():
            if kwargs or (type is not None and table is None and cls.inherited_table is None):
                raise DesignError(
                    "class-options",
                    cls.__name__,
                    f"it is declared with {', '.join(kwargs) or 'a type and no table'}",
                    'Use table=... and, with it, type="...", noun="...", exists=Refusal(...), expected=expect(...) and '
                    "claims=(...), or abstract=True.",
                )
        with recorded():
            of_its_own = (type, noun, exists, expected, claims or None)
            if abstract and any(each is not None for each in of_its_own):
                raise DesignError(
                    "abstract-entity",
                    cls.__name__,
                    "it is abstract, so there are no items that could have a type, a noun, an error, claims and so on",
                    "Give these to the entities that inherit from it.",
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
        expected: Expected | None = None,
        claims: Claims = (),
        abstract: bool = False,
        **kwargs: object,
    ) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        is_declared = False
        with recorded():
            if kwargs:
                raise Unusable(cls.__name__)
            cls._declare(table, abstract, (type, noun, exists, expected, claims))
            is_declared = True
        if not is_declared:
            make_unusable(cls)

    @classmethod
    def _declare(cls, table: Table | None, abstract: bool, own: _Own) -> None:
        expand_aliases(cls)
        cls.declared_fields = {name: _as_declared(cls, name, info) for name, info in cls.model_fields.items()}
        relax(cls)
        guard_access(cls)
        table = table or cls.inherited_table
        if abstract:
            make_abstract(cls, table)
        elif table is not None:
            own_declarations(cls)
            cls.spec = EntitySpec(cls, table, *own)
        elif not hasattr(cls, "spec"):
            raise DesignError(
                "no-table",
                cls.__name__,
                "it has no table",
                "Declare it with table=..., or with abstract=True if it is there to be inherited from.",
            )

    # Copies remember the item too: they are compared with it as their original is.

    def __copy__(self) -> Self:
        return self._with_stored_item_of(super().__copy__())

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self._with_stored_item_of(super().__deepcopy__(memo))

    def _with_stored_item_of(self, copied: Self) -> Self:
        object.__setattr__(copied, "__keyplan_stored__", getattr(self, "__keyplan_stored__", None))
        return copied

    def __getstate__(self) -> dict[Any, Any]:
        return {**super().__getstate__(), "__keyplan_stored__": getattr(self, "__keyplan_stored__", None)}

    def __setstate__(self, state: dict[Any, Any]) -> None:
        super().__setstate__(state)
        object.__setattr__(self, "__keyplan_stored__", state.get("__keyplan_stored__"))

    @property
    def model_fields_set(self) -> set[str]:
        """The names of the fields that were given, or that were stored."""
        return own_fields_set(self, super().model_fields_set)

    @property
    def key_values(self) -> dict[str, object]:
        """The values of the primary key's fields."""
        return {name: getattr(self, name) for name in self.spec.primary.fields}


def _as_declared(entity: type[Entity], name: str, info: FieldInfo) -> FieldInfo:
    """A field with its limits, which were removed if it is inherited from another entity."""
    if name in vars(entity).get("__annotations__", {}):
        return info
    for base in entity.__mro__[1:]:
        if issubclass(base, Entity) and name in base.declared_fields:
            return base.declared_fields[name]
        if issubclass(base, BaseModel) and not issubclass(base, Entity) and name in base.model_fields:
            return info
    return info
