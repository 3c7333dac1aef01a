"""Primary keys: what they must be, how long they may be, and the order of sort keys."""

from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.engine.values.attribute_values import AttributeValue
from keyplan.engine.values.normal_form import normalize
from keyplan.engine.values.row_keys import KeySchema, open_part, part, partition, prefix_end
from tests.engine.support import make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient as Client

MISMATCH = "The provided key element does not match the schema"
HASH_TOO_LONG = (
    "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes"
)
RANGE_TOO_LONG = (
    "One or more parameter values were invalid: "
    "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"
)

texts = st.text(max_size=6) | st.text("\x00\x01a\x7fé\uffff😀", max_size=5)
blobs = st.binary(max_size=6) | st.lists(st.sampled_from([0, 1, 254, 255]), max_size=5).map(bytes)


def string(text: str) -> AttributeValue:
    return {"S": text}


def binary(data: bytes) -> AttributeValue:
    return {"B": b64encode(data).decode()}


def number(text: str) -> AttributeValue:
    return normalize({"N": text})


@given(texts, texts)
def test_strings_sort_by_their_utf8_bytes(left: str, right: str) -> None:
    one, two = part(string(left)), part(string(right))
    assert (one < two, one == two) == (left.encode() < right.encode(), left == right)


@given(blobs, blobs)
def test_binaries_sort_by_unsigned_bytes(left: bytes, right: bytes) -> None:
    one, two = part(binary(left)), part(binary(right))
    assert (one < two, one == two) == (left < right, left == right)


@given(st.lists(texts, min_size=2, max_size=4), st.lists(texts, min_size=2, max_size=4))
def test_parts_never_run_into_each_other(left: list[str], right: list[str]) -> None:
    one, two = (b"".join(part(string(text)) for text in texts) for texts in (left, right))
    assert (one == two) == (left == right)
    if len(left) == len(right):
        assert (one < two) == ([text.encode() for text in left] < [text.encode() for text in right])


@given(blobs, blobs)
def test_a_prefix_covers_what_begins_with_it(prefix: bytes, other: bytes) -> None:
    """The row keys from an open part to what comes after it are those of the values that begin with the prefix."""
    front = partition([string("p")])
    low, row = front + open_part(binary(prefix)), front + part(binary(other))
    assert (low <= row < prefix_end(low)) == other.startswith(prefix)


@given(texts, blobs, st.integers(-(10**12), 10**12))
def test_row_keys_of_a_partition_begin_with_it(text: str, data: bytes, value: int) -> None:
    item = {"s": string(text), "b": binary(data), "n": number(str(value))}
    schema = KeySchema((("s", "S"),), (("n", "N"), ("b", "B")))
    assert schema.names == ("s", "n", "b")
    key = schema.row_key(item)
    assert key == partition([item["s"]]) + part(item["n"]) + part(item["b"])


ORDERED: dict[str, list[dict[str, Any]]] = {
    "S": [{"S": text} for text in ("\x00", "\x00\x00", "A", "Z", "a", "aa", "b", "é", "\uffee", "😀")],
    "N": [
        {"N": text}
        for text in ("-1e125", "-100", "-99.5", "-10", "-9", "-1e-130", "0", "1e-130", "0.5", "1", "9", "10", "1e125")
    ],
    "B": [{"B": data} for data in (b"\x00", b"\x00\x00", b"\x00\x01", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff\xff")],
}


@pytest.mark.parametrize("kind", ["S", "N", "B"])
def test_items_come_in_the_order_of_their_sort_key(client: "Client", kind: str) -> None:
    table = make_table(client, "pk", f"sk:{kind}")
    expected = ORDERED[kind]
    for value in (*expected[1::2], *expected[::-2], *expected):
        client.put_item(TableName=table, Item={"pk": {"S": "a"}, "sk": value})

    def read(**more: Any) -> list[float] | list[Any]:
        answer = client.query(
            TableName=table,
            KeyConditionExpression="pk = :p",
            ExpressionAttributeValues={":p": {"S": "a"}},
            **more,
        )
        values: list[Any] = [item["sk"] for item in answer["Items"]]
        return [float(value["N"]) for value in values] if kind == "N" else values

    wanted = [float(value["N"]) for value in expected] if kind == "N" else expected
    assert read() == wanted
    assert read(ScanIndexForward=False) == wanted[::-1]


def test_equal_numbers_are_one_key(client: "Client") -> None:
    table = make_table(client, "pk:N")
    client.put_item(TableName=table, Item={"pk": {"N": "1.0"}, "v": {"S": "first"}})
    client.put_item(TableName=table, Item={"pk": {"N": "10e-1"}, "v": {"S": "second"}})
    assert client.get_item(TableName=table, Key={"pk": {"N": "+1"}})["Item"] == {"pk": {"N": "1"}, "v": {"S": "second"}}
    assert client.scan(TableName=table)["Count"] == 1
    client.delete_item(TableName=table, Key={"pk": {"N": "01"}})
    assert client.scan(TableName=table)["Count"] == 0


def with_key(client: "Client", table: str, key: dict[str, Any]) -> list[Any]:
    """Every way to name an item by its key."""
    return [
        lambda: client.get_item(TableName=table, Key=key),
        lambda: client.delete_item(TableName=table, Key=key),
        lambda: client.update_item(TableName=table, Key=key),
    ]


@pytest.mark.parametrize(
    "key",
    [
        {},
        {"pk": {"S": "a"}},
        {"sk": {"N": "1"}},
        {"pk": {"S": "a"}, "sk": {"N": "1"}, "more": {"S": "x"}},
        {"pk": {"S": "a"}, "other": {"N": "1"}},
        {"pk": {"N": "1"}, "sk": {"N": "1"}},
        {"pk": {"S": "a"}, "sk": {"S": "1"}},
        {"pk": {"NULL": True}, "sk": {"N": "1"}},
        {"pk": {"S": "a"}, "sk": {"NS": ["1"]}},
    ],
)
def test_a_key_must_be_the_tables(client: "Client", key: dict[str, Any]) -> None:
    table = make_table(client, "pk", "sk:N")
    for call in with_key(client, table, key):
        with refused(MISMATCH):
            call()


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({}, "Missing the key pk in the item"),
        ({"sk": {"N": "1"}}, "Missing the key pk in the item"),
        ({"pk": {"S": "a"}}, "Missing the key sk in the item"),
        ({"pk": {"N": "1"}, "sk": {"N": "1"}}, "Type mismatch for key pk expected: S actual: N"),
        ({"pk": {"S": "a"}, "sk": {"B": b"1"}}, "Type mismatch for key sk expected: N actual: B"),
        ({"pk": {"NULL": True}, "sk": {"N": "1"}}, "Type mismatch for key pk expected: S actual: NULL"),
        ({"pk": {"M": {}}, "sk": {"N": "1"}}, "Type mismatch for key pk expected: S actual: M"),
    ],
)
def test_an_item_must_have_the_key(client: "Client", item: dict[str, Any], message: str) -> None:
    table = make_table(client, "pk", "sk:N")
    with refused(f"One or more parameter values were invalid: {message}"):
        client.put_item(TableName=table, Item=item)


@pytest.mark.parametrize(("kind", "word", "empty"), [("S", "string", ""), ("B", "binary", b"")])
def test_keys_can_not_be_empty(client: "Client", kind: str, word: str, empty: Any) -> None:
    table = make_table(client, f"pk:{kind}", f"sk:{kind}")
    full = {kind: empty + empty.__class__(b"x") if kind == "B" else "x"}
    for name, key in (("pk", {"pk": {kind: empty}, "sk": full}), ("sk", {"pk": full, "sk": {kind: empty}})):
        for call in (*with_key(client, table, key), lambda key=key: client.put_item(TableName=table, Item=key)):
            with refused(
                "One or more parameter values are not valid. The AttributeValue for a key attribute "
                f"cannot contain an empty {word} value. Key: {name}"
            ):
                call()


@pytest.mark.parametrize(
    ("kind", "exact_hash", "exact_range", "more"),
    [("S", "é" * 1024, "é" * 512, "x"), ("B", b"\xff" * 2048, b"\x00" * 1024, b"x")],
)
def test_keys_have_up_to_2048_and_1024_bytes(
    client: "Client", kind: str, exact_hash: Any, exact_range: Any, more: Any
) -> None:
    table = make_table(client, f"pk:{kind}", f"sk:{kind}")
    key = {"pk": {kind: exact_hash}, "sk": {kind: exact_range}}
    client.put_item(TableName=table, Item=key)
    assert client.get_item(TableName=table, Key=key)["Item"] == key
    for name, value, message in (("pk", exact_hash, HASH_TOO_LONG), ("sk", exact_range, RANGE_TOO_LONG)):
        longer = {**key, name: {kind: value + more}}
        for call in (
            *with_key(client, table, longer),
            lambda longer=longer: client.put_item(TableName=table, Item=longer),
        ):
            with refused(message):
                call()


def test_keys_are_measured_in_bytes(client: "Client") -> None:
    table = make_table(client, "pk", "sk")
    client.put_item(TableName=table, Item={"pk": {"S": "😀" * 512}, "sk": {"S": "😀" * 256}})
    with refused(HASH_TOO_LONG):
        client.put_item(TableName=table, Item={"pk": {"S": "😀" * 512 + "x"}, "sk": {"S": "a"}})
    with refused(RANGE_TOO_LONG):
        client.put_item(TableName=table, Item={"pk": {"S": "a"}, "sk": {"S": "😀" * 256 + "x"}})


def test_an_update_can_not_write_the_key(client: "Client") -> None:
    table = make_table(client, "pk", "sk:N")
    for expression, name in (("SET pk = :v", "pk"), ("SET a = :v REMOVE sk", "sk"), ("ADD sk :v", "sk")):
        values: dict[str, Any] = {":v": {"N": "1"}}
        with refused(
            f"One or more parameter values were invalid: Cannot update attribute {name}. "
            "This attribute is part of the key"
        ):
            client.update_item(
                TableName=table,
                Key={"pk": {"S": "a"}, "sk": {"N": "1"}},
                UpdateExpression=expression,
                ExpressionAttributeValues=values,
            )
