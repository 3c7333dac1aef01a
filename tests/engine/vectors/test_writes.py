"""Writes to tables with vector indexes: what is refused, what is indexed, what is charged."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from keyplan.engine import Engine
from tests.engine.support import DETECTED, Clock, refused
from tests.engine.vectors.support import INVALID, create, found, numbers, put, scored, vector, vector_index

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client
    from types_boto3_dynamodbstreams import DynamoDBStreamsClient
else:
    Client = object
    DynamoDBStreamsClient = object

KEY = {"pk": {"S": "a"}}


def by_put(client: Client, attributes: dict[str, Any]) -> None:
    client.put_item(TableName="Things", Item={**KEY, **attributes})


def by_update(client: Client, attributes: dict[str, Any]) -> None:
    client.update_item(
        TableName="Things",
        Key=KEY,
        UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in attributes),
        ExpressionAttributeNames={f"#{name}": name for name in attributes},
        ExpressionAttributeValues={f":{name}": value for name, value in attributes.items()},
    )


def by_legacy_update(client: Client, attributes: dict[str, Any]) -> None:
    updates = {name: {"Action": "PUT", "Value": value} for name, value in attributes.items()}
    client.update_item(TableName="Things", Key=KEY, AttributeUpdates=updates)  # type: ignore[arg-type]


def by_batch(client: Client, attributes: dict[str, Any]) -> None:
    client.batch_write_item(RequestItems={"Things": [{"PutRequest": {"Item": {**KEY, **attributes}}}]})


def by_transaction(client: Client, attributes: dict[str, Any]) -> None:
    client.transact_write_items(TransactItems=[{"Put": {"TableName": "Things", "Item": {**KEY, **attributes}}}])


def by_statement(client: Client, attributes: dict[str, Any]) -> None:
    names = ", ".join(f"'{name}': ?" for name in attributes)
    client.execute_statement(
        Statement=f"INSERT INTO \"Things\" VALUE {{'pk': 'a', {names}}}", Parameters=list(attributes.values())
    )


Write = Callable[[Client, dict[str, Any]], None]
WAYS: list[Write] = [by_put, by_update, by_legacy_update, by_batch, by_transaction, by_statement]

FLOAT = "Expected: a 32-bit floating point number of at most 3.4028235E+38"
UNFIT: list[tuple[dict[str, Any], str]] = [
    ({"v": vector(1, 2)}, "Invalid size for parameter v, Expected: 3, Actual: 2. IndexName: ByVector"),
    ({"v": vector(1, 2, 3, 4)}, "Invalid size for parameter v, Expected: 3, Actual: 4. IndexName: ByVector"),
    ({"v": {"L": []}}, "Invalid size for parameter v, Expected: 3, Actual: 0. IndexName: ByVector"),
    ({"v": {"S": "1"}}, "Invalid type for parameter v, Expected: L, Actual: S. IndexName: ByVector"),
    ({"v": {"NS": ["1", "2", "3"]}}, "Invalid type for parameter v, Expected: L, Actual: NS. IndexName: ByVector"),
    (
        {"v": {"L": [{"N": "1"}, {"S": "2"}, {"N": "3"}]}},
        "Invalid type for parameter v[1], Expected: N, Actual: S. IndexName: ByVector",
    ),
    (
        {"v": vector(1, 2, "-3.5E+38")},
        f"Invalid value for parameter v[2], {FLOAT}, Actual: -35{'0' * 37}. IndexName: ByVector",
    ),
    ({"tenant": {"N": "1"}}, "Type mismatch for Index Key tenant Expected: S Actual: N IndexName: ByVector"),
    ({"kind": {"N": "1"}}, "Type mismatch for Index Key kind Expected: S Actual: N IndexName: ByVector"),
]


@pytest.mark.parametrize("write", WAYS, ids=lambda write: write.__name__)
def test_every_write_refuses_what_doesnt_fit_the_index(client: Client, write: Write) -> None:
    create(client, vector_index(partition="tenant", filters=["kind"]))
    for attributes, message in UNFIT:
        if write is by_transaction:
            with refused(
                "Transaction cancelled, please refer cancellation reasons for specific reasons [ValidationError]",
                "TransactionCanceledException",
            ) as answer:
                write(client, attributes)
            assert answer["CancellationReasons"] == [{"Code": "ValidationError", "Message": INVALID + message}]
        else:
            with refused(INVALID + message):
                write(client, attributes)
    assert client.scan(TableName="Things")["Count"] == 0
    write(client, {"v": vector(1, 2, 3), "tenant": {"S": "t"}, "kind": {"S": ""}})
    assert scored(client, 1, 2, 5, equal={"tenant": "t", "kind": ""}) == [("a", 2.0)]


def test_the_partition_key_of_an_index_cant_be_empty(client: Client) -> None:
    create(client, vector_index(partition="tenant"))
    with refused(
        "One or more parameter values are not valid. A value specified for a secondary index key is not supported. "
        "The AttributeValue for a key attribute cannot contain an empty string value. "
        "IndexName: ByVector, IndexKey: tenant"
    ):
        by_put(client, {"tenant": {"S": ""}})
    with refused(
        "One or more parameter values are not valid. The update expression attempted to update a secondary index key "
        "to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty string value."
    ):
        by_update(client, {"tenant": {"S": ""}})


def test_a_number_set_with_equal_numbers_is_refused_as_a_set(client: Client) -> None:
    create(client, vector_index())
    with refused(DETECTED + "Input collection contains duplicates"):
        by_put(client, {"v": {"NS": ["1", "1", "2"]}})


def test_items_without_vector_or_partition_key_stay_out_of_the_index(client: Client) -> None:
    create(client, vector_index(partition="tenant", filters=["kind"]))
    client.put_item(TableName="Things", Item={"pk": {"S": "no vector"}, "tenant": {"S": "t"}})
    put(client, "no tenant", 1, 2, 3)
    put(client, "no kind", 1, 2, 3, tenant="t")
    put(client, "all", 1, 2, 4, tenant="t", kind="k")
    assert found(client, 1, 2, 3, equal={"tenant": "t"}) == ["no kind", "all"]
    assert found(client, 1, 2, 3, equal={"tenant": "t", "kind": "k"}) == ["all"]
    assert found(client, 1, 2, 3, equal={"tenant": "other"}) == []


def test_an_index_follows_its_items(client: Client) -> None:
    create(client, vector_index(partition="tenant"))
    put(client, "a", 1, 0, 0, tenant="t")
    put(client, "b", 2, 0, 0, tenant="t")

    def change(expression: str, **values: Any) -> None:
        given = {"ExpressionAttributeValues": {f":{name}": value for name, value in values.items()}} if values else {}
        client.update_item(TableName="Things", Key=KEY, UpdateExpression=expression, **given)  # type: ignore[arg-type]

    here, there = {"tenant": "t"}, {"tenant": "u"}
    change("SET v = :v", v=vector(3, 0, 0))
    assert found(client, 0, 0, 0, equal=here) == ["b", "a"]
    change("SET v[0] = :n", n={"N": "1.5"})
    assert scored(client, 0, 0, 0, equal=here) == [("a", 1.5), ("b", 2.0)]
    change("SET tenant = :t", t={"S": "u"})
    assert (found(client, 0, 0, 0, equal=here), found(client, 0, 0, 0, equal=there)) == (["b"], ["a"])
    change("REMOVE tenant")
    assert found(client, 0, 0, 0, equal=there) == []
    change("SET tenant = :t", t={"S": "t"})
    assert found(client, 0, 0, 0, equal=here) == ["a", "b"]
    change("REMOVE v")
    assert found(client, 0, 0, 0, equal=here) == ["b"]
    put(client, "a", 2.5, 0, 0, tenant="t")
    assert found(client, 0, 0, 0, equal=here) == ["b", "a"]
    client.delete_item(TableName="Things", Key=KEY)
    client.batch_write_item(RequestItems={"Things": [{"DeleteRequest": {"Key": {"pk": {"S": "b"}}}}]})
    assert found(client, 0, 0, 0, equal=here) == []
    with refused(INVALID + "Invalid size for parameter v, Expected: 3, Actual: 4. IndexName: ByVector"):
        put(client, "a", 1, 2, 3, 4)


def test_an_element_cant_be_removed_from_a_vector(client: Client) -> None:
    create(client, vector_index())
    put(client, "a", 1, 2, 3)
    with refused(INVALID + "Invalid size for parameter v, Expected: 3, Actual: 2. IndexName: ByVector"):
        client.update_item(TableName="Things", Key=KEY, UpdateExpression="REMOVE v[1]")
    assert scored(client, 1, 2, 3) == [("a", 0.0)]


def test_a_refused_transaction_changes_no_index(client: Client) -> None:
    create(client, vector_index())
    put(client, "a", 1, 2, 3)
    move: Any = {"Put": {"TableName": "Things", "Item": {**KEY, "v": vector(9, 9, 9)}}}
    fails: Any = {
        "ConditionCheck": {
            "TableName": "Things",
            "Key": {"pk": {"S": "b"}},
            "ConditionExpression": "attribute_exists(pk)",
        }
    }
    with pytest.raises(client.exceptions.TransactionCanceledException):
        client.transact_write_items(TransactItems=[move, fails])
    assert scored(client, 1, 2, 3) == [("a", 0.0)]
    client.transact_write_items(TransactItems=[move])
    assert scored(client, 9, 9, 9) == [("a", 0.0)]


def test_expired_items_leave_the_index(timed: Engine, clock: Clock) -> None:
    create(timed, vector_index())
    timed.update_time_to_live(TableName="Things", TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"})
    timed.put_item(TableName="Things", Item={**KEY, "v": vector(1, 2, 3), "until": {"N": str(int(clock.now) + 10)}})
    put(timed, "b", 1, 2, 3)
    clock.now += 60
    assert found(timed, 1, 2, 3) == ["a", "b"]  # until it is deleted
    assert timed.sweep_expired() == 1
    assert found(timed, 1, 2, 3) == ["b"]


def test_the_table_keeps_vectors_as_they_were_written(client: Client) -> None:
    create(client, vector_index(), vector_index("Dot", distance="DOT_PRODUCT"))
    exact = "0.1234567890123456789"
    put(client, "a", exact, "1E-130", "3.4028235E+38")
    stored = client.get_item(TableName="Things", Key=KEY)["Item"]["v"]
    assert stored["L"][0] == {"N": exact}
    # The index has the nearest 32-bit float, and zero for a number that is too small for one.
    assert scored(client, 1, 0, 0, IndexName="Dot") == [("a", 0.12345679104328156)]


def test_streams_have_whole_items(client: Client, streams_client: DynamoDBStreamsClient) -> None:
    specification = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    create(client, vector_index(projection="KEYS_ONLY"), StreamSpecification=specification)
    put(client, "a", 1, 2, 3)
    put(client, "a", 1, 2, 3)
    client.delete_item(TableName="Things", Key=KEY)
    arn = client.describe_table(TableName="Things")["Table"]["LatestStreamArn"]
    shard = streams_client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    start = streams_client.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    records = streams_client.get_records(ShardIterator=start["ShardIterator"])["Records"]
    assert [each["eventName"] for each in records] == ["INSERT", "REMOVE"]
    assert records[0]["dynamodb"]["NewImage"] == {**KEY, "v": vector(1, 2, 3)}


def test_writes_are_metered_in_bytes(client: Client) -> None:
    create(
        client,
        vector_index("Wide", dimensions=300, projection=["title"], partition="tenant"),
        vector_index("Small", "w", dimensions=2, projection="KEYS_ONLY"),
    )
    wide = {"L": numbers(*range(300))}

    def bytes_of(answer: Any) -> dict[str, float]:
        consumed = answer["ConsumedCapacity"]
        consumed = consumed[0] if isinstance(consumed, list) else consumed
        assert consumed["CapacityUnits"] == consumed["Table"]["CapacityUnits"]
        return {name: each["VectorWriteRequestBytes"] for name, each in consumed.get("VectorIndexes", {}).items()}

    def put(**attributes: Any) -> dict[str, float]:
        item = {**KEY, "tenant": {"S": "t"}, **attributes}
        return bytes_of(client.put_item(TableName="Things", Item=item, ReturnConsumedCapacity="INDEXES"))

    def update(expression: str, **values: Any) -> dict[str, float]:
        return bytes_of(
            client.update_item(
                TableName="Things",
                Key=KEY,
                UpdateExpression=expression,
                ExpressionAttributeValues={f":{name}": value for name, value in values.items()},
                ReturnConsumedCapacity="INDEXES",
            )
        )

    entry = 300 * 4 + len("pka") + len("tenantt")
    assert put(v=wide, title={"S": "x"}) == {"Wide": entry + len("titlex")}
    assert put(v=wide, title={"S": "x"}) == {}
    assert put(v=wide, title={"S": "x"}, other={"S": "y"}) == {}
    assert put(v=wide, w=vector(1, 2)) == {"Wide": entry + len("titlex"), "Small": 1024}
    assert put(v=wide, w=vector(1, 2)) == {}
    assert update("SET tenant = :t", t={"S": "u"}) == {"Wide": 2 * entry}
    assert update("SET extra = :o", o={"S": "y"}) == {}
    request: Any = {"Things": [{"DeleteRequest": {"Key": KEY}}]}
    answer = client.batch_write_item(RequestItems=request, ReturnConsumedCapacity="INDEXES")
    assert bytes_of(answer) == {"Wide": entry, "Small": 1024}
    total = client.put_item(TableName="Things", Item={**KEY, "w": vector(1, 2)}, ReturnConsumedCapacity="TOTAL")
    assert "VectorIndexes" not in total["ConsumedCapacity"]
