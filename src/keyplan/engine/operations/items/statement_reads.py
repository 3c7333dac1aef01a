"""SELECT: a statement as a read of one item, a Query of one or several partitions, or a Scan.

Which one it is depends on the WHERE clause: a complete key, partition keys, or neither. Several partitions are read
one after the other, in pages of at most ten items. A page ends with a NextToken, which has the place where it ended
and a fingerprint of the statement, its parameters and its table, so that only the same statement can go on from there.
"""

import hashlib
from base64 import b64decode, b64encode
from binascii import Error
from dataclasses import dataclass, replace
from typing import cast

import orjson

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.executor import Answer, Request
from keyplan.engine.expressions.condition import check_bounds
from keyplan.engine.operations.items.consumed_capacity import describe_consumed
from keyplan.engine.operations.items.item_requests import ItemRequest, StatementRequest, StatementsRequest
from keyplan.engine.operations.items.key_ranges import Range, check_key_condition, range_of
from keyplan.engine.operations.items.paged_reads import (
    Interrupted,
    Page,
    Selection,
    check_projected_filter,
    table_and_index,
)
from keyplan.engine.operations.items.transactions import Get, get_by_key
from keyplan.engine.partiql import Branch, Parameters, Select, access_of, exact_key, only_reads
from keyplan.engine.storage.catalog import Index, Table
from keyplan.engine.storage.transaction import Paused, Transaction
from keyplan.engine.values.attribute_values import Item
from keyplan.engine.values.row_keys import KeySchema, part, partition

ITEMS_OF_SEVERAL_PARTITIONS = 10
"""The most items of a page from several partitions."""

_DIGEST = 16
_NUMBER = 2
_CHECK = 4
"""Bytes of the fingerprint, of the number of a range, and of the checksum at the end of a NextToken."""


@dataclass(slots=True)
class _Plan:
    """Where the items of a SELECT are, and what is returned of them."""

    table: Table
    index: Index | None
    ranges: list[Range]
    several: bool
    selection: Selection


def select_page(
    transaction: Transaction, statement: Select, parameters: Parameters, request: StatementRequest
) -> Answer:
    """Return one page of a SELECT."""
    plan = _plan(transaction, statement, parameters, request)
    fingerprint = _fingerprint(request, parameters, plan)
    first, after = _start(request.get("NextToken"), fingerprint, plan)
    limit = request.get("Limit")
    if plan.several:
        limit = min(limit or ITEMS_OF_SEVERAL_PARTITIONS, ITEMS_OF_SEVERAL_PARTITIONS)
    page = Page(plan.table, plan.index, plan.selection)
    if after is not None and first < len(plan.ranges):
        plan.ranges[first].start_after(after)

    def read_from(transaction: Transaction, number: int) -> Answer:
        answer: Answer = {}
        try:
            while number < len(plan.ranges):
                if page.read(transaction, plan.ranges[number], limit):
                    answer["NextToken"] = _token(fingerprint, number, page.last_row_key())
                    answer["LastEvaluatedKey"] = page.last_key()
                    break
                number += 1
        except Interrupted:
            raise Paused(lambda later: read_from(later, number)) from None
        answer["Items"] = page.items()
        wanted = request.get("ReturnConsumedCapacity")
        if wanted is not None and wanted != "NONE":
            consumed = page.consumed(consistent=request.get("ConsistentRead", False))
            answer["ConsumedCapacity"] = describe_consumed(wanted, plan.table, consumed, name=statement.table)
        return answer

    return read_from(transaction, first)


def _plan(transaction: Transaction, statement: Select, parameters: Parameters, request: StatementRequest) -> _Plan:
    selection = _selection(statement)
    read: ItemRequest = {"TableName": statement.table}
    if statement.index is not None:
        read["IndexName"] = statement.index
        _check_index(transaction.catalog.table(statement.table), statement.index, request)
    table, index = table_and_index(transaction, read, selection, "ExecuteStatement")
    schema = table.schema if index is None else index.schema
    where = statement.where
    if where is None:
        _check_order(statement, schema, None)
        return _Plan(table, index, [Range(b"", None)], False, selection)
    found = access_of(where, schema.hash_names, schema.range_names)
    _check_order(statement, schema, found.branches)
    values = where.placeholders.values(parameters)
    selection = replace(selection, filter=where.bound(found.filter, values))
    if found.branches is None:
        return _Plan(table, index, [Range(b"", None)], False, selection)
    if selection.filter is not None:
        check_projected_filter(index, selection.filter)
    ranges = _Ranges(schema, index, dict(statement.order), where.kind)
    for branch in found.branches:
        ranges.add(branch, values)
    return _Plan(table, index, ranges.in_order(), len(found.branches) > 1, selection)


def _check_index(table: Table, name: str, request: StatementRequest) -> None:
    """Refuse an index that can't be read so, in PartiQL's words, which differ from those of Query and Scan."""
    index = next((index for index in table.indexes if index.name == name), None)
    if index is None:
        raise validation_error("The table does not have the specified index")
    if index.is_global and request.get("ConsistentRead"):
        raise validation_error("Strongly consistent read is not supported on Global Secondary Indexes")


def prepare_get(transaction: Transaction, statement: Select, parameters: Parameters, operation: str) -> Get:
    """Return the prepared read of the one item that a SELECT names; in this operation, it must name one."""
    table = transaction.catalog.table(statement.table)
    if statement.index is not None and operation == "ExecuteTransaction":
        raise validation_error("Reads on indices are not supported within transactions.")
    where = statement.where
    found = None if where is None else exact_key(where, table.schema.names)
    if where is None or found is None or found.condition is not None or statement.index is not None:
        raise validation_error(
            f"Select statements within {operation} must specify the primary key in the where clause."
        )
    key = found.key(where.placeholders.values(parameters))
    return lambda transaction: get_by_key(transaction, statement.table, key, statement.columns)


def only_selects(request: Request) -> bool:
    """Return whether a request has only statements that read."""
    one_or_more = cast(StatementsRequest, request)
    statements = one_or_more.get("Statements") or one_or_more.get("TransactStatements")
    return all(only_reads(given["Statement"]) for given in statements or [cast(StatementRequest, request)])


def _selection(statement: Select) -> Selection:
    if statement.columns is not None:
        return Selection("SPECIFIC_ATTRIBUTES", None, statement.columns)
    return Selection("ALL_ATTRIBUTES" if statement.index is None else "ALL_PROJECTED_ATTRIBUTES", None, None)


def _check_order(statement: Select, schema: KeySchema, branches: tuple[Branch, ...] | None) -> None:
    """Refuse an ORDER BY that isn't the order of the key."""
    if not statement.order:
        return
    if statement.where is None:
        raise validation_error("Must have WHERE clause in the statement when using ORDER BY clause.")
    for name, _ in statement.order:
        if name not in schema.names:
            raise validation_error(f"Variable reference {name} in ORDER BY clause must be part of the primary key")
    if branches is None:
        raise validation_error(
            "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."
        )
    if len(branches) > 1 and statement.order[0][0] != schema.names[0]:
        raise validation_error(
            f"The hash key {schema.names[0]} must be first in the ORDER BY clause, "
            "because the WHERE clause has several values for it"
        )


class _Ranges:
    """The ranges of row keys that the branches of a WHERE clause describe, without overlaps.

    Partitions are in the order of the statement or of their keys; the ranges of one are in the order of the sort key.
    """

    def __init__(self, schema: KeySchema, index: Index | None, order: dict[str, bool], kind: str) -> None:
        self._schema = schema
        self._index = index
        self._order = order
        self._kind = kind
        self._backward = any(order.get(name, False) for name, _ in schema.range)
        self._partitions: dict[bytes, list[Range]] = {}
        self._keys: dict[bytes, bytes] = {}

    def add(self, branch: Branch, values: Item) -> None:
        """Add the range of a branch, in which all its conditions are met."""
        low, high = b"", b""
        for condition in branch.key_conditions(values):
            check_key_condition(self._schema, self._index, condition)
            if condition.range and condition.range[-1][0] == "BETWEEN":
                check_bounds(self._kind, *condition.range[-1][1])
            bounds = range_of(condition)
            assert bounds.high is not None  # a partition has an end
            low, high = max(low, bounds.low), min(high, bounds.high) if high else bounds.high
        prefix = partition([values[mark] for mark in branch.hash])
        self._keys[prefix] = b"".join([part(values[mark]) for mark in branch.hash])
        self._partitions.setdefault(prefix, []).append(Range(low, max(low, high), self._backward))

    def in_order(self) -> list[Range]:
        """Return all ranges in the order in which they are read."""
        prefixes = list(self._partitions)
        first = self._schema.names[0]
        if first in self._order:
            prefixes.sort(key=self._keys.__getitem__, reverse=self._order[first])
        return [bounds for prefix in prefixes for bounds in self._merged(self._partitions[prefix])]

    def _merged(self, ranges: list[Range]) -> list[Range]:
        merged: list[Range] = []
        for bounds in sorted(ranges, key=lambda bounds: bounds.low):
            last = merged[-1] if merged else None
            if last is not None and last.high is not None and bounds.high is not None and bounds.low <= last.high:
                last.high = max(last.high, bounds.high)
            else:
                merged.append(bounds)
        return merged[::-1] if self._backward else merged


def _fingerprint(request: StatementRequest, parameters: Parameters, plan: _Plan) -> bytes:
    """What a NextToken belongs to."""
    content = orjson.dumps([request["Statement"], plan.table.number, parameters])
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()


def _token(fingerprint: bytes, number: int, row_key: bytes) -> str:
    content = fingerprint + number.to_bytes(_NUMBER, "big") + row_key
    return b64encode(content + _checksum(content)).decode()


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_CHECK).digest()


def _start(token: str | None, fingerprint: bytes, plan: _Plan) -> tuple[int, bytes | None]:
    """The number of the range to begin with, and the row key in it that was read last."""
    if token is None:
        return 0, None
    try:
        content = b64decode(token, validate=True)
    except (Error, ValueError):
        raise _invalid_token() from None
    content, check = content[:-_CHECK], content[-_CHECK:]
    if len(content) <= _DIGEST + _NUMBER or check != _checksum(content):
        raise _invalid_token()
    if content[:_DIGEST] != fingerprint:
        raise validation_error("NextToken does not match request")
    number = int.from_bytes(content[_DIGEST : _DIGEST + _NUMBER], "big")
    row_key = content[_DIGEST + _NUMBER :]
    if number >= len(plan.ranges) or not plan.ranges[number].contains(row_key):
        raise _invalid_token()
    return number, row_key


def _invalid_token() -> DynamoError:
    return validation_error("Invalid NextToken")
