"""Attributes that are keys of indexes: what a write may put there."""

from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.support import index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client

INVALID = "One or more parameter values were invalid: "
NOT_VALID = "One or more parameter values are not valid. "
EMPTY = "The AttributeValue for a key attribute cannot contain an empty {} value."
TOO_LONG_TO_UPDATE = "The update expression attempted to update the secondary index key beyond allowed size limits"
KEY = {"pk": {"S": "a"}, "sk": {"S": "b"}}


def indexed(client: "Client") -> str:
    return make_table(
        client,
        "pk",
        "sk",
        gsis=[index("by-group", "g", "gs:B"), index("a-second", "g")],
        lsis=[index("by-number", "pk", "n:N")],
    )


def put(client: "Client", table: str, attributes: dict[str, Any]) -> None:
    client.put_item(TableName=table, Item={**KEY, **attributes})


def update(client: "Client", table: str, attributes: dict[str, Any]) -> None:
    names = list(attributes)
    client.update_item(
        TableName=table,
        Key=KEY,
        UpdateExpression="SET " + ", ".join(f"{name} = :{name}" for name in names),
        ExpressionAttributeValues={f":{name}": attributes[name] for name in names},
    )


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"gs": {"S": "x"}}, "Type mismatch for Index Key gs Expected: B Actual: S IndexName: by-group"),
        ({"n": {"S": "1"}}, "Type mismatch for Index Key n Expected: N Actual: S IndexName: by-number"),
        ({"n": {"NULL": True}}, "Type mismatch for Index Key n Expected: N Actual: NULL IndexName: by-number"),
        # An attribute in the keys of several indexes: the first by name says so.
        ({"g": {"N": "1"}}, "Type mismatch for Index Key g Expected: S Actual: N IndexName: a-second"),
    ],
)
def test_the_type(client: "Client", attributes: dict[str, Any], message: str) -> None:
    table = indexed(client)
    with refused(INVALID + message):
        put(client, table, attributes)
    with refused(INVALID + message):
        update(client, table, attributes)
    assert client.scan(TableName=table)["Count"] == 0


UNSUPPORTED_TYPE = "The update expression attempted to update the secondary index key to unsupported type"
OF_G = INVALID + "Type mismatch for Index Key g Expected: S Actual: {} IndexName: a-second"
NO_SCALAR = (
    INVALID + "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: IndexKey: g"
)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("SET g = :n", OF_G.format("N")),
        ("ADD g :n", OF_G.format("N")),
        ("SET g = :n + :n", OF_G.format("N")),
        ("SET g = count + :n", OF_G.format("N")),
        ("SET g = list_append(:l, :l)", OF_G.format("L")),
        ("SET g = if_not_exists(absent, :n)", OF_G.format("N")),
        # Only a value that the item has already gets the other message.
        ("SET g = count", UNSUPPORTED_TYPE),
        ("SET g = if_not_exists(count, :n)", UNSUPPORTED_TYPE),
        ("SET g = if_not_exists(absent, count)", UNSUPPORTED_TYPE),
        ("SET g.x = :n", NO_SCALAR),
        ("SET g[0] = :n", NO_SCALAR),
        ("REMOVE g.x", NO_SCALAR),
    ],
)
def test_the_type_after_an_update(client: "Client", expression: str, message: str) -> None:
    table = indexed(client)
    item = {"count": {"N": "1"}}
    put(client, table, item)
    values: dict[str, Any] = {":n": {"N": "1"}, ":l": {"L": []}}
    used = {name: value for name, value in values.items() if name in expression}
    request: dict[str, Any] = {"ExpressionAttributeValues": used} if used else {}
    expression = expression.replace("count", "#c")
    if "#c" in expression:
        request["ExpressionAttributeNames"] = {"#c": "count"}
    with refused(message):
        client.update_item(TableName=table, Key=KEY, UpdateExpression=expression, **request)
    assert client.get_item(TableName=table, Key=KEY)["Item"] == {**KEY, **item}


def test_what_no_item_makes_right_is_refused_before_the_condition(client: "Client") -> None:
    table = indexed(client)
    for expression, message in (("SET g = :n", OF_G.format("N")), ("SET g.x = :n", NO_SCALAR)):
        with refused(message):
            client.update_item(
                TableName=table,
                Key=KEY,
                UpdateExpression=expression,
                ConditionExpression="attribute_exists(pk)",
                ExpressionAttributeValues={":n": {"N": "1"}},
            )


@pytest.mark.parametrize(
    ("attributes", "word", "place"),
    [
        ({"g": {"S": ""}}, "string", "IndexName: a-second, IndexKey: g"),
        ({"gs": {"B": b""}}, "binary", "IndexName: by-group, IndexKey: gs"),
    ],
)
def test_empty(client: "Client", attributes: dict[str, Any], word: str, place: str) -> None:
    table = indexed(client)
    with refused(
        f"{NOT_VALID}A value specified for a secondary index key is not supported. {EMPTY.format(word)} {place}"
    ):
        put(client, table, attributes)
    with refused(
        f"{NOT_VALID}The update expression attempted to update a secondary index key to a value that is not "
        f"supported. {EMPTY.format(word)}"
    ):
        update(client, table, attributes)


def test_the_size(client: "Client") -> None:
    table = indexed(client)
    exact: dict[str, Any] = {"g": {"S": "x" * 2048}, "gs": {"B": b"x" * 1024}}
    put(client, table, exact)
    update(client, table, exact)
    with refused(
        f"{INVALID}Size limit exceeded for Index Key g Actual Size: 2049 bytes Max Size: 2048 bytes IndexName: a-second"
    ):
        put(client, table, {"g": {"S": "x" * 2049}})
    with refused(
        f"{INVALID}Size limit exceeded for Index Key gs Actual Size: 1025 bytes Max Size: 1024 bytes "
        "IndexName: by-group"
    ):
        put(client, table, {"gs": {"B": b"x" * 1025}})
    for attributes in ({"g": {"S": "x" * 2049}}, {"gs": {"B": b"x" * 1025}}):
        with refused(TOO_LONG_TO_UPDATE):
            update(client, table, attributes)
    assert client.get_item(TableName=table, Key=KEY)["Item"] == {**KEY, **exact}


def test_an_item_without_the_key_of_an_index_is_not_in_it(client: "Client") -> None:
    table = indexed(client)
    put(client, table, {"g": {"S": "x"}})
    assert client.scan(TableName=table, IndexName="by-group")["Count"] == 0
    assert client.scan(TableName=table, IndexName="a-second")["Count"] == 1
    update(client, table, {"gs": {"B": b"y"}})
    assert client.scan(TableName=table, IndexName="by-group")["Count"] == 1
    client.update_item(TableName=table, Key=KEY, UpdateExpression="REMOVE g")
    assert client.scan(TableName=table, IndexName="by-group")["Count"] == 0
    assert client.scan(TableName=table, IndexName="a-second")["Count"] == 0
    assert client.scan(TableName=table)["Count"] == 1


def test_a_replaced_or_deleted_item_leaves_nothing_in_the_indexes(client: "Client") -> None:
    table = indexed(client)
    names = ["by-group", "a-second", "by-number"]

    def entries() -> list[list[Any]]:
        return [client.scan(TableName=table, IndexName=name)["Items"] for name in names]

    first: dict[str, Any] = {"g": {"S": "x"}, "gs": {"B": b"y"}, "n": {"N": "1"}}
    put(client, table, first)
    assert entries() == [[{**KEY, **first}]] * 3
    second: dict[str, Any] = {"g": {"S": "z"}, "gs": {"B": b"y"}, "n": {"N": "1"}}
    put(client, table, second)
    assert entries() == [[{**KEY, **second}]] * 3
    put(client, table, {"n": {"N": "2"}})
    assert entries() == [[], [], [{**KEY, "n": {"N": "2"}}]]
    client.delete_item(TableName=table, Key=KEY)
    assert entries() == [[], [], []]


def test_an_item_that_a_later_index_can_not_hold_must_be_put_right(client: "Client") -> None:
    table = make_table(client, "pk", "sk")
    put(client, table, {"late": {"N": "1"}})
    client.update_table(
        TableName=table,
        AttributeDefinitions=[{"AttributeName": "late", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[
            {
                "Create": {
                    "IndexName": "later",
                    "KeySchema": [{"AttributeName": "late", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            }
        ],
    )
    with refused("The update expression attempted to update the secondary index key to unsupported type"):
        update(client, table, {"v": {"S": "x"}})
    update(client, table, {"v": {"S": "x"}, "late": {"S": "now"}})
    client.delete_item(TableName=table, Key=KEY)


def test_a_key_of_several_attributes(client: "Client") -> None:
    """Each attribute must follow the rules; the item is in the index if it has all of them."""
    table = make_table(client, "pk", "sk", gsis=[index("wide", ["a", "b:N"], ["c", "d:B"])])
    full: dict[str, Any] = {"a": {"S": "x"}, "b": {"N": "1"}, "c": {"S": "y"}, "d": {"B": b"z"}}

    def units(attributes: dict[str, Any]) -> Any:
        answer = client.put_item(TableName=table, Item={**KEY, **attributes}, ReturnConsumedCapacity="INDEXES")
        return answer["ConsumedCapacity"].get("GlobalSecondaryIndexes")

    assert units({"a": {"S": "x"}, "b": {"N": "1"}, "c": {"S": "y"}}) is None
    assert units(full) == {"wide": {"CapacityUnits": 1.0}}
    assert units(full) is None
    for name, other in (("a", {"S": "other"}), ("b", {"N": "2"}), ("c", {"S": "other"}), ("d", {"B": b"other"})):
        assert units({**full, name: other}) == {"wide": {"CapacityUnits": 2.0}}
        assert units(full) == {"wide": {"CapacityUnits": 2.0}}
        with refused(
            f"{INVALID}Type mismatch for Index Key {name} Expected: {next(iter(other))} Actual: BOOL IndexName: wide"
        ):
            put(client, table, {name: {"BOOL": True}})
    assert client.scan(TableName=table, IndexName="wide")["Items"] == [{**KEY, **full}]
