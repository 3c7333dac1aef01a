"""Reading streams: their shards, and the records of each shard."""

import logging
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from keyplan.data.errors import RequestFailed
from keyplan.data.steps import Answer
from keyplan.data.streams.records import Record, sequence_of

logger = logging.getLogger("keyplan.streams")

_ATTEMPTS = 3
_GONE = "ResourceNotFoundException"


@dataclass(frozen=True)
class Shard:
    """A shard of a stream. All records of its parent are older."""

    shard_id: str
    parent: str | None


@dataclass
class Cursor:
    """A position in a shard: after the record `after`, or at the oldest record."""

    stream: str
    shard: str
    after: str | None
    iterator: str | None = None
    ended: bool = False
    """Whether the shard is closed and has no more records."""


def called(client: object, operation: str, **request: str) -> Answer:
    """Call a method of a client; raises `RequestFailed` if it fails."""
    try:
        answer: Answer = getattr(client, operation)(**request)
        return answer
    except ClientError as error:
        details: Any = error.response.get("Error", {})
        raise RequestFailed(operation, details.get("Code", ""), details.get("Message", "")) from error
    except BotoCoreError as error:
        raise RequestFailed(operation, type(error).__name__, str(error)) from error


class StreamReader:
    """Reads streams through `client`: boto3's for `dynamodbstreams`, or the embedded engine."""

    def __init__(self, client: object) -> None:
        self._client = client

    def shards(self, stream: str) -> list[Shard] | None:
        """All shards of a stream; None if the stream no longer exists."""
        found: list[Shard] = []
        request = {"StreamArn": stream}
        while True:
            try:
                description = called(self._client, "describe_stream", **request)["StreamDescription"]
            except RequestFailed as error:
                if error.error_code == _GONE:
                    return None
                raise
            found += (Shard(each["ShardId"], each.get("ParentShardId")) for each in description["Shards"])
            if "LastEvaluatedShardId" not in description:
                return found
            request["ExclusiveStartShardId"] = description["LastEvaluatedShardId"]

    def read(self, cursor: Cursor) -> list[Record]:
        """The next records after a cursor, which moves; empty if there are none yet."""
        for _ in range(_ATTEMPTS):
            try:
                if cursor.iterator is None:
                    cursor.iterator = self._iterator(cursor)
                answer = called(self._client, "get_records", ShardIterator=cursor.iterator)
            except RequestFailed as error:
                if not _recovered(cursor, error):
                    raise
                if cursor.ended:
                    break
                continue
            records: list[Record] = answer["Records"]
            cursor.iterator = answer.get("NextShardIterator")
            cursor.ended = cursor.iterator is None
            if records:
                cursor.after = sequence_of(records[-1])
            return records
        return []

    def _iterator(self, cursor: Cursor) -> str:
        request = {"StreamArn": cursor.stream, "ShardId": cursor.shard, "ShardIteratorType": "TRIM_HORIZON"}
        if cursor.after is not None:
            request |= {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": cursor.after}
        iterator: str = called(self._client, "get_shard_iterator", **request)["ShardIterator"]
        return iterator


def _recovered(cursor: Cursor, error: RequestFailed) -> bool:
    """Prepare a cursor to continue after an error; returns False if the error must be raised."""
    cursor.iterator = None
    match error.error_code:
        case "ExpiredIteratorException":
            return True
        case "TrimmedDataAccessException":
            logger.warning(
                "Records of %s, shard %s, are lost: they were not handled while DynamoDB kept them. "
                "Reading continues with the oldest record that is left.",
                cursor.stream,
                cursor.shard,
            )
            cursor.after = None
            return True
        case code if code == _GONE:
            logger.warning(
                "The shard %s of %s no longer exists, and some of its records were not handled.",
                cursor.shard,
                cursor.stream,
            )
            cursor.ended = True
            return True
    return False
