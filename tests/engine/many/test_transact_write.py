"""TransactWriteItems: all actions or none, and the reasons."""

from typing import Any

import pytest

from keyplan.engine.database import Database
from keyplan.engine.errors import DynamoError
from tests.engine.item_support import Client, Item, item, values
from tests.engine.support import index, make_table, refused

CANCELLED = "Transaction cancelled, please refer cancellation reasons for specific reasons [{}]"
TWICE = "Transaction request cannot include multiple operations on one item"
FAILED = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
NONE = {"Code": "None"}


class Actions:
    """Actions on one table."""

    def __init__(self, table: str) -> None:
        self.table = table

    def put(self, made: Item, **more: Any) -> Any:
        return {"Put": {"TableName": self.table, "Item": made, **more}}

    def delete(self, key: str, **more: Any) -> Any:
        return {"Delete": {"TableName": self.table, "Key": item(pk=key), **more}}

    def check(self, key: str, condition: str = "attribute_exists(pk)", **more: Any) -> Any:
        return {
            "ConditionCheck": {
                "TableName": self.table,
                "Key": item(pk=key),
                "ConditionExpression": condition,
                **more,
            }
        }

    def update(self, key: str, update: str = "SET v = :v", **more: Any) -> Any:
        if ":v" in update:
            more = {"ExpressionAttributeValues": values(v=1), **more}
        return {"Update": {"TableName": self.table, "Key": item(pk=key), "UpdateExpression": update, **more}}


def deep(levels: int) -> Any:
    """A number in so many lists; one in 32 of them can't be stored."""
    made: Any = {"N": "1"}
    for _ in range(levels):
        made = {"L": [made]}
    return made


@pytest.fixture
def act(client: Client) -> Actions:
    """A table with the items "a" and "b"."""
    table = make_table(client, gsis=[index("by-g", "g")])
    for key in "ab":
        client.put_item(TableName=table, Item=item(pk=key, v=0))
    return Actions(table)


def everything(client: Client, table: str) -> dict[str, Item]:
    found: Any = client.scan(TableName=table)["Items"]
    return {one["pk"]["S"]: one for one in found}


def transact(client: Client, *actions: Any, **more: Any) -> Any:
    return client.transact_write_items(TransactItems=list(actions), **more)


def test_every_kind_of_action(client: Client, act: Actions) -> None:
    other = Actions(make_table(client))
    answer = transact(
        client,
        act.check("a", "v = :v", ExpressionAttributeValues=values(v=0)),
        act.update("b", "SET v = v + :v"),
        act.put(item(pk="c"), ConditionExpression="attribute_not_exists(pk)"),
        other.put(item(pk="a")),
        other.delete("none"),
        act.update("new"),
    )
    assert set(answer) == {"ResponseMetadata"}
    assert everything(client, act.table) == {
        "a": item(pk="a", v=0),
        "b": item(pk="b", v=1),
        "c": item(pk="c"),
        "new": item(pk="new", v=1),
    }
    assert everything(client, other.table) == {"a": item(pk="a")}


def test_indexes_follow(client: Client, act: Actions) -> None:
    transact(client, act.update("a", "SET g = :g", ExpressionAttributeValues=values(g="g")), act.delete("b"))
    found = client.scan(TableName=act.table, IndexName="by-g")["Items"]
    assert found == [item(pk="a", v=0, g="g")]


def test_one_failed_condition_and_nothing_is_done(client: Client, act: Actions) -> None:
    before = everything(client, act.table)
    with refused(
        CANCELLED.format("None, ConditionalCheckFailed, None, ConditionalCheckFailed, ConditionalCheckFailed"),
        "TransactionCanceledException",
    ) as answer:
        transact(
            client,
            act.put(item(pk="new")),
            act.check("none"),
            act.delete("a"),
            act.update(
                "b",
                "SET v = :v",
                ConditionExpression="v > :v",
                ExpressionAttributeValues=values(v=7),
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            ),
            act.put(
                item(pk="x"),
                ConditionExpression="attribute_exists(pk)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            ),
        )
    assert answer["CancellationReasons"] == [NONE, FAILED, NONE, FAILED | {"Item": item(pk="b", v=0)}, FAILED]
    assert everything(client, act.table) == before


@pytest.mark.parametrize("kind", ["check", "put", "delete", "update"])
def test_item_of_a_failed_condition(client: Client, act: Actions, kind: str) -> None:
    more: Any = {"ConditionExpression": "attribute_not_exists(pk)"}
    actions = {
        "check": act.check("a", "attribute_not_exists(pk)"),
        "put": act.put(item(pk="a"), **more),
        "delete": act.delete("a", **more),
        "update": act.update("a", **more),
    }
    (inner,) = actions[kind].values()
    inner["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    with refused(CANCELLED.format("ConditionalCheckFailed"), "TransactionCanceledException") as answer:
        transact(client, actions[kind])
    assert answer["CancellationReasons"] == [FAILED | {"Item": item(pk="a", v=0)}]
    inner["ReturnValuesOnConditionCheckFailure"] = "NONE"
    with refused(CANCELLED.format("ConditionalCheckFailed"), "TransactionCanceledException") as answer:
        transact(client, actions[kind])
    assert answer["CancellationReasons"] == [FAILED]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"Put": {"Item": item(pk=1)}},
            "One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N",
        ),
        ({"Put": {"Item": item(v=1)}}, "One or more parameter values were invalid: Missing the key pk in the item"),
        (
            {"Put": {"Item": item(pk="x", g=1)}},
            (
                "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N "
                "IndexName: by-g"
            ),
        ),
        ({"Delete": {"Key": item(pk=1)}}, "The provided key element does not match the schema"),
        ({"Delete": {"Key": item(pk="a", v=1)}}, "The provided key element does not match the schema"),
        (
            {"Update": {"Key": item(pk="a"), "UpdateExpression": "SET v = absent"}},
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            {
                "Update": {
                    "Key": item(pk="a"),
                    "UpdateExpression": "ADD v :s",
                    "ExpressionAttributeValues": {":s": {"SS": ["x"]}},
                }
            },
            "An operand in the update expression has an incorrect data type",
        ),
        (
            {
                "Update": {
                    "Key": item(pk="a"),
                    "UpdateExpression": "SET g = :n",
                    "ExpressionAttributeValues": values(n=1),
                }
            },
            (
                "One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N "
                "IndexName: by-g"
            ),
        ),
        (
            {"Update": {"Key": item(pk="a"), "UpdateExpression": "SET g = v"}},
            "The update expression attempted to update the secondary index key to unsupported type",
        ),
        (
            {
                "Update": {
                    "Key": item(pk="a"),
                    "UpdateExpression": "SET f = :f",
                    "ExpressionAttributeValues": values(f="x" * 409_600),
                }
            },
            "Item size to update has exceeded the maximum allowed size",
        ),
    ],
)
def test_what_is_wrong_with_one_action_is_its_reason(client: Client, act: Actions, wrong: Any, message: str) -> None:
    before = everything(client, act.table)
    for action in wrong.values():
        action["TableName"] = act.table
    with refused(CANCELLED.format("None, ValidationError"), "TransactionCanceledException") as answer:
        transact(client, act.put(item(pk="new")), wrong)
    assert answer["CancellationReasons"] == [NONE, {"Code": "ValidationError", "Message": message}]
    assert everything(client, act.table) == before


@pytest.mark.parametrize("name", ["Put", "Delete"])
def test_empty_key_is_an_error_of_the_request(client: Client, act: Actions, name: str) -> None:
    wrong = act.put(item(pk="")) if name == "Put" else act.delete("")
    with refused(
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
        "string value. Key: pk"
    ):
        transact(client, act.check("none"), wrong)


def test_wrong_keys_come_before_items_named_twice_and_these_before_conditions(client: Client, act: Actions) -> None:
    twice = [act.delete("a"), act.check("a", "attribute_not_exists(pk)")]
    with refused(CANCELLED.format("None, None, ValidationError"), "TransactionCanceledException"):
        transact(client, *twice, act.put(item(pk=1)))
    with refused(TWICE):
        transact(client, *twice, act.put(item(pk="b"), ConditionExpression="attribute_not_exists(pk)"))


def test_no_item_twice(client: Client, act: Actions) -> None:
    with refused(TWICE):
        transact(client, act.check("a"), act.update("a"))
    with refused(TWICE):
        transact(client, act.put(item(pk="x")), act.put(item(pk="y")), act.delete("x"))
    arn = client.describe_table(TableName=act.table)["Table"]["TableArn"]
    with refused(TWICE):
        transact(client, act.update("a"), Actions(arn).delete("a"))
    other = Actions(make_table(client))
    transact(client, act.put(item(pk="a")), other.put(item(pk="a")))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([{}], "Invalid Request: TransactWriteRequest should contain Delete or Put or Update request"),
        (
            [{"Put": {"TableName": "any", "Item": {}}, "Delete": {"TableName": "any", "Key": {}}}],
            "TransactItems can only contain one of Check, Put, Update or Delete",
        ),
        (
            [{"Update": {"TableName": "any", "Key": {}, "UpdateExpression": "SET"}}],
            'Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "SET"',
        ),
        (
            [{"ConditionCheck": {"TableName": "any", "Key": {}, "ConditionExpression": "v = :v"}}],
            (
                "Invalid ConditionExpression: An expression attribute value used in expression is not defined; "
                "attribute value: :v"
            ),
        ),
        (
            [{"Delete": {"TableName": "any", "Key": {}, "ConditionExpression": f"a = :v{' ' * 4096}"}}],
            "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size;",
        ),
        (
            [{"Put": {"TableName": "any", "Item": {"a": deep(32)}}}],
            (
                "Nesting Levels have exceeded supported limits: "
                "Attributes in the item have nested levels beyond supported limit"
            ),
        ),
        (
            [{"Put": {"TableName": "any", "Item": item(f="x" * 409_600)}}],
            "Item size has exceeded the maximum allowed size",
        ),
    ],
)
def test_requests_are_looked_at_before_the_tables(client: Client, actions: Any, message: str) -> None:
    with refused(message):
        transact(client, *actions)


def test_placeholders_without_a_condition_mean_nothing(client: Client, act: Actions) -> None:
    """Unlike PutItem and DeleteItem; AWS accepts them: https://github.com/ExtendDB/extenddb/pull/169."""
    unused: Any = {"ExpressionAttributeNames": {"#v": "v"}, "ExpressionAttributeValues": values(v=1)}
    transact(client, act.put(item(pk="c"), **unused), act.delete("a", **unused))
    assert set(everything(client, act.table)) == {"b", "c"}


def test_values_that_nest_too_deep(client: Client, act: Actions) -> None:
    """An update's cancel the transaction, a condition's are compared: measured on AWS in September 2026,
    https://github.com/paritysuite/dynamodb-conformance/pull/178.
    """
    for levels in (32, 100):
        compared: Any = {"ConditionExpression": "v <> :v", "ExpressionAttributeValues": {":v": deep(levels)}}
        check = act.check("a", "v <> :v", ExpressionAttributeValues={":v": deep(levels)})
        transact(client, check, act.put(item(pk="b", v=0), **compared), act.delete("none", **compared))
        with pytest.raises(client.exceptions.TransactionCanceledException) as caught:
            transact(client, act.check("a"), act.update("b", ExpressionAttributeValues={":v": deep(levels)}))
        assert caught.value.response["CancellationReasons"] == [
            NONE,
            {
                "Code": "ValidationError",
                "Message": (
                    "Nesting Levels have exceeded supported limits: "
                    "Attributes in the item have nested levels beyond supported limit"
                ),
            },
        ]


def test_unknown_table(client: Client, act: Actions) -> None:
    with refused("Requested resource not found", "ResourceNotFoundException"):
        transact(client, act.check("none"), Actions("nowhere").delete("a"))


def test_a_hundred_actions_and_no_more(client: Client, act: Actions, database: Database) -> None:
    actions = [act.put(item(pk=str(number))) for number in range(101)]
    transact(client, *actions[:100])
    assert len(everything(client, act.table)) == 102
    with pytest.raises(DynamoError, match=r"Member must have length less than or equal to 100$"):
        database.execute("TransactWriteItems", {"TransactItems": actions})
    with pytest.raises(DynamoError, match=r"Member must have length greater than or equal to 1$"):
        database.execute("TransactWriteItems", {"TransactItems": []})


def test_four_megabytes(engine: Client) -> None:
    act = Actions(make_table(engine))
    actions = [act.put(item(pk=str(number), f="x" * 400_000)) for number in range(11)]
    transact(engine, *actions[:10])
    with refused("Transaction payload size exceeded the maximum allowed size"):
        transact(engine, *actions)
    assert "10" not in everything(engine, act.table)


def test_four_megabytes_are_those_of_the_request(engine: Client) -> None:
    act = Actions(make_table(engine))
    for number in range(60):
        engine.put_item(TableName=act.table, Item=item(pk=str(number), f="x" * 100_000))
    transact(engine, *[act.check(str(number)) for number in range(60)])
    transact(engine, *[act.update(str(number)) for number in range(60)])
    transact(engine, *[act.delete(str(number)) for number in range(60)])
    assert everything(engine, act.table) == {}
    large: Any = {"ExpressionAttributeValues": values(f="x" * 100_000)}
    with refused("Transaction payload size exceeded the maximum allowed size"):
        transact(engine, *[act.update(str(number), "SET f = :f", **large) for number in range(42)])


def test_only_the_first_invalid_action_has_a_reason(client: Client, act: Actions) -> None:
    absent = "The provided expression refers to an attribute that does not exist in the item"
    wrong = [act.update(pk, "SET v = absent") for pk in ("a", "b")]
    failing = [act.check(pk, "attribute_not_exists(pk)") for pk in ("c", "d")]
    client.put_item(TableName=act.table, Item=item(pk="c"))
    client.put_item(TableName=act.table, Item=item(pk="d"))
    invalid: Any = {"Code": "ValidationError", "Message": absent}
    with refused(CANCELLED.format("ValidationError, None"), "TransactionCanceledException") as answer:
        transact(client, *wrong)
    assert answer["CancellationReasons"] == [invalid, NONE]
    # Conditions that fail all have one, as in
    # https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
    codes = "ConditionalCheckFailed, ValidationError, None, ConditionalCheckFailed"
    with refused(CANCELLED.format(codes), "TransactionCanceledException") as answer:
        transact(client, failing[0], *wrong, failing[1])
    assert answer["CancellationReasons"] == [FAILED, invalid, NONE, FAILED]


def test_capacity(client: Client) -> None:
    """A transaction doubles what is consumed of the table, not of its indexes, as was measured on AWS:
    https://github.com/nubo-db/dynoxide/pull/188."""
    act = Actions(make_table(client, gsis=[index("by-g", "g", projection="KEYS_ONLY")]))
    other = Actions(make_table(client))
    client.put_item(TableName=act.table, Item=item(pk="old", g="1"))
    answer = transact(
        client,
        act.put(item(pk="a", f="x" * 1500)),
        other.check("none", "attribute_not_exists(pk)"),
        act.update("old", "SET g = :g", ExpressionAttributeValues=values(g="2")),
        act.delete("none"),
        ReturnConsumedCapacity="INDEXES",
        ReturnItemCollectionMetrics="SIZE",
    )

    def units(number: float) -> dict[str, float]:
        return {"CapacityUnits": number, "WriteCapacityUnits": number}

    assert answer["ConsumedCapacity"] == [
        {
            "TableName": act.table,
            **units(10.0),
            "Table": units(8.0),
            "GlobalSecondaryIndexes": {"by-g": units(2.0)},
        },
        {"TableName": other.table, **units(2.0), "Table": units(2.0)},
    ]
    assert answer["ItemCollectionMetrics"] == {}
    answer = transact(client, act.delete("a"), ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == [{"TableName": act.table, **units(4.0)}]


def test_item_collections(client: Client) -> None:
    table = make_table(client, "pk", "sk:N", lsis=[index("by-r", "pk", "r")])
    key = {"pk": {"S": "c"}, "sk": {"N": "1"}}
    answer = transact(
        client,
        *({"Put": {"TableName": table, "Item": item(pk=pk, sk=sk)}} for pk, sk in [("a", 1), ("a", 2), ("b", 1)]),
        {"ConditionCheck": {"TableName": table, "Key": key, "ConditionExpression": "attribute_not_exists(pk)"}},
        ReturnItemCollectionMetrics="SIZE",
    )
    assert answer["ItemCollectionMetrics"] == {
        table: [{"ItemCollectionKey": item(pk=pk), "SizeEstimateRangeGB": [0.0, 1.0]} for pk in "ab"]
    }
