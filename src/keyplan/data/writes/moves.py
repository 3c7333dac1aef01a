"""Moves of items that were read from an index: what the index lacks is read first, since a move takes all attributes
along, also those that the entity doesn't know."""

from keyplan.data.codec.addresses import address
from keyplan.data.codec.entities import set_stored_item, stored_item
from keyplan.data.expressions.evaluation import same_value
from keyplan.data.steps import Steps, call
from keyplan.data.writes.operations import Context, Move, Planned, Replacing
from keyplan.design import Entity
from keyplan.design.entities.entity_spec import EntitySpec

MOVING = (Move, Replacing)
"""The writes that may be moves."""


def complete_move(part: Planned, context: Context) -> Steps[None]:
    """Read the whole item of a move, if it may have been read from an index with some attributes only."""
    write = part.write if isinstance(part, Replacing) else part
    if isinstance(write, Move) and is_in_part_of_index(write.entity.spec):
        yield from _complete(write.entity, context)


def is_in_part_of_index(spec: EntitySpec) -> bool:
    """Whether items are in an index that doesn't have all attributes."""
    indexes = [placement.index for placement in spec.placements.values()]
    return any(index is not None and index.projection.type != "ALL" for index in indexes)


def _complete(entity: Entity, context: Context) -> Steps[None]:
    """Let an entity remember the whole item, if what it remembers is a part of it. Otherwise the move is refused."""
    known, table = stored_item(entity), entity.spec.table
    if known is None:
        return
    request = {"TableName": context.design.table_name(table), "Key": address(table, known).item}
    answer = yield from call("get_item", {**request, "ConsistentRead": True})
    found = answer.get("Item", {})
    if all(same_value(value, found.get(name)) for name, value in known.items()):
        set_stored_item(entity, found)
