"""The requests that create a design's tables."""

from collections.abc import Iterator
from typing import Any

from keyplan.data.errors import RequestFailed
from keyplan.data.steps import UNSUPPORTED, ClientFailure, Steps, Wait, call, given_up, pause
from keyplan.design import HOUSEKEEPING, Design, Table
from keyplan.design.tables.attributes import KeyAttribute, Projection
from keyplan.design.tables.tables import Index
from keyplan.design.tables.vector_indexes import VectorIndex
from keyplan.design.words import MOST_RECOVERY_DAYS

_CREATION_SECONDS = 600
"""How long a table may take to become active; AWS needs a minute at most, and longer only for many indexes."""

_KNOWN = {"ResourceNotFoundException", "ValidationException", "AccessDeniedException", "TransactionCanceledException"}
"""Answers to a transaction that show that an endpoint has them; the table may not exist yet."""


def create_table_requests(design: Design) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    """For each table, including housekeeping: its CreateTable request, and its UpdateTimeToLive request or None."""
    for table in design.all_tables:
        name = design.table_name(table)
        yield _create(table, name), _time_to_live(table, name)


def create_tables(design: Design) -> Steps[None]:
    """Create missing tables, wait until they are active, and turn on their time to live and point-in-time recovery.

    Raises `Unsupported` before anything is created if the endpoint has no transactions, and at the end if it has no
    time to live, or no point-in-time recovery that a table wants.
    """
    yield from _check_transactions(design)
    requests = list(create_table_requests(design))
    for request, _ in requests:
        yield from _create_table(request)
    for request, ttl in requests:
        if ttl is not None:
            answer = yield from call("describe_time_to_live", {"TableName": request["TableName"]})
            if answer["TimeToLiveDescription"]["TimeToLiveStatus"] not in ("ENABLED", "ENABLING"):
                yield from call("update_time_to_live", ttl)
    for table in design.all_tables:
        recovery = _point_in_time_recovery(table, design.table_name(table))
        if recovery is not None:
            yield from call("update_continuous_backups", recovery)


def _create_table(request: dict[str, Any]) -> Steps[None]:
    name = request["TableName"]
    try:
        yield from call("create_table", request)
    except ClientFailure as failure:
        if failure.code != "ResourceInUseException":
            raise
    waited = 0.0
    while (yield from call("describe_table", {"TableName": name}))["Table"]["TableStatus"] != "ACTIVE":
        if waited > _CREATION_SECONDS:
            raise RequestFailed("create_table", "NotActive", f"{name} isn't active after {_CREATION_SECONDS} s")
        seconds = pause(4 if waited < 1 else 6)
        yield Wait(seconds)
        waited += seconds


def _check_transactions(design: Design) -> Steps[None]:
    """Raise `Unsupported` if the endpoint has no transactions, by one that only checks that an item doesn't exist."""
    key = {attribute.name: {attribute.type: "transactions"} for attribute in (*HOUSEKEEPING.hash, *HOUSEKEEPING.range)}
    check = {
        "TableName": design.table_name(HOUSEKEEPING),
        "Key": key,
        "ConditionExpression": f"attribute_not_exists({HOUSEKEEPING.hash[0].name})",
    }
    try:
        yield from call("transact_write_items", {"TransactItems": [{"ConditionCheck": check}]})
    except ClientFailure as failure:
        if failure.code in UNSUPPORTED:
            raise given_up(failure) from failure
        if failure.code not in _KNOWN:
            raise


def tables_exist(design: Design) -> Steps[dict[str, bool]]:
    """Whether each of the design's tables exists, by name. Raises `Unsupported` if the endpoint has no transactions."""
    yield from _check_transactions(design)
    there = {}
    for table in design.all_tables:
        name = design.table_name(table)
        try:
            yield from call("describe_table", {"TableName": name})
            there[name] = True
        except ClientFailure as failure:
            if failure.code != "ResourceNotFoundException":
                raise
            there[name] = False
    return there


def _create(table: Table, name: str) -> dict[str, Any]:
    types = {attribute.name: attribute.type for attribute in table.key_attributes}
    request: dict[str, Any] = {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": each, "AttributeType": kind} for each, kind in types.items()],
        "KeySchema": _schema(table.hash, table.range),
        "BillingMode": table.billing,
    }
    units = _throughput(table)
    request |= units
    for member, local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
        indexes = [_index(index, {} if local else units) for index in table.by_name.values() if index.local is local]
        if indexes:
            request[member] = indexes
    if table.vectors_by_name:
        request["VectorIndexes"] = [_vector_index(index) for index in table.vectors_by_name.values()]
    if table.stream is not None:
        request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": table.stream}
    return request | _operation(table)


def _operation(table: Table) -> dict[str, Any]:
    """What the table says about its operation, of what CreateTable takes."""
    request: dict[str, Any] = {}
    if table.protected is not None:
        request["DeletionProtectionEnabled"] = table.protected
    if table.table_class != "STANDARD":
        request["TableClass"] = table.table_class
    if table.encryption == "AWS_OWNED":
        request["SSESpecification"] = {"Enabled": False}
    elif table.encryption is not None:
        own = {} if table.encryption == "AWS_MANAGED" else {"KMSMasterKeyId": table.encryption}
        request["SSESpecification"] = {"Enabled": True, "SSEType": "KMS", **own}
    if table.tags:
        request["Tags"] = [{"Key": key, "Value": value} for key, value in table.tags.items()]
    return request


def _point_in_time_recovery(table: Table, name: str) -> dict[str, Any] | None:
    """The UpdateContinuousBackups request of a table, or None if it wants no point-in-time recovery."""
    if not table.recovery:
        return None
    days = MOST_RECOVERY_DAYS if table.recovery is True else table.recovery
    wanted = {"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": days}
    return {"TableName": name, "PointInTimeRecoverySpecification": wanted}


def _schema(hash_: tuple[KeyAttribute, ...], range_: tuple[KeyAttribute, ...]) -> list[dict[str, str]]:
    return [{"AttributeName": attribute.name, "KeyType": "HASH"} for attribute in hash_] + [
        {"AttributeName": attribute.name, "KeyType": "RANGE"} for attribute in range_
    ]


def _throughput(table: Table) -> dict[str, Any]:
    if table.billing == "PAY_PER_REQUEST":
        return {}
    read, write = table.capacity or (5, 5)
    return {"ProvisionedThroughput": {"ReadCapacityUnits": read, "WriteCapacityUnits": write}}


def _index(index: Index, units: dict[str, Any]) -> dict[str, Any]:
    return {
        "IndexName": index.name,
        "KeySchema": _schema(index.hash, index.range),
        "Projection": _projection(index.projection),
        **units,
    }


def _vector_index(index: VectorIndex) -> dict[str, Any]:
    described: dict[str, Any] = {
        "IndexName": index.name,
        "VectorAttribute": {"AttributeName": index.attribute},
        "Dimensions": index.dimensions,
        "DistanceFunction": index.distance.upper().replace(" ", "_"),
        "Projection": _projection(index.projection),
    }
    if index.elements:
        described["SearchSchema"] = [
            {
                "AttributeName": element.name,
                "SearchSchemaElementType": "HASH" if element is index.partition else "INLINE_FILTER",
            }
            for element in index.elements
        ]
    return described


def _projection(projection: Projection) -> dict[str, Any]:
    described: dict[str, Any] = {"ProjectionType": projection.type}
    if projection.attributes:
        described["NonKeyAttributes"] = list(projection.attributes)
    return described


def _time_to_live(table: Table, name: str) -> dict[str, Any] | None:
    if table.ttl is None:
        return None
    return {"TableName": name, "TimeToLiveSpecification": {"Enabled": True, "AttributeName": table.ttl}}
