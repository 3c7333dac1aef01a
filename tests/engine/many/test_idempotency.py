"""TransactWriteItems with a token: the same request is answered again, but not run again."""

from typing import Any

import pytest

from keyplan.engine import Engine
from tests.engine.item_support import Client, item, values
from tests.engine.support import Clock, make_table, refused

MISMATCH = "IdempotentParameterMismatchException"
OTHER = "The request uses the same client token as a previous, but non-identical request."


def count(table: str, key: str = "a", by: int = 1, **more: Any) -> dict[str, Any]:
    """A request that would show if it had run twice."""
    update: Any = {
        "TableName": table,
        "Key": item(pk=key),
        "UpdateExpression": "ADD n :n",
        "ExpressionAttributeValues": values(n=by),
    }
    return {"TransactItems": [{"Update": update}], "ClientRequestToken": "token-1", **more}


def counted(client: Client, table: str, key: str = "a") -> int:
    return int(client.get_item(TableName=table, Key=item(pk=key)).get("Item", {"n": {"N": "0"}})["n"]["N"])


@pytest.fixture
def table(client: Client) -> str:
    return make_table(client)


def test_same_request_again(client: Client, table: str) -> None:
    for _ in range(3):
        client.transact_write_items(**count(table))
    assert counted(client, table) == 1
    client.transact_write_items(**count(table, ClientRequestToken="token-2"))
    assert counted(client, table) == 2


def test_without_a_token_every_call_counts(engine: Engine) -> None:
    table = make_table(engine)
    request = count(table)
    del request["ClientRequestToken"]
    for _ in range(2):
        engine.database.execute("TransactWriteItems", request)
    assert counted(engine, table) == 2


def test_order_of_keys_does_not_matter(client: Client, table: str) -> None:
    made: dict[str, Any] = {
        "pk": {"S": "x"},
        "m": {"M": {"b": {"N": "1"}, "a": {"L": [{"S": "x"}]}}},
        "s": {"SS": ["a"]},
    }

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(content) for key, content in reversed(value.items())}
        return [turned(content) for content in value] if isinstance(value, list) else value

    request = count(table)
    put: Any = {"TableName": table, "Item": made, "ConditionExpression": "attribute_not_exists(pk)"}
    request["TransactItems"].append({"Put": put})
    client.transact_write_items(**request)
    client.transact_write_items(**turned(request))
    assert counted(client, table) == 1


def test_another_request_with_the_same_token(client: Client, table: str) -> None:
    client.transact_write_items(**count(table))
    longer = count(table)
    longer["TransactItems"].append({"Delete": {"TableName": table, "Key": item(pk="z")}})
    for other in (count(table, by=2), count(table, key="b"), longer):
        with refused(OTHER, MISMATCH):
            client.transact_write_items(**other)
    assert counted(client, table) == 1


def test_order_of_actions_matters(client: Client, table: str) -> None:
    request = count(table)
    request["TransactItems"] += count(table, "b")["TransactItems"]
    client.transact_write_items(**request)
    with refused(OTHER, MISMATCH):
        client.transact_write_items(**(request | {"TransactItems": request["TransactItems"][::-1]}))


def test_cancelled_transaction_leaves_its_token_free(client: Client, table: str) -> None:
    request = count(table)
    request["TransactItems"][0]["Update"]["ConditionExpression"] = "attribute_exists(pk)"
    with pytest.raises(client.exceptions.TransactionCanceledException):
        client.transact_write_items(**request)
    client.put_item(TableName=table, Item=item(pk="a"))
    client.transact_write_items(**request)
    client.transact_write_items(**request)
    assert counted(client, table) == 1
    client.transact_write_items(**count(table, ClientRequestToken="token-2"))


def test_condition_is_not_looked_at_again(client: Client, table: str) -> None:
    request = count(table)
    request["TransactItems"][0]["Update"]["ConditionExpression"] = "attribute_not_exists(pk)"
    client.transact_write_items(**request)
    client.transact_write_items(**request)


def test_first_call_writes_and_repeated_calls_read(client: Client, table: str) -> None:
    put: Any = {"Put": {"TableName": table, "Item": item(pk="a", f="x" * 1500)}}
    request: Any = {"TransactItems": [put], "ClientRequestToken": "token-1", "ReturnConsumedCapacity": "TOTAL"}
    first = client.transact_write_items(**request)
    assert first["ConsumedCapacity"] == [{"TableName": table, "CapacityUnits": 4.0, "WriteCapacityUnits": 4.0}]
    again = client.transact_write_items(**request)
    assert again["ConsumedCapacity"] == [{"TableName": table, "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}]
    # The form of the response isn't part of the request's effect.
    again = client.transact_write_items(**(request | {"ReturnConsumedCapacity": "INDEXES"}))
    units = {"CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}
    assert again["ConsumedCapacity"] == [{"TableName": table, **units, "Table": units}]
    again = client.transact_write_items(**(request | {"ReturnConsumedCapacity": "NONE"}))
    assert "ConsumedCapacity" not in again


def test_repeated_calls_read_what_the_first_one_had(client: Client, table: str) -> None:
    """They are charged for the items as the first call found or left them, even if it deleted them
    (https://github.com/nubo-db/dynoxide/pull/188)."""
    for pk in "abc":
        client.put_item(TableName=table, Item=item(pk=pk, f="x" * 9000))
    delete: Any = {"Delete": {"TableName": table, "Key": item(pk="a")}}
    shrink: Any = {"Update": {"TableName": table, "Key": item(pk="b"), "UpdateExpression": "REMOVE f"}}
    exists = "attribute_exists(pk)"
    check: Any = {"ConditionCheck": {"TableName": table, "Key": item(pk="c"), "ConditionExpression": exists}}
    for action, token in ((delete, "token-1"), (shrink, "token-2"), (check, "token-3")):
        request: Any = {"TransactItems": [action], "ClientRequestToken": token, "ReturnConsumedCapacity": "TOTAL"}
        for kind, units in (("WriteCapacityUnits", 18.0), ("ReadCapacityUnits", 6.0), ("ReadCapacityUnits", 6.0)):
            (consumed,) = client.transact_write_items(**request)["ConsumedCapacity"]
            assert consumed == {"TableName": table, "CapacityUnits": units, kind: units}


def test_each_operation_has_its_own_tokens(client: Client, table: str) -> None:
    """https://github.com/nubo-db/dynoxide/pull/125."""
    client.transact_write_items(**count(table))
    statement: Any = {"Statement": f"UPDATE \"{table}\" SET n = n + 1 WHERE pk = 'a'"}
    for _ in range(2):
        client.execute_transaction(TransactStatements=[statement], ClientRequestToken="token-1")
    assert counted(client, table) == 2


def test_token_lasts_ten_minutes(timed: Engine, clock: Clock) -> None:
    table = make_table(timed)
    timed.transact_write_items(**count(table))
    clock.now += 599
    timed.transact_write_items(**count(table))
    assert counted(timed, table) == 1
    with refused(OTHER, MISMATCH):
        timed.transact_write_items(**count(table, by=5))
    clock.now += 1.5
    timed.transact_write_items(**count(table, by=5))
    assert counted(timed, table) == 6
    # The call that was applied starts another ten minutes for the token.
    clock.now += 599
    timed.transact_write_items(**count(table, by=5))
    assert counted(timed, table) == 6


def test_token_survives_a_restart(tmp_path: Any) -> None:
    path = str(tmp_path / "app.db")
    with Engine(path) as engine:
        table = make_table(engine)
        engine.transact_write_items(**count(table))
    with Engine(path) as engine:
        engine.transact_write_items(**count(table))
        assert counted(engine, table) == 1
