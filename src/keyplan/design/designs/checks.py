"""Checks of a design as a whole: its entities together, and what they refer to."""

from itertools import combinations
from typing import TYPE_CHECKING, get_args, get_type_hints

from keyplan.design.designs.transaction_size import check_transaction
from keyplan.design.entities.abstract import is_unusable
from keyplan.design.entities.effects import BelongsTo, Derived, Ref, Unique
from keyplan.design.entities.entity import Entity
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.large_checks import check_parts
from keyplan.design.entities.standins import FieldName, read_refs
from keyplan.design.entities.vectors import check_shared_vectors
from keyplan.design.errors import DesignError, Unusable, is_collecting, recorded
from keyplan.design.tables.tables import HOUSEKEEPING
from keyplan.design.values.storable import classes_in

if TYPE_CHECKING:
    from keyplan.design.designs.patterns import Design


def check_known(cls: "type[Design]", entity: type[Entity], place: str) -> None:
    """Refuse an entity that isn't in the design. Those in the housekeeping table can be used by any design."""
    if entity not in cls.entities and entity.spec.table is not HOUSEKEEPING:
        raise DesignError(
            "foreign-entity", place, f"{entity.__name__} isn't in the design", f"Add it to {cls.__name__}.entities."
        )


def check_entities(cls: "type[Design]") -> None:
    specs = [entity.spec for entity in cls.entities]
    _check_names(cls)
    for spec in specs:
        with recorded():
            _check_table(spec, cls)
        _check_guards(spec, cls)
        _bind_derived(spec, cls)
        _bind_parents(spec, cls)
        _check_counters(spec, cls)
        with recorded():
            check_transaction(spec)
    check_parts(specs)
    check_shared_vectors(specs)
    for first, second in combinations(specs, 2):
        with recorded():
            _check_apart(first, second)


def usable_entities(cls: "type[Design]") -> tuple[type[Entity], ...]:
    """The entities of a design, without those that can't be used because of errors that were recorded."""
    usable = []
    for entity in cls.entities:
        with recorded():
            _ = entity.spec.table  # refuses an abstract entity
            usable.append(entity)
    return tuple(usable)


def _check_table(spec: EntitySpec, cls: "type[Design]") -> None:
    if spec.table not in (*cls.tables, HOUSEKEEPING):
        raise DesignError(
            "foreign-table", spec.name, f"its table {spec.table.name} isn't in the design", "Add it to tables."
        )


def _check_apart(first: EntitySpec, second: EntitySpec) -> None:
    """Refuse two entities of which an item could be either."""
    if first.table is not second.table or not first.may_share_keys_with(second):
        return
    first.identified_by_type = second.identified_by_type = True
    if first.may_be_mistaken_for(second):
        raise DesignError(
            "ambiguous-entities",
            f"{first.name} and {second.name}",
            f"their keys are ambiguous ({_shown(first)} and {_shown(second)})",
            "Use different literals, Id for fields without the separator, or a type attribute.",
        )


def _check_names(cls: "type[Design]") -> None:
    """Refuse duplicate names: tables and entities are identified by name in requests, addresses and journals."""
    for names in ([table.name for table in cls.tables], [entity.__name__ for entity in cls.entities]):
        twice = [name for number, name in enumerate(names) if name in names[:number]]
        with recorded():
            if twice:
                place = f"{cls.__name__}.{twice[0]}"
                raise DesignError("same-name", place, "the name is used twice", "Rename one of them.")


def _shown(spec: EntitySpec) -> str:
    return " / ".join(part.template.text if part.template else part.attribute.name for part in spec.primary.parts)


def _check_guards(spec: EntitySpec, cls: "type[Design]") -> None:
    """Refuse guards in tables of other designs, and guards that could be mistaken for items."""
    for guard in spec.uniques:
        place = f"{spec.name}.{guard.name}"
        with recorded():
            _check_guard_table(guard, cls, place)
        for entity in cls.entities:
            if entity.spec.table is guard.table and _looks_like(guard, entity.spec):
                with recorded():
                    _check_guard_apart(entity.spec, place)


def _check_guard_table(guard: Unique, cls: "type[Design]", place: str) -> None:
    if guard.table not in (*cls.tables, HOUSEKEEPING):
        raise DesignError(
            "foreign-table", place, f"its table {guard.table.name} isn't in the design", "Add it to tables."
        )
    numbers = [each for each in guard.table.hash + guard.table.range if each.type != "S"]
    if numbers:
        raise DesignError(
            "key-type",
            place,
            f"{numbers[0].name} of {guard.table.name} is of type {numbers[0].type}, and a guard's key is text",
            "Keep guards in a table with keys of type S.",
        )


def _check_guard_apart(other: EntitySpec, place: str) -> None:
    other.identified_by_type = True
    if other.table.type_attribute is None or other.type is None:
        raise DesignError(
            "ambiguous-guard",
            place,
            f"a guard could be mistaken for an item of {other.name} ({_shown(other)})",
            "Start the guard's key with a different literal.",
        )


def _looks_like(guard: Unique, other: EntitySpec) -> bool:
    templates = [guard.hash] if guard.range is None else [guard.hash, guard.range]
    return all(
        part.template is not None and part.template.may_equal(mine)
        for mine, part in zip(templates, other.primary.parts, strict=True)
    )


def _bind_derived(spec: EntitySpec, cls: "type[Design]") -> None:
    """Read from a method's annotation which entities it makes."""
    for derived in spec.derived:
        spec.broken.add(derived.name)
        with recorded():
            derived.entities = _entities_made(spec, derived, cls)
            spec.broken.remove(derived.name)
        for entity in derived.entities:
            own = entity.spec
            with recorded():
                if own.uniques or own.derived or own.counters or own.parents or own.large:
                    raise DesignError(
                        "derived-entity",
                        f"{spec.name}.{derived.name}",
                        f"{entity.__name__} is derived from another item, so it can't have effects of its own",
                        f"Declare its effects in {spec.name}, next to {derived.name}.",
                    )


def _entities_made(spec: EntitySpec, derived: Derived[Entity], cls: "type[Design]") -> tuple[type[Entity], ...]:
    names = {entity.__name__: entity for entity in cls.entities}
    try:
        hint = get_type_hints(derived.method, localns=names).get("return")
    except NameError:
        if is_collecting():  # it may be the name of an entity that was left out
            raise Unusable(f"{spec.name}.{derived.name}") from None
        raise
    made = tuple(entity for entity in cls.entities if _mentions(hint, entity))
    if any(is_unusable(each) for each in classes_in(hint)):
        raise Unusable(f"{spec.name}.{derived.name}")
    if not made:
        raise DesignError(
            "derived-entity",
            f"{spec.name}.{derived.name}",
            "its return annotation has no entity of the design",
            "Annotate what the method returns, and add that entity to the design.",
        )
    return made


def _mentions(hint: object, entity: type[Entity]) -> bool:
    return hint is entity or any(_mentions(argument, entity) for argument in get_args(hint))


def _bind_parents(spec: EntitySpec, cls: "type[Design]") -> None:
    """Find the child's field for each field of its parent's key."""
    for parent in spec.parents:
        place = f"{spec.name}.{parent.name}"
        with recorded():
            refs = read_refs(spec, parent.parent)
            if not refs:
                raise DesignError("parent", place, "it returns no parent", "Return ref(Parent, ...).")
            named = refs[0]
            check_known(cls, named.entity, place)
            parent.entity = named.entity
            parent.fields = {name: value.name for name, value in named.values.items() if isinstance(value, FieldName)}
            _check_parent(spec, parent, place)
    spec.parents = [parent for parent in spec.parents if parent.entity is not None]


def _check_parent(spec: EntitySpec, parent: BelongsTo[Entity], place: str) -> None:
    assert parent.entity is not None
    if parent.on_delete == "refuse":
        if parent.count is None:
            raise DesignError(
                "refuse-needs-count",
                place,
                "a delete can only be refused safely if the parent counts its children",
                'Add count="...", the name of a Count field of the parent.',
            )
        return
    if parent.on_delete == "cascade":
        access = spec.primary if parent.via == "primary" else spec.placements.get(parent.via)
        if access is None:
            raise DesignError(
                "cascade-via", place, f"via={parent.via!r} isn't a key of the entity", "Use the name of a placement."
            )
        known = {*parent.fields.values(), *parent.over}
        unknown = [name for name in access.partition_fields if name not in known]
        if unknown:
            raise DesignError(
                "cascade-via",
                place,
                f"{access.name} can't find the children: {', '.join(unknown)} isn't in the parent's key",
                "Use via= with a placement whose hash key is made of the parent's key, or list all values in over=.",
            )


def _check_counters(spec: EntitySpec, cls: "type[Design]") -> None:
    for counter in spec.counters:
        with recorded():
            # If the method returned no item for any of the values tried, there is nothing to check.
            for named in read_refs(spec, counter.target):
                check_known(cls, named.entity, f"{spec.name}.{counter.name}")
                _check_count(named, counter.field, f"{spec.name}.{counter.name}")
    for parent in spec.parents:
        if parent.count is not None:
            assert parent.entity is not None
            with recorded():
                _check_count(Ref(parent.entity, {}), parent.count, f"{spec.name}.{parent.name}")


def _check_count(named: Ref[Entity], name: str, place: str) -> None:
    field = named.entity.spec.fields.get(name)
    if field is None or field.kind != "count":
        raise DesignError(
            "counter",
            place,
            f"{named.entity.__name__} has no Count field {name!r}",
            f"Declare {name}: Count = 0 there.",
        )
