"""Vector indexes of tables: created, described, added to a table with items, and deleted."""

import sys
from typing import TYPE_CHECKING, Any

import pytest

from keyplan.engine import Engine
from keyplan.engine.operations.tables import index_backfill
from keyplan.engine.vectors import extra
from tests.engine.support import index, make_table, refused
from tests.engine.vectors.support import INVALID, create, found, put, search, vector, vector_index

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client
else:
    Client = object

ONE_AT_A_TIME = "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"


def described(client: Client, table: str = "Things") -> list[Any]:
    answer: dict[str, Any] = client.describe_table(TableName=table)["Table"]  # type: ignore[assignment]
    return list(answer.get("VectorIndexes", []))


def change(client: Client, *updates: dict[str, Any], **more: Any) -> dict[str, Any]:
    request: dict[str, Any] = {"TableName": "Things", "VectorIndexUpdates": list(updates), **more}
    answer: dict[str, Any] = client.update_table(**request)["TableDescription"]  # type: ignore[assignment]
    return answer


def test_an_index_is_described_as_it_was_created(client: Client) -> None:
    wanted = vector_index(partition="tenant", filters=["kind"], projection=["title"], distance="COSINE")
    create(client, wanted)
    assert described(client) == [
        {
            **wanted,
            "IndexStatus": "ACTIVE",
            "IndexArn": "arn:aws:dynamodb:us-east-1:000000000000:table/Things/index/ByVector",
            "ItemCount": 0,
            "IndexSizeBytes": 0,
        }
    ]


def test_items_and_bytes_of_an_index_are_counted(client: Client) -> None:
    create(client, vector_index(partition="tenant", projection="KEYS_ONLY"))
    put(client, "a", 1, 2, 3, tenant="t", title="not projected")
    put(client, "b", 1, 2, 3)
    (made,) = described(client)
    # One vector of three floats, and the attributes pk and tenant.
    assert (made["ItemCount"], made["IndexSizeBytes"]) == (1, 12 + 3 + 7)


def test_a_table_has_up_to_five_vector_indexes_beside_others(client: Client) -> None:
    wanted = [vector_index(f"Vector{number}") for number in range(5)]
    make_table(client, name="Things", gsis=[index("Other", "other")], VectorIndexes=wanted)
    assert [each["IndexName"] for each in described(client)] == [f"Vector{number}" for number in range(5)]
    put(client, "a", 1, 2, 3, other="x")
    assert all(found(client, 1, 2, 3, IndexName=f"Vector{number}") == ["a"] for number in range(5))
    with refused(INVALID + "VectorIndex count exceeds the per-table limit of 5"):
        create(client, *wanted, vector_index("Vector5"), name="Others")
    with refused(INVALID + "VectorIndex count exceeds the per-table limit of 5"):
        change(client, {"Create": vector_index("Vector5")})


REFUSED: list[tuple[list[dict[str, Any]], str]] = [
    ([], "List of VectorIndexes is empty"),
    (
        [vector_index(partition="absent")],
        "One element in SearchSchema is not defined in attribute definitions",
    ),
    ([vector_index(dimensions=4097)], "Dimensions of vector index ByVector must be between 1 and 4096: 4097"),
    (
        [vector_index(filters=["text", "text"])],
        "SearchSchema of vector index ByVector has two elements with the same name",
    ),
    (
        [{**vector_index(filters=["text"]), "Projection": {"ProjectionType": "INCLUDE"}}],
        "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
    ),
    (
        [vector_index(attribute="pk")],
        "VectorAttribute pk of vector index ByVector can't be a key attribute: its type is a list",
    ),
    ([vector_index(), vector_index()], "Duplicate index name: ByVector"),
    (
        [vector_index(), vector_index("Other", dimensions=4)],
        "All vector indexes on attribute v must have the same Dimensions: 3 and 4",
    ),
    (
        [vector_index(f"Vector{place}", projection=[f"a{number}" for number in range(20)]) for place in range(5)],
        "The total number of projected attributes exceeds the limit of 100",
    ),
]


@pytest.mark.parametrize(("indexes", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refused(client: Client, indexes: list[dict[str, Any]], message: str) -> None:
    definitions = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "text")]
    with refused(INVALID + message):
        create(client, AttributeDefinitions=definitions, VectorIndexes=indexes)
    assert client.list_tables()["TableNames"] == []


def test_a_search_schema_has_one_hash_and_18_filters(client: Client) -> None:
    names = [f"a{number}" for number in range(20)]
    most = vector_index(partition="a0", filters=names[1:19])
    create(client, most)
    two = [{"AttributeName": name, "SearchSchemaElementType": "HASH"} for name in ("a0", "a1")]
    with refused(INVALID + "SearchSchema of vector index ByVector exceeds the limit of 1 HASH element"):
        create(client, {**vector_index(), "SearchSchema": two}, name="Others")
    with refused(INVALID + "SearchSchema of vector index ByVector exceeds the limit of 18 INLINE_FILTER elements"):
        create(client, vector_index(filters=names[1:]), name="Others")


def test_vector_and_filters_count_as_projected_attributes(client: Client) -> None:
    filters = [f"f{number}" for number in range(16)]
    wide = [vector_index(f"Vector{place}", projection=[f"a{number}" for number in range(20)]) for place in range(4)]
    # Four times a vector and 20 attributes, then a vector and 15 filters.
    create(client, *wide, vector_index(partition="p", filters=filters[:15]))
    change(client, {"Delete": {"IndexName": "ByVector"}})
    definitions = [{"AttributeName": name, "AttributeType": "S"} for name in filters]
    with refused(INVALID + "The total number of projected attributes exceeds the limit of 100"):
        change(client, {"Create": vector_index(filters=filters)}, AttributeDefinitions=definitions)


def test_only_on_demand_tables_have_vector_indexes(client: Client) -> None:
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    message = INVALID + "Vector indexes are only supported when BillingMode is PAY_PER_REQUEST"
    with refused(message):
        create(client, vector_index(), BillingMode="PROVISIONED", ProvisionedThroughput=units)
    create(client, BillingMode="PROVISIONED", ProvisionedThroughput=units)
    with refused(message):
        change(client, {"Create": vector_index()})
    client.update_table(TableName="Things", BillingMode="PAY_PER_REQUEST")
    change(client, {"Create": vector_index()})
    with refused(message):
        client.update_table(TableName="Things", BillingMode="PROVISIONED", ProvisionedThroughput=units)  # type: ignore[arg-type]


def test_an_index_is_added_to_a_table_with_items(client: Client) -> None:
    create(client)
    put(client, "near", 1, 0, 0, kind="a")
    put(client, "far", 9, 0, 0)
    client.put_item(TableName="Things", Item={"pk": {"S": "none"}})
    client.put_item(TableName="Things", Item={"pk": {"S": "short"}, "v": vector(1, 2)})
    client.put_item(TableName="Things", Item={"pk": {"S": "text"}, "v": {"S": "1, 0, 0"}})
    definitions = [{"AttributeName": "kind", "AttributeType": "S"}]
    answer = change(client, {"Create": vector_index(filters=["kind"])}, AttributeDefinitions=definitions)
    assert answer["TableStatus"] == "UPDATING"
    (adding,) = answer["VectorIndexes"]
    assert (adding["IndexStatus"], adding["Backfilling"], adding["Dimensions"]) == ("CREATING", False, 3)
    (made,) = described(client)
    assert (made["IndexStatus"], "Backfilling" in made, made["ItemCount"]) == ("ACTIVE", False, 2)
    assert found(client, 0, 0, 0) == ["near", "far"]
    assert found(client, 0, 0, 0, equal={"kind": "a"}) == ["near"]
    # Like the key of a secondary index that was added later, a vector that doesn't fit has to be corrected.
    with refused(INVALID + "Invalid size for parameter v, Expected: 3, Actual: 2. IndexName: ByVector"):
        client.update_item(
            TableName="Things",
            Key={"pk": {"S": "short"}},
            UpdateExpression="SET title = :t",
            ExpressionAttributeValues={":t": {"S": "x"}},
        )
    client.delete_item(TableName="Things", Key={"pk": {"S": "short"}})


@pytest.fixture
def slow_backfill(monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexes that are added stay as they are until somebody fills them."""
    monkeypatch.setattr("keyplan.engine.operations.tables.update_table.backfill", lambda *_: None)
    monkeypatch.setattr("keyplan.engine.database.Maintenance.start", lambda _: None)
    return


@pytest.mark.usefixtures("slow_backfill")
def test_an_index_cant_be_searched_before_it_is_filled(client: Client, engine: Engine) -> None:
    create(client)
    for number in range(3):
        put(client, f"item{number}", number, 0, 0)
    change(client, {"Create": vector_index()})
    (made,) = described(client)
    assert (made["IndexStatus"], made["Backfilling"]) == ("CREATING", True)
    with refused("Cannot search backfilling vector index: ByVector"):
        search(client, 0, 0, 0)
    with refused(ONE_AT_A_TIME, "LimitExceededException"):
        change(client, {"Create": vector_index("Other")})
    with refused(ONE_AT_A_TIME, "LimitExceededException"):
        client.update_table(
            TableName="Things",
            AttributeDefinitions=[{"AttributeName": "g", "AttributeType": "S"}],
            GlobalSecondaryIndexUpdates=[
                {
                    "Create": {
                        "IndexName": "Global",
                        "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "ALL"},
                    }
                }
            ],
        )
    with refused(
        "Attempt to change a resource which is still in use: Table is being updated: Things", "ResourceInUseException"
    ):
        client.delete_table(TableName="Things")
    # Writes are refused and maintained from the beginning.
    with refused(INVALID + "Invalid size for parameter v, Expected: 3, Actual: 1. IndexName: ByVector"):
        put(client, "item3", 1)
    put(client, "item3", 3, 0, 0)
    client.delete_item(TableName="Things", Key={"pk": {"S": "item1"}})
    engine.database._storage.write(lambda transaction: index_backfill.backfill(transaction, "Things"))
    assert found(client, 0, 0, 0) == ["item0", "item2", "item3"]


def test_a_large_table_is_filled_in_steps_between_requests(client: Client, engine: Engine) -> None:
    create(client)
    count = index_backfill.BACKFILL_ROWS * 2 + 1
    for start in range(0, count, 25):
        puts = [
            {"PutRequest": {"Item": {"pk": {"S": str(number)}, "v": vector(number, 0, 0)}}}
            for number in range(start, min(start + 25, count))
        ]
        engine.batch_write_item(RequestItems={"Things": puts})  # type: ignore[dict-item]
    change(client, {"Create": vector_index()})
    for _ in range(200):
        if described(client)[0]["IndexStatus"] == "ACTIVE":
            break
        engine.database._maintenance._wake.wait(0.05)
    assert described(client)[0]["ItemCount"] == count
    assert found(client, 0, 0, 0, TopK=3) == ["0", "1", "2"]
    assert found(client, count, 0, 0, TopK=1) == [str(count - 1)]


def test_one_change_of_vector_indexes_at_a_time(client: Client) -> None:
    create(client, vector_index())
    two = [{"Create": vector_index("One")}, {"Create": vector_index("Two")}]
    with refused(ONE_AT_A_TIME, "LimitExceededException"):
        change(client, *two)
    with refused(ONE_AT_A_TIME, "LimitExceededException"):
        change(client, {"Create": vector_index("One")}, {"Delete": {"IndexName": "ByVector"}})
    with refused("Attempting to create an index which already exists"):
        change(client, {"Create": vector_index()})
    with refused("Requested resource not found", "ResourceNotFoundException"):
        change(client, {"Delete": {"IndexName": "Absent"}})
    one_of = "VectorIndexUpdate.Create, VectorIndexUpdate.Delete"
    with refused(INVALID + f"One of {one_of} must not be null"):
        change(client, {})
    with refused(INVALID + f"Only one of {one_of} may be specified"):
        change(client, {"Create": vector_index("One"), "Delete": {"IndexName": "ByVector"}})
    with refused(INVALID + "All vector indexes on attribute v must have the same Dimensions: 3 and 4"):
        change(client, {"Create": vector_index("Other", dimensions=4)})
    with refused(INVALID + "One element in SearchSchema is not defined in attribute definitions"):
        change(client, {"Create": vector_index("Other", partition="absent")})
    with refused(
        INVALID
        + "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined."
    ):
        change(
            client,
            {"Create": vector_index("Other", filters=["pk"])},
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "N"}],
        )


def test_a_deleted_index_leaves_nothing_behind(client: Client, engine: Engine) -> None:
    create(client, vector_index(partition="tenant", filters=["kind"]), vector_index("Other", filters=["kind"]))
    put(client, "a", 1, 2, 3, tenant="t", kind="k")
    answer = change(client, {"Delete": {"IndexName": "ByVector"}})
    assert [(each["IndexName"], each["IndexStatus"]) for each in answer["VectorIndexes"]] == [
        ("Other", "ACTIVE"),
        ("ByVector", "DELETING"),
    ]
    with refused("The table does not have the specified index: ByVector"):
        search(client, 1, 2, 3, equal={"tenant": "t"})
    assert [each["IndexName"] for each in described(client)] == ["Other"]
    defined = client.describe_table(TableName="Things")["Table"]["AttributeDefinitions"]
    assert [each["AttributeName"] for each in defined] == ["pk", "kind"]
    assert found(client, 1, 2, 3, IndexName="Other") == ["a"]
    change(client, {"Delete": {"IndexName": "Other"}})
    assert "VectorIndexes" not in client.describe_table(TableName="Things")["Table"]
    assert vector_tables(engine) == set()
    put(client, "a", 1)  # vectors of any size again


def test_a_deleted_table_leaves_nothing_behind(client: Client, engine: Engine) -> None:
    create(client, vector_index(partition="tenant"))
    put(client, "a", 1, 2, 3, tenant="t")
    assert found(client, 1, 2, 3, equal={"tenant": "t"}) == ["a"]
    answer: dict[str, Any] = client.delete_table(TableName="Things")["TableDescription"]  # type: ignore[assignment]
    assert "VectorIndexes" not in answer
    assert vector_tables(engine) == set()
    create(client, vector_index(partition="tenant"))
    assert found(client, 1, 2, 3, equal={"tenant": "t"}) == []


def vector_tables(engine: Engine) -> set[str]:
    """The SQLite tables and indexes of vector indexes."""

    def names(transaction: Any) -> set[str]:
        rows = transaction.sql("SELECT name FROM sqlite_schema WHERE name GLOB 't[0-9]*_[0-9]*'").fetchall()
        return {name for (name,) in rows}

    return engine.database._storage.read(names)


def test_query_scan_and_partiql_dont_read_a_vector_index(client: Client) -> None:
    create(client, vector_index())
    with refused("Query operation not supported on this index type."):
        client.query(
            TableName="Things",
            IndexName="ByVector",
            KeyConditionExpression="pk = :p",
            ExpressionAttributeValues={":p": {"S": "a"}},
        )
    with refused("Scan operation not supported on this index type."):
        client.scan(TableName="Things", IndexName="ByVector")
    with refused("The table does not have the specified index"):
        client.execute_statement(Statement='SELECT * FROM "Things"."ByVector"')


def test_without_numpy_only_vector_indexes_are_missing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    create(client, vector_index())
    monkeypatch.setattr(extra, "find_spec", lambda _: None)
    extra._has_numpy.cache_clear()
    message = "Vector indexes need NumPy, which isn't installed. Run: pip install 'keyplan[vectors]'"
    try:
        put(client, "a", 1, 2, 3)  # a file from elsewhere may have some
        with refused(message):
            search(client, 1, 2, 3)
        with refused(message):
            create(client, vector_index(), name="Others")
        create(client, name="Others")
    finally:
        extra._has_numpy.cache_clear()


def test_numpy_is_imported_by_the_first_search(tmp_path: Any) -> None:
    import subprocess

    program = (
        "import sys\n"
        "from keyplan.engine import Engine\n"
        "from tests.engine.vectors.support import create, found, put, vector_index\n"
        "with Engine() as engine:\n"
        "    create(engine, vector_index())\n"
        "    put(engine, 'a', 1, 2, 3)\n"
        "    assert 'numpy' not in sys.modules\n"
        "    assert found(engine, 1, 2, 3) == ['a']\n"
        "    assert 'numpy' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
