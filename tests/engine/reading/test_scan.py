"""Scan: all items, once, in any number of pages and segments."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.engine.item_support import Client, Item, contents, everything, fill, item, pages, values
from tests.engine.support import index, make_table, refused


@pytest.fixture
def table(client: Client) -> str:
    """Forty items in twenty partitions."""
    some = index("global", "g", projection=["v"])
    name = make_table(client, "pk", "sk:N", gsis=[some], lsis=[index("local", "pk", "r")])
    fill(client, name, items())
    return name


def items() -> list[Item]:
    """Every second one is in the indexes."""
    made = [item(pk=f"p{number}", sk=sk, v=number) for number in range(20) for sk in range(2)]
    return [one | item(g=f"g{place % 3}", r="r") if place % 2 else one for place, one in enumerate(made)]


def key(found: Mapping[str, Any]) -> tuple[str, str]:
    return found["pk"]["S"], found["sk"]["N"]


def test_whole_table(client: Client, table: str) -> None:
    answer = client.scan(TableName=table)
    assert sorted(answer["Items"], key=key) == sorted(items(), key=key)
    assert (answer["Count"], answer["ScannedCount"]) == (40, 40)
    assert "LastEvaluatedKey" not in answer


def test_items_of_a_partition_stay_together_and_in_order(client: Client, table: str) -> None:
    found = [key(one) for one in client.scan(TableName=table)["Items"]]
    assert found[::2] == [(pk, "0") for pk, _ in found[1::2]]


def test_empty_table(client: Client) -> None:
    answer = client.scan(TableName=make_table(client))
    assert (answer["Items"], answer["Count"], answer["ScannedCount"]) == ([], 0, 0)


@pytest.mark.parametrize("limit", [1, 7, 39, 40, 41])
@pytest.mark.parametrize("index_name", [None, "global", "local"])
def test_pages(client: Client, table: str, limit: int, index_name: str | None) -> None:
    request: dict[str, Any] = {"TableName": table} | ({"IndexName": index_name} if index_name else {})
    whole = client.scan(**request)["Items"]
    assert len(whole) == (20 if index_name else 40)
    found = list(pages(client, "scan", **request, Limit=limit))
    assert [one for page in found for one in page["Items"]] == whole
    assert all(page["ScannedCount"] == limit for page in found[:-1])
    names = {None: {"pk", "sk"}, "global": {"pk", "sk", "g"}, "local": {"pk", "sk", "r"}}[index_name]
    assert all(page["LastEvaluatedKey"].keys() == names for page in found[:-1])


@pytest.mark.parametrize("total", [1, 2, 3, 16, 1_000_000])
@pytest.mark.parametrize("index_name", [None, "global"])
def test_segments_share_the_items_out(client: Client, table: str, total: int, index_name: str | None) -> None:
    request: dict[str, Any] = {"TableName": table} | ({"IndexName": index_name} if index_name else {})
    segments = range(total) if total < 100 else [0, 1, 500_000, 999_999]
    found = [client.scan(**request, Segment=segment, TotalSegments=total)["Items"] for segment in segments]
    if total > 100:
        assert sum(map(len, found)) < 40
        return
    whole = client.scan(**request)["Items"]
    assert [one for part in found for one in part] == whole
    request |= {"TotalSegments": total, "Limit": 2}
    paged = [everything(client, "scan", **request, Segment=segment) for segment in segments]
    assert [one for part in paged for one in part] == whole


def test_a_partition_is_in_one_segment(client: Client, table: str) -> None:
    found = [set(contents(client.scan(TableName=table, Segment=s, TotalSegments=4)["Items"], "pk")) for s in range(4)]
    assert sum(map(len, found)) == 20


def test_start_key_of_another_segment(client: Client, table: str) -> None:
    last = client.scan(TableName=table, Segment=1, TotalSegments=2, Limit=1)["LastEvaluatedKey"]
    with refused(
        "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct "
        "Segment. TotalSegments: 2 Segment: 0"
    ):
        client.scan(TableName=table, Segment=0, TotalSegments=2, ExclusiveStartKey=last)


def test_filter_and_projection(client: Client, table: str) -> None:
    answer = client.scan(
        TableName=table,
        FilterExpression="pk <> :p AND sk = :s AND v BETWEEN :a AND :b",
        ProjectionExpression="pk",
        ExpressionAttributeValues=values(p="p4", s=0, a=3, b=5),
    )
    assert sorted(contents(answer["Items"], "pk")) == ["p3", "p5"]
    assert (answer["Count"], answer["ScannedCount"]) == (2, 40)
    assert all(found.keys() == {"pk"} for found in answer["Items"])


def test_index_holds_its_projection(client: Client, table: str) -> None:
    found = client.scan(TableName=table, IndexName="global")["Items"]
    assert all(one.keys() == {"pk", "sk", "g", "v"} for one in found)
    assert all(
        one.keys() == {"pk", "sk", "g", "r", "v"} for one in client.scan(TableName=table, IndexName="local")["Items"]
    )


def test_consistent_scan_of_a_local_index(client: Client, table: str) -> None:
    assert client.scan(TableName=table, IndexName="local", ConsistentRead=True)["Count"] == 20


def test_table_by_its_arn(client: Client, table: str) -> None:
    arn = client.describe_table(TableName=table)["Table"]["TableArn"]
    answer = client.scan(TableName=arn, Select="COUNT", ReturnConsumedCapacity="TOTAL")
    assert answer["Count"] == 40
    assert answer["ConsumedCapacity"]["TableName"] == arn
