"""Key conditions and filters in words, with the names of parameters where values come in."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from enum import Enum

from keyplan.design.designs.patterns import Parameter
from keyplan.design.entities.entity import Entity
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeyPart, KeySpec
from keyplan.design.keys.templates import Slot, Template
from keyplan.design.operations.bounds import Bound
from keyplan.design.operations.conditions import FieldPath, Node

_TIME = re.compile(r"datetime\.timedelta\(([^)]*)\)")
_FUNCTIONS = ("attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size")


def value_text(value: object) -> str:
    """A value as an expression has it: a parameter in braces, text in quotes."""
    if isinstance(value, Parameter):
        return f"{{{name_of(value)}}}"
    if isinstance(value, Enum):
        return value_text(value.value)
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, datetime | date):
        return f'"{value.isoformat()}"'
    return f'"{value}"' if isinstance(value, str) else str(value)


def name_of(parameter: Parameter) -> str:
    """The name of a parameter, with what is added to it in words: `now - 31 days`."""
    return _TIME.sub(lambda match: " ".join(_amount(each) for each in match[1].split(", ")), parameter.name)


def _amount(text: str) -> str:
    unit, _, amount = text.partition("=")
    return f"{int(amount) // 1000} milliseconds" if unit == "microseconds" else f"{amount} {unit}"


def slot_text(slot: Slot, name: str | None = None) -> str:
    """A slot of a template as it is written, with the name of a parameter if that is another one."""
    field = name or slot.field
    if slot.shards is not None:
        return f"{{shard({field}, {slot.shards.count})}}"
    way = f".{slot.fold}" if slot.fold else ".desc" if slot.inverted else ""
    absent = f"|{slot.absent}" if slot.absent and name is None else ""
    return f"{{{field}{way}{f':{slot.spec}' if slot.spec else ''}{absent}}}"


def key_condition(key: KeySpec, values: Mapping[str, object], bound: tuple[str, Bound] | None = None) -> str:
    """What a read requires of the attributes of a key: `PK = "TEAM#{team_id}" AND begins_with(SK, "PLAYER#")`."""
    hash_parts = [_equal(part, values) for part in key.hash]
    return " AND ".join([*hash_parts, *filter(None, (_of_range(part, values, bound) for part in key.range))])


def _equal(part: KeyPart, values: Mapping[str, object]) -> str:
    text, _ = _written(part, values)
    return f"{part.attribute.name} = {text}"


def _of_range(part: KeyPart, values: Mapping[str, object], bound: tuple[str, Bound] | None) -> str:
    name = part.attribute.name
    if part.template is None:
        assert part.field is not None
        if part.field in values:
            return f"{name} = {value_text(values[part.field])}"
        return _bounded(name, bound[1], "", value_text) if bound and bound[0] == part.field else ""
    text, rest = _written(part, values)
    if rest is None:
        return f"{name} = {text}"
    if bound is not None and bound[0] == rest.field:
        prefix, slot = text.strip('"'), rest
        return _bounded(name, bound[1], prefix, lambda value: f'"{prefix}{_piece(slot, value)}"')
    return f"begins_with({name}, {text})" if text != '""' else ""


def _bounded(name: str, bound: Bound, prefix: str, written: Callable[[object], str]) -> str:
    """A bound on a sort key. With a prefix, it doesn't go beyond the keys that begin with it."""
    if bound.kind == "between":
        return f"{name} BETWEEN {written(bound.low)} AND {written(bound.high)}"
    if bound.kind == "prefix":
        return f"begins_with({name}, {written(bound.low)})"
    value = written(bound.high if bound.kind in ("<", "<=") else bound.low)
    if not prefix:
        return f"{name} {bound.kind} {value}"
    low, high = (f'"{prefix}"', value) if bound.kind in ("<", "<=") else (value, f'"{prefix}…"')
    without = {"<": ", without the latter", ">": ", without the former"}.get(bound.kind, "")
    return f"{name} BETWEEN {low} AND {high}{without}"


def _written(part: KeyPart, values: Mapping[str, object]) -> tuple[str, Slot | None]:
    """A part of a key up to the first field that has no value, and the slot of that field."""
    if part.template is None:
        assert part.field is not None
        return value_text(values.get(part.field, Parameter(part.field))), None
    text = ""
    for piece in part.template.parts:
        if isinstance(piece, str):
            text += piece
        elif piece.field in values:
            text += _piece(piece, values[piece.field], part.template)
        elif part.template.formats[piece].computed:
            text += slot_text(piece)
        else:
            return f'"{text}"', piece
    return f'"{text}"', None


def _piece(slot: Slot, value: object, template: Template | None = None) -> str:
    if isinstance(value, Parameter):
        return slot_text(slot, name_of(value))
    if isinstance(value, Bound):
        return slot_text(slot)
    if template is not None and not template.formats[slot].computed:
        return template.piece(slot.field, value)
    return str(value.value if isinstance(value, Enum) else value)


def filter_text(entity: type[Entity], node: Node) -> str:
    """A filter or a condition, with the names of stored attributes."""
    return _node(entity.spec, node, 0)


_BINDS = {"OR": 1, "AND": 2, "NOT": 3}


def _node(spec: EntitySpec, node: Node, outside: int) -> str:
    operator, operands = node.operator, [_operand(spec, each, _BINDS.get(node.operator, 0)) for each in node.operands]
    if operator in ("AND", "OR"):
        text = f" {operator} ".join(operands)
    elif operator == "NOT":
        text = f"NOT {operands[0]}"
    elif operator == "BETWEEN":
        text = f"{operands[0]} BETWEEN {operands[1]} AND {operands[2]}"
    elif operator == "IN":
        text = f"{operands[0]} IN ({', '.join(operands[1:])})"
    elif operator in _FUNCTIONS:
        text = f"{operator}({', '.join(operands)})"
    else:
        text = f" {operator} ".join(operands)
    return f"({text})" if outside > _BINDS.get(operator, 4) else text


def _operand(spec: EntitySpec, operand: object, outside: int) -> str:
    if isinstance(operand, Node):
        return _node(spec, operand, outside)
    if isinstance(operand, FieldPath):
        return "".join(_path(spec, operand))
    return value_text(operand)


def _path(spec: EntitySpec, path: FieldPath) -> Iterator[str]:
    first, *rest = path.names
    yield spec.fields[str(first)].stored if first in spec.fields else str(first)
    yield from (f"[{each}]" if isinstance(each, int) else f".{each}" for each in rest)
