"""AttributeUpdates: PUT, ADD and DELETE of attributes of an item that exists, and of one that doesn't."""

from typing import Any

import pytest

from keyplan.engine import Engine
from keyplan.engine.database import Database
from keyplan.engine.errors import DynamoError
from tests.engine.item_support import Client, Item, item
from tests.engine.legacy.support import PARAMETER, VALUES, comparing
from tests.engine.support import DETECTED, index, make_table, refused

KEY = item(pk="a")
ADDED = {"N", "SS", "NS", "BS", "L"}
SETS = {"SS", "NS", "BS"}


def put(value: Any) -> Any:
    return {"Action": "PUT", "Value": value}


def add(value: Any) -> Any:
    return {"Action": "ADD", "Value": value}


def delete(value: Any = None) -> Any:
    return {"Action": "DELETE", **({} if value is None else {"Value": value})}


def update(client: Client, old: Item | None, wanted: Any = "ALL_NEW", **updates: Any) -> Any:
    """The attributes that an update of this item returns; None stands for an item that doesn't exist."""
    table = make_table(client)
    if old is not None:
        client.put_item(TableName=table, Item={**KEY, **old})
    answer = client.update_item(TableName=table, Key=KEY, AttributeUpdates=updates, ReturnValues=wanted)
    if wanted == "ALL_NEW":
        assert client.get_item(TableName=table, Key=KEY).get("Item") == answer.get("Attributes")
    return answer.get("Attributes")


def test_put(client: Client) -> None:
    assert update(client, None, a=put(VALUES["S"])) == {**KEY, "a": VALUES["S"]}
    assert update(client, {"a": VALUES["M"], "b": VALUES["N"]}, a=put(VALUES["S"])) == {
        **KEY,
        "a": VALUES["S"],
        "b": VALUES["N"],
    }
    # PUT is the default.
    assert update(client, {}, a={"Value": VALUES["NULL"]}) == {**KEY, "a": VALUES["NULL"]}


@pytest.mark.parametrize("kind", VALUES)
def test_every_type_can_be_put(client: Client, kind: str) -> None:
    assert update(client, {"a": VALUES["S"]}, a=put(VALUES[kind])) == {**KEY, "a": VALUES[kind]}


def test_add_to_a_number(client: Client) -> None:
    assert update(client, {"n": {"N": "1"}}, n=add({"N": "2.5"})) == {**KEY, "n": {"N": "3.5"}}
    assert update(client, {"n": {"N": "1"}}, n=add({"N": "-2"})) == {**KEY, "n": {"N": "-1"}}
    assert update(client, {}, n=add({"N": "3"})) == {**KEY, "n": {"N": "3"}}
    assert update(client, None, n=add({"N": "3"})) == {**KEY, "n": {"N": "3"}}


def test_add_to_a_set(client: Client) -> None:
    assert update(client, {"s": {"SS": ["a"]}}, s=add({"SS": ["b", "a"]})) == {**KEY, "s": {"SS": ["a", "b"]}}
    assert update(client, {"s": {"NS": ["10"]}}, s=add({"NS": ["9"]})) == {**KEY, "s": {"NS": ["9", "10"]}}
    assert update(client, {"s": {"BS": [b"b"]}}, s=add({"BS": [b"a"]})) == {**KEY, "s": {"BS": [b"a", b"b"]}}
    assert update(client, {}, s=add({"SS": ["a"]})) == {**KEY, "s": {"SS": ["a"]}}
    # AWS's page allows only numbers and sets of numbers here; AWS allows all sets.
    assert update(client, None, s=add({"SS": ["a"]})) == {**KEY, "s": {"SS": ["a"]}}


def test_add_to_a_list(client: Client) -> None:
    """Not documented, but done by AWS: https://github.com/getmoto/moto/issues/3561,
    https://github.com/architect/dynalite/issues/57.
    """
    one, two = VALUES["N"], VALUES["S"]
    assert update(client, {"x": {"L": [one]}}, x=add({"L": [two, one]})) == {**KEY, "x": {"L": [one, two, one]}}
    assert update(client, {}, x=add({"L": [two]})) == {**KEY, "x": {"L": [two]}}
    assert update(client, None, x=add({"L": [two]})) == {**KEY, "x": {"L": [two]}}
    assert update(client, {}, x=add({"L": [one]}), y=add({"L": []}), n=add(one)) == {
        **KEY,
        "x": {"L": [one]},
        "y": {"L": []},
        "n": one,
    }


def test_delete_an_attribute(client: Client) -> None:
    assert update(client, {"a": VALUES["M"], "b": VALUES["S"]}, a=delete()) == {**KEY, "b": VALUES["S"]}
    assert update(client, {"b": VALUES["S"]}, a=delete()) == {**KEY, "b": VALUES["S"]}


def test_delete_from_a_set(client: Client) -> None:
    assert update(client, {"s": {"SS": ["a", "b"]}}, s=delete({"SS": ["b", "c"]})) == {**KEY, "s": {"SS": ["a"]}}
    assert update(client, {"s": {"NS": ["1", "2"]}}, s=delete({"NS": ["2.0"]})) == {**KEY, "s": {"NS": ["1"]}}
    assert update(client, {"s": {"SS": ["a"]}}, s=delete({"SS": ["a"]})) == KEY
    assert update(client, {}, s=delete({"SS": ["a"]})) == KEY


def test_an_item_that_does_not_exist(client: Client) -> None:
    """DELETE creates no item, but an update without any action does:
    https://github.com/scylladb/scylladb/issues/5862.
    """
    assert update(client, None, a=delete()) is None
    assert update(client, None, a=delete({"SS": ["a"]})) is None
    assert update(client, None, a=delete(), b=put(VALUES["S"])) == {**KEY, "b": VALUES["S"]}
    assert update(client, None) == KEY


@pytest.mark.parametrize(("action", "allowed"), [("ADD", ADDED), ("DELETE", SETS)])
def test_the_types_of_values(client: Client, action: str, allowed: set[str]) -> None:
    problem = "ADD action is" if action == "ADD" else "DELETE action with value is"
    for kind, value in VALUES.items():
        updates: Any = {"a": {"Action": action, "Value": value}}
        if kind in allowed:
            with refused("Requested resource not found", "ResourceNotFoundException"):
                client.update_item(TableName="nowhere", Key=KEY, AttributeUpdates=updates)
        else:
            with refused(f"{DETECTED}{PARAMETER}{problem} not supported for the type {kind}"):
                client.update_item(TableName="nowhere", Key=KEY, AttributeUpdates=updates)


def test_only_delete_needs_no_value(client: Client) -> None:
    wrong: list[Any] = [{}, {"Action": "PUT"}, {"Action": "ADD"}]
    for given in wrong:
        with refused(f"{DETECTED}{PARAMETER}Only DELETE action is allowed when no attribute value is specified"):
            client.update_item(TableName="nowhere", Key=KEY, AttributeUpdates={"a": given})


@pytest.mark.parametrize(
    ("old", "change"),
    [
        ("S", add(VALUES["N"])),
        ("NS", add(VALUES["N"])),
        ("N", add(VALUES["SS"])),
        ("NS", add(VALUES["SS"])),
        ("L", add(VALUES["SS"])),
        ("SS", add(VALUES["L"])),
        ("S", add(VALUES["L"])),
        ("S", delete(VALUES["SS"])),
        ("NS", delete(VALUES["SS"])),
    ],
)
def test_an_attribute_of_another_type(client: Client, old: str, change: dict[str, Any]) -> None:
    """https://github.com/aws/aws-sdk-java/issues/905."""
    with refused("Type mismatch for attribute to update"):
        update(client, {"a": VALUES[old]}, a=change)


def test_key_attributes_can_not_be_updated(client: Client) -> None:
    table = make_table(client, "pk", "sk")
    key = item(pk="a", sk="b")
    for name in key:
        with refused(f"{PARAMETER}Cannot update attribute {name}. This attribute is part of the key"):
            client.update_item(TableName=table, Key=key, AttributeUpdates={name: {"Action": "DELETE"}})
        with refused(f"{PARAMETER}Cannot update attribute {name}. This attribute is part of the key"):
            client.update_item(TableName=table, Key=key, AttributeUpdates={name: {"Value": key[name]}})


def test_index_keys_keep_their_type(client: Client) -> None:
    table = make_table(client, gsis=[index("by-g", "g")])
    for given in (put(VALUES["N"]), add(VALUES["N"])):
        with refused(f"{PARAMETER}Type mismatch for Index Key g Expected: S Actual: N IndexName: by-g"):
            client.update_item(TableName=table, Key=KEY, AttributeUpdates={"g": given})
    client.update_item(TableName=table, Key=KEY, AttributeUpdates={"g": {"Value": {"S": "x"}}})
    found = client.query(TableName=table, IndexName="by-g", KeyConditions={"g": comparing("EQ", "x")})
    assert found["Items"] == [{**KEY, "g": {"S": "x"}}]
    client.update_item(TableName=table, Key=KEY, AttributeUpdates={"g": {"Action": "DELETE"}})
    assert client.scan(TableName=table, IndexName="by-g")["Count"] == 0


OLD: Item = {"a": {"N": "1"}, "b": {"SS": ["x", "y"]}, "c": {"S": "c"}, "d": {"S": "d"}}
CHANGES: dict[str, Any] = {"a": add({"N": "1"}), "b": delete({"SS": ["x"]}), "c": delete(), "e": put({"S": "e"})}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("NONE", None),
        ("ALL_OLD", {**KEY, **OLD}),
        ("UPDATED_OLD", {"a": {"N": "1"}, "b": {"SS": ["x", "y"]}, "c": {"S": "c"}}),
        ("ALL_NEW", {**KEY, "a": {"N": "2"}, "b": {"SS": ["y"]}, "d": {"S": "d"}, "e": {"S": "e"}}),
        ("UPDATED_NEW", {"a": {"N": "2"}, "b": {"SS": ["y"]}, "e": {"S": "e"}}),
    ],
)
def test_return_values(client: Client, wanted: str, expected: Item | None) -> None:
    assert update(client, OLD, wanted, **CHANGES) == expected


def test_return_values_without_an_old_item(client: Client) -> None:
    assert update(client, None, "ALL_OLD", a=put(VALUES["S"])) is None
    assert update(client, None, "UPDATED_OLD", a=put(VALUES["S"])) is None
    assert update(client, None, "UPDATED_NEW", a=put(VALUES["S"])) == {"a": VALUES["S"]}
    assert update(client, {"a": VALUES["S"]}, "UPDATED_NEW", a=delete()) is None
    assert update(client, None, "ALL_OLD") is None
    assert update(client, {}, "UPDATED_NEW") is None


def test_names_that_no_expression_could_have(client: Client) -> None:
    names = ["#a", ":a", "a.b", "a[0]", "size", "with space", "ü"]
    expected = {**KEY, **{name: {"S": name} for name in names}}
    assert update(client, None, **{name: put({"S": name}) for name in names}) == expected


def test_with_conditions(client: Client) -> None:
    table = make_table(client)
    request: dict[str, Any] = {"TableName": table, "Key": KEY, "AttributeUpdates": {"n": add({"N": "1"})}}
    client.update_item(**request, Expected={"n": {"Exists": False}})
    with refused("The conditional request failed", "ConditionalCheckFailedException"):
        client.update_item(**request, Expected={"n": {"Exists": False}})
    found = client.update_item(**request, Expected={"n": {"Value": {"N": "1"}}}, ReturnValues="UPDATED_NEW")
    assert found["Attributes"] == {"n": {"N": "2"}}


def test_the_order_of_faults(database: Database) -> None:
    request: dict[str, Any] = {
        "TableName": "nowhere",
        "Key": {"pk": {}},
        "AttributeUpdates": {"a": {}, "b": {"Value": {}}},
        "Expected": {"a": {}},
    }

    def message() -> str:
        with pytest.raises(DynamoError) as caught:
            database.execute("UpdateItem", dict(request))
        return caught.value.message

    empty = "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"
    assert message() == empty
    request["Key"] = KEY
    assert message() == f"{DETECTED}{PARAMETER}Only DELETE action is allowed when no attribute value is specified"
    request["AttributeUpdates"]["a"] = {"Action": "DELETE"}
    assert message() == empty
    request["AttributeUpdates"]["b"] = {"Action": "DELETE"}
    assert message() == f"{DETECTED}{PARAMETER}Value must be provided when Exists is null for Attribute: a"
    request["Expected"] = {"a": {"Exists": False}}
    assert message() == "Requested resource not found"


def test_very_many_attributes(engine: Engine) -> None:
    """More than what is cached for the next request."""
    names = [f"a{number}" for number in range(3_000)]
    found = update(engine, None, **{name: put({"S": "x"}) for name in names})
    assert len(found) == len(names) + 1
