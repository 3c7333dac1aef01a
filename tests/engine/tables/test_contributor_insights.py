"""Contributor insights: stored and described, for tables and global indexes."""

from typing import TYPE_CHECKING, Any

from keyplan.engine import Engine
from tests.engine.support import Clock, index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


def answer(response: Any) -> dict[str, Any]:
    return {name: value for name, value in response.items() if name != "ResponseMetadata"}


def test_insights_of_a_table_are_enabled_and_disabled(timed: Engine, clock: Clock) -> None:
    table = make_table(timed)
    assert answer(timed.describe_contributor_insights(TableName=table)) == {
        "TableName": table,
        "ContributorInsightsStatus": "DISABLED",
    }
    enabled = timed.update_contributor_insights(TableName=table, ContributorInsightsAction="ENABLE")
    assert answer(enabled) == {
        "TableName": table,
        "ContributorInsightsStatus": "ENABLING",
        "ContributorInsightsMode": "ACCESSED_AND_THROTTLED_KEYS",
    }
    described = timed.describe_contributor_insights(TableName=table)
    assert described["LastUpdateDateTime"].timestamp() == clock.now
    assert described["ContributorInsightsStatus"] == "ENABLED"
    assert described["ContributorInsightsMode"] == "ACCESSED_AND_THROTTLED_KEYS"
    at = int(clock.now * 1000)
    assert described["ContributorInsightsRuleList"] == [
        f"DynamoDBContributorInsights-PKC-{table}-{at}",
        f"DynamoDBContributorInsights-PKT-{table}-{at}",
    ]
    clock.now += 60
    timed.update_contributor_insights(
        TableName=table, ContributorInsightsAction="ENABLE", ContributorInsightsMode="THROTTLED_KEYS"
    )
    described = timed.describe_contributor_insights(TableName=table)
    assert described["ContributorInsightsMode"] == "THROTTLED_KEYS"
    assert described["ContributorInsightsRuleList"] == [f"DynamoDBContributorInsights-PKT-{table}-{at}"]
    disabled = timed.update_contributor_insights(TableName=table, ContributorInsightsAction="DISABLE")
    assert disabled["ContributorInsightsStatus"] == "DISABLING"
    described = timed.describe_contributor_insights(TableName=table)
    assert described["ContributorInsightsStatus"] == "DISABLED"
    assert "ContributorInsightsRuleList" not in described


def test_the_waiter_of_the_sdk_ends(client: "DynamoDBClient") -> None:
    table = make_table(client)
    client.update_contributor_insights(TableName=table, ContributorInsightsAction="ENABLE")
    client.get_waiter("contributor_insights_enabled").wait(TableName=table)


def test_insights_of_an_index(client: "DynamoDBClient") -> None:
    table = make_table(client, range="sk", gsis=[index("by-name", "name", "sk")], lsis=[index("local", "pk", "at")])
    arn = f"arn:aws:dynamodb:us-east-1:000000000000:table/{table}"
    client.update_contributor_insights(TableName=arn, IndexName="by-name", ContributorInsightsAction="ENABLE")
    described = client.describe_contributor_insights(TableName=table, IndexName="by-name")
    assert (described["TableName"], described["IndexName"]) == (table, "by-name")
    assert [rule.split("-")[1] for rule in described["ContributorInsightsRuleList"]] == ["PKC", "SKC", "PKT", "SKT"]
    assert client.describe_contributor_insights(TableName=table)["ContributorInsightsStatus"] == "DISABLED"
    for missing in ("local", "missing"):
        with refused(
            f"Requested resource not found: Table: {table} Index: {missing} not found", "ResourceNotFoundException"
        ):
            client.describe_contributor_insights(TableName=table, IndexName=missing)
    client.update_table(TableName=table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-name"}}])
    assert client.list_contributor_insights(TableName=table)["ContributorInsightsSummaries"] == []


def test_insights_are_listed_in_pages(client: "DynamoDBClient") -> None:
    first = make_table(client, name="first", gsis=[index("by-name", "name")])
    for name in (first, make_table(client, name="second"), make_table(client, name="third")):
        client.update_contributor_insights(TableName=name, ContributorInsightsAction="ENABLE")
    client.update_contributor_insights(TableName=first, IndexName="by-name", ContributorInsightsAction="ENABLE")
    client.update_contributor_insights(TableName="third", ContributorInsightsAction="DISABLE")
    assert client.list_contributor_insights(TableName="second")["ContributorInsightsSummaries"] == [
        {
            "TableName": "second",
            "ContributorInsightsStatus": "ENABLED",
            "ContributorInsightsMode": "ACCESSED_AND_THROTTLED_KEYS",
        }
    ]
    page: Any = client.list_contributor_insights(MaxResults=3)
    found = [(entry["TableName"], entry.get("IndexName")) for entry in page["ContributorInsightsSummaries"]]
    assert found == [("first", None), ("first", "by-name"), ("second", None)]
    page = client.list_contributor_insights(MaxResults=3, NextToken=page["NextToken"])
    assert [entry["ContributorInsightsStatus"] for entry in page["ContributorInsightsSummaries"]] == ["DISABLED"]
    assert "NextToken" not in page


def test_what_is_refused(client: "DynamoDBClient") -> None:
    with refused("Requested resource not found: Table: missing not found", "ResourceNotFoundException"):
        client.update_contributor_insights(TableName="missing", ContributorInsightsAction="ENABLE")
    with refused("Requested resource not found: Table: missing not found", "ResourceNotFoundException"):
        client.list_contributor_insights(TableName="missing")
    with refused("Invalid NextToken"):
        client.list_contributor_insights(NextToken="what?")
    with refused(
        "1 validation error detected: Value '0' at 'maxResults' failed to satisfy constraint: "
        "Member must have value greater than or equal to 1"
    ):
        client.list_contributor_insights(MaxResults=0)
    table = make_table(client)
    with refused(
        "1 validation error detected: Value 'BOTH' at 'contributorInsightsMode' failed to satisfy constraint: "
        "Member must satisfy enum value set: [ACCESSED_AND_THROTTLED_KEYS, THROTTLED_KEYS]"
    ):
        client.update_contributor_insights(
            TableName=table,
            ContributorInsightsAction="ENABLE",
            ContributorInsightsMode="BOTH",  # type: ignore[arg-type]
        )
