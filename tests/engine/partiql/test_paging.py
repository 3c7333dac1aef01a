"""The pages of a SELECT: Limit, NextToken and LastEvaluatedKey."""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from keyplan.engine import Engine
from tests.engine.item_support import Client
from tests.engine.partiql.support import execute, items, orders, plain
from tests.engine.support import make_table, refused


@pytest.fixture
def table(client: Client) -> str:
    return orders(client)


def pages(client: Client, statement: str, *parameters: Any, **request: Any) -> Iterator[dict[str, Any]]:
    token: dict[str, str] = {}
    while True:
        answer = execute(client, statement, *parameters, **request, **token)
        yield answer
        if "NextToken" not in answer:
            return
        token = {"NextToken": answer["NextToken"]}


RESTS = [
    "",
    " WHERE customer = 'ada'",
    " WHERE customer IN ['bob', 'ada', 'cleo']",
    " WHERE customer = 'ada' AND number = 3 OR customer = 'ada' AND number = 1",
]
QUERIES = [
    *[source + rest for source in ("", '."by-state"', '."by-total"') for rest in RESTS],
    " WHERE customer = 'ada' ORDER BY number DESC",
    " WHERE customer IN ['bob', 'ada', 'cleo'] AND state = 'open'",
    " WHERE customer IN ['bob', 'ada', 'cleo'] ORDER BY customer DESC, number DESC",
    ".\"by-state\" WHERE state = 'open' ORDER BY total DESC",
]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("query", QUERIES)
def test_pages_join_to_the_whole(client: Client, table: str, limit: int, query: str) -> None:
    statement = f'SELECT customer, number FROM "{table}"{query}'
    whole = execute(client, statement)
    assert "NextToken" not in whole
    found = []
    for page in pages(client, statement, Limit=limit):
        assert len(page["Items"]) <= limit
        assert ("NextToken" in page) == ("LastEvaluatedKey" in page)
        found += page["Items"]
    assert found == whole["Items"]


def test_the_limit_counts_items_before_the_filter(client: Client, table: str) -> None:
    # "The maximum number of items to evaluate (not necessarily the number of matching items)": ExecuteStatement.
    page = execute(client, f"SELECT * FROM \"{table}\" WHERE customer = 'ada' AND total = 10", Limit=2)
    assert page["Items"] == []
    assert page["LastEvaluatedKey"] == {"customer": {"S": "ada"}, "number": {"N": "2"}}


def test_an_index_page_ends_with_both_keys(client: Client, table: str) -> None:
    page = execute(client, f'SELECT number FROM "{table}"."by-state" WHERE state = \'open\'', Limit=1)
    assert page["LastEvaluatedKey"] == {
        "customer": {"S": "ada"},
        "number": {"N": "3"},
        "state": {"S": "open"},
        "total": {"N": "10"},
    }


def test_several_partitions_come_ten_items_at_a_time(client: Client) -> None:
    # "Results are returned in pages of up to 10 items": IN, in ql-operators of the developer guide.
    table = make_table(client, "pk:N")
    for number in range(24):
        execute(client, f"INSERT INTO \"{table}\" VALUE {{'pk': {number}}}")
    statement = f'SELECT pk FROM "{table}" WHERE pk IN [{", ".join(map(str, range(24)))}]'
    found = list(pages(client, statement))
    assert [len(page["Items"]) for page in found] == [10, 10, 4]
    assert [number for page in found for number in plain(page["Items"], "pk")] == [str(n) for n in range(24)]
    assert [len(page["Items"]) for page in pages(client, statement, Limit=9)] == [9, 9, 6]
    assert [len(page["Items"]) for page in pages(client, statement, Limit=20)] == [10, 10, 4]


def test_a_page_ends_at_one_megabyte(client: Client) -> None:
    table = make_table(client, "pk", "sk:N")
    for number in range(6):
        item = {"pk": {"S": "a"}, "sk": {"N": str(number)}, "text": {"S": "x" * 300_000}}
        client.put_item(TableName=table, Item=item)
    for where in ("", " WHERE pk = 'a'"):
        found = list(pages(client, f'SELECT sk FROM "{table}"{where}'))
        assert [len(page["Items"]) for page in found] == [4, 2]


def test_a_token_belongs_to_its_statement(client: Client, table: str) -> None:
    statement = f'SELECT * FROM "{table}" WHERE customer = ?'
    token = execute(client, statement, "ada", Limit=1)["NextToken"]
    changes: list[dict[str, Any]] = [{}, {"ConsistentRead": True}, {"Limit": 5}]
    for change in changes:
        assert plain(items(client, statement, "ada", NextToken=token, **change), "number") == ["2", "3"]
    other = orders(client)
    for another, parameter in (
        (f'SELECT number FROM "{table}" WHERE customer = ?', "ada"),
        (statement, "bob"),
        (f'SELECT * FROM "{other}" WHERE customer = ?', "ada"),
        (f'SELECT * FROM "{table}"."by-total" WHERE customer = ?', "ada"),
    ):
        with refused("NextToken does not match request"):
            execute(client, another, parameter, NextToken=token)


def test_a_token_does_not_outlive_its_table(client: Client) -> None:
    table = make_table(client, "pk", name="again")
    execute(client, "INSERT INTO again VALUE {'pk': 'a'}")
    token = execute(client, "SELECT * FROM again", Limit=1)["NextToken"]
    client.delete_table(TableName=table)
    make_table(client, "pk", name="again")
    with refused("NextToken does not match request"):
        execute(client, "SELECT * FROM again", NextToken=token)


def test_tokens_that_no_page_had(client: Client, table: str) -> None:
    statement = f"SELECT * FROM \"{table}\" WHERE customer = 'ada'"
    token = b64decode(execute(client, statement, Limit=1)["NextToken"])
    for wrong in (
        "garbage!",
        "Z2FyYmFnZQ==",
        "x" * 32_768,
        b64encode(token[:16]).decode(),
        b64encode(token[:-3]).decode(),
        forged(token[:16] + b"\xff\xff" + token[18:-4]),
        forged(token[:18] + b"\xff\xff\xff"),
    ):
        with refused("Invalid NextToken"):
            execute(client, statement, NextToken=wrong)


def forged(content: bytes) -> str:
    """A token with a correct checksum."""
    return b64encode(content + hashlib.blake2b(content, digest_size=4).digest()).decode()


def test_the_paginator(engine: Engine) -> None:
    table = orders(engine)
    assert not engine.can_paginate("execute_statement")  # as in botocore
    assert len(list(pages(engine, f'SELECT * FROM "{table}"', Limit=2))) == 3
