"""What clauses do: terms of an update expression, or the new values of an entity that was read."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from keyplan.data.codec.entities import EntityCodec, codec_of, stored_item
from keyplan.data.codec.value_paths import ValuePath, value_path
from keyplan.data.codec.values import AttributeValue, number_text
from keyplan.data.errors import PathMissing, described
from keyplan.data.expressions.updates import NothingThere, UpdateTerm, updated
from keyplan.data.writes.clauses import Clause, path_text
from keyplan.design import Entity, InvalidValue


def update_term(entity: type[Entity], clause: Clause) -> UpdateTerm:
    """A clause as a term of the update expression; its values are validated, within their limits, and encoded."""
    try:
        return _term(value_path(entity, clause.path), clause)
    except InvalidValue as error:
        place = f"{entity.__name__}.{path_text(clause.path)}"
        raise InvalidValue(error.code, place, error.problem, field=clause.field) from None


def _term(way: ValuePath, clause: Clause) -> UpdateTerm:
    kind = way.type
    match clause.verb:
        case "set" | "set_default":
            value = kind.stored(kind.checked(clause.values[0]))
            if value is None:
                return _removal(way, clause)
            return UpdateTerm("set" if clause.verb == "set" else "default", way.names, (value,))
        case "remove":
            return UpdateTerm("remove", way.names)
        case "add":
            return _addition(way, clause)
        case "append" | "prepend":
            default = kind.default()
            before = {"L": []} if default is None else kind.stored(default) or {"L": []}
            return UpdateTerm(clause.verb, way.names, (before, kind.stored_content(clause.values)))
        case "add_members":
            return UpdateTerm("add", way.names, (kind.stored_content(clause.values),))
    return UpdateTerm("delete", way.names, (kind.stored_content(clause.values),))


def _removal(way: ValuePath, clause: Clause) -> UpdateTerm:
    if clause.verb == "set_default":
        problem = "None and empty sets aren't stored, so they can't be a default."
        raise InvalidValue("empty", way.type.place, problem, field=clause.field)
    return UpdateTerm("remove", way.names)


def _addition(way: ValuePath, clause: Clause) -> UpdateTerm:
    """A number plus an amount. DynamoDB's ADD takes an absent number for 0, so another default has to be named."""
    amount: AttributeValue = {"N": number_text(clause.values[0])}  # type: ignore[arg-type]  # checked before
    default = way.type.default()
    if len(way.names) == 1 and not default:
        return UpdateTerm("add", way.names, (amount,))
    return UpdateTerm("plus", way.names, ({"N": number_text(default or 0)}, amount))  # type: ignore[arg-type]  # a number


class Changes(NamedTuple):
    """What clauses make of an entity that was read."""

    values: dict[str, object]
    """The new values of its fields; not validated yet."""
    attributes: dict[str, AttributeValue | None]
    """What DynamoDB would store for some of them, where that may differ from how the value is stored when an entity is
    created: a removed value is absent, not its default."""


def changes_of(entity: Entity, clauses: Sequence[Clause]) -> Changes:
    """What the clauses make of an entity that was read."""
    values: dict[str, object] = {}
    attributes: dict[str, AttributeValue | None] = {}
    codec = codec_of(type(entity))
    inside: dict[str, list[Clause]] = {}
    for clause in clauses:
        if clause.path == (clause.field,) and clause.verb == "set":
            values[clause.field] = clause.values[0]
        else:
            inside.setdefault(clause.field, []).append(clause)
    for name, some in inside.items():
        if codec.spec.fields[name].large is not None and some[0].verb == "set_default":
            # As a stored value, it would be the place of its parts.
            update_term(type(entity), some[0])
            if _attribute(codec, entity, name) is None:
                values[name] = some[0].values[0]
            continue
        after = _changed_attribute(entity, name, some)
        values[name] = codec.absent_value(name) if after is None else codec.decode_value(name, after)
        is_exact = codec.has_own_attribute(name) and (after is None or codec.spec.fields[name].large is None)
        if is_exact and not is_kept_in_index(codec, name, after):
            attributes[name] = after
    return Changes(values, attributes)


def is_kept_in_index(codec: EntityCodec[Any], name: str, attribute: AttributeValue | None) -> bool:
    """Whether a removed field has to be stored as its default, since the attribute is itself an index key."""
    return attribute is None and codec.spec.fields[name].stored in codec.spec.key_attributes


def _changed_attribute(entity: Entity, name: str, clauses: Sequence[Clause]) -> AttributeValue | None:
    before = _attribute(codec_of(type(entity)), entity, name)
    return attribute_after(type(entity), entity.key_values, name, before, clauses, entity)


def attribute_after(
    entity: type[Entity],
    values: Mapping[str, object],
    name: str,
    before: AttributeValue | None,
    clauses: Sequence[Clause],
    found: Entity | None,
) -> AttributeValue | None:
    """A field as it is stored after clauses about it or about what is inside it; `found` is the item, for errors."""
    attribute = entity.spec.fields[name].stored
    terms = [update_term(entity, clause) for clause in clauses]
    try:
        return updated({} if before is None else {attribute: before}, terms).get(attribute)
    except NothingThere as missing:
        raise path_missing(entity, values, (name, *missing.names[1:]), found) from None
    except InvalidValue as error:  # a sum with too many digits
        raise InvalidValue(error.code, f"{entity.__name__}.{name}", error.problem, field=name) from None


def _attribute(codec: EntityCodec[Any], entity: Entity, name: str) -> AttributeValue | None:
    """A field of an entity as it is stored, in the entity's current form; None if it isn't."""
    field, item = codec.spec.fields[name], stored_item(entity)
    if item is not None and codec.has_own_attribute(name):
        found = codec.evolved(item).get(field.stored)
        return None if found is None or "NULL" in found else found
    value = getattr(entity, name)
    return None if value is None or name not in entity.model_fields_set else codec.encode_value(name, value)


def path_missing(
    entity: type[Entity], values: Mapping[str, object], path: Sequence[str | int], stored: Entity | None
) -> PathMissing:
    """The error for a path at which there is nothing to change."""
    text, item = path_text(path), described(entity.__name__, values)
    if isinstance(path[-1], int):
        problem = f"{item} has no {text}"
    else:
        problem = f"{item} has no {path_text(path[:-1])}, so {text} can't be changed. Set it as a whole"
    return PathMissing(entity.__name__, text, values, stored, problem)
