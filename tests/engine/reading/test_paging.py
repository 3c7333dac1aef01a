"""Query: where a page ends, and where the next one begins."""

from typing import Any

import pytest

from tests.engine.item_support import Client, contents, everything, fill, item, pages, values
from tests.engine.support import index, make_table

KILOBYTE = 1024
MEGABYTE = 1024 * KILOBYTE


def filled_to(size: int, **keys: Any) -> dict[str, Any]:
    """An item of exactly this size, by AWS's rule (numbers of one or two digits are two bytes)."""
    made = item(**keys)
    used = sum(len(name) + (len(key) if isinstance(key, str) else 2 if key else 1) for name, key in keys.items())
    return {**made, "f": {"S": "x" * (size - used - 1)}}


def numbered(client: Client, count: int = 5) -> dict[str, Any]:
    """A query for that many items."""
    table = make_table(client, "pk", "sk:N")
    fill(client, table, [item(pk="a", sk=number) for number in range(count)] + [item(pk="b", sk=0)])
    return {
        "TableName": table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": values(p="a"),
    }


@pytest.mark.parametrize("forward", [True, False])
def test_last_evaluated_key_is_the_last_item_read(client: Client, forward: bool) -> None:
    request = numbered(client) | {"Limit": 2, "ScanIndexForward": forward}
    first, second, third = pages(client, "query", **request)
    expected = ["0", "1", "2", "3", "4"][:: 1 if forward else -1]
    assert contents(first["Items"], "sk") == expected[:2]
    assert first["LastEvaluatedKey"] == {"pk": {"S": "a"}, "sk": {"N": expected[1]}}
    assert contents(second["Items"], "sk") == expected[2:4]
    assert contents(third["Items"], "sk") == expected[4:]
    assert (third["Count"], third["ScannedCount"]) == (1, 1)


def test_limit_that_is_just_reached_leaves_an_empty_page(client: Client) -> None:
    first, second = pages(client, "query", **numbered(client), Limit=5)
    assert first["Count"] == 5
    assert first["LastEvaluatedKey"] == item(pk="a", sk=4)
    assert (second["Items"], second["Count"], second["ScannedCount"]) == ([], 0, 0)


def test_limit_counts_items_before_the_filter(client: Client) -> None:
    request = numbered(client)
    request["ExpressionAttributeValues"] |= values(n="x")
    found = list(pages(client, "query", **request, FilterExpression="v = :n", Limit=3))
    assert [(page["Count"], page["ScannedCount"]) for page in found] == [(0, 3), (0, 2)]
    assert found[0]["LastEvaluatedKey"] == item(pk="a", sk=2)


def test_start_key_need_not_be_an_item(client: Client) -> None:
    request = numbered(client)
    answer = client.query(**request, ExclusiveStartKey={"pk": {"S": "a"}, "sk": {"N": "1.5"}})
    assert contents(answer["Items"], "sk") == ["2", "3", "4"]
    client.delete_item(TableName=request["TableName"], Key=item(pk="a", sk=3))
    answer = client.query(**request, ExclusiveStartKey=item(pk="a", sk=3), ScanIndexForward=False)
    assert contents(answer["Items"], "sk") == ["2", "1", "0"]


def test_last_evaluated_key_has_what_the_projection_leaves_out(client: Client) -> None:
    answer = client.query(**numbered(client), ProjectionExpression="v", Limit=1)
    assert answer["Items"] == [{}]
    assert answer["LastEvaluatedKey"] == item(pk="a", sk=0)


def test_count_is_paged_too(client: Client) -> None:
    found = list(pages(client, "query", **numbered(client), Select="COUNT", Limit=3))
    assert [page["Count"] for page in found] == [3, 2]


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("limit", [1, 3, 7])
def test_pages_of_an_index_with_equal_keys(client: Client, forward: bool, limit: int) -> None:
    table = make_table(
        client,
        "pk",
        "sk:N",
        gsis=[index("global", "g", "r"), index("hash-only", "g")],
        lsis=[index("local", "pk", "r", projection="KEYS_ONLY")],
    )
    items = [item(pk=pk, sk=sk, g="g", r="same") for pk in ("a", "b", "c") for sk in range(4)]
    fill(client, table, items)
    for name, key, expected in [("global", "g", 12), ("hash-only", "g", 12), ("local", "pk", 4)]:
        request: dict[str, Any] = {
            "TableName": table,
            "IndexName": name,
            "KeyConditionExpression": f"{key} = :k",
            "ExpressionAttributeValues": values(k="g" if key == "g" else "a"),
            "ScanIndexForward": forward,
        }
        whole = client.query(**request)["Items"]
        assert len(whole) == expected
        parts = list(pages(client, "query", **request, Limit=limit))
        assert [found for page in parts for found in page["Items"]] == whole
        names = {"global": {"pk", "sk", "g", "r"}, "hash-only": {"pk", "sk", "g"}, "local": {"pk", "sk", "r"}}[name]
        for page in parts:
            if "LastEvaluatedKey" in page:
                assert page["LastEvaluatedKey"].keys() == names
                last = page["Items"][-1] if page["Items"] else None
                assert last is None or page["LastEvaluatedKey"] == {name: last[name] for name in names}


def test_pages_of_an_index_with_several_key_attributes(client: Client) -> None:
    table = make_table(client, gsis=[index("wide", ["a", "b:N"], ["c", "d:N"])])
    fill(client, table, [item(pk=str(number), a="a", b=1, c="c", d=number // 4) for number in range(15)])
    request: dict[str, Any] = {
        "TableName": table,
        "IndexName": "wide",
        "KeyConditionExpression": "a = :a AND b = :b AND c = :c AND d > :d",
        "ExpressionAttributeValues": values(a="a", b=1, c="c", d=0),
    }
    whole = client.query(**request)["Items"]
    assert contents(whole, "d") == ["1"] * 4 + ["2"] * 4 + ["3"] * 3
    first = client.query(**request, Limit=2)
    assert first["LastEvaluatedKey"] == first["Items"][-1]
    assert everything(client, "query", **request, Limit=2) == whole


def test_page_ends_with_the_item_that_takes_it_over_a_megabyte(client: Client) -> None:
    table = make_table(client, "pk", "sk:N")
    for number in range(1, 5):
        client.put_item(TableName=table, Item=filled_to(300 * KILOBYTE, pk="a", sk=number))
    request: dict[str, Any] = {
        "TableName": table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": values(p="a"),
    }
    # Neither projection nor filter makes a page hold more.
    marks = {**values(n="none"), **request["ExpressionAttributeValues"]}
    ways: list[dict[str, Any]] = [
        {},
        {"ProjectionExpression": "sk"},
        {"FilterExpression": "f = :n", "ExpressionAttributeValues": marks},
    ]
    for more in ways:
        for forward in (True, False):
            found = list(pages(client, "query", **(request | more), ScanIndexForward=forward))
            assert [page["ScannedCount"] for page in found] == [4, 0]
            assert found[0]["LastEvaluatedKey"] == item(pk="a", sk=4 if forward else 1)


@pytest.mark.parametrize(("over", "expected"), [(0, [4]), (1, [4, 0])])
def test_page_of_exactly_a_megabyte_is_not_full(engine: Client, over: int, expected: list[int]) -> None:
    table = make_table(engine, "pk", "sk:N")
    for number in range(1, 5):
        size = MEGABYTE // 4 + (over if number == 4 else 0)
        engine.put_item(TableName=table, Item=filled_to(size, pk="a", sk=number))
    found = list(pages(engine, "scan", TableName=table))
    assert [page["Count"] for page in found] == expected


def test_limit_and_size_both_end_a_page(engine: Client) -> None:
    table = make_table(engine, "pk", "sk:N")
    for number in range(1, 9):
        engine.put_item(TableName=table, Item=filled_to(200 * KILOBYTE, pk="a", sk=number))
    assert [page["Count"] for page in pages(engine, "scan", TableName=table, Limit=7)] == [6, 2]
    assert [page["Count"] for page in pages(engine, "scan", TableName=table, Limit=3)] == [3, 3, 2]


def test_page_of_an_index_is_measured_by_what_the_index_holds(engine: Client) -> None:
    table = make_table(
        engine,
        "pk",
        "sk:N",
        gsis=[index("keys", "pk", "r", projection="KEYS_ONLY")],
        lsis=[index("local", "pk", "r", projection="KEYS_ONLY")],
    )
    for number in range(1, 7):
        engine.put_item(TableName=table, Item=filled_to(200 * KILOBYTE, pk="a", sk=number, r="r"))
    request: dict[str, Any] = {
        "TableName": table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": values(p="a"),
    }
    for name in ("keys", "local"):
        assert [page["Count"] for page in pages(engine, "query", **request, IndexName=name)] == [6]
    # What is fetched from the table counts.
    fetching: dict[str, Any] = {"IndexName": "local", "Select": "ALL_ATTRIBUTES"}
    assert [page["Count"] for page in pages(engine, "query", **request, **fetching)] == [6, 0]
    fetching = {"IndexName": "local", "ProjectionExpression": "pk, f"}
    assert len(everything(engine, "query", **request, **fetching)) == 6


def test_paginator(client: Client) -> None:
    request = numbered(client, 7)
    found = client.get_paginator("query").paginate(**request, PaginationConfig={"PageSize": 3})
    assert [page["Count"] for page in found] == [3, 3, 1]
