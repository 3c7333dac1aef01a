"""The items of entities, and the arguments of patterns."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, get_type_hints

from keyplan.design.designs.patterns import Design, Parameter, Pattern
from keyplan.design.entities.effects import Counter, Ref
from keyplan.design.entities.entity import Entity
from keyplan.design.examples.fields import field_value, links_of, refs_of, root_value, values_of, within_joint_limits
from keyplan.design.examples.sizes import fill
from keyplan.design.examples.uses import queries_in, uses_of
from keyplan.design.examples.values import example_value

E = TypeVar("E", bound=Entity)

_MOST_REFERRED = 10
"""How many items of an entity an example can refer to: the teams of a game have the numbers 1, 2 and 3."""
_AMPLE = 1000
"""How much examples add to a number that other items take from, such as a delivery to a stock."""


def example_item(entity: type[E], number: int = 1, size: int | None = None, **fields: object) -> E:
    """An item of an entity, valid and always the same for the same number. `fields` are set as given.

    With `size`, its long texts are filled so that it has about that many bytes as stored.
    """
    spec = entity.spec
    values = {name: value for name, value in values_of(entity, number).items() if name not in fields} | fields
    item = entity.model_validate(within_joint_limits(spec, values, fields), by_name=True)
    if size is not None:
        fill(item, size)
    spec.limits.check(item.__dict__)
    return item


def example_items(
    design: type[Design] | Design, numbers: Iterable[int] = (1,), sizes: Mapping[type[Entity], int] | None = None
) -> Iterator[Entity]:
    """Items of all entities of a design, each after those that it refers to, so that each can be created in turn.

    Mirrors and derived items are left out: they come into being with the items that they belong to. Where the patterns
    name a value (`status="published"`), the items have it, so that the patterns find them.
    """
    source = _Source(design if isinstance(design, type) else type(design), sizes or {})
    for number in numbers:
        for entity in source.entities:
            yield from source.with_parents(source.item(entity, number), number)


def example_of(design: type[Design] | Design, entity: type[E], number: int = 1, size: int | None = None) -> E:
    """The example of an entity among the `example_items` of a design; also of mirrors and derived items."""
    source = _Source(design if isinstance(design, type) else type(design), {} if size is None else {entity: size})
    found = source.item(entity, number)
    assert isinstance(found, entity)
    return found


def made_by_others(design: type[Design] | Design) -> frozenset[type[Entity]]:
    """The entities whose items are mirrors or derived items of others."""
    kinds = (kind for entity in design.entities for each in entity.spec.derived for kind in each.entities)
    return frozenset(kinds)


def example_arguments(
    pattern: Pattern[..., Any], number: int = 1, design: type[Design] | Design | None = None
) -> dict[str, object]:
    """Arguments for a pattern, by name, which match the example items of the same number; with `design`, of
    `example_items`."""
    source = None if design is None else _Source(design if isinstance(design, type) else type(design), {})
    made = example_item if source is None else source.item
    hints = get_type_hints(pattern._build)
    found = {use.name: use for use in reversed(list(uses_of(pattern.symbolic)))}
    arguments: dict[str, object] = {}
    for name in pattern.parameters:
        use = found.get(name)
        value = None if use is None else use.value(made(use.entity, number))
        arguments[name] = example_value(name, hints.get(name, str), None, number) if value is None else value
    return arguments


# Items of a design


class _Source:
    """The example items of a design, and which of them were given already."""

    def __init__(self, design: type[Design], sizes: Mapping[type[Entity], int]) -> None:
        made = made_by_others(design)
        self.entities = [entity for entity in design.entities if entity not in made]
        self._sizes = sizes
        self._given: set[tuple[object, ...]] = set()
        self._makers = [(entity, each) for entity in self.entities for each in entity.spec.derived]
        self._fixed = _fixed_values(design)
        self._asked = _asked_fields(design)
        self._givers: dict[tuple[type[Entity], str], list[type[Entity]]] = {}
        for entity in self.entities:
            for counter in entity.spec.counters:
                self._find_giver(entity, counter)

    def _find_giver(self, entity: type[Entity], counter: Counter[Entity]) -> None:
        """Note an entity whose items add to a number, such as a delivery to a stock, and let its example add much."""
        item = self.item(entity, 1)
        for each in (each for each in refs_of(counter.target, item) if each.amount > 0):
            self._givers.setdefault((each.entity, counter.field), []).append(entity)
            for name in (name for name, field in entity.spec.fields.items() if field.annotation is int):
                more = item.model_copy(update={name: _AMPLE})
                grown = any(other.amount > each.amount for other in refs_of(counter.target, more))
                if grown and not any(True for _ in entity.spec.limits.broken(more.__dict__)):
                    self._fixed.setdefault(entity, {}).setdefault(name, _AMPLE)

    def item(self, entity: type[Entity], number: int, **fields: object) -> Entity:
        """The example of an entity, with the values that the patterns ask for."""
        for maker, derived in self._makers:
            if entity in derived.entities:
                copies = derived.make(self.item(maker, number))
                found = next((each for each in copies if isinstance(each, entity)), None)
                if found is not None:
                    return found
        asked = {name: field_value(entity, name, number, links_of(entity)) for name in self._asked.get(entity, ())}
        fixed = {**asked, **self._fixed.get(entity, {}), **fields}
        return example_item(entity, number, self._sizes.get(entity), **fixed)

    def with_parents(self, item: Entity, number: int) -> Iterator[Entity]:
        """An item after all those that it refers to, without those that were given before."""
        known = _identity(type(item), item.key_values)
        if known in self._given:
            return
        self._given.add(known)
        for each in (each for parent in item.spec.parents for each in refs_of(parent.parent, item)):
            yield from self._referred(each, number)
        for counter in item.spec.counters:
            for each in refs_of(counter.target, item):
                yield from self._referred(each, number)
                for giver in self._givers.get((each.entity, counter.field), ()) if each.amount < 0 else ():
                    yield from self.with_parents(self.item(giver, number), number)
        yield item

    def _referred(self, ref: Ref[Any], number: int) -> Iterator[Entity]:
        if ref.entity not in self.entities or _identity(ref.entity, ref.values) in self._given:
            return
        other = _number_of(ref.entity, ref.values, number)
        # It has a number of its own, but belongs to the same parents.
        links = links_of(ref.entity)
        shared = {name: value for name, value in values_of(ref.entity, number).items() if name in links}
        yield from self.with_parents(self.item(ref.entity, other, **{**shared, **ref.values}), number)


def _identity(entity: type[Entity], values: Mapping[str, object]) -> tuple[object, ...]:
    return (entity, *(values[name] for name in entity.spec.primary.fields))


def _number_of(entity: type[Entity], values: Mapping[str, object], number: int) -> int:
    """The number of the example with these key values, or the number given."""
    own = [name for name in values if name not in links_of(entity)] or list(values)
    for other in range(number, number + _MOST_REFERRED):
        if all(root_value(entity, name, other) == values[name] for name in own):
            return other
    return number


def _fixed_values(design: type[Design]) -> dict[type[Entity], dict[str, object]]:
    """The values that the patterns ask for by themselves, such as the status of published posts."""
    fixed: dict[type[Entity], dict[str, object]] = {}
    for pattern in design.patterns.values():
        for query in queries_in(pattern.symbolic):
            for name, value in query.values.items():
                if not isinstance(value, Parameter) and name in query.entities[0].spec.fields:
                    for entity in query.entities:
                        fixed.setdefault(entity, {}).setdefault(name, value)
    return fixed


def _asked_fields(design: type[Design]) -> dict[type[Entity], set[str]]:
    """The fields that patterns compare with a parameter in a filter, which examples have so that they are found."""
    asked: dict[type[Entity], set[str]] = {}
    for pattern in design.patterns.values():
        for use in uses_of(pattern.symbolic):
            optional = [name for name in use.fields if use.entity.spec.fields[name].optional]
            if use.kind in ("=", "<", ">"):
                asked.setdefault(use.entity, set()).update(optional)
    return asked
