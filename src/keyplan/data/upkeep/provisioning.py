"""The requests that create a design's tables."""

from collections.abc import Iterator
from typing import Any

from keyplan.data.steps import ClientFailure, Steps, Wait, call, pause
from keyplan.design import Design, Table
from keyplan.design.tables import Index, KeyAttribute, Projection


def create_table_requests(design: Design) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    """For each table, including housekeeping: its CreateTable request, and its UpdateTimeToLive request or None."""
    for table in design.all_tables:
        name = design.table_name(table)
        yield _create(table, name), _time_to_live(table, name)


def create_tables(design: Design) -> Steps[None]:
    """Create missing tables, wait until they are active, and turn on their time to live."""
    for request, ttl in create_table_requests(design):
        name = request["TableName"]
        try:
            yield from call("create_table", request)
        except ClientFailure as failure:
            if failure.code != "ResourceInUseException":
                raise
        attempt = 0
        while (yield from call("describe_table", {"TableName": name}))["Table"]["TableStatus"] != "ACTIVE":
            yield Wait(pause(max(attempt, 4)))
            attempt += 1
        if ttl is not None:
            answer = yield from call("describe_time_to_live", {"TableName": name})
            if answer["TimeToLiveDescription"]["TimeToLiveStatus"] not in ("ENABLED", "ENABLING"):
                yield from call("update_time_to_live", ttl)


def tables_exist(design: Design) -> Steps[dict[str, bool]]:
    """Whether each of the design's tables exists, by name."""
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
    if table.stream is not None:
        request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": table.stream}
    return request


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


def _projection(projection: Projection) -> dict[str, Any]:
    described: dict[str, Any] = {"ProjectionType": projection.type}
    if projection.attributes:
        described["NonKeyAttributes"] = list(projection.attributes)
    return described


def _time_to_live(table: Table, name: str) -> dict[str, Any] | None:
    if table.ttl is None:
        return None
    return {"TableName": name, "TimeToLiveSpecification": {"Enabled": True, "AttributeName": table.ttl}}
