"""Helpers for the tests of PartiQL: statements in one line, and the table of AWS's examples."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tests.engine.item_support import Client, Item, value
from tests.engine.support import index, make_table

MALFORMED = "Statement wasn't well formed, can't be processed: "


def execute(client: Client, statement: str, *parameters: Any, **request: Any) -> dict[str, Any]:
    """The answer to a statement; parameters are attribute values, or Python's strings, numbers and bytes."""
    given = [parameter if isinstance(parameter, dict) else value(parameter) for parameter in parameters]
    if given:
        request["Parameters"] = given
    return cast(dict[str, Any], client.execute_statement(Statement=statement, **request))


def items(client: Client, statement: str, *parameters: Any, **request: Any) -> list[Item]:
    """The items that a statement returns, in one page."""
    return cast(list[Item], execute(client, statement, *parameters, **request)["Items"])


def plain(found: Sequence[Mapping[str, Any]], *names: str) -> list[Any]:
    """The contents of some attributes of each item; of one attribute without a tuple around it."""
    rows = [tuple(next(iter(it[name].values())) if name in it else None for name in names) for it in found]
    return [row[0] for row in rows] if len(names) == 1 else rows


def orders(client: Client) -> str:
    """A table with a partition key and a sort key, two indexes, and a few items in three partitions."""
    table = make_table(
        client,
        "customer",
        "number:N",
        gsis=[
            index("by-state", "state", "total:N"),
            index("keys-only", "state", projection="KEYS_ONLY"),
        ],
        lsis=[index("by-total", "customer", "total:N", projection="KEYS_ONLY")],
    )
    for customer, number, state, total in (
        ("ada", 1, "open", 30),
        ("ada", 2, "paid", 20),
        ("ada", 3, "open", 10),
        ("bob", 1, "open", 40),
        ("cleo", 1, "paid", 50),
    ):
        execute(
            client,
            f"INSERT INTO \"{table}\" VALUE {{'customer': ?, 'number': ?, 'state': ?, 'total': ?, 'address': ?}}",
            *(customer, number, state, total),
            {"M": {"city": {"S": f"{customer}ville"}, "lines": {"L": [{"S": "one"}, {"S": "two"}]}}},
        )
    return table
