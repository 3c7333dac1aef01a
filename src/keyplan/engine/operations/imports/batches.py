"""Batches of records from files, and the position in the files that they lead to."""

from typing import NamedTuple, TypedDict, cast

from keyplan.engine.formats.lines import BadRecord
from keyplan.engine.formats.records import ItemRecord
from keyplan.engine.operations.items.item_changes import Change, index_keys, size_with_local_indexes, vector_entries
from keyplan.engine.operations.items.item_requests import ItemRequest
from keyplan.engine.storage.catalog import Table
from keyplan.engine.validation import check_request
from keyplan.engine.values.attribute_values import check_item_size
from keyplan.engine.values.normal_form import normalize_sized
from keyplan.engine.values.row_keys import checked_item_key


class Position(TypedDict):
    """How far the files are read."""

    done: str
    """The last object that was read completely; objects are read in the order of their keys."""
    done_bytes: int
    """What these objects had, after decompression."""
    records: int
    """The number of records that were read of the next object."""


class Batch(NamedTuple):
    """Some records of one object."""

    key: str
    start: Position
    """Where it begins."""
    records: list[ItemRecord | BadRecord]
    position: Position
    """Where the next batch begins."""
    bytes: int
    """What was read of all objects so far, after decompression."""


START: Position = {"done": "", "done_bytes": 0, "records": 0}


def put_request(table: str, record: ItemRecord) -> ItemRequest:
    """Return a record as a request of PutItem, checked as one; raise AWS's error."""
    members = ("Item", "ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues")
    given: dict[str, object] = {member: record[member] for member in members if member in record}
    return cast(ItemRequest, check_request("PutItem", {"TableName": table, **given}))


def new_item(table: Table, record: ItemRecord) -> Change:
    """Return the change that puts a record's item, without a look at an older item; raise AWS's error."""
    item, size = normalize_sized(put_request(table.name, record)["Item"])
    check_item_size(size)
    key = checked_item_key(table.schema, item)
    entries = index_keys(table, item)
    if table.has_local_indexes:
        check_item_size(size_with_local_indexes(table, item, size))
    return Change(table, item, key, None, None, item, size, entries, vector_entries(table, item))
