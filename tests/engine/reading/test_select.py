"""Query and Scan: which attributes come back, from tables and from indexes of each projection."""

from typing import Any

import pytest

from tests.engine.item_support import Client, Item, contents, fill, item, values
from tests.engine.support import index, make_table, refused

WHOLE = item(pk="a", sk="s", gk="g", ls="l", v="value", w="other", x=1)
KEYS = ["gk", "ls", "pk", "sk", "v", "w", "x"]


@pytest.fixture
def table(client: Client) -> str:
    """One item that is in indexes of every kind."""
    name = make_table(
        client,
        "pk",
        "sk",
        gsis=[
            index("g-all", "gk", "ls"),
            index("g-keys", "gk", "ls", projection="KEYS_ONLY"),
            index("g-some", "gk", projection=["v"]),
        ],
        lsis=[
            index("l-all", "pk", "ls"),
            index("l-keys", "pk", "ls", projection="KEYS_ONLY"),
            index("l-some", "pk", "ls", projection=["v"]),
        ],
    )
    client.put_item(TableName=name, Item=WHOLE)
    return name


def read(client: Client, table: str, operation: str, **request: Any) -> dict[str, Any]:
    if operation == "query":
        name = "gk" if request.get("IndexName", "").startswith("g-") else "pk"
        marks = {**values(k="g" if name == "gk" else "a"), **request.pop("ExpressionAttributeValues", {})}
        request |= {"KeyConditionExpression": f"{name} = :k", "ExpressionAttributeValues": marks}
    answer: dict[str, Any] = getattr(client, operation)(TableName=table, **request)
    return answer


def attributes(answer: dict[str, Any]) -> list[str]:
    (found,) = answer["Items"]
    assert found == {name: WHOLE[name] for name in found}
    return sorted(found)


@pytest.mark.parametrize("operation", ["query", "scan"])
@pytest.mark.parametrize(
    ("index_name", "given", "expected"),
    [
        (None, {}, KEYS),
        (None, {"Select": "ALL_ATTRIBUTES"}, KEYS),
        (None, {"ProjectionExpression": "v, absent"}, ["v"]),
        (None, {"ProjectionExpression": "v", "Select": "SPECIFIC_ATTRIBUTES"}, ["v"]),
        ("g-all", {}, KEYS),
        ("g-all", {"Select": "ALL_PROJECTED_ATTRIBUTES"}, KEYS),
        ("g-all", {"Select": "ALL_ATTRIBUTES"}, KEYS),
        ("g-all", {"ProjectionExpression": "w"}, ["w"]),
        ("g-keys", {}, ["gk", "ls", "pk", "sk"]),
        ("g-keys", {"Select": "ALL_PROJECTED_ATTRIBUTES"}, ["gk", "ls", "pk", "sk"]),
        ("g-keys", {"ProjectionExpression": "sk"}, ["sk"]),
        ("g-some", {}, ["gk", "pk", "sk", "v"]),
        ("g-some", {"ProjectionExpression": "v, pk"}, ["pk", "v"]),
        ("l-all", {}, KEYS),
        ("l-keys", {}, ["ls", "pk", "sk"]),
        ("l-keys", {"Select": "ALL_PROJECTED_ATTRIBUTES"}, ["ls", "pk", "sk"]),
        ("l-keys", {"Select": "ALL_ATTRIBUTES"}, KEYS),
        ("l-keys", {"ProjectionExpression": "w, ls"}, ["ls", "w"]),
        ("l-some", {}, ["ls", "pk", "sk", "v"]),
        ("l-some", {"Select": "ALL_ATTRIBUTES"}, KEYS),
        ("l-some", {"ProjectionExpression": "x, v"}, ["v", "x"]),
    ],
)
def test_attributes_that_come_back(
    client: Client, table: str, operation: str, index_name: str | None, given: dict[str, Any], expected: list[str]
) -> None:
    where = {"IndexName": index_name} if index_name else {}
    assert attributes(read(client, table, operation, **where, **given)) == expected


@pytest.mark.parametrize("operation", ["query", "scan"])
@pytest.mark.parametrize("index_name", [None, "g-all", "g-keys", "l-keys"])
def test_count_alone(client: Client, table: str, operation: str, index_name: str | None) -> None:
    where = {"IndexName": index_name} if index_name else {}
    answer = read(client, table, operation, Select="COUNT", **where)
    assert (answer["Count"], answer["ScannedCount"]) == (1, 1)
    # boto3 knows of the member and leaves it out where the answer does.
    assert "Items" not in answer


def test_count_with_a_filter(client: Client) -> None:
    table = make_table(client, "pk", "sk:N")
    fill(client, table, [item(pk="a", sk=number, v=number % 3) for number in range(10)])
    answer = client.query(
        TableName=table,
        Select="COUNT",
        KeyConditionExpression="pk = :p",
        FilterExpression="v = :v",
        ExpressionAttributeValues=values(p="a", v=0),
    )
    assert (answer["Count"], answer["ScannedCount"]) == (4, 10)


def test_filter_of_a_scan_sees_only_what_a_global_index_holds(client: Client, table: str) -> None:
    answer = read(client, table, "scan", FilterExpression="attribute_exists(w)", IndexName="g-some")
    assert (answer["Count"], answer["ScannedCount"], answer["Items"]) == (0, 1, [])


def test_filter_of_a_scan_of_a_local_index_sees_the_whole_item(client: Client, table: str) -> None:
    answer = read(client, table, "scan", FilterExpression="attribute_exists(w)", IndexName="l-some")
    assert attributes(answer) == ["ls", "pk", "sk", "v"]


@pytest.mark.parametrize("given", [{}, {"Select": "COUNT"}, {"ProjectionExpression": "pk"}])
@pytest.mark.parametrize("index_name", ["g-some", "l-some"])
def test_filter_of_a_query_may_use_only_what_the_index_holds(
    client: Client, table: str, index_name: str, given: dict[str, Any]
) -> None:
    with refused(
        f"One or more parameter values were invalid: Secondary index {index_name} does not project one or more filter "
        "attributes: [more, w]"
    ):
        read(
            client,
            table,
            "query",
            IndexName=index_name,
            FilterExpression="attribute_exists(w) OR attribute_exists(v) OR attribute_exists(more)",
            **given,
        )
    answer = read(client, table, "query", IndexName=index_name, FilterExpression="attribute_exists(v)", **given)
    assert answer["Count"] == 1


def test_filter_may_use_what_the_projection_leaves_out(client: Client, table: str) -> None:
    answer = read(
        client,
        table,
        "query",
        ProjectionExpression="v",
        FilterExpression="w = :w",
        ExpressionAttributeValues=values(w="other"),
    )
    assert answer["Items"] == [item(v="value")]


def test_nested_projection(client: Client) -> None:
    table = make_table(client, "pk", "sk")
    nested: dict[str, Any] = {
        **item(pk="a", sk="b"),
        "doc": {"M": {"list": {"L": [{"N": "0"}, {"N": "1"}, {"M": {"x": {"S": "y"}}}]}, "flag": {"BOOL": True}}},
    }
    client.put_item(TableName=table, Item=nested)
    answer = client.query(
        TableName=table,
        KeyConditionExpression="pk = :p",
        ProjectionExpression="doc.#l[2].x, doc.#l[0], doc.absent",
        ExpressionAttributeNames={"#l": "list"},
        ExpressionAttributeValues=values(p="a"),
    )
    expected: Item = {"doc": {"M": {"list": {"L": [{"N": "0"}, {"M": {"x": {"S": "y"}}}]}}}}
    assert answer["Items"] == [expected]


def test_item_without_any_projected_attribute(client: Client, table: str) -> None:
    answer = read(client, table, "query", ProjectionExpression="absent")
    assert (answer["Items"], answer["Count"]) == ([{}], 1)


def test_items_without_the_key_of_an_index_are_not_in_it(client: Client, table: str) -> None:
    fill(client, table, [item(pk="b", sk="1", gk="g"), item(pk="b", sk="2", ls="l"), item(pk="b", sk="3")])
    assert contents(client.scan(TableName=table, IndexName="g-all")["Items"], "sk") == ["s"]
    assert sorted(contents(client.scan(TableName=table, IndexName="l-keys")["Items"], "sk")) == ["2", "s"]
    assert sorted(contents(client.scan(TableName=table, IndexName="g-some")["Items"], "sk")) == ["1", "s"]
