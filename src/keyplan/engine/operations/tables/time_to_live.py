"""DescribeTimeToLive and UpdateTimeToLive."""

from typing import TypedDict

from keyplan.engine.errors import validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.operations.tables.replication import STRONG
from keyplan.engine.storage import ttl_index
from keyplan.engine.storage.transaction import Transaction


class TimeToLiveRequest(TypedDict, total=False):
    TableName: str
    TimeToLiveSpecification: dict[str, object]


def describe_time_to_live(transaction: Transaction, request: TimeToLiveRequest) -> Answer:
    attribute = transaction.catalog.table_for_administration(request["TableName"]).definition["ttl"]
    if attribute is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": attribute}}


def update_time_to_live(transaction: Transaction, request: TimeToLiveRequest) -> Answer:
    table = transaction.catalog.table_to_change(request["TableName"])
    wanted = request["TimeToLiveSpecification"]
    attribute, current = str(wanted["AttributeName"]), table.definition["ttl"]
    if wanted["Enabled"]:
        if "replication" in table.definition and table.definition["replication"]["consistency"] == STRONG:
            raise validation_error("TimeToLive can't be enabled on a global table with STRONG consistency")
        if current == attribute:
            raise validation_error("TimeToLive is already enabled")
        if current is not None:
            raise validation_error(
                f"TimeToLive is active on a different AttributeName: current AttributeName is {current}"
            )
        ttl_index.enable(transaction, table, attribute)
    else:
        if current is None:
            raise validation_error("TimeToLive is already disabled")
        if current != attribute:
            raise validation_error(
                f"TimeToLive is active on a different AttributeName: current AttributeName is {current}"
            )
        ttl_index.disable(transaction, table)
    return {"TimeToLiveSpecification": wanted}
