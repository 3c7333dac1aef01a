"""Checks of a query: the values for its key, and the fields in its filter."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeySpec
from keyplan.design.errors import DesignError
from keyplan.design.operations.bounds import Bound
from keyplan.design.operations.conditions import FieldPath, Node

OPTIONS = ("newest_first", "filter", "consistent", "expired")
"""The options of a query, beside the fields of its key."""


def split_key_values(key: KeySpec, values: Mapping[str, object]) -> tuple[dict[str, object], tuple[str, Bound] | None]:
    """The values without a bound, and the bound, checked against the key.

    The value of a field that is in the hash key as a date bucket stands for its bucket. So it isn't compared with the
    sort key, unless it is a range.
    """
    place = key.place
    needed = key.partition_fields
    range_fields = key.range_fields
    _check_options(key, [name for name in values if name not in needed and name not in range_fields])
    missing = [name for name in needed if name not in values]
    if missing:
        unknown = [name for name in values if name not in (*needed, *range_fields)]
        instead = f", but one for {', '.join(unknown)}, which isn't in the key" if unknown else ""
        problem = f"no value for {', '.join(missing)}{instead}"
        raise DesignError("key-fields", place, problem, "A query needs the whole hash key.")
    given = [
        name
        for name, value in values.items()
        if name not in needed or (name in key.computed and isinstance(value, Bound) and name in range_fields)
    ]
    if given and (given != [n for n in range_fields if n in given] or set(given) != set(range_fields[: len(given)])):
        raise DesignError(
            "key-fields",
            place,
            f"the sort key can't be queried by {', '.join(given)}",
            f"Its fields are {', '.join(range_fields) or 'none'}. Give them from the left, without gaps.",
        )
    bounds = [(name, value) for name, value in values.items() if isinstance(value, Bound)]
    for name, bound in bounds:
        if name in key.computed or name in key.range_buckets or name != (given[-1] if given else None):
            _check_bound(key, name, bound, given)
    plain = {name: value for name, value in values.items() if not isinstance(value, Bound)}
    key.check_values(plain)
    for name, bound in bounds:
        for value in (bound.low, bound.high):
            key.check_values({name: value})
    return plain, (bounds[0][0], bounds[0][1]) if bounds else None


def _check_options(key: KeySpec, unknown: Sequence[str]) -> None:
    """Raise `DesignError` for a misspelled option, which Python takes for the value of a field."""
    for name in unknown:
        if meant := get_close_matches(name.lower(), OPTIONS, 1):
            raise DesignError(
                "unknown-option",
                key.place,
                f"it is neither an option nor a field of the key: {name}",
                f"Did you mean {meant[0]}? The options are {', '.join(OPTIONS)}.",
            )


def _check_bound(key: KeySpec, name: str, bound: Bound, given: Sequence[str]) -> None:
    place = f"{key.place}.{name}"
    is_bucket = name in key.computed and name in key.partition_fields
    if is_bucket and bound.kind != "between":
        raise DesignError(
            "open-range",
            place,
            "a range over date buckets needs a beginning and an end",
            "Use within(first, last), or one value for one bucket.",
        )
    if is_bucket and name not in given:
        raise DesignError(
            "bucket-range",
            place,
            "the sort key can't leave out what is in the first and the last bucket but not in the range",
            f"Begin the sort key with {{{name}}}, or query one bucket with one value.",
        )
    if name not in given or name != given[-1]:
        raise DesignError(
            "key-fields" if name in given else "hash-range",
            place,
            "only the last given field of the sort key can have a bound",
            "The hash key needs exact values. Put the field that needs a bound into a sort key.",
        )
    if name in key.range_buckets:
        raise DesignError(
            "bound-on-bucket",
            place,
            "the sort key has only the bucket of the value, so a bound would find too much",
            f"Use {{{name}}} in the sort key, which sorts by time as well.",
        )


def sorts_in_reverse(key: KeySpec, values: Mapping[str, object]) -> bool:
    """Whether the first field of the sort key that has no value of its own is in reverse order."""
    bucketed = [name for name in key.computed if name in key.partition_fields]
    for part in key.range:
        for slot in part.template.slots if part.template is not None else ():
            if slot.field not in values or slot.field in bucketed:
                return slot.inverted
    return False


def check_filter(spec: EntitySpec, key: KeySpec, node: Node) -> None:
    """Refuse a filter on an attribute of the queried key, or on one that isn't projected into the index."""
    names = {part.attribute.name for part in key.parts}
    for operand in node.operands:
        if isinstance(operand, Node):
            check_filter(spec, key, operand)
        elif isinstance(operand, FieldPath):
            place, stored = f"{key.place}.{operand.names[0]}", spec.fields[str(operand.names[0])].stored
            if stored in names:
                problem = "a filter can't use the key that is queried"
                raise DesignError("filter-on-key", place, problem, "Query by it, or use another index.")
            if key.index is not None and stored in spec.not_in(key.index):
                problem = f"it isn't projected into the index {key.index.name}, so a filter can't use it"
                raise DesignError("not-projected", place, problem, f"Project {stored} into the index.")
