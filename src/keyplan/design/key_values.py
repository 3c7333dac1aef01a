"""Checks of a query: the values for its key, and the fields in its filter."""

from collections.abc import Mapping

from keyplan.design.bounds import Bound
from keyplan.design.conditions import FieldPath, Node
from keyplan.design.entity import EntitySpec, KeySpec
from keyplan.design.errors import DesignError


def split_key_values(key: KeySpec, values: Mapping[str, object]) -> tuple[dict[str, object], tuple[str, Bound] | None]:
    """The values without a bound, and the bound, checked against the key."""
    place = key.place
    hash_fields = [name for part in key.hash for name in part.fields]
    range_fields = [name for part in key.range for name in part.fields if name not in hash_fields]
    missing = [name for name in hash_fields if name not in values]
    if missing:
        unknown = [name for name in values if name not in (*hash_fields, *range_fields)]
        instead = f", but one for {', '.join(unknown)}, which isn't in the key" if unknown else ""
        problem = f"no value for {', '.join(missing)}{instead}"
        raise DesignError("key-fields", place, problem, "A query needs the whole hash key.")
    given = [name for name in values if name not in hash_fields]
    if given != [name for name in range_fields if name in given] or set(given) != set(range_fields[: len(given)]):
        raise DesignError(
            "key-fields",
            place,
            f"the sort key can't be queried by {', '.join(given)}",
            f"Its fields are {', '.join(range_fields) or 'none'}. Give them from the left, without gaps.",
        )
    bounds = [(name, value) for name, value in values.items() if isinstance(value, Bound)]
    for name, _ in bounds:
        if name in hash_fields or name != given[-1]:
            raise DesignError(
                "hash-range" if name in hash_fields else "key-fields",
                f"{place}.{name}",
                "only the last given field of the sort key can have a bound",
                "The hash key needs exact values. Put the field that needs a bound into a sort key.",
            )
    plain = {name: value for name, value in values.items() if not isinstance(value, Bound)}
    return plain, (bounds[0][0], bounds[0][1]) if bounds else None


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
