"""The operations of DynamoDB Streams: ListStreams, DescribeStream, GetShardIterator and GetRecords."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import NamedTuple, TypedDict, cast

import orjson

from keyplan.engine.errors import DynamoError, not_found, validation_error
from keyplan.engine.operations.requests import Answer
from keyplan.engine.streams import RETENTION_SECONDS, StreamDescription, number_of, sequence_number
from keyplan.engine.transaction import Transaction

ITERATOR_SECONDS = 900.0
MAXIMUM_RECORDS = 1000
MAXIMUM_BYTES = 1_048_576


class StreamRequest(TypedDict, total=False):
    """The members of all four requests."""

    TableName: str
    StreamArn: str
    ExclusiveStartStreamArn: str
    ExclusiveStartShardId: str
    ShardId: str
    ShardIteratorType: str
    SequenceNumber: str
    ShardIterator: str
    Limit: int


class _Stream(NamedTuple):
    number: int
    description: StreamDescription
    ended: float | None


def list_streams(transaction: Transaction, request: StreamRequest) -> Answer:
    streams = _streams(transaction)
    name, start, limit = request.get("TableName"), request.get("ExclusiveStartStreamArn"), request.get("Limit", 100)
    if name is not None:
        streams = [stream for stream in streams if stream.description["TableName"] == name]
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
    shard: dict[str, object] = {
        "ShardId": description["ShardId"],
        "SequenceNumberRange": {"StartingSequenceNumber": sequence_number(0)},
    }
    if stream.ended is not None:
        last = _last_number(transaction, stream.number)
        shard["SequenceNumberRange"] = {
            "StartingSequenceNumber": sequence_number(0),
            "EndingSequenceNumber": sequence_number(last),
        }
    behind = request.get("ExclusiveStartShardId")
    answer: dict[str, object] = {key: value for key, value in description.items() if key != "ShardId"}
    answer["StreamStatus"] = "ENABLED" if stream.ended is None else "DISABLED"
    answer["Shards"] = [] if behind is not None and behind >= description["ShardId"] else [shard]
    return {"StreamDescription": answer}


def _streams(transaction: Transaction) -> list[_Stream]:
    rows = transaction.sql("SELECT number, description, ended FROM streams ORDER BY number").fetchall()
    return [
        _Stream(number, orjson.loads(stored), ended)
        for number, stored, ended in cast(list[tuple[int, bytes, float | None]], rows)
    ]


def _stream(transaction: Transaction, arn: str) -> _Stream:
    for stream in _streams(transaction):
        if stream.description["StreamArn"] == arn:
            return stream
    raise not_found(f"Requested resource not found: Stream: {arn} not found")


def _last_number(transaction: Transaction, stream: int) -> int:
    return transaction.sql(f"SELECT max(number) FROM s{stream}").get or 0


def _trimmed_to(transaction: Transaction, stream: int) -> int:
    """The number of the last record that is older than the retention."""
    horizon = transaction.now - RETENTION_SECONDS
    stale = transaction.sql(f"SELECT max(number) FROM s{stream} WHERE at < ?", (horizon,)).get
    first = transaction.sql(f"SELECT min(number) FROM s{stream}").get
    return max(stale or 0, (first or 1) - 1)


def get_shard_iterator(transaction: Transaction, request: StreamRequest) -> Answer:
    stream = _stream(transaction, request["StreamArn"])
    if request["ShardId"] != stream.description["ShardId"]:
        raise not_found("Requested resource not found: Shard does not exist")
    behind = _position(transaction, stream, request)
    return {"ShardIterator": _iterator(stream.description["StreamArn"], behind, transaction.now)}


def _position(transaction: Transaction, stream: _Stream, request: StreamRequest) -> int:
    """The number of the record behind which reading starts."""
    kind, sequence = request["ShardIteratorType"], request.get("SequenceNumber")
    if kind in ("TRIM_HORIZON", "LATEST"):
        if sequence is not None:
            raise validation_error(
                f"1 validation error detected: SequenceNumber must be null when ShardIteratorType is {kind}"
            )
        if kind == "LATEST":
            return _last_number(transaction, stream.number)
        return _trimmed_to(transaction, stream.number)
    if sequence is None or not sequence.isdigit():
        raise validation_error(
            f"1 validation error detected: Value '{'null' if sequence is None else sequence}' at 'sequenceNumber' "
            f"failed to satisfy constraint: Member must be a sequence number when ShardIteratorType is {kind}"
        )
    number = number_of(sequence)
    if not 0 <= number <= _last_number(transaction, stream.number):
        raise validation_error("Invalid SequenceNumber: it is not one of the shard")
    behind = number - 1 if kind == "AT_SEQUENCE_NUMBER" else number
    if number and behind < _trimmed_to(transaction, stream.number):
        raise _trimmed()
    return max(behind, 0)


def _trimmed() -> DynamoError:
    return DynamoError(
        "TrimmedDataAccessException",
        "The operation attempted to read past the oldest stream record in a shard.",
    )


def _iterator(arn: str, behind: int, now: float) -> str:
    token = urlsafe_b64encode(orjson.dumps([behind, now])).decode()
    return f"{arn}|1|{token}"


def get_records(transaction: Transaction, request: StreamRequest) -> Answer:
    arn, behind = _opened(request["ShardIterator"], transaction.now)
    stream = _stream(transaction, arn)
    if behind < _trimmed_to(transaction, stream.number):
        raise _trimmed()
    rows = transaction.sql(
        f"SELECT number, record FROM s{stream.number} WHERE number > ? ORDER BY number LIMIT ?",
        (behind, request.get("Limit", MAXIMUM_RECORDS)),
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
        behind = number
    answer: Answer = {"Records": records}
    if stream.ended is None or behind < _last_number(transaction, stream.number):
        answer["NextShardIterator"] = _iterator(arn, behind, transaction.now)
    return answer


def _opened(iterator: str, now: float) -> tuple[str, int]:
    """Stream and position of an iterator that is not too old."""
    try:
        arn, _, token = iterator.split("|")
        behind, made = orjson.loads(urlsafe_b64decode(token))
        if not isinstance(behind, int) or not isinstance(made, int | float):
            raise ValueError
    except (ValueError, binascii.Error, TypeError):
        raise validation_error("Invalid ShardIterator") from None
    if now - made > ITERATOR_SECONDS:
        raise DynamoError(
            "ExpiredIteratorException",
            f"Iterator expired. The iterator was created at time {made} while right now it is {now} "
            "which is further in the future than the tolerated delay of 15 minutes.",
        )
    return arn, behind
