"""UpdateContributorInsights, DescribeContributorInsights and ListContributorInsights.

The settings are stored and described; nothing is measured, because there is no CloudWatch to show it.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from copy import deepcopy
from typing import TypedDict

import orjson

from keyplan.engine.errors import not_found, validation_error
from keyplan.engine.executor import Answer
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.table_settings import ContributorInsights
from keyplan.engine.storage.transaction import Transaction

MAXIMUM_SUMMARIES = 100
ALL_KEYS = "ACCESSED_AND_THROTTLED_KEYS"
_TABLE_ITSELF = ""
"""Stands for the name of an index in the settings of the table itself."""


class InsightsRequest(TypedDict, total=False):
    """The members of all three requests."""

    TableName: str
    IndexName: str
    ContributorInsightsAction: str
    ContributorInsightsMode: str
    NextToken: str
    MaxResults: int


def update_contributor_insights(transaction: Transaction, request: InsightsRequest) -> Answer:
    table, index = _named(transaction, request)
    definition = deepcopy(table.definition)
    settings = definition.setdefault("contributor_insights", {})
    before, enable = settings.get(index), request["ContributorInsightsAction"] == "ENABLE"
    mode = request.get("ContributorInsightsMode", before["mode"] if before else ALL_KEYS)
    if before is None or enable != before["enabled"] or mode != before["mode"]:
        created = before["created"] if before and before["enabled"] else transaction.now
        settings[index] = {"enabled": enable, "mode": mode, "created": created, "updated": transaction.now}
        transaction.save(Table(table.number, definition))
    return {
        **_names(table, index),
        "ContributorInsightsStatus": "ENABLING" if enable else "DISABLING",
        "ContributorInsightsMode": mode,
    }


def describe_contributor_insights(transaction: Transaction, request: InsightsRequest) -> Answer:
    table, index = _named(transaction, request)
    settings = table.definition.get("contributor_insights", {}).get(index)
    if settings is None:
        return {**_names(table, index), "ContributorInsightsStatus": "DISABLED"}
    answer: Answer = {
        **_names(table, index),
        "ContributorInsightsStatus": _status(settings),
        "LastUpdateDateTime": settings["updated"],
        "ContributorInsightsMode": settings["mode"],
    }
    if settings["enabled"]:
        answer["ContributorInsightsRuleList"] = _rules(table, index, settings)
    return answer


def list_contributor_insights(transaction: Transaction, request: InsightsRequest) -> Answer:
    catalog, limit = transaction.catalog, request.get("MaxResults", MAXIMUM_SUMMARIES)
    tables = (
        [catalog.table_for_administration(request["TableName"])]
        if "TableName" in request
        else list(catalog.tables.values())
    )
    found = sorted(
        (
            (table.name, index, settings)
            for table in tables
            for index, settings in table.definition.get("contributor_insights", {}).items()
        ),
        key=lambda entry: entry[:2],
    )
    if "NextToken" in request:
        after = _parse_token(request["NextToken"])
        found = [entry for entry in found if entry[:2] > after]
    answer: Answer = {
        "ContributorInsightsSummaries": [
            {
                "TableName": name,
                **({"IndexName": index} if index else {}),
                "ContributorInsightsStatus": _status(settings),
                "ContributorInsightsMode": settings["mode"],
            }
            for name, index, settings in found[:limit]
        ]
    }
    if len(found) > limit:
        answer["NextToken"] = urlsafe_b64encode(orjson.dumps(found[limit - 1][:2])).decode()
    return answer


def _named(transaction: Transaction, request: InsightsRequest) -> tuple[Table, str]:
    """The table of a request, and the name of its index, or an empty string."""
    table = transaction.catalog.table_for_administration(request["TableName"])
    index = request.get("IndexName", _TABLE_ITSELF)
    if index and not any(other.name == index and other.is_global for other in table.indexes):
        raise not_found(f"Requested resource not found: Table: {table.name} Index: {index} not found")
    return table, index


def _names(table: Table, index: str) -> dict[str, object]:
    return {"TableName": table.name, **({"IndexName": index} if index else {})}


def _status(settings: ContributorInsights) -> str:
    return "ENABLED" if settings["enabled"] else "DISABLED"


def _rules(table: Table, index: str, settings: ContributorInsights) -> list[str]:
    """The names of the rules: P and S for partition and sort key, C and T for accessed and throttled keys."""
    schema = next(other.schema for other in table.indexes if other.name == index) if index else table.schema
    kinds = "CT" if settings["mode"] == ALL_KEYS else "T"
    keys = "PS" if schema.range else "P"
    created = int(settings["created"] * 1000)
    return [f"DynamoDBContributorInsights-{key}K{kind}-{table.name}-{created}" for kind in kinds for key in keys]


def _parse_token(token: str) -> tuple[str, str]:
    """The table and the index after which the next page starts."""
    try:
        table, index = orjson.loads(urlsafe_b64decode(token))
    except (ValueError, TypeError, binascii.Error):
        raise validation_error("Invalid NextToken") from None
    return str(table), str(index)
