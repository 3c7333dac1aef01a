"""BatchExecuteStatement: a result for each statement, in their order."""

from typing import Any, cast

import pytest

from keyplan.engine.database import Database
from keyplan.engine.errors import DynamoError
from tests.engine.item_support import Client
from tests.engine.partiql.support import MALFORMED, items, orders, plain
from tests.engine.support import make_table, refused

NO_KEY = "Select statements within BatchExecuteStatement must specify the primary key in the where clause."


def batch(client: Client, *statements: str | dict[str, Any], **request: Any) -> list[dict[str, Any]]:
    given: list[Any] = [one if isinstance(one, dict) else {"Statement": one} for one in statements]
    return cast(list[dict[str, Any]], client.batch_execute_statement(Statements=given, **request)["Responses"])


@pytest.fixture
def table(client: Client) -> str:
    return orders(client)


def test_reads(client: Client, table: str) -> None:
    select = f'SELECT customer, total FROM "{table}" WHERE customer ='
    found = batch(
        client,
        f"{select} 'ada' AND number = 2",
        {"Statement": f"{select} ? AND number = ?", "Parameters": [{"S": "cleo"}, {"N": "1"}], "ConsistentRead": True},
        f"{select} 'nobody' AND number = 1",
        f"{select} 'ada' AND number = 2",
    )
    ada = {"TableName": table, "Item": {"customer": {"S": "ada"}, "total": {"N": "20"}}}
    cleo = {"TableName": table, "Item": {"customer": {"S": "cleo"}, "total": {"N": "50"}}}
    assert found == [ada, cleo, {"TableName": table}, ada]


def test_a_read_needs_the_whole_key_and_nothing_else(client: Client, table: str) -> None:
    # "Each read statement in a BatchExecuteStatement must specify an equality condition on all key attributes":
    # BatchExecuteStatement in the API reference. It "makes use of BatchGetItem, which takes a list of primary keys".
    key = "customer = 'ada' AND number = 1"
    source = f'SELECT * FROM "{table}"'
    found = batch(
        client,
        source,
        f"{source} WHERE customer = 'ada'",
        f"{source} WHERE customer = 'ada' AND number > 1",
        f"{source} WHERE {key} AND total = 30",
        f"{source} WHERE {key} OR {key}",
        f"{source}.\"by-state\" WHERE state = 'open' AND total = 30",
        f"{source} WHERE {key}",
    )
    assert [response.get("Error") for response in found] == [
        *[{"Code": "ValidationError", "Message": NO_KEY}] * 6,
        None,
    ]
    assert [set(response) for response in found] == [{"Error"}] * 6 + [{"TableName", "Item"}]


def test_writes_and_their_errors(client: Client, table: str) -> None:
    key = "customer = 'ada' AND number = 1"
    found = batch(
        client,
        f"INSERT INTO \"{table}\" VALUE {{'customer': 'new', 'number': 1}}",
        f"INSERT INTO \"{table}\" VALUE {{'customer': 'ada', 'number': 1}}",
        f'UPDATE "{table}" SET total = total + 1 WHERE {key} RETURNING ALL NEW *',
        f'UPDATE "{table}" SET total = 0 WHERE {key} AND total = 30',
        {
            "Statement": f'UPDATE "{table}" SET total = 0 WHERE {key} AND total = ?',
            "Parameters": [{"N": "30"}],
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        },
        f"DELETE FROM \"{table}\" WHERE customer = 'bob' AND number = 1",
        f"DELETE FROM \"{table}\" WHERE customer = 'bob'",
        "DELETE FROM nowhere WHERE pk = 1",
        "UPDATE",
        f'UPDATE "{table}" SET total = ? WHERE {key}',
        f'UPDATE "{table}" SET customer = 1 WHERE {key}',
        f'EXISTS(SELECT * FROM "{table}" WHERE {key})',
    )
    item = found[2].pop("Item")
    assert item["total"] == {"N": "31"}
    failed = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
    no_key = "Where clause does not contain a mandatory equality on all key attributes"
    assert found == [
        {"TableName": table},
        {"TableName": table, "Error": {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"}},
        {"TableName": table},
        {"TableName": table, "Error": failed},
        {"TableName": table, "Error": {**failed, "Item": item}},
        {"TableName": table},
        {"Error": {"Code": "ValidationError", "Message": no_key}},
        {"Error": {"Code": "ResourceNotFound", "Message": "Requested resource not found"}},
        {"Error": {"Code": "ValidationError", "Message": MALFORMED + "Expected identifier for simple path"}},
        {
            "Error": {
                "Code": "ValidationError",
                "Message": "Number of parameters in request and statement don't match.",
            }
        },
        {
            "Error": {
                "Code": "ValidationError",
                "Message": "One or more parameter values were invalid: Cannot update attribute customer. "
                "This attribute is part of the key",
            }
        },
        {"Error": {"Code": "ValidationError", "Message": "EXISTS is only supported in ExecuteTransaction"}},
    ]
    left = items(client, f'SELECT customer, number FROM "{table}"')
    assert sorted(plain(left, "customer", "number")) == [
        *(("ada", "1"), ("ada", "2"), ("ada", "3"), ("cleo", "1"), ("new", "1")),
    ]


def test_reads_and_writes_cannot_be_mixed(client: Client, table: str) -> None:
    with refused("Read statements and write statements cannot be mixed in one batch"):
        batch(
            client,
            f"SELECT * FROM \"{table}\" WHERE customer = 'ada' AND number = 1",
            f"DELETE FROM \"{table}\" WHERE customer = 'ada' AND number = 1",
        )
    assert len(items(client, f"SELECT * FROM \"{table}\" WHERE customer = 'ada' AND number = 1")) == 1


def test_what_a_batch_costs(client: Client, table: str) -> None:
    other = make_table(client, "pk")

    def capacities(*statements: str | dict[str, Any], kind: str = "TOTAL") -> Any:
        given: list[Any] = [one if isinstance(one, dict) else {"Statement": one} for one in statements]
        return client.batch_execute_statement(Statements=given, ReturnConsumedCapacity=cast(Any, kind))[
            "ConsumedCapacity"
        ]

    ada = f"SELECT * FROM \"{table}\" WHERE customer = 'ada' AND number = 1"
    assert capacities(ada, {"Statement": ada, "ConsistentRead": True}, f"SELECT * FROM \"{other}\" WHERE pk = 'a'") == [
        {"TableName": table, "CapacityUnits": 0.5},
        {"TableName": table, "CapacityUnits": 1.0},
        {"TableName": other, "CapacityUnits": 0.5},
    ]
    assert capacities(f"INSERT INTO \"{other}\" VALUE {{'pk': 'a'}}", f"DELETE FROM \"{other}\" WHERE pk = 'a'") == [
        {"TableName": other, "CapacityUnits": 1.0},
        {"TableName": other, "CapacityUnits": 1.0},
    ]
    assert capacities("DELETE FROM nowhere WHERE pk = 1") == []


def test_the_number_of_statements(database: Database) -> None:
    statement = {"Statement": "DELETE FROM nowhere WHERE pk = 1"}
    assert (
        len(cast(list[Any], database.execute("BatchExecuteStatement", {"Statements": [statement] * 25})["Responses"]))
        == 25
    )
    for count, rule in ((26, "less than or equal to 25"), (0, "greater than or equal to 1")):
        with pytest.raises(DynamoError, match=f"Member must have length {rule}$"):
            database.execute("BatchExecuteStatement", {"Statements": [statement] * count})
