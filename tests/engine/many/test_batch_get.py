"""BatchGetItem."""

from typing import Any

import pytest

from keyplan.engine.database import Database
from tests.engine.item_support import Client, Item, contents, fill, item
from tests.engine.support import make_table, refused

SCHEMA = "The provided key element does not match the schema"


def keys(*numbers: int) -> list[Item]:
    return [item(pk="a", sk=number) for number in numbers]


@pytest.fixture
def table(client: Client) -> str:
    name = make_table(client, "pk", "sk:N")
    fill(client, name, [item(pk="a", sk=number, v=f"v{number}", w=number) for number in range(5)])
    return name


def test_items_that_are_there(client: Client, table: str) -> None:
    answer = client.batch_get_item(RequestItems={table: {"Keys": keys(3, 9, 1)}})
    assert sorted(contents(answer["Responses"][table], "sk")) == ["1", "3"]
    assert answer["UnprocessedKeys"] == {}
    assert "ConsumedCapacity" not in answer


def test_nothing_is_there(client: Client, table: str) -> None:
    answer = client.batch_get_item(RequestItems={table: {"Keys": keys(9)}})
    assert answer["Responses"] == {table: []}


def test_several_tables_each_with_its_own_projection(client: Client, table: str) -> None:
    other = make_table(client)
    client.put_item(TableName=other, Item=item(pk="x", v="y"))
    answer = client.batch_get_item(
        RequestItems={
            table: {
                "Keys": keys(1),
                "ProjectionExpression": "#v, w",
                "ExpressionAttributeNames": {"#v": "v"},
                "ConsistentRead": True,
            },
            other: {"Keys": [item(pk="x")]},
        },
        ReturnConsumedCapacity="TOTAL",
    )
    assert answer["Responses"] == {table: [item(v="v1", w=1)], other: [item(pk="x", v="y")]}
    assert answer["ConsumedCapacity"] == [
        {"TableName": table, "CapacityUnits": 1.0},
        {"TableName": other, "CapacityUnits": 0.5},
    ]


def test_table_by_its_arn(client: Client, table: str) -> None:
    arn = client.describe_table(TableName=table)["Table"]["TableArn"]
    answer = client.batch_get_item(RequestItems={arn: {"Keys": keys(1)}}, ReturnConsumedCapacity="TOTAL")
    assert list(answer["Responses"]) == [arn]
    assert answer["ConsumedCapacity"] == [{"TableName": arn, "CapacityUnits": 0.5}]
    with refused("Provided list of item keys contains duplicates"):
        client.batch_get_item(RequestItems={arn: {"Keys": keys(1)}, table: {"Keys": keys(1)}})


def test_each_item_is_rounded_up_and_missing_ones_cost_too(client: Client, table: str) -> None:
    client.put_item(TableName=table, Item=item(pk="a", sk=7, f="x" * 5000))
    request: Any = {"RequestItems": {table: {"Keys": keys(1, 2, 7, 99)}}}
    answer = client.batch_get_item(**request, ReturnConsumedCapacity="INDEXES")
    assert answer["ConsumedCapacity"] == [
        {"TableName": table, "CapacityUnits": 2.5, "Table": {"CapacityUnits": 2.5}},
    ]
    request["RequestItems"][table]["ConsistentRead"] = True
    answer = client.batch_get_item(**request, ReturnConsumedCapacity="TOTAL")
    assert answer["ConsumedCapacity"] == [{"TableName": table, "CapacityUnits": 5.0}]


def test_a_hundred_keys_and_no_more(client: Client, table: str) -> None:
    other = make_table(client, "pk", "sk:N")
    fill(client, table, [item(pk="a", sk=number) for number in range(100)])
    answer = client.batch_get_item(RequestItems={table: {"Keys": keys(*range(99))}, other: {"Keys": keys(0)}})
    assert len(answer["Responses"][table]) == 99
    with refused("Too many items requested for the BatchGetItem call"):
        client.batch_get_item(RequestItems={table: {"Keys": keys(*range(99))}, other: {"Keys": keys(0, 1)}})


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"Keys": keys(1, 2, 1)}, "Provided list of item keys contains duplicates"),
        (
            {"Keys": [*keys(1), {"pk": {"S": "a"}, "sk": {"N": "1.0"}}]},
            "Provided list of item keys contains duplicates",
        ),
        ({"Keys": [item(pk="a")]}, SCHEMA),
        ({"Keys": [item(pk="a", sk="1")]}, SCHEMA),
        ({"Keys": [item(pk="a", sk=1, v="x")]}, SCHEMA),
        (
            {"Keys": [item(pk="", sk=1)]},
            (
                "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an "
                "empty string value. Key: pk"
            ),
        ),
        (
            {"Keys": keys(1), "ProjectionExpression": "v,"},
            'Invalid ProjectionExpression: Syntax error; token: "<EOF>", near: ","',
        ),
        (
            {"Keys": keys(1), "ExpressionAttributeNames": {"#v": "v"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"Keys": keys(1), "ProjectionExpression": "v", "ExpressionAttributeNames": {"#v": "v"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#v}",
        ),
        (
            {"Keys": [{"pk": {"S": "a"}, "sk": {"N": "one"}}]},
            "The parameter cannot be converted to a numeric value: one",
        ),
    ],
)
def test_refusals(client: Client, table: str, request_: Any, message: str) -> None:
    with refused(message):
        client.batch_get_item(RequestItems={table: request_})


def test_legacy_parameters_of_one_table_do_not_go_with_expressions_of_another(client: Client, table: str) -> None:
    """https://github.com/nubo-db/dynoxide/pull/127 has the rule, as of July 2026."""
    with refused(
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}"
    ):
        client.batch_get_item(
            RequestItems={
                table: {"Keys": keys(1), "ProjectionExpression": "pk"},
                make_table(client): {"Keys": [item(pk="a")], "AttributesToGet": ["pk"]},
            }
        )


def test_a_key_twice_is_noticed_before_the_table_and_the_projection_are_looked_at(client: Client, table: str) -> None:
    turned: Any = dict(reversed(keys(1)[0].items()))
    for name, wanted in ((table, [*keys(1), turned]), ("nowhere", [item(x="y"), item(v=1), item(x="y")])):
        with refused("Provided list of item keys contains duplicates"):
            client.batch_get_item(RequestItems={name: {"Keys": wanted, "ProjectionExpression": "v,"}})


def test_unknown_table(client: Client, table: str) -> None:
    with refused("Requested resource not found", "ResourceNotFoundException"):
        client.batch_get_item(RequestItems={table: {"Keys": keys(1)}, "nowhere": {"Keys": keys(1)}})


def test_sixteen_megabytes_and_the_rest_unprocessed(client: Client) -> None:
    table = make_table(client, "pk", "sk:N")
    for number in range(43):
        client.put_item(TableName=table, Item=item(pk="a", sk=number, f="x" * 400_000))
    wanted: Any = {
        "Keys": keys(*range(43)),
        "ConsistentRead": True,
        "ProjectionExpression": "pk, #s",
        "ExpressionAttributeNames": {"#s": "sk"},
    }
    answer = client.batch_get_item(RequestItems={table: wanted}, ReturnConsumedCapacity="TOTAL")
    first = contents(answer["Responses"][table], "sk")
    # 41 items of 400,000 bytes and a little fit into 16 MB; measured before the projection, as the cost is.
    assert len(first) == 41
    assert answer["ConsumedCapacity"][0]["CapacityUnits"] == 41 * 98
    rest = answer["UnprocessedKeys"]
    assert {name: wanted[name] for name in wanted if name != "Keys"} == {
        name: value for name, value in rest[table].items() if name != "Keys"
    }
    answer = client.batch_get_item(RequestItems=rest)
    second = contents(answer["Responses"][table], "sk")
    assert answer["UnprocessedKeys"] == {}
    assert sorted(map(int, first + second)) == list(range(43))


def test_tables_after_the_sixteen_megabytes_are_unprocessed(engine: Client) -> None:
    table, other = make_table(engine, "pk", "sk:N"), make_table(engine, "pk", "sk:N")
    for number in range(42):
        engine.put_item(TableName=table, Item=item(pk="a", sk=number, f="x" * 400_000))
    engine.put_item(TableName=other, Item=item(pk="a", sk=0))
    answer = engine.batch_get_item(RequestItems={table: {"Keys": keys(*range(42))}, other: {"Keys": keys(0)}})
    assert answer["UnprocessedKeys"] == {table: {"Keys": keys(41)}, other: {"Keys": keys(0)}}
    assert answer["Responses"][other] == []


def test_members_that_mean_nothing_do_not_come_back(database: Database, engine: Client) -> None:
    table = make_table(engine, "pk", "sk:N")
    for number in range(42):
        engine.put_item(TableName=table, Item=item(pk="a", sk=number, f="x" * 400_000))
    request: Any = {"RequestItems": {table: {"Keys": keys(*range(42)), "Unknown": {"a": 1}}}}
    answer: Any = database.execute("BatchGetItem", request)
    assert answer["UnprocessedKeys"] == {table: {"Keys": keys(41)}}
