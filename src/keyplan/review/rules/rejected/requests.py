"""Requests that DynamoDB refuses."""

from collections.abc import Iterator

from keyplan.design import Scan
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.operations.conditions import Node
from keyplan.design.operations.queries import ItemCount, Query
from keyplan.design.tables.tables import Index
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Violation, rule

MOST_IN_LIST, MOST_OPERATORS = 100, 300
"""AWS, "Constraints in Amazon DynamoDB": the operands of IN, and the operators and functions of an expression."""


@rule(
    "KP212",
    "filter-too-long",
    group="rejected",
    severity="error",
    title="A filter with more parts than DynamoDB accepts",
)
def filter_too_long(reviewed: Reviewed) -> Iterator[Violation]:
    """A filter compares with a list of more than 100 values, or has more than 300 operators and functions. DynamoDB
    refuses the request.

    Such a filter also reads everything that it then throws away. A list of values that is that long is usually a
    property of the items: whether they are public, or in a region.

    Store that property when the item is written, filter by it, or better put it into the key of an index."""
    for pattern, op in reviewed.reads:
        node = op.filter if isinstance(op, Query | Scan) else None
        if node is None:
            continue
        longest, operators = _longest_list(node), _operators(node)
        if longest > MOST_IN_LIST or operators > MOST_OPERATORS:
            yield Violation(
                reviewed.at_pattern(pattern),
                f"its filter compares with {longest} values, and can with {MOST_IN_LIST}"
                if longest > MOST_IN_LIST
                else f"its filter has {operators} operators, and can have {MOST_OPERATORS}",
                "Store what the values have in common, and filter or query by that.",
            )


def _parts(node: Node) -> Iterator[Node]:
    yield node
    for operand in node.operands:
        if isinstance(operand, Node):
            yield from _parts(operand)


def _longest_list(node: Node) -> int:
    return max((len(each.operands) - 1 for each in _parts(node) if each.operator == "IN"), default=0)


def _operators(node: Node) -> int:
    return sum(1 for _ in _parts(node))


@rule(
    "KP215",
    "not-in-index",
    group="rejected",
    severity="info",
    title="A pattern that needs attributes that its index doesn't have",
)
def not_in_index(reviewed: Reviewed) -> Iterator[Violation]:
    """The pattern returns items, or fields of them, and the index that it queries doesn't project all of their
    attributes. DynamoDB refuses to return others from a global index.

    Keyplan reads them from the table: after the query, one more request for up to 100 items, and one more read for each
    item. An item that was changed since is as it is now, and one that is no longer in the partition is left out.

    Project the attributes into the index, or read only the fields that it has: `.only(lambda post: post.title)`. For a
    list that is read seldom, the smaller index can be worth it: accept the finding then."""
    counted = {id(op.source) for _, op in reviewed.reads if isinstance(op, ItemCount)}
    for pattern, query in reviewed.queries:
        index = query.key.index
        if index is None or index.local or id(query) in counted:
            continue
        for spec in (entity.spec for entity in query.entities):
            wanted = query.selection.fields if query.selection is not None else tuple(spec.fields)
            lacking = [name for name in wanted if not _has(index, spec, name)]
            if lacking:
                yield Violation(
                    reviewed.at_pattern(pattern),
                    f"{index.name} doesn't have {', '.join(lacking)} of {spec.name}, so each item is read again",
                    "Project these into the index, or read only the fields that it has.",
                )


def _has(index: Index, spec: EntitySpec, name: str) -> bool:
    """Whether the value of a field can be read from an index: from its attribute, or from a key that is there."""
    field, envelope = spec.fields[name], spec.table.envelope
    inside = envelope is not None and not field.on_top and field.stored not in spec.key_attributes
    attribute = envelope if envelope is not None and inside else field.stored
    keys = [key for key in spec.keys if key.index is None or key.index is index]
    templates = [part.template for key in keys for part in key.parts if part.template is not None]
    return attribute not in spec.not_in(index) or any(name in template.readable_fields for template in templates)
