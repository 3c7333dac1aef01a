"""SELECT: which items it finds, which parts of them it returns, in which order, and what it costs."""

from typing import Any

import pytest

from tests.engine.item_support import Client
from tests.engine.partiql.support import execute, items, orders, plain
from tests.engine.support import index, make_table, refused


@pytest.fixture
def table(client: Client) -> str:
    return orders(client)


@pytest.mark.parametrize(
    ("where", "expected", "reads"),
    [
        ("customer = 'ada'", ["ada1", "ada2", "ada3"], 1),
        ("'ada' = customer AND 2 <= number", ["ada2", "ada3"], 1),
        ("customer = 'ada' AND number > 1 AND number < 3", ["ada2"], 1),
        ("customer = 'ada' AND number BETWEEN 2 AND 3", ["ada2", "ada3"], 1),
        ("customer = 'ada' AND NOT number = 2", ["ada1", "ada3"], 1),
        ("customer = 'ada' AND number <> 2", ["ada1", "ada3"], 1),
        ("customer = 'ada' AND number != 2", ["ada1", "ada3"], 1),
        ("customer = 'ada' AND number IN [1, 3, 5]", ["ada1", "ada3"], 1),
        ("customer = 'ada' AND (number = 1 OR total = 10)", ["ada1", "ada3"], 1),
        ("customer = 'ada' AND customer = 'bob'", [], 1),
        ("customer = 'ada' AND number > 2 AND number < 2", [], 1),
        ("customer IN ['cleo', 'nobody', 'bob']", ["cleo1", "bob1"], 3),
        ("customer IN ('cleo', 'bob') AND total > 40", ["cleo1"], 2),
        ("customer = 'bob' OR customer = 'ada'", ["bob1", "ada1", "ada2", "ada3"], 2),
        ("customer = 'ada' AND number = 3 OR customer = 'ada' AND number < 2", ["ada1", "ada3"], 2),
        ("customer = 'ada' AND number <= 2 OR customer = 'ada' AND number = 1", ["ada1", "ada2"], 1),
        ("(customer = 'bob' OR customer = 'ada') AND state = 'open' AND number < 3", ["bob1", "ada1"], 2),
        ("state = 'open' AND (customer = 'bob' OR (customer = 'ada' AND number = 3))", ["bob1", "ada3"], 2),
    ],
)
def test_a_partition_key_means_a_query(client: Client, table: str, where: str, expected: list[str], reads: int) -> None:
    found = execute(client, f'SELECT * FROM "{table}" WHERE {where}', ReturnConsumedCapacity="TOTAL")
    assert [f"{customer}{number}" for customer, number in plain(found["Items"], "customer", "number")] == expected
    assert found["ConsumedCapacity"]["CapacityUnits"] == 0.5 * reads


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("number = 1", {"ada1", "bob1", "cleo1"}),
        ("customer > 'ada'", {"bob1", "cleo1"}),
        ("customer = 'ada' OR total = 50", {"ada1", "ada2", "ada3", "cleo1"}),
        ("NOT customer = 'ada'", {"bob1", "cleo1"}),
        ("begins_with(customer, 'b')", {"bob1"}),
        ("contains(customer, 'o')", {"bob1", "cleo1"}),
        ("size(customer) > 3", {"cleo1"}),
        ("size(address.lines) = 2 AND number = 2", {"ada2"}),
        ("attribute_type(total, 'S')", set()),
        ("attribute_type(total, 'N') AND number = 3", {"ada3"}),
        ("address.city = 'bobville'", {"bob1"}),
        ("address.lines[1] = 'two' AND number = 3", {"ada3"}),
        ("absent IS MISSING AND number = 3", {"ada3"}),
        ("total IS NOT MISSING AND number = 3", {"ada3"}),
        ("absent = MISSING AND total <> MISSING AND number = 3", {"ada3"}),
        ("total IS NULL", set()),
        ("absent IS NOT NULL AND number = 2", {"ada2"}),
        ("total IS DECIMAL AND state IS STRING AND address IS STRUCT AND number = 2", {"ada2"}),
        ("address.lines IS LIST AND NOT state IS BAG AND state IS NOT BOOLEAN AND number = 2", {"ada2"}),
        ("total NOT BETWEEN 20 AND 50", {"ada3"}),
        ("total NOT IN [10, 20, 30, 40]", {"cleo1"}),
        ("total > number AND total < 20", {"ada3"}),
    ],
)
def test_anything_else_is_a_scan(client: Client, table: str, where: str, expected: set[str]) -> None:
    found = items(client, f'SELECT customer, number FROM "{table}" WHERE {where}')
    assert {f"{customer}{number}" for customer, number in plain(found, "customer", "number")} == expected


def test_the_words_and_functions_may_be_in_upper_or_lower_case(client: Client, table: str) -> None:
    statement = (
        f"select number from \"{table}\" WHERE customer = 'ada' And BEGINS_WITH(state, 'o') oRdEr bY number dEsC"
    )
    assert plain(items(client, statement), "number") == ["3", "1"]


def test_comments_lines_and_a_semicolon(client: Client, table: str) -> None:
    statement = f"""
        SELECT number -- only this
        FROM "{table}" /* with
        a -- comment */ WHERE customer = 'bob';
        -- the end"""
    assert plain(items(client, statement), "number") == ["1"]


def test_a_nested_value_is_returned_by_its_own_name(client: Client, table: str) -> None:
    # PyDynamoDB reads the columns of nested paths by these names (pydynamodb/sql/dml_select.py, result_name).
    columns = "address.city, address.lines[1], address, absent.there"
    statement = f"SELECT {columns} FROM \"{table}\" WHERE customer = 'bob'"
    address = {"city": {"S": "bobville"}, "lines": {"L": [{"S": "one"}, {"S": "two"}]}}
    expected = {"city": {"S": "bobville"}, "lines[1]": {"S": "two"}, "address": {"M": address}}
    assert items(client, statement) == [expected]


def test_two_columns_of_one_name(client: Client, table: str) -> None:
    """The last one that the item has is returned."""
    statement = f"SELECT address.city, city, state.city FROM \"{table}\" WHERE customer = 'bob'"
    assert items(client, statement) == [{"city": {"S": "bobville"}}]


def test_names_in_quotes(client: Client) -> None:
    table = make_table(client, "pk")
    item = {"pk": {"S": "a"}, "size": {"N": "1"}, 'say "hi"': {"N": "2"}, "#x": {"N": "3"}, "it's": {"N": "4"}}
    client.put_item(TableName=table, Item=item)
    statement = f'SELECT "size", "say ""hi""", "#x", "it\'s" FROM "{table}" WHERE pk = \'a\' AND "#x" = 3'
    assert items(client, statement) == [{name: item[name] for name in item if name != "pk"}]
    # https://github.com/passren/PyDynamoDB/issues/28: a keyword needs the quotes.
    with refused("Statement wasn't well formed, can't be processed: Invalid path dot component"):
        execute(client, f'SELECT payload.size FROM "{table}"')
    with refused("Statement wasn't well formed, can't be processed: Unexpected keyword"):
        execute(client, f'SELECT size FROM "{table}"')


def test_order_by_the_key(client: Client, table: str) -> None:
    def numbers(where: str, order: str) -> list[Any]:
        return plain(items(client, f'SELECT * FROM "{table}" WHERE {where} ORDER BY {order}'), "customer", "number")

    ada = [("ada", "1"), ("ada", "2"), ("ada", "3")]
    assert numbers("customer = 'ada'", "number") == ada
    assert numbers("customer = 'ada'", "number ASC") == ada
    assert numbers("customer = 'ada'", "number DESC") == ada[::-1]
    assert numbers("customer = 'ada'", "customer DESC") == ada
    assert numbers("customer = 'ada' AND number < 3", "customer, number DESC") == [("ada", "2"), ("ada", "1")]
    both = "customer IN ['ada', 'cleo', 'bob']"
    assert numbers(both, "customer DESC") == [("cleo", "1"), ("bob", "1"), *ada]
    assert numbers(both, "customer ASC, number DESC") == [*ada[::-1], ("bob", "1"), ("cleo", "1")]
    two = "customer = 'ada' AND number = 1 OR customer = 'ada' AND number = 3"
    assert numbers(two, "customer, number DESC") == [("ada", "3"), ("ada", "1")]


def test_order_by_needs_the_key(client: Client, table: str) -> None:
    with refused("Must have WHERE clause in the statement when using ORDER BY clause."):
        execute(client, f'SELECT * FROM "{table}" ORDER BY number')
    with refused("Variable reference total in ORDER BY clause must be part of the primary key"):
        execute(client, f"SELECT * FROM \"{table}\" WHERE customer = 'ada' ORDER BY total")
    with refused("Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause."):
        execute(client, f'SELECT * FROM "{table}" WHERE total > 1 ORDER BY number')
    # "The partition key must be the first column" of several partitions: the documentation of LayeredCraft's EF Core
    # provider, dynamodb-ef-core.layeredcraft.dev/querying/ordering-limiting. The wording is ours.
    with refused(
        "The hash key customer must be first in the ORDER BY clause, because the WHERE clause has several values for it"
    ):
        execute(client, f"SELECT * FROM \"{table}\" WHERE customer IN ['ada', 'bob'] ORDER BY number")


def test_indexes(client: Client, table: str) -> None:
    found = execute(
        client,
        f'SELECT * FROM "{table}"."by-state" WHERE state = \'open\' AND total >= 30 ORDER BY total DESC',
        ReturnConsumedCapacity="INDEXES",
    )
    assert plain(found["Items"], "customer", "total") == [("bob", "40"), ("ada", "30")]
    assert found["ConsumedCapacity"] == {
        "TableName": table,
        "CapacityUnits": 0.5,
        "Table": {"CapacityUnits": 0.0},
        "GlobalSecondaryIndexes": {"by-state": {"CapacityUnits": 0.5}},
    }
    assert len(items(client, f'SELECT * FROM "{table}"."by-total"')) == 5
    keys = items(client, f'SELECT * FROM "{table}"."keys-only" WHERE state = \'paid\'')
    assert sorted(keys[0]) == ["customer", "number", "state"]
    local = f'SELECT customer, state FROM "{table}"."by-total" WHERE customer = \'ada\' AND total < 25'
    assert plain(items(client, local, ConsistentRead=True), "state") == ["open", "paid"]


def test_what_an_index_does_not_have(client: Client, table: str) -> None:
    """The first two aren't worded as for Query and Scan: https://github.com/paritysuite/dynamodb-conformance/pull/171."""
    with refused("The table does not have the specified index"):
        execute(client, f'SELECT * FROM "{table}"."nope"', ConsistentRead=True)
    with refused("Strongly consistent read is not supported on Global Secondary Indexes"):
        execute(client, f'SELECT * FROM "{table}"."by-state"', ConsistentRead=True)
    with refused(
        "One or more parameter values were invalid: Global secondary index keys-only does not project [total]"
    ):
        execute(client, f'SELECT total FROM "{table}"."keys-only"')
    with refused(
        "One or more parameter values were invalid: Secondary index keys-only does not project one or more filter "
        "attributes: [total]"
    ):
        execute(client, f'SELECT customer FROM "{table}"."keys-only" WHERE state = \'open\' AND total = 1')


def test_an_index_with_several_attributes_in_its_key(client: Client) -> None:
    table = make_table(client, "id", gsis=[index("places", ["land", "town"], ["road", "house:N"])])
    for number, (land, town, road, house) in enumerate(
        [("at", "linz", "a", 1), ("at", "linz", "a", 2), ("at", "linz", "b", 1), ("at", "wien", "a", 1)]
    ):
        place = f"{{'id': '{number}', 'land': '{land}', 'town': '{town}', 'road': '{road}', 'house': {house}}}"
        execute(client, f'INSERT INTO "{table}" VALUE {place}')

    def found(where: str) -> list[Any]:
        answer = execute(client, f'SELECT id FROM "{table}"."places" WHERE {where}', ReturnConsumedCapacity="INDEXES")
        return plain(answer["Items"], "id")

    assert found("land = 'at' AND town = 'linz'") == ["0", "1", "2"]
    assert found("land = 'at' AND town = 'linz' AND road = 'a' AND house > 1") == ["1"]
    assert found("land = 'at' AND town = 'linz' AND house = 1") == ["0", "2"]
    assert sorted(found("land = 'at'")) == ["0", "1", "2", "3"]
    assert found("land = 'at' AND (town = 'linz' AND road = 'b' OR town = 'wien')") == ["2", "3"]


def test_values_of_a_wrong_type(client: Client, table: str) -> None:
    with refused("One or more parameter values were invalid: Condition parameter type does not match schema type"):
        execute(client, f'SELECT * FROM "{table}" WHERE customer = 1')
    with refused("One or more parameter values were invalid: Condition parameter type does not match schema type"):
        execute(client, f"SELECT * FROM \"{table}\" WHERE customer = 'ada' AND number > ?", "1")
    with refused(
        "Invalid FilterExpression: The BETWEEN operator requires upper bound to be greater than or equal to lower "
        "bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}"
    ):
        execute(client, f"SELECT * FROM \"{table}\" WHERE customer = 'ada' AND number BETWEEN 2 AND 1")
    assert items(client, f'SELECT * FROM "{table}" WHERE total = ?', "10") == []


def test_a_query_costs_less_than_a_scan(client: Client) -> None:
    table = make_table(client, "pk", "sk:N")
    for pk in "ab":
        for sk in range(4):
            item = {"pk": {"S": pk}, "sk": {"N": str(sk)}, "text": {"S": "x" * 3000}}
            client.put_item(TableName=table, Item=item)

    def units(where: str, **request: Any) -> float:
        statement = f'SELECT sk FROM "{table}" WHERE {where}'
        answer = execute(client, statement, ReturnConsumedCapacity="TOTAL", **request)
        found: float = answer["ConsumedCapacity"]["CapacityUnits"]
        return found

    assert units("sk < 9") == 3.0  # 24,000 bytes
    assert units("sk < 9", ConsistentRead=True) == 6.0
    assert units("pk = 'a'") == 1.5
    assert units("pk = 'a' AND sk = 1") == 0.5
    assert units("pk = 'a' AND sk = 1", ConsistentRead=True) == 1.0
    assert units("pk IN ['a', 'b'] AND sk = 1") == 1.0
    assert units("pk = 'a' AND sk >= 1 AND sk < 3") == 1.0
    assert units("pk = 'a' AND NOT sk = 1") == 1.5


def test_a_table_can_be_given_by_its_arn(client: Client, table: str) -> None:
    arn = client.describe_table(TableName=table)["Table"]["TableArn"]
    found = execute(client, f"SELECT number FROM \"{arn}\" WHERE customer = 'bob'", ReturnConsumedCapacity="TOTAL")
    assert plain(found["Items"], "number") == ["1"]
    assert found["ConsumedCapacity"]["TableName"] == arn


def test_a_table_that_does_not_exist(client: Client) -> None:
    with refused("Requested resource not found", "ResourceNotFoundException"):
        execute(client, "SELECT * FROM nowhere")


def test_limits_of_in(client: Client, table: str) -> None:
    def listed(attribute: str, count: int) -> str:
        return f'SELECT * FROM "{table}" WHERE {attribute} IN [{", ".join(["?"] * count)}]'

    # "at max 50 hash attribute values or at max 100 non-key attribute values": ql-operators in the developer guide.
    assert len(items(client, listed("total", 100), *range(100))) == 5
    with refused("The IN operator is provided with too many operands; number of operands: 101"):
        execute(client, listed("total", 101), *range(101))
    assert len(items(client, listed("customer", 50), "ada", *map(str, range(49)))) == 3
    with refused("The IN operator is provided with too many hash key values; number of values: 51"):
        execute(client, listed("customer", 51), *map(str, range(51)))
