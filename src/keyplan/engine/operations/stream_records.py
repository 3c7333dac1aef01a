"""The operations of DynamoDB Streams: ListStreams, DescribeStream, GetShardIterator and GetRecords."""

import binascii
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from math import ceil
from typing import TypedDict

import orjson

from keyplan.engine.errors import DynamoError, not_found, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.storage.catalog import table_name
from keyplan.engine.storage.stream_log import (
    Stream,
    last_before,
    number_of,
    sequence_number,
    streams_of,
    trimmed_to,
)
from keyplan.engine.storage.transaction import Transaction

ITERATOR_SECONDS = 900.0
MAXIMUM_RECORDS = 1000
MAXIMUM_BYTES = 1_048_576
LARGEST_NUMBER = 2**63

_STREAM_ARN = re.compile(r"(arn:[\w-]+:dynamodb:[\w-]*:\d*:table/[a-zA-Z0-9_.-]+)/stream/.+")

# Members that only these kinds of iterators have, and must have.
_NEEDED = {"SequenceNumber": ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"), "Timestamp": ("AT_TIMESTAMP",)}


class StreamRequest(TypedDict, total=False):
    """The members of all four requests."""

    TableName: str
    StreamArn: str
    ExclusiveStartStreamArn: str
    ExclusiveStartShardId: str
    ShardId: str
    ShardIteratorType: str
    ShardFilter: dict[str, str]
    SequenceNumber: str
    Timestamp: float
    ShardIterator: str
    Limit: int


def list_streams(transaction: Transaction, request: StreamRequest) -> Answer:
    start, limit = request.get("ExclusiveStartStreamArn"), request.get("Limit", 100)
    if start is not None:
        _table_of(start)
    streams = streams_of(transaction, request.get("TableName"))
    if start is not None:
        arns = [stream.description["StreamArn"] for stream in streams]
        streams = streams[arns.index(start) + 1 :] if start in arns else []
    answer: Answer = {
        "Streams": [
            {key: stream.description[key] for key in ("StreamArn", "TableName", "StreamLabel")}
            for stream in streams[:limit]
        ]
    }
    if len(streams) > limit:
        answer["LastEvaluatedStreamArn"] = streams[limit - 1].description["StreamArn"]
    return answer


def describe_stream(transaction: Transaction, request: StreamRequest) -> Answer:
    stream = _stream(transaction, request["StreamArn"])
    description = stream.description
    covered = {"StartingSequenceNumber": sequence_number(0)}
    if stream.ended is not None:
        covered["EndingSequenceNumber"] = sequence_number(_last_number(transaction, stream.number))
    shard = {"ShardId": description["ShardId"], "SequenceNumberRange": covered}
    answer: dict[str, object] = {key: value for key, value in description.items() if key != "ShardId"}
    answer["StreamStatus"] = "ENABLED" if stream.ended is None else "DISABLED"
    # A stream has one shard, which has no children to filter for.
    passed = request.get("ExclusiveStartShardId", "") >= description["ShardId"]
    answer["Shards"] = [] if passed or "ShardFilter" in request else [shard]
    return {"StreamDescription": answer}


def _table_of(arn: str) -> str:
    """The table of a stream's ARN; raises AWS's error for anything else."""
    named = _STREAM_ARN.fullmatch(arn)
    if named is None:
        raise validation_error("Invalid StreamArn")
    return table_name(named[1])


def _stream(transaction: Transaction, arn: str) -> Stream:
    for stream in streams_of(transaction, _table_of(arn)):
        if stream.description["StreamArn"] == arn:
            return stream
    raise not_found(f"Requested resource not found: Stream: {arn} not found")


def _last_number(transaction: Transaction, stream: int) -> int:
    return transaction.sql(f"SELECT max(number) FROM s{stream}").get or 0


def get_shard_iterator(transaction: Transaction, request: StreamRequest) -> Answer:
    kind = request["ShardIteratorType"]
    for member, kinds in _NEEDED.items():
        if kind in kinds and member not in request:
            raise validation_error(f"{member} must be specified when ShardIteratorType is {kind}")
        if kind not in kinds and member in request:
            raise validation_error(f"{member} must not be specified when ShardIteratorType is {kind}")
    if request.get("Timestamp", 0.0) > transaction.now:
        raise validation_error("Timestamp must not be in the future")
    stream = _stream(transaction, request["StreamArn"])
    if request["ShardId"] != stream.description["ShardId"]:
        raise not_found("Requested resource not found: Shard does not exist")
    position = _position(transaction, stream.number, request)
    return {"ShardIterator": _iterator(stream.description["StreamArn"], position, transaction.now)}


def _position(transaction: Transaction, stream: int, request: StreamRequest) -> int:
    """The number of the record after which reading starts."""
    trimmed, last = trimmed_to(transaction, stream), _last_number(transaction, stream)
    match request["ShardIteratorType"]:
        case "LATEST":
            return last
        case "TRIM_HORIZON":
            return trimmed
        case "AT_TIMESTAMP":
            # A record shows its time in whole seconds, rounded down, and that time is compared.
            return max(trimmed, last_before(transaction, stream, ceil(request["Timestamp"])))
        case kind:
            sequence = request["SequenceNumber"]
            number = number_of(sequence) if sequence.isascii() and sequence.isdigit() else -1
            if not 0 <= number <= last:
                raise validation_error("Invalid SequenceNumber")
            position = max(0, number - 1) if kind == "AT_SEQUENCE_NUMBER" else number
            if position < trimmed:
                raise _trimmed_error()
            return position


def _trimmed_error() -> DynamoError:
    return DynamoError("TrimmedDataAccessException", "The data you are trying to access has been trimmed")


def _iterator(arn: str, position: int, now: float) -> str:
    token = urlsafe_b64encode(orjson.dumps([position, now])).decode()
    return f"{arn}|1|{token}"


def get_records(transaction: Transaction, request: StreamRequest) -> Answer:
    arn, position = _parse_iterator(request["ShardIterator"], transaction.now)
    stream = _stream(transaction, arn)
    if position < trimmed_to(transaction, stream.number):
        raise _trimmed_error()
    rows = transaction.sql(
        f"SELECT number, record FROM s{stream.number} WHERE number > ? ORDER BY number LIMIT ?",
        (position, request.get("Limit", MAXIMUM_RECORDS)),
    )
    records: list[object] = []
    size = 0
    for number, stored in rows:
        size += len(stored)
        if records and size > MAXIMUM_BYTES:
            rows.close()
            break
        record = orjson.loads(stored)
        record["dynamodb"]["SequenceNumber"] = sequence_number(number)
        records.append(record)
        position = number
    answer: Answer = {"Records": records}
    if stream.ended is None or position < _last_number(transaction, stream.number):
        answer["NextShardIterator"] = _iterator(arn, position, transaction.now)
    return answer


def _parse_iterator(iterator: str, now: float) -> tuple[str, int]:
    """Return stream and position of an iterator; raise AWS's error if it has expired."""
    try:
        arn, _, token = iterator.split("|")
        position, created = orjson.loads(urlsafe_b64decode(token))
        valid = isinstance(position, int) and 0 <= position < LARGEST_NUMBER and isinstance(created, int | float)
        if not valid or not _STREAM_ARN.fullmatch(arn):
            raise ValueError
    except (ValueError, binascii.Error, TypeError):
        raise validation_error("Invalid ShardIterator") from None
    if now - created > ITERATOR_SECONDS:
        raise DynamoError("ExpiredIteratorException", "Shard iterator has expired")
    return arn, position
