"""Scan."""

from keyplan.engine.errors import validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.expressions import ExpressionTooLong, Placeholders
from keyplan.engine.operations.items.item_requests import ItemRequest
from keyplan.engine.operations.items.key_ranges import Range
from keyplan.engine.operations.items.legacy_parameters import NO_LEGACY, legacy_scan
from keyplan.engine.operations.items.paged_reads import (
    check_select,
    given_start_key,
    read_page,
    read_selection,
    start_key_error,
    start_row_key,
    table_and_index,
)
from keyplan.engine.operations.items.parameters import check_legacy, check_placeholders
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.row_keys import HASH_BYTES

_HASHES = 256**HASH_BYTES


def scan(transaction: Transaction, request: ItemRequest) -> Answer:
    legacy = check_legacy(request)
    check_placeholders(
        request, with_names=("FilterExpression", "ProjectionExpression"), with_values=("FilterExpression",)
    )
    given = legacy_scan(request) if legacy else NO_LEGACY
    start = given_start_key(request)
    segment, total = _segment(request)
    select = check_select(request)
    placeholders = Placeholders(request.get("ExpressionAttributeNames"), request.get("ExpressionAttributeValues"))
    try:
        selection = read_selection(request, placeholders, select, given)
    except ExpressionTooLong as error:
        raise validation_error(error.with_size) if error.kind == "FilterExpression" else error from None
    placeholders.finish()
    table, index = table_and_index(transaction, request, selection, "Scan")
    bounds = _bounds(segment, total)
    if start is not None:
        row_key = start_row_key(start, table, index, explain=index is None)
        if not bounds.contains(row_key):
            raise start_key_error(
                "is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. "
                f"TotalSegments: {total} Segment: {segment}"
            )
        bounds.start_after(row_key)
    return read_page(transaction, request, table, index, bounds, selection)


def _segment(request: ItemRequest) -> tuple[int, int]:
    segment, total = request.get("Segment"), request.get("TotalSegments")
    if segment is None and total is None:
        return 0, 1
    if total is None:
        raise validation_error(
            "The TotalSegments parameter is required but was not present in the request "
            "when Segment parameter is present"
        )
    if segment is None:
        raise validation_error(
            "The Segment parameter is required but was not present in the request "
            "when parameter TotalSegments is present"
        )
    if segment >= total:
        raise validation_error(
            "The Segment parameter is zero-based and must be less than parameter TotalSegments: "
            f"Segment: {segment} is not less than TotalSegments: {total}"
        )
    return segment, total


def _bounds(segment: int, total: int) -> Range:
    """The row keys of a segment, which is a range of the hashes that row keys begin with."""

    def border(number: int) -> bytes:
        hash_: int = -(-_HASHES * number // total)
        return hash_.to_bytes(HASH_BYTES, "big")

    return Range(border(segment), None if segment == total - 1 else border(segment + 1))
