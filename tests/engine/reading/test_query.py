"""Query: which items a key condition finds, and in which order."""

from typing import Any

import pytest

from tests.engine.item_support import Client, Scalar, contents, fill, item, values
from tests.engine.support import index, make_table, refused

STRINGS = ["", "A", "Z", "a", "ab", "b", "z", "ß", "ÿ", "€", "\ufffd", "😀"]
"""By UTF-8 bytes; in UTF-16, the last two would change places."""
NUMBERS = ["-1E+20", "-10", "-9.5", "-1E-10", "0", "1E-130", "0.5", "9", "10", "10.5", "1E+125"]
BINARIES = [
    b"\x00",
    b"\x00\x00",
    b"\x00\x01",
    b"\x01",
    b"\x7f",
    b"\x80",
    b"\xfe\xff",
    b"\xff",
    b"\xff\x00",
    b"\xff\xff",
]


def query(client: Client, table: str, condition: str, **request: Any) -> list[Any]:
    """The sort keys that a query finds; `request` has the values of its placeholders and further parameters."""
    marks = values(**{name: request.pop(name) for name in list(request) if name.islower()})
    answer = client.query(TableName=table, KeyConditionExpression=condition, ExpressionAttributeValues=marks, **request)
    assert answer["Count"] == len(answer["Items"]) == answer["ScannedCount"]
    return contents(answer["Items"], "sk")


@pytest.mark.parametrize(
    ("kind", "keys"), [("S", STRINGS[1:]), ("N", NUMBERS), ("B", BINARIES)], ids=["strings", "numbers", "binaries"]
)
def test_items_come_in_the_order_of_their_sort_key(client: Client, kind: str, keys: list[Any]) -> None:
    table = make_table(client, "pk", f"sk:{kind}")
    fill(client, table, [{"pk": {"S": "a"}, "sk": {kind: key}} for key in reversed(keys)])
    fill(client, table, [{"pk": {"S": "b"}, "sk": {kind: key}} for key in keys[:3]])
    request: dict[str, Any] = {
        "TableName": table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": values(p="a"),
    }
    forward = client.query(**request)["Items"]
    backward = client.query(**request, ScanIndexForward=False)["Items"]
    assert backward == forward[::-1]
    found = contents(forward, "sk")
    assert ([float(key) for key in found] if kind == "N" else found) == (
        [float(key) for key in keys] if kind == "N" else keys
    )


@pytest.mark.parametrize("hash_value", ["a", 1, -1.5, b"\x00\xff"], ids=str)
def test_partition_key_of_each_type(client: Client, hash_value: Any) -> None:
    kind = {"str": "S", "bytes": "B"}.get(type(hash_value).__name__, "N")
    content = str(hash_value) if kind == "N" else hash_value
    table = make_table(client, f"pk:{kind}", "sk:N")
    other = {"S": "b", "N": "7", "B": b"\x00"}[kind]
    fill(client, table, [{"pk": {kind: key}, "sk": {"N": "1"}} for key in (content, other)])
    answer = client.query(
        TableName=table, KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {kind: content}}
    )
    assert [found["pk"] for found in answer["Items"]] == [{kind: content}]


@pytest.fixture
def numbered(client: Client) -> str:
    """A partition "a" with the sort keys 1 to 5, next to others."""
    table = make_table(client, "pk", "sk:N")
    fill(client, table, [item(pk=pk, sk=sk) for pk in ("", "a", "aa", "b") if pk for sk in range(1, 6)])
    return table


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("pk = :p", "12345"),
        (":p = pk", "12345"),
        ("pk = :p AND sk = :x", "3"),
        ("sk = :x AND pk = :p", "3"),
        ("pk = :p AND sk < :x", "12"),
        ("pk = :p AND sk <= :x", "123"),
        ("pk = :p AND sk > :x", "45"),
        ("pk = :p AND sk >= :x", "345"),
        ("pk = :p AND :x < sk", "45"),
        ("pk = :p AND :x >= sk", "123"),
        ("(pk = :p) AND (sk > :x)", "45"),
        ("pk = :p AND sk BETWEEN :x AND :x", "3"),
    ],
)
def test_operators(client: Client, numbered: str, condition: str, expected: str) -> None:
    used: dict[str, Any] = {"p": "a"} | ({"x": 3} if ":x" in condition else {})
    assert query(client, numbered, condition, **used) == list(expected)
    assert query(client, numbered, condition, ScanIndexForward=False, **used) == list(expected[::-1])


def test_between_includes_both_bounds(client: Client, numbered: str) -> None:
    assert query(client, numbered, "pk = :p AND sk BETWEEN :x AND :y", p="a", x=2, y=4) == ["2", "3", "4"]
    assert query(client, numbered, "pk = :p AND sk BETWEEN :x AND :y", p="a", x=7, y=9) == []


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [("a", ["a", "a\x00", "a#1", "ab", "a\U0010ffff"]), ("a#", ["a#1"]), ("c", []), ("b\x00", ["b\x00\x00"])],
)
def test_begins_with_strings(client: Client, prefix: str, expected: list[str]) -> None:
    table = make_table(client, "pk", "sk")
    keys = ["A", "a", "a\x00", "a#1", "ab", "a\U0010ffff", "b", "b\x00\x00"]
    fill(client, table, [item(pk="x", sk=key) for key in keys])
    assert query(client, table, "pk = :p AND begins_with(sk, :s)", p="x", s=prefix) == expected


@pytest.mark.parametrize("prefix", [b"\x00", b"\xff", b"\xff\xff", b"\x00\x00"])
def test_begins_with_binaries(client: Client, prefix: bytes) -> None:
    table = make_table(client, "pk", "sk:B")
    fill(client, table, [item(pk="x", sk=key) for key in BINARIES])
    expected = [key for key in BINARIES if key.startswith(prefix)]
    assert query(client, table, "pk = :p AND begins_with(sk, :s)", p="x", s=prefix) == expected


def test_keys_that_begin_alike_are_other_partitions(client: Client) -> None:
    table = make_table(client, "pk", "sk")
    fill(client, table, [item(pk=pk, sk=sk) for pk, sk in [("a", "b"), ("a\x00", "b"), ("ab", "c"), ("a", "\x00b")]])
    assert query(client, table, "pk = :p", p="a") == ["\x00b", "b"]
    assert query(client, table, "pk = :p", p="a\x00") == ["b"]


def test_table_without_sort_key(client: Client) -> None:
    table = make_table(client)
    fill(client, table, [item(pk="a", v=1), item(pk="b", v=2)])
    answer = client.query(TableName=table, KeyConditionExpression="pk = :p", ExpressionAttributeValues=values(p="b"))
    assert answer["Items"] == [item(pk="b", v=2)]
    with refused("Query key condition not supported"):
        query(client, table, "pk = :p AND v = :v", p="b", v=2)


def test_numbers_are_compared_by_value(client: Client) -> None:
    table = make_table(client, "pk:N", "sk:N")
    client.put_item(TableName=table, Item={"pk": {"N": "1.0"}, "sk": {"N": "1e2"}})
    answer = client.query(
        TableName=table,
        KeyConditionExpression="pk = :p AND sk = :s",
        ExpressionAttributeValues={":p": {"N": "10E-1"}, ":s": {"N": "00100.0"}},
    )
    assert answer["Items"] == [{"pk": {"N": "1"}, "sk": {"N": "100"}}]


def test_filter_comes_after_the_key_condition(client: Client) -> None:
    table = make_table(client, "pk", "sk:N")
    fill(client, table, [item(pk="a", sk=number, v=number % 2) for number in range(10)])
    answer = client.query(
        TableName=table,
        KeyConditionExpression="pk = :p AND sk < :s",
        FilterExpression="v = :v",
        ExpressionAttributeValues=values(p="a", s=6, v=1),
    )
    assert (contents(answer["Items"], "sk"), answer["Count"], answer["ScannedCount"]) == (["1", "3", "5"], 3, 6)
    assert "LastEvaluatedKey" not in answer


def test_names_of_the_key_by_placeholder(client: Client) -> None:
    table = make_table(client, "name", "value")
    client.put_item(TableName=table, Item=item(name="a", value="b"))
    answer = client.query(
        TableName=table,
        KeyConditionExpression="#n = :n AND begins_with(#v, :v)",
        ExpressionAttributeNames={"#n": "name", "#v": "value"},
        ExpressionAttributeValues=values(n="a", v="b"),
    )
    assert answer["Count"] == 1


@pytest.mark.parametrize(
    ("ranges", "used", "expected"),
    [
        ("", {}, "abcdef"),
        (" AND r1 = :x", {"x": 1}, "abc"),
        (" AND r1 > :x", {"x": 1}, "def"),
        (" AND r1 = :x AND r2 = :y", {"x": 1, "y": "m"}, "bc"),
        (" AND r1 = :x AND begins_with(r2, :y)", {"x": 1, "y": "l"}, "a"),
        (" AND r1 = :x AND r2 = :y AND r3 >= :z", {"x": 1, "y": "m", "z": b"\x02"}, "c"),
        (" AND r1 = :x AND r2 = :y AND r3 = :z AND r4 BETWEEN :u AND :v",
         {"x": 2, "y": "m", "z": b"\x01", "u": -5, "v": 3}, "de"),
    ],
)  # fmt: skip
def test_index_with_four_and_four_key_attributes(
    client: Client, ranges: str, used: dict[str, Scalar], expected: str
) -> None:
    wide = index("wide", ["h1", "h2:N", "h3:B", "h4"], ["r1:N", "r2", "r3:B", "r4:N"])
    table = make_table(client, "id", gsis=[wide])
    rows: list[tuple[str, int, str, bytes, int]] = [
        ("a", 1, "l", b"\x09", 9), ("b", 1, "m", b"\x01", 9), ("c", 1, "m", b"\x02", 0),
        ("d", 2, "m", b"\x01", -5), ("e", 2, "m", b"\x01", 3), ("f", 2, "m", b"\x01", 20),
    ]  # fmt: skip
    hashes: dict[str, Scalar] = {"h1": "x", "h2": 7, "h3": b"\x00", "h4": "y"}
    items = [item(id=id, r1=r1, r2=r2, r3=r3, r4=r4, **hashes) for id, r1, r2, r3, r4 in reversed(rows)]
    # Not in the index, or in another partition of it:
    fill(client, table, [*items, item(id="g", h1="x"), {**items[0], **item(id="h", h4="z")}])
    condition = "h1 = :h1 AND h2 = :h2 AND h3 = :h3 AND h4 = :h4" + ranges
    for forward in (True, False):
        answer = client.query(
            TableName=table,
            IndexName="wide",
            KeyConditionExpression=condition,
            ExpressionAttributeValues=values(**hashes, **used),
            ScanIndexForward=forward,
        )
        assert contents(answer["Items"], "id") == list(expected if forward else expected[::-1])


GAP = (
    "RANGE key attributes r1 must have equality conditions specified in the query "
    "because a condition is present on key attribute r2"
)


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("h1 = :s", "Query condition missed key schema element: h2"),
        ("h1 = :s AND h2 > :s", "Query key condition not supported"),
        ("h1 = :s AND h2 = :s AND r2 = :s", GAP),
        ("h1 = :s AND h2 = :s AND r1 > :s AND r2 = :s", GAP),
        ("h1 = :s AND h2 = :s AND o1 = :s", "Query condition missed key schema element: r1"),
    ],
)
def test_conditions_that_do_not_fit_several_attributes(client: Client, condition: str, message: str) -> None:
    table = make_table(client, "id", gsis=[index("many", ["h1", "h2"], ["r1", "r2"])])
    with refused(message):
        client.query(
            TableName=table,
            IndexName="many",
            KeyConditionExpression=condition,
            ExpressionAttributeValues=values(s="x"),
        )


def test_local_index_orders_by_its_own_sort_key(client: Client) -> None:
    table = make_table(client, "pk", "sk", lsis=[index("by-grade", "pk", "grade:N")])
    fill(client, table, [item(pk="a", sk=f"{rank}", grade=-rank) for rank in range(5)] + [item(pk="a", sk="none")])
    request: dict[str, Any] = {"KeyConditionExpression": "pk = :p AND grade <= :r", "IndexName": "by-grade"}
    answer = client.query(TableName=table, ExpressionAttributeValues=values(p="a", r=-2), **request)
    assert contents(answer["Items"], "sk") == ["4", "3", "2"]


def test_global_index_follows_changes(client: Client) -> None:
    table = make_table(client, gsis=[index("by-state", "state")])

    def found(state: str) -> list[str]:
        answer = client.query(
            TableName=table,
            IndexName="by-state",
            KeyConditionExpression="#s = :s",
            ExpressionAttributeNames={"#s": "state"},
            ExpressionAttributeValues=values(s=state),
        )
        return sorted(contents(answer["Items"], "pk"))

    fill(client, table, [item(pk="a", state="new"), item(pk="b", state="new"), item(pk="c")])
    assert found("new") == ["a", "b"]
    client.put_item(TableName=table, Item=item(pk="a", state="old"))
    client.put_item(TableName=table, Item=item(pk="c", state="old"))
    client.delete_item(TableName=table, Key=item(pk="b"))
    assert (found("new"), found("old")) == ([], ["a", "c"])
    client.update_item(
        TableName=table,
        Key=item(pk="a"),
        UpdateExpression="REMOVE #s",
        ExpressionAttributeNames={"#s": "state"},
    )
    assert found("old") == ["c"]
