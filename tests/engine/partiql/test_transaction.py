"""ExecuteTransaction: all statements or none, with a reason for each."""

from typing import Any, cast

import pytest

from keyplan.engine import Engine
from keyplan.engine.database import Database
from keyplan.engine.errors import DynamoError
from tests.engine.item_support import Client
from tests.engine.partiql.support import MALFORMED, execute, items, orders, plain
from tests.engine.support import Clock, make_table, refused

FAILED = {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed"}
NONE = {"Code": "None"}


def transact(client: Client, *statements: str | dict[str, Any], **request: Any) -> list[dict[str, Any]]:
    given: list[Any] = [one if isinstance(one, dict) else {"Statement": one} for one in statements]
    answer = client.execute_transaction(TransactStatements=given, **request)
    return cast(list[dict[str, Any]], answer["Responses"])


def canceled(client: Client, reasons: list[dict[str, Any]], *statements: str | dict[str, Any]) -> None:
    codes = ", ".join(reason["Code"] for reason in reasons)
    message = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
    with refused(message, "TransactionCanceledException") as answer:
        transact(client, *statements)
    assert answer["CancellationReasons"] == reasons


@pytest.fixture
def table(client: Client) -> str:
    return make_table(client, "pk", name="songs")


def pks(client: Client, table: str = "songs") -> list[Any]:
    return sorted(plain(items(client, f'SELECT pk FROM "{table}"'), "pk"))


def test_the_example_of_the_guide(client: Client) -> None:
    # ql-reference.multiplestatements.transactions, with parameters as parameters.
    make_table(client, "Artist", "SongTitle", name="Music")
    execute(client, "INSERT INTO Music VALUE {'Artist':'No One You Know','SongTitle':'Call Me Today'}")
    execute(client, "INSERT INTO Music VALUE {'Artist':'Acme Band','SongTitle':'PartiQL Rocks'}")
    song = "Artist='No One You Know' and SongTitle='Call Me Today'"
    changes = "SET AwardsWon=1 SET AwardDetail={'Grammys':[2020, 2018]}"
    statements: list[str | dict[str, Any]] = [
        f"EXISTS(SELECT * FROM Music where {song} and Awards is  MISSING)",
        {
            "Statement": "INSERT INTO Music value {'Artist':?,'SongTitle':?}",
            "Parameters": [{"S": "Acme Band"}, {"S": "Best Song"}],
        },
        f"UPDATE Music {changes}  where Artist='Acme Band' and SongTitle='PartiQL Rocks'",
    ]
    assert transact(client, *statements) == [{}, {}, {}]
    assert len(items(client, "SELECT * FROM Music")) == 3
    duplicate = {"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"}
    canceled(client, [NONE, duplicate, NONE], *statements)


def test_all_or_nothing(client: Client, table: str) -> None:
    execute(client, "INSERT INTO songs VALUE {'pk': 'a', 'n': 1}")
    canceled(
        client,
        [NONE, FAILED, FAILED, {**FAILED, "Item": {"pk": {"S": "a"}, "n": {"N": "1"}}}],
        "INSERT INTO songs VALUE {'pk': 'b'}",
        "UPDATE songs SET n = 1 WHERE pk = 'absent'",
        "EXISTS(SELECT * FROM songs WHERE pk = 'gone')",
        {"Statement": "DELETE FROM songs WHERE pk = 'a' AND n = 2", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"},
    )
    assert pks(client) == ["a"]
    transact(
        client,
        "INSERT INTO songs VALUE {'pk': 'b'}",
        "UPDATE songs SET n = n + 1 WHERE pk = 'a' AND n = 1",
        "DELETE FROM songs WHERE pk = 'c'",
    )
    assert pks(client) == ["a", "b"]
    transact(client, "EXISTS(SELECT pk FROM songs WHERE pk = 'a' AND n = 2)", "DELETE FROM songs WHERE pk = 'b'")
    assert pks(client) == ["a"]


def test_reads(client: Client) -> None:
    table = orders(client)
    found = transact(
        client,
        f"SELECT * FROM \"{table}\" WHERE customer = 'cleo' AND number = 1",
        f"SELECT total, address.city FROM \"{table}\" WHERE number = 2 AND customer = 'ada'",
        f"SELECT * FROM \"{table}\" WHERE customer = 'cleo' AND number = 7",
    )
    assert found[0]["Item"]["total"] == {"N": "50"}
    assert found[1:] == [{"Item": {"total": {"N": "20"}, "city": {"S": "adaville"}}}, {}]
    for where in ("", " WHERE customer = 'ada'", " WHERE customer = 'ada' AND number = 1 AND total = 30"):
        with refused("Select statements within ExecuteTransaction must specify the primary key in the where clause."):
            transact(client, f'SELECT * FROM "{table}"{where}')


def test_what_is_refused_before_anything_else(client: Client, table: str) -> None:
    write = "INSERT INTO songs VALUE {'pk': 'a'}"
    with refused("Read statements and write statements cannot be mixed in one transaction"):
        transact(client, write, "SELECT * FROM songs WHERE pk = 'b'")
    with refused(MALFORMED + "Expected data manipulation"):
        transact(client, write, "nonsense")
    with refused("Number of parameters in request and statement don't match."):
        transact(client, write, "DELETE FROM songs WHERE pk = ?")
    with refused("Where clause does not contain a mandatory equality on all key attributes"):
        transact(client, write, "DELETE FROM songs WHERE n = 1")
    with refused("Where clause does not contain a mandatory equality on all key attributes"):
        transact(client, write, "EXISTS(SELECT * FROM songs WHERE n = 1)")
    with refused("Reads on indices are not supported within transactions."):
        transact(client, 'SELECT * FROM songs."by-n" WHERE pk = 1')
    with refused("Requested resource not found", "ResourceNotFoundException"):
        transact(client, write, "DELETE FROM nowhere WHERE pk = 'a'")
    with refused("The RETURNING clause is not supported in ExecuteTransaction"):
        transact(client, write, "DELETE FROM songs WHERE pk = 'b' RETURNING ALL OLD *")
    with refused("Transaction request cannot include multiple operations on one item"):
        transact(client, write, "DELETE FROM songs WHERE pk = 'a'")
    with refused("Transaction request cannot include multiple operations on one item"):
        transact(client, "SELECT * FROM songs WHERE pk = 'a'", "SELECT pk FROM songs WHERE pk = 'a'")
    with refused("Transaction payload size exceeded the maximum allowed size"):
        transact(
            client,
            *[
                {"Statement": f"INSERT INTO songs VALUE {{'pk': '{n}', 'x': ?}}", "Parameters": [{"S": "x" * 400_000}]}
                for n in range(11)
            ],
        )
    assert pks(client) == []


def test_a_wrong_key_cancels(client: Client, table: str) -> None:
    wrong = {"Code": "ValidationError", "Message": "The provided key element does not match the schema"}
    canceled(client, [NONE, wrong], "INSERT INTO songs VALUE {'pk': 'a'}", "DELETE FROM songs WHERE pk = 1")
    missing = "One or more parameter values were invalid: Missing the key pk in the item"
    canceled(
        client,
        [{"Code": "ValidationError", "Message": missing}, NONE],
        "INSERT INTO songs VALUE {'n': 1}",
        "EXISTS(SELECT * FROM songs WHERE pk = 'absent')",
    )
    assert pks(client) == []


def test_what_a_transaction_costs(client: Client, table: str) -> None:
    def capacity(*statements: str, **request: Any) -> Any:
        given: list[Any] = [{"Statement": one} for one in statements]
        answer = client.execute_transaction(TransactStatements=given, ReturnConsumedCapacity="TOTAL", **request)
        return answer["ConsumedCapacity"]

    writes = ["INSERT INTO songs VALUE {'pk': 'a'}", "INSERT INTO songs VALUE {'pk': 'b'}"]
    assert capacity(*writes, ClientRequestToken="once") == [
        {"TableName": table, "CapacityUnits": 4.0, "WriteCapacityUnits": 4.0}
    ]
    assert capacity(*writes, ClientRequestToken="once") == [
        {"TableName": table, "CapacityUnits": 4.0, "ReadCapacityUnits": 4.0}
    ]
    assert capacity("SELECT * FROM songs WHERE pk = 'a'") == [
        {"TableName": table, "CapacityUnits": 2.0, "ReadCapacityUnits": 2.0}
    ]


def test_a_token_is_used_once(timed: Engine, clock: Clock) -> None:
    make_table(timed, "pk", name="songs")
    execute(timed, "INSERT INTO songs VALUE {'pk': 'a', 'n': 1}")
    count: dict[str, Any] = {"Statement": "UPDATE songs SET n = n + ? WHERE pk = 'a'", "Parameters": [{"N": "1"}]}

    def number() -> Any:
        return plain(items(timed, "SELECT n FROM songs"), "n")

    for _ in range(3):
        assert transact(timed, count, ClientRequestToken="t") == [{}]
    assert number() == ["2"]
    mismatch = "The request uses the same client token as a previous, but non-identical request."
    for other in ({**count, "Parameters": [{"N": "2"}]}, {"Statement": "DELETE FROM songs WHERE pk = 'a'"}):
        with refused(mismatch, "IdempotentParameterMismatchException"):
            transact(timed, other, ClientRequestToken="t")
    transact(timed, {**count, "Parameters": [{"N": "1.0"}]}, ClientRequestToken="t")
    assert number() == ["2"]
    clock.now += 601
    transact(timed, count, ClientRequestToken="t")
    assert number() == ["3"]
    read = transact(timed, "SELECT n FROM songs WHERE pk = 'a'", ClientRequestToken="t")
    assert read == [{"Item": {"n": {"N": "3"}}}]


def test_the_number_of_statements(database: Database) -> None:
    statement = {"Statement": "DELETE FROM nowhere WHERE pk = 1"}
    with pytest.raises(DynamoError, match="Requested resource not found"):
        database.execute("ExecuteTransaction", {"TransactStatements": [statement] * 100})
    for count, rule in ((101, "less than or equal to 100"), (0, "greater than or equal to 1")):
        with pytest.raises(DynamoError, match=f"Member must have length {rule}$"):
            database.execute("ExecuteTransaction", {"TransactStatements": [statement] * count})
