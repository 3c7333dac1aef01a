"""EnableKinesisStreamingDestination and its three companions.

A destination is stored and described; no records are sent, because there is no Kinesis to send them to.
"""

import re
from copy import deepcopy
from typing import Final, TypedDict

from keyplan.engine.errors import DynamoError, not_found, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.storage.catalog import Definition, Table
from keyplan.engine.storage.table_settings import KinesisDestination
from keyplan.engine.storage.transaction import Transaction

DEFAULT_PRECISION = "MICROSECOND"
LISTED_SECONDS = 86_400.0
"""How long a disabled destination is still described."""

_KINESIS_STREAM = re.compile(r"arn:aws[\w-]*:kinesis:[a-z0-9-]+:\d{12}:stream/[a-zA-Z0-9_.-]{1,128}")
_ENABLING: Final = "EnableKinesisStreamingConfiguration"
_UPDATING: Final = "UpdateKinesisStreamingConfiguration"


class DestinationRequest(TypedDict, total=False):
    """The members of all four requests."""

    TableName: str
    StreamArn: str
    EnableKinesisStreamingConfiguration: dict[str, str]
    UpdateKinesisStreamingConfiguration: dict[str, str]


def enable_kinesis_streaming_destination(transaction: Transaction, request: DestinationRequest) -> Answer:
    table, definition = _table(transaction, request)
    present = _present(transaction, table)
    if any(destination["status"] == "ACTIVE" for destination in present):  # a table has one destination at a time
        raise _wrong_state("EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform ENABLE")
    given = request.get(_ENABLING)
    made: KinesisDestination = {
        "stream": request["StreamArn"],
        "status": "ACTIVE",
        "precision": (given or {}).get("ApproximateCreationDateTimePrecision", DEFAULT_PRECISION),
        "updated": transaction.now,
    }
    others = [destination for destination in present if destination["stream"] != made["stream"]]
    _save(transaction, table, definition, [*others, made])
    return _answer(table, made, "ENABLING", _ENABLING, given)


def disable_kinesis_streaming_destination(transaction: Transaction, request: DestinationRequest) -> Answer:
    table, definition = _table(transaction, request)
    found = _active(transaction, table, request["StreamArn"], "DISABLE")
    ended: KinesisDestination = {**found, "status": "DISABLED", "updated": transaction.now}
    _save(transaction, table, definition, _replaced(transaction, table, ended))
    return _answer(table, ended, "DISABLING", _ENABLING, request.get(_ENABLING))


def update_kinesis_streaming_destination(transaction: Transaction, request: DestinationRequest) -> Answer:
    table, definition = _table(transaction, request)
    given = request.get(_UPDATING)
    if not given:
        raise validation_error(
            "Streaming destination cannot be updated with given parameters: UpdateKinesisStreamingConfiguration cannot "
            "be null or contain only null values"
        )
    found = _active(transaction, table, request["StreamArn"], "UPDATE")
    precision = given["ApproximateCreationDateTimePrecision"]
    if precision == found["precision"]:
        raise validation_error(
            f"Invalid Request: Precision is already set to the desired value of {precision} for tableId: "
            f"{table.description['TableId']}, kdsArn: {found['stream']}"
        )
    changed: KinesisDestination = {**found, "precision": precision, "updated": transaction.now}
    _save(transaction, table, definition, _replaced(transaction, table, changed))
    return _answer(table, changed, "UPDATING", _UPDATING, given)


def describe_kinesis_streaming_destination(transaction: Transaction, request: DestinationRequest) -> Answer:
    table = transaction.catalog.table_for_administration(request["TableName"])
    return {
        "TableName": table.name,
        "KinesisDataStreamDestinations": [
            {
                "StreamArn": destination["stream"],
                "DestinationStatus": destination["status"],
                "ApproximateCreationDateTimePrecision": destination["precision"],
            }
            for destination in _present(transaction, table)
        ],
    }


def _table(transaction: Transaction, request: DestinationRequest) -> tuple[Table, Definition]:
    """The table of a request that changes a destination, and a copy of its definition."""
    if not _KINESIS_STREAM.fullmatch(request["StreamArn"]):
        raise validation_error(f"Invalid StreamArn: {request['StreamArn']} is not the ARN of a Kinesis data stream")
    table = transaction.catalog.table_to_change(request["TableName"])
    return table, deepcopy(table.definition)


def _present(transaction: Transaction, table: Table) -> list[KinesisDestination]:
    """The destinations of a table, without those that were disabled some time ago."""
    horizon = transaction.now - LISTED_SECONDS
    stored = table.definition.get("kinesis_destinations", [])
    return [
        destination for destination in stored if destination["status"] == "ACTIVE" or destination["updated"] > horizon
    ]


def _active(transaction: Transaction, table: Table, stream: str, action: str) -> KinesisDestination:
    """The table's destination with this stream; raises AWS's error if there is none, or if it is disabled."""
    for destination in _present(transaction, table):
        if destination["stream"] == stream:
            if destination["status"] == "ACTIVE":
                return destination
            raise _wrong_state(f"KinesisStreamingDestination must be ACTIVE to perform {action}")
    raise not_found(f"Requested resource not found: Table: {table.name} has no streaming destination {stream}")


def _replaced(transaction: Transaction, table: Table, changed: KinesisDestination) -> list[KinesisDestination]:
    present = _present(transaction, table)
    return [changed if destination["stream"] == changed["stream"] else destination for destination in present]


def _wrong_state(problem: str) -> DynamoError:
    return validation_error(
        f"Table is not in a valid state to enable Kinesis Streaming Destination: {problem} operation."
    )


def _save(
    transaction: Transaction, table: Table, definition: Definition, destinations: list[KinesisDestination]
) -> None:
    definition["kinesis_destinations"] = destinations
    transaction.save(Table(table.number, definition))


def _answer(
    table: Table, destination: KinesisDestination, status: str, member: str, configuration: dict[str, str] | None
) -> Answer:
    answer: Answer = {"TableName": table.name, "StreamArn": destination["stream"], "DestinationStatus": status}
    if configuration is not None:
        answer[member] = configuration
    return answer
