"""The key condition of a query: equality on the partition key, and a range of the sort key."""

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from keyplan.data.codec.entities import codec_of
from keyplan.data.codec.sizes import LONGEST_RANGE, checked_key
from keyplan.data.codec.values import AttributeValue, Item
from keyplan.design import Design, InvalidValue
from keyplan.design.entities.large_values import PARTS
from keyplan.design.entities.specs import KeyPart
from keyplan.design.keys.templates import Template
from keyplan.design.operations.bounds import Bound
from keyplan.design.operations.conditions import FieldPath, Node
from keyplan.design.operations.queries import Query

LAST = "\U0010ffff"
"""Sorts after every continuation of a text."""


class KeyCondition(NamedTuple):
    """A key condition, and what it can't leave out itself: a sort key, and items that have other values."""

    nodes: list[Node]
    excluded: tuple[str, AttributeValue] | None = None
    is_other: Callable[[Item], bool] | None = None


def key_condition(query: Query[Any]) -> KeyCondition:
    """The key condition of a query."""
    condition = _whole_condition(query)
    return condition if query.beyond is None else _continued(query, condition, query.beyond)


def _whole_condition(query: Query[Any]) -> KeyCondition:
    """The key condition of a query, from its beginning."""
    nodes = [_node("=", part, _value(query, part)) for part in query.key.hash]
    if len(query.entities) > 1:
        first = query.key.range[:1] if query.key.index is None and query.entities[0].spec.table.has_parts else ()
        return KeyCondition([*nodes, *(_node("<", part, {"S": PARTS}) for part in first)])
    values = sort_values(query)
    for part in query.key.range:
        given = all(name in values for name in part.fields)
        bounded = query.bound is not None and query.bound[0] in part.fields
        if given and not bounded:
            nodes.append(_node("=", part, _value(query, part)))
            continue
        if bounded:
            assert query.bound is not None
            node, excluded = _bounded(part, query, query.bound[1])
            return KeyCondition([*nodes, node], excluded, _is_other(part, values))
        prefix = part.template.prefix(values) if part.template else ""
        if prefix:
            nodes.append(_node("begins_with", part, _text(part, prefix)))
        return KeyCondition(nodes, is_other=_is_other(part, values))
    return KeyCondition(nodes)


def _is_other(part: KeyPart, values: Mapping[str, object]) -> Callable[[Item], bool] | None:
    """Whether an item begins with the queried text and has other values: with `{a}#{b}`, `x#` begins `x#y#z`, too.

    None if that can't be, because it is clear where the values end.
    """
    template, name = part.template, part.attribute.name
    if template is None or not template.can_be_ambiguous:
        return None
    given = list(takewhile(lambda slot: slot.field in values, template.slots))
    if all(template.ends_itself(slot) for slot in given):
        return None
    wanted = template.prefix({slot.field: values[slot.field] for slot in given})

    def is_other(item: Item) -> bool:
        read = template.read(item[name]["S"])
        return read is None or template.prefix({slot.field: read[slot.field] for slot in given}) != wanted

    return is_other


def sort_values(query: Query[Any]) -> Mapping[str, object]:
    """The values to compare with the sort key: not those that stand for a date bucket of the hash key."""
    key = query.key
    if not key.computed:
        return query.values
    return {n: v for n, v in query.values.items() if n not in key.computed or n not in key.partition_fields}


def _value(query: Query[Any], part: KeyPart) -> AttributeValue:
    if query.partition is not None and part.attribute.name in query.partition:
        return {"S": query.partition[part.attribute.name]}
    codec = codec_of(query.entities[0])
    value = codec.keys.part(query.key, part, query.values)
    if value is None:
        missing = next(name for name in part.fields if query.values.get(name) is None)
        place = f"{codec.spec.name}.{query.key.name}.{missing}"
        raise InvalidValue(
            "empty-key-value", place, "This value is part of the key, so it can't be absent.", field=missing
        )
    return value


def may_hold_others(design: Design, query: Query[Any]) -> bool:
    """Whether a query's key range may contain items of other entities, or items that are being deleted."""
    table, index = query.entities[0].spec.table, query.key.index
    for other in design.entities:
        if any(parent.entity in query.entities for parent in other.spec.parents):
            return True
        if index is None and any(u.table is table and _meet(query.key.hash, (u.hash,)) for u in other.spec.uniques):
            return True
        if other.spec.table is table and other not in query.entities:
            for key in other.spec.keys:
                beside = key.index is index and _meet(query.key.hash, [part.template for part in key.hash])
                if beside and (len(query.entities) > 1 or not _apart(query.key.range, key.range)):
                    return True
    return False


def _meet(parts: Sequence[KeyPart], templates: Sequence[Template | None]) -> bool:
    pairs = zip(parts, templates, strict=True)
    return all(part.template is None or other is None or part.template.may_equal(other) for part, other in pairs)


def _apart(first: Sequence[KeyPart], second: Sequence[KeyPart]) -> bool:
    """Whether two sort keys begin with different texts, so that no key is of both."""
    for one, other in zip(first[:1], second[:1], strict=False):
        if one.template and other.template:
            a, b = one.template.parts[0], other.template.parts[0]
            if isinstance(a, str) and isinstance(b, str):
                return not a.startswith(b) and not b.startswith(a)
    return False


def _node(operator: str, part: KeyPart, *values: AttributeValue) -> Node:
    return Node(operator, (FieldPath((part.attribute.name,)), *values))


def _bounded(part: KeyPart, query: Query[Any], bound: Bound) -> tuple[Node, tuple[str, AttributeValue] | None]:
    field = query.bound[0] if query.bound else ""
    template = part.template
    if template is None:
        return _native(part, query, field, bound), None
    values = sort_values(query)
    base = template.prefix({name: values[name] for name in template.fields if name != field and name in values})
    bound = bound.opposite() if template.by_field[field][1].inverted else bound
    rest = template.parts[-1]
    last = not isinstance(rest, str) and rest.field == field
    literal = _literal_after(template, field)

    def text(value: object, *, behind: bool = False) -> str:
        return base + template.piece(field, value) + (literal + LAST if behind and not last else "")

    match bound.kind:
        case "prefix":
            return _node("begins_with", part, _text(part, base + template.piece(field, bound.low))), None
        case "between":
            if template.piece(field, bound.low) > template.piece(field, bound.high):
                raise empty_range(template.place, field, query.bound[1] if query.bound else bound)
            return _between(part, text(bound.low), text(bound.high, behind=True)), None
        case ">=":
            return _from(part, base, text(bound.low)), None
        case "<=":
            return _to(part, base, text(bound.high, behind=True)), None
        case ">":
            low = text(bound.low, behind=True)
            if last and not base:
                return _node(">", part, _text(part, low)), None
            return _from(part, base, low), (part.attribute.name, {"S": low}) if last else None
        case "<":
            high = text(bound.high)
            if not base:
                return _node("<", part, _text(part, high)), None
            return _between(part, base, high), (part.attribute.name, {"S": high}) if last else None


def _continued(query: Query[Any], condition: KeyCondition, beyond: AttributeValue) -> KeyCondition:
    """The same condition, from this sort key on, in the direction of the query."""
    part = query.key.range[0]
    node = next((node for node in condition.nodes[len(query.key.hash) :]), None)
    low, high = (None, None) if node is None else _limits(node)
    excluded = condition.excluded
    if node is not None and node.operator in ("<", ">"):
        excluded = (part.attribute.name, low or high or beyond)
    low, high = (low, beyond) if query.newest_first else (beyond, high)
    if low is not None and high is not None:
        rest = _node("BETWEEN", part, low, high)
    else:
        rest = _node(">=", part, low) if low is not None else _node("<=", part, high or beyond)
    return KeyCondition([*condition.nodes[: len(query.key.hash)], rest], excluded, condition.is_other)


def _limits(node: Node) -> tuple[AttributeValue | None, AttributeValue | None]:
    """The least and the greatest sort key of a condition."""
    values: Any = node.operands[1:]
    match node.operator:
        case "begins_with":
            ((tag, content),) = values[0].items()
            return values[0], {tag: content + (LAST if tag == "S" else b"\xff" * (LONGEST_RANGE - len(content)))}
        case "<" | "<=":
            return None, values[0]
        case ">" | ">=":
            return values[0], None
    return values[0], values[-1]


def _literal_after(template: Template, field: str) -> str:
    """The literal after a field. Without it, a bound on `b` would also match `bz`."""
    place = next(n for n, part in enumerate(template.parts) if not isinstance(part, str) and part.field == field)
    behind = template.parts[place + 1] if place + 1 < len(template.parts) else ""
    return behind if isinstance(behind, str) else ""


def _between(part: KeyPart, low: str, high: str) -> Node:
    return _node("BETWEEN", part, _text(part, low), _text(part, high))


def _from(part: KeyPart, base: str, low: str) -> Node:
    return _between(part, low, base + LAST) if base else _node(">=", part, _text(part, low))


def _to(part: KeyPart, base: str, high: str) -> Node:
    return _between(part, base, high) if base else _node("<=", part, _text(part, high))


def _text(part: KeyPart, text: str) -> AttributeValue:
    """A text to compare a sort key with; DynamoDB doesn't accept one that is longer than a key can be."""
    assert part.template is not None
    return {"S": checked_key(text, LONGEST_RANGE, part.template)}


def _native(part: KeyPart, query: Query[Any], field: str, bound: Bound) -> Node:
    """A bound on a key that is a number or bytes."""
    codec = codec_of(query.entities[0])

    def value(content: object) -> AttributeValue:
        encoded = codec.keys.part(query.key, part, {field: content})
        if encoded is None:
            place = f"{codec.spec.name}.{query.key.name}.{field}"
            raise InvalidValue(
                "empty-key-value", place, "This value is part of the key, so it can't be absent.", field=field
            )
        return encoded

    if bound.kind == "between":
        low, high = value(bound.low), value(bound.high)
        if bound.low > bound.high:  # type: ignore[operator]  # numbers or bytes, by now
            raise empty_range(f"{codec.spec.name}.{query.key.name}", field, bound)
        return _node("BETWEEN", part, low, high)
    if bound.kind == "prefix":
        return _node("begins_with", part, value(bound.low))
    return _node(bound.kind, part, value(bound.low if bound.low is not None else bound.high))


def empty_range(place: str, field: str, bound: Bound) -> InvalidValue:
    """The error for a range that ends before it begins."""
    problem = f"The range from {bound.low!r} to {bound.high!r} is empty. Swap the bounds."
    return InvalidValue("empty-range", f"{place}.{field}", problem, field=field)
