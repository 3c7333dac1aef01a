"""What a write by key returns: the item before or after it, or only its changed fields."""

from collections.abc import Sequence
from typing import Any

from keyplan.data import compat
from keyplan.data.codec.entities import codec_of
from keyplan.data.codec.values import Item
from keyplan.data.steps import Answer
from keyplan.data.writes.clauses import Clause
from keyplan.data.writes.key_operations import Returning
from keyplan.data.writes.partial import Partial
from keyplan.design import Entity

_WHOLE = {"new": "ALL_NEW", "old": "ALL_OLD", "updated": "ALL_NEW", "updated-old": "ALL_OLD"}
_UPDATED = {"updated": "UPDATED_NEW", "updated-old": "UPDATED_OLD"}


def return_values(returning: Returning, clauses: Sequence[Clause], *, may_be_new: bool = False) -> str:
    """The `ReturnValues` of the request.

    For a path inside a field, DynamoDB's UPDATED_NEW has only that part of it, with lists closed up. So the whole item
    is asked for then, and its fields are picked here. UPDATED_OLD doesn't tell whether the item is new.
    """
    inside = any(len(clause.path) > 1 for clause in clauses)
    if inside or (may_be_new and returning == "updated-old"):
        return _WHOLE[returning]
    return _UPDATED.get(returning, _WHOLE[returning])


def changed_fields(entity: type[Entity], clauses: Sequence[Clause]) -> list[str]:
    """The fields that a write changes, with the version and the time of the change."""
    kept = [entity.spec.by_kind[kind].name for kind in ("updated", "version") if kind in entity.spec.by_kind]
    return list(dict.fromkeys([*(clause.field for clause in clauses), *kept]))


def direct_result(
    returning: Returning | None,
    clauses: Sequence[Clause],
    entity: type[Entity],
    answer: Answer | None,
    *,
    may_be_new: bool = False,
) -> Any:  # noqa: ANN401 - an entity or some fields of it
    """The result of a write that was one request; None for an item that didn't exist before."""
    if returning is None or answer is None:
        return None
    attributes = answer.get("Attributes")
    codec = codec_of(entity)
    if returning in ("new", "old"):
        return codec.decode(attributes) if attributes else None
    if not attributes and returning == "updated-old" and may_be_new:
        return None
    names = changed_fields(entity, clauses)
    return Partial(entity, {name: _value(entity, name, attributes or {}) for name in names})


def _value(entity: type[Entity], name: str, attributes: Item) -> object:
    """The value of one field of an item, of which only some attributes are known."""
    codec = codec_of(entity)
    stored = attributes.get(codec.spec.fields[name].stored)
    if stored is None or "NULL" in stored:
        return codec.absent_value(name)
    return compat.field_validator(entity, name)(codec.decode_value(name, stored))


def read_result(returning: Returning | None, clauses: Sequence[Clause], before: Entity | None, after: Entity) -> Any:  # noqa: ANN401 - an entity or some fields of it
    """The result of a write of an item that was read; `before` is None if it didn't exist."""
    chosen = after if returning in ("new", "updated") else before
    if returning is None or chosen is None:
        return None
    if returning in ("new", "old"):
        return chosen
    return Partial(type(chosen), {name: getattr(chosen, name) for name in changed_fields(type(chosen), clauses)})
