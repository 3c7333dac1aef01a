"""ConsumedCapacity of reads and writes of one item, with AWS's figures."""

from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.items.support import KEY, item_of
from tests.engine.support import index, make_table

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client

KB = 1024


@pytest.mark.parametrize(
    ("size", "strong"),
    [(5, 1.0), (4 * KB, 1.0), (4 * KB + 1, 2.0), (8 * KB, 2.0), (8 * KB + 1, 3.0), (400 * KB, 100.0)],
)
def test_get(client: "Client", size: int, strong: float) -> None:
    table = make_table(client)
    client.put_item(TableName=table, Item=item_of(size))

    def units(**more: Any) -> Any:
        answer = client.get_item(TableName=table, Key=KEY, ReturnConsumedCapacity="TOTAL", **more)
        return answer["ConsumedCapacity"]

    assert units() == {"TableName": table, "CapacityUnits": strong / 2}
    assert units(ConsistentRead=False) == {"TableName": table, "CapacityUnits": strong / 2}
    assert units(ConsistentRead=True) == {"TableName": table, "CapacityUnits": strong}
    # Attributes that are left out of the response were read all the same.
    assert units(ConsistentRead=True, ProjectionExpression="pk") == {"TableName": table, "CapacityUnits": strong}


def test_get_of_nothing(client: "Client") -> None:
    table = make_table(client, gsis=[index("gsi", "g")])

    def units(wanted: Any, consistent: bool) -> Any:
        return client.get_item(TableName=table, Key=KEY, ReturnConsumedCapacity=wanted, ConsistentRead=consistent).get(
            "ConsumedCapacity"
        )

    assert units("NONE", True) is None
    assert units("TOTAL", False) == {"TableName": table, "CapacityUnits": 0.5}
    assert units("INDEXES", True) == {
        "TableName": table,
        "CapacityUnits": 1.0,
        "Table": {"CapacityUnits": 1.0},
    }


def put(client: "Client", table: str, item: dict[str, Any], wanted: Any = "TOTAL") -> Any:
    return client.put_item(TableName=table, Item=item, ReturnConsumedCapacity=wanted)["ConsumedCapacity"]


@pytest.mark.parametrize(("size", "units"), [(5, 1.0), (KB, 1.0), (KB + 1, 2.0), (3 * KB, 3.0), (400 * KB, 400.0)])
def test_put_and_delete(client: "Client", size: int, units: float) -> None:
    table = make_table(client)
    expected = {"TableName": table, "CapacityUnits": units}
    assert put(client, table, item_of(size)) == expected
    assert put(client, table, item_of(size)) == expected  # the same again costs the same
    assert put(client, table, KEY) == expected  # the larger of before and after
    assert put(client, table, KEY) == {"TableName": table, "CapacityUnits": 1.0}
    put(client, table, item_of(size))
    deleted = client.delete_item(TableName=table, Key=KEY, ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
    assert deleted == {**expected, "Table": {"CapacityUnits": units}}
    deleted = client.delete_item(TableName=table, Key=KEY, ReturnConsumedCapacity="TOTAL")["ConsumedCapacity"]
    assert deleted == {"TableName": table, "CapacityUnits": 1.0}


def test_update_is_charged_for_the_larger_image(client: "Client") -> None:
    table = make_table(client)

    def units(expression: str, **values: Any) -> float:
        more: dict[str, Any] = {"ExpressionAttributeValues": {":v": values["v"]}} if values else {}
        answer = client.update_item(
            TableName=table, Key=KEY, UpdateExpression=expression, ReturnConsumedCapacity="TOTAL", **more
        )
        return answer["ConsumedCapacity"]["CapacityUnits"]

    assert units("SET t = :v", v={"S": "x"}) == 1.0
    assert units("SET t = :v", v={"S": "x" * (3 * KB)}) == 4.0
    assert units("SET n = :v", v={"N": "1"}) == 4.0  # the whole item, not what changed
    assert units("REMOVE t") == 4.0
    assert units("REMOVE t") == 1.0


def on_indexes(client: "Client", table: str, old: dict[str, Any] | None, new: dict[str, Any] | None) -> Any:
    """What one write consumes of each index, when it brings the table from one item to another."""
    client.delete_item(TableName=table, Key=KEY)
    if old is not None:
        client.put_item(TableName=table, Item=old)
    if new is None:
        answer: Any = client.delete_item(TableName=table, Key=KEY, ReturnConsumedCapacity="INDEXES")
    else:
        answer = client.put_item(TableName=table, Item=new, ReturnConsumedCapacity="INDEXES")
    consumed = answer["ConsumedCapacity"]
    indexes = {
        name: units
        for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
        for name, units in consumed.get(kind, {}).items()
    }
    total = consumed["Table"]["CapacityUnits"] + sum(units["CapacityUnits"] for units in indexes.values())
    assert consumed["CapacityUnits"] == total
    assert consumed["TableName"] == table
    assert all(set(units) == {"CapacityUnits"} for units in (consumed["Table"], *indexes.values()))
    return {name: units["CapacityUnits"] for name, units in indexes.items()}


S = {"S": "1"}
T = {"S": "2"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, {}, {}, id="not in the index"),
        pytest.param({"g": S}, {"g": S, "v": T}, {"all": 1.0}, id="only ALL has the attribute"),
        pytest.param(None, {"g": S}, {"all": 1.0, "keys": 1.0, "some": 1.0}, id="a new entry"),
        pytest.param({}, {"g": S}, {"all": 1.0, "keys": 1.0, "some": 1.0}, id="a new entry of an old item"),
        pytest.param({"g": S}, {}, {"all": 1.0, "keys": 1.0, "some": 1.0}, id="an entry that goes"),
        pytest.param({"g": S}, None, {"all": 1.0, "keys": 1.0, "some": 1.0}, id="an item that goes"),
        pytest.param({"g": S}, {"g": T}, {"all": 2.0, "keys": 2.0, "some": 2.0}, id="another key"),
        pytest.param({"g": S}, {"g": S}, {}, id="nothing changes"),
        pytest.param({"g": S, "i": S}, {"g": S, "i": T}, {"all": 1.0, "some": 1.0}, id="an included attribute"),
        pytest.param({"g": S, "i": S}, {"g": S}, {"all": 1.0, "some": 1.0}, id="an included attribute goes"),
        pytest.param({"v": S}, {"v": T}, {}, id="an item outside the index"),
    ],
)
def test_global_indexes(client: "Client", old: Any, new: Any, expected: dict[str, float]) -> None:
    table = make_table(
        client,
        gsis=[
            index("all", "g"),
            index("keys", "g", projection="KEYS_ONLY"),
            index("some", "g", projection=["i"]),
        ],
    )
    old, new = (None if attributes is None else {**KEY, **attributes} for attributes in (old, new))
    assert on_indexes(client, table, old, new) == expected


def test_the_sort_key_of_an_index_is_part_of_its_key(client: "Client") -> None:
    table = make_table(client, gsis=[index("gsi", "g", "s", projection="KEYS_ONLY")])
    assert on_indexes(client, table, {**KEY, "g": S, "s": S}, {**KEY, "g": S, "s": T}) == {"gsi": 2.0}
    assert on_indexes(client, table, {**KEY, "g": S}, {**KEY, "g": T}) == {}
    assert on_indexes(client, table, {**KEY, "g": S}, {**KEY, "g": T, "s": S}) == {"gsi": 1.0}


def test_index_entries_are_measured_as_they_are_projected(client: "Client") -> None:
    table = make_table(
        client,
        gsis=[index("all", "g"), index("keys", "g", projection="KEYS_ONLY"), index("some", "g", projection=["i"])],
    )
    large, small = item_of(3 * KB, g=S), item_of(KB, g=S)
    assert on_indexes(client, table, None, large) == {"all": 3.0, "keys": 1.0, "some": 1.0}
    assert on_indexes(client, table, large, small) == {"all": 3.0}  # the larger of the two
    assert on_indexes(client, table, small, large) == {"all": 3.0}
    moved = item_of(2 * KB, g=T)
    # An entry that moves is deleted and put: each rounded up by itself.
    assert on_indexes(client, table, item_of(KB + 1, g=S), moved) == {"all": 4.0, "keys": 2.0, "some": 2.0}
    exact = {**KEY, "g": S, "i": {"S": "x" * (KB - 6)}, "t": {"S": "x" * KB}}
    assert on_indexes(client, table, None, exact) == {"all": 3.0, "keys": 1.0, "some": 1.0}
    exact["i"] = {"S": "x" * (KB - 5)}
    assert on_indexes(client, table, None, exact) == {"all": 3.0, "keys": 1.0, "some": 2.0}


def test_local_indexes(client: "Client") -> None:
    table = make_table(
        client,
        "pk",
        "sk",
        gsis=[index("gsi", "g", projection="KEYS_ONLY")],
        lsis=[index("lsi", "pk", "l", projection="KEYS_ONLY")],
    )
    answer = client.put_item(TableName=table, Item={**KEY, "sk": S, "l": S, "g": S}, ReturnConsumedCapacity="INDEXES")
    assert answer["ConsumedCapacity"] == {
        "TableName": table,
        "CapacityUnits": 3.0,
        "Table": {"CapacityUnits": 1.0},
        "LocalSecondaryIndexes": {"lsi": {"CapacityUnits": 1.0}},
        "GlobalSecondaryIndexes": {"gsi": {"CapacityUnits": 1.0}},
    }
    updated = client.update_item(
        TableName=table,
        Key={**KEY, "sk": S},
        UpdateExpression="SET l = :l, v = :l",
        ExpressionAttributeValues={":l": T},
        ReturnConsumedCapacity="INDEXES",
    )
    assert updated["ConsumedCapacity"] == {
        "TableName": table,
        "CapacityUnits": 3.0,
        "Table": {"CapacityUnits": 1.0},
        "LocalSecondaryIndexes": {"lsi": {"CapacityUnits": 2.0}},
    }


def test_a_table_is_called_what_the_request_calls_it(client: "Client") -> None:
    table = make_table(client)
    arn = client.describe_table(TableName=table)["Table"]["TableArn"]
    assert put(client, arn, KEY)["TableName"] == arn
    got = client.get_item(TableName=arn, Key=KEY, ReturnConsumedCapacity="TOTAL")
    assert got["ConsumedCapacity"]["TableName"] == arn
    assert got["Item"] == KEY
