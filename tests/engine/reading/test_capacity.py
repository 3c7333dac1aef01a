"""Query and Scan: what they consume of the table and of the index."""

from typing import Any

import pytest

from tests.engine.item_support import Client, fill, item, values
from tests.engine.support import index, make_table


@pytest.fixture
def table(client: Client) -> str:
    """Ten items of 3,000 bytes in one partition; their entries in "keys" and "local" have about 40."""
    name = make_table(
        client,
        "pk",
        "sk:N",
        gsis=[index("full", "g"), index("keys", "g", projection="KEYS_ONLY")],
        lsis=[index("local", "pk", "r", projection=["v"])],
    )
    filler = "x" * (3000 - len("pkaskgbrcvdf") - 2 - 0)
    fill(client, name, [item(pk="a", sk=number, g="b", r="c", v="d", f=filler) for number in range(1, 11)])
    return name


def consumed(client: Client, table: str, wanted: str = "TOTAL", **request: Any) -> dict[str, Any]:
    on_global = request.get("IndexName") in ("full", "keys")
    marks = {**values(k="b" if on_global else "a"), **request.pop("ExpressionAttributeValues", {})}
    answer: Any = client.query(
        TableName=table,
        KeyConditionExpression="g = :k" if on_global else "pk = :k",
        ExpressionAttributeValues=marks,
        ReturnConsumedCapacity=wanted,  # type: ignore[arg-type]
        **request,
    )
    found: dict[str, Any] = answer["ConsumedCapacity"]
    assert found.pop("TableName") == table
    return found


def test_sizes_are_added_up_before_they_are_rounded(client: Client, table: str) -> None:
    # 30,000 bytes are eight blocks of 4 KB.
    assert consumed(client, table) == {"CapacityUnits": 4.0}
    assert consumed(client, table, ConsistentRead=True) == {"CapacityUnits": 8.0}
    assert consumed(client, table, Limit=1) == {"CapacityUnits": 0.5}
    assert consumed(client, table, Limit=2) == {"CapacityUnits": 1.0}


def test_filter_projection_and_count_change_nothing(client: Client, table: str) -> None:
    assert consumed(client, table, Select="COUNT") == {"CapacityUnits": 4.0}
    assert consumed(client, table, ProjectionExpression="v") == {"CapacityUnits": 4.0}
    none = consumed(client, table, FilterExpression="v = :n", ExpressionAttributeValues=values(n="none"))
    assert none == {"CapacityUnits": 4.0}


def test_nothing_found_is_half_a_unit(client: Client, table: str) -> None:
    answer = client.query(
        TableName=table,
        KeyConditionExpression="pk = :k",
        ExpressionAttributeValues=values(k="none"),
        ReturnConsumedCapacity="TOTAL",
    )
    assert answer["ConsumedCapacity"] == {"TableName": table, "CapacityUnits": 0.5}


def test_table_and_indexes_apart(client: Client, table: str) -> None:
    assert consumed(client, table, "INDEXES") == {"CapacityUnits": 4.0, "Table": {"CapacityUnits": 4.0}}
    assert consumed(client, table, "INDEXES", IndexName="full") == {
        "CapacityUnits": 4.0,
        "Table": {"CapacityUnits": 0.0},
        "GlobalSecondaryIndexes": {"full": {"CapacityUnits": 4.0}},
    }
    assert consumed(client, table, "INDEXES", IndexName="keys") == {
        "CapacityUnits": 0.5,
        "Table": {"CapacityUnits": 0.0},
        "GlobalSecondaryIndexes": {"keys": {"CapacityUnits": 0.5}},
    }
    assert consumed(client, table, "INDEXES", IndexName="local") == {
        "CapacityUnits": 0.5,
        "Table": {"CapacityUnits": 0.0},
        "LocalSecondaryIndexes": {"local": {"CapacityUnits": 0.5}},
    }


@pytest.mark.parametrize(
    "request_",
    [{"Select": "ALL_ATTRIBUTES"}, {"ProjectionExpression": "v, f"}],
    ids=["all", "projection"],
)
def test_items_fetched_for_a_local_index_are_rounded_one_by_one(
    client: Client, table: str, request_: dict[str, Any]
) -> None:
    assert consumed(client, table, "INDEXES", IndexName="local", **request_) == {
        "CapacityUnits": 5.5,
        "Table": {"CapacityUnits": 5.0},
        "LocalSecondaryIndexes": {"local": {"CapacityUnits": 0.5}},
    }
    assert consumed(client, table, "INDEXES", IndexName="local", ConsistentRead=True, **request_) == {
        "CapacityUnits": 11.0,
        "Table": {"CapacityUnits": 10.0},
        "LocalSecondaryIndexes": {"local": {"CapacityUnits": 1.0}},
    }


def test_scan(client: Client, table: str) -> None:
    answer = client.scan(TableName=table, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == {"TableName": table, "CapacityUnits": 4.0}
    answer = client.scan(TableName=table, IndexName="keys", ReturnConsumedCapacity="INDEXES")
    assert answer["ConsumedCapacity"]["GlobalSecondaryIndexes"] == {"keys": {"CapacityUnits": 0.5}}


def test_only_where_it_is_asked_for(client: Client, table: str) -> None:
    assert "ConsumedCapacity" not in client.scan(TableName=table)
    assert "ConsumedCapacity" not in client.scan(TableName=table, ReturnConsumedCapacity="NONE")
