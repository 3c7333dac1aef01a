"""AWS's published examples of the capacity rules, metered: the engine's figures are what costs are made of.

The examples are from the DynamoDB Developer Guide: "DynamoDB read and write operations" [operations], "Using global
secondary indexes in DynamoDB" [GSI], "Local secondary indexes" [LSI], and "Amazon DynamoDB Transactions: how it works"
[transactions]; and from "Amazon DynamoDB pricing" [pricing].
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from keyplan.capacity.consumed import TableOrIndex, Units
from keyplan.capacity.metering.client import MeteredClient
from keyplan.data import item_size
from keyplan.engine import Engine

TABLE, INDEX, KEYS, LOCAL = (
    TableOrIndex("Table"),
    TableOrIndex("Table", "ByG"),
    TableOrIndex("Table", "Keys"),
    TableOrIndex("Table", "ByL"),
)


def string(value: str) -> dict[str, str]:
    return {"S": value}


def item(size: int, **attributes: str) -> dict[str, Any]:
    """An item of so many bytes."""
    made = {name: string(value) for name, value in {"pk": "p", "sk": "s", **attributes}.items()}
    return {**made, "f": string("x" * (size - item_size(made) - 1))}


@pytest.fixture
def client() -> Iterator[MeteredClient]:
    with Engine(ttl_interval=None) as engine:
        client = MeteredClient(engine, {"Table": ("pk", "sk")})
        client.create_table(
            TableName="Table",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g", "l")],
            KeySchema=schema("pk", "sk"),
            BillingMode="PAY_PER_REQUEST",
            GlobalSecondaryIndexes=[
                {"IndexName": "ByG", "KeySchema": schema("g"), "Projection": include("f")},
                {"IndexName": "Keys", "KeySchema": schema("g"), "Projection": {"ProjectionType": "KEYS_ONLY"}},
            ],
            LocalSecondaryIndexes=[{"IndexName": "ByL", "KeySchema": schema("pk", "l"), "Projection": include("f")}],
        )
        yield client


def schema(*names: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"), strict=False)]


def include(*names: str) -> dict[str, object]:
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": [*names]}


def consumed(client: MeteredClient, operation: str, **request: Any) -> Mapping[TableOrIndex, Units]:
    client.begin()
    getattr(client, operation)(TableName="Table", **request)
    return {place: Units(each.reads, each.writes) for place, each in client.metered().units.items()}


KEY = {"pk": string("p"), "sk": string("s")}


@pytest.mark.parametrize(
    ("size", "consistent", "units"),
    [
        (3500, True, 1),  # [operations]: 3,500 bytes consume as much as 4 KB
        (3500, False, 0.5),
        (10 * 1024, True, 3),  # [operations]: 10 KB count as 12 KB
        (8 * 1024, True, 2),  # [operations], [pricing]: 8 KB take 2 units, 1 if eventually consistent
        (8 * 1024, False, 1),
    ],
)
def test_a_read_counts_in_steps_of_4_kb(client: MeteredClient, size: int, consistent: bool, units: float) -> None:
    client.put_item(TableName="Table", Item=item(size))
    assert consumed(client, "get_item", Key=KEY, ConsistentRead=consistent) == {TABLE: Units(reads=units)}


def test_a_transactional_read_costs_twice(client: MeteredClient) -> None:
    client.put_item(TableName="Table", Item=item(8 * 1024))
    client.begin()
    client.transact_get_items(TransactItems=[{"Get": {"TableName": "Table", "Key": KEY}}])
    assert client.metered().units == {TABLE: Units(reads=4)}  # [pricing]: a transactional read of 8 KB takes 4


def test_an_item_that_is_not_there_costs_the_least(client: MeteredClient) -> None:
    """[operations]: a read of a nonexistent item consumes read units too."""
    assert consumed(client, "get_item", Key=KEY, ConsistentRead=True) == {TABLE: Units(reads=1)}
    assert consumed(client, "query", **query("nobody")) == {TABLE: Units(reads=0.5)}


def query(value: str, name: str = "pk", **more: Any) -> dict[str, Any]:
    return {"KeyConditionExpression": f"{name} = :v", "ExpressionAttributeValues": {":v": string(value)}, **more}


def test_a_batch_rounds_each_item(client: MeteredClient) -> None:
    """[operations]: items of 1.5 KB and 6.5 KB count as 12 KB, not 8 KB."""
    client.put_item(TableName="Table", Item=item(1536, sk="a"))
    client.put_item(TableName="Table", Item=item(6656, sk="b"))
    keys = [{"pk": string("p"), "sk": string(each)} for each in "ab"]
    client.begin()
    client.batch_get_item(RequestItems={"Table": {"Keys": keys, "ConsistentRead": True}})
    assert client.metered().units == {TABLE: Units(reads=3)}


@pytest.mark.parametrize(
    ("number", "size", "units"),
    [
        (10, 4178, 11),  # [operations]: 10 items with 40.8 KB in all count as 44 KB
        (1500, 64, 24),  # [operations]: 1,500 items of 64 bytes are 96 KB (here 93.75 KB, the exact sum)
    ],
)
def test_a_query_adds_up_sizes_before_it_rounds(client: MeteredClient, number: int, size: int, units: float) -> None:
    for each in range(number):
        client.put_item(TableName="Table", Item=item(size, sk=f"{each:04}"))
    assert consumed(client, "query", ConsistentRead=True, **query("p")) == {TABLE: Units(reads=units)}


def test_a_filter_and_a_projection_take_nothing_off(client: MeteredClient) -> None:
    """[operations]: what counts is what is read, before a filter and whatever is returned."""
    for each in range(4):
        client.put_item(TableName="Table", Item=item(4096, sk=str(each)))
    request = query("p", FilterExpression="f = :v", ProjectionExpression="pk", ConsistentRead=True)
    assert consumed(client, "query", **request) == {TABLE: Units(reads=4)}


@pytest.mark.parametrize(("size", "units"), [(500, 1), (1024, 1), (3 * 1024, 3), (2049, 3)])
def test_a_write_counts_in_steps_of_1_kb(client: MeteredClient, size: int, units: float) -> None:
    """[operations], [pricing]: 1 KB takes 1 unit, 3 KB take 3, and 6 in a transaction."""
    assert consumed(client, "put_item", Item=item(size)) == {TABLE: Units(writes=units)}
    client.begin()
    client.transact_write_items(TransactItems=[{"Put": {"TableName": "Table", "Item": item(size)}}])
    assert client.metered().total.writes == 2 * units


def test_a_write_counts_the_larger_of_the_old_and_the_new_item(client: MeteredClient) -> None:
    """[operations]: UpdateItem considers the item before and after, whichever is larger; DeleteItem the deleted one."""
    client.put_item(TableName="Table", Item=item(3 * 1024))
    update = {"UpdateExpression": "SET f = :f", "ExpressionAttributeValues": {":f": string("short")}}
    assert consumed(client, "update_item", Key=KEY, **update) == {TABLE: Units(writes=3)}
    client.put_item(TableName="Table", Item=item(2 * 1024))
    assert consumed(client, "delete_item", Key=KEY) == {TABLE: Units(writes=2)}
    assert consumed(client, "delete_item", Key=KEY) == {TABLE: Units(writes=1)}


def test_an_index_is_written_only_if_its_entry_changes(client: MeteredClient) -> None:
    """[GSI], the five rules on the cost of a write."""
    put = consumed(client, "put_item", Item=item(500))
    assert put == {TABLE: Units(writes=1)}  # not in the index: no cost
    put = consumed(client, "put_item", Item=item(500, g="a"))
    assert put == {TABLE: Units(writes=1), INDEX: Units(writes=1), KEYS: Units(writes=1)}  # put into it: one write
    put = consumed(client, "put_item", Item=item(500, g="b"))
    assert put == {TABLE: Units(writes=1), INDEX: Units(writes=2), KEYS: Units(writes=2)}  # another key: two writes
    put = consumed(client, "put_item", Item=item(600, g="b"))
    assert put == {TABLE: Units(writes=1), INDEX: Units(writes=1)}  # only a projected attribute: one write
    put = consumed(client, "put_item", Item=item(600, g="b", other="x"))
    assert KEYS not in put  # an attribute that isn't projected: no cost
    put = consumed(client, "put_item", Item=item(500))
    assert put == {TABLE: Units(writes=1), INDEX: Units(writes=1), KEYS: Units(writes=1)}  # out of it: one write


def test_an_index_counts_what_it_holds(client: MeteredClient) -> None:
    """[GSI]: larger entries take more units, and entries have the projected attributes only."""
    put = consumed(client, "put_item", Item=item(3000, g="a"))
    assert put == {TABLE: Units(writes=3), INDEX: Units(writes=3), KEYS: Units(writes=1)}
    reads = {index: consumed(client, "query", IndexName=index, **query("a", "g")) for index in ("ByG", "Keys")}
    assert reads == {"ByG": {INDEX: Units(reads=0.5)}, "Keys": {KEYS: Units(reads=0.5)}}


def test_a_local_index_counts_as_its_table_does(client: MeteredClient) -> None:
    """[LSI]: the same rules; the capacity is that of the table."""
    put = consumed(client, "put_item", Item=item(1500, l="a"))
    assert put == {TABLE: Units(writes=2), LOCAL: Units(writes=2)}


def test_a_transaction_doubles_the_table_and_not_the_indexes(client: MeteredClient) -> None:
    """[transactions]: two underlying writes of every item; indexes are written once, as was measured on AWS."""
    client.begin()
    client.transact_write_items(TransactItems=[{"Put": {"TableName": "Table", "Item": item(500, g="a")}}])
    units = {place: each.writes for place, each in client.metered().units.items()}
    assert units == {TABLE: 2, INDEX: 1, KEYS: 1}
