"""Time to live: its settings, and which items are deleted when."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan.engine import Engine
from tests.engine.support import Clock, index, make_table, refused

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

NOW = 1_700_000_000
YEAR = 365.25 * 86_400


def enable(client: "DynamoDBClient", table: str, attribute: str = "expires") -> None:
    client.update_time_to_live(TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": attribute})


def put(client: "DynamoDBClient", table: str, key: str, **values: Any) -> None:
    client.put_item(TableName=table, Item={"pk": {"S": key}, **values})


def keys(client: "DynamoDBClient", table: str) -> set[str]:
    return {item["pk"]["S"] for item in client.scan(TableName=table)["Items"]}


def test_on_and_off(client: "DynamoDBClient") -> None:
    table = make_table(client)
    assert client.describe_time_to_live(TableName=table)["TimeToLiveDescription"] == {"TimeToLiveStatus": "DISABLED"}
    with refused("TimeToLive is already disabled"):
        client.update_time_to_live(
            TableName=table, TimeToLiveSpecification={"Enabled": False, "AttributeName": "expires"}
        )
    answer = client.update_time_to_live(
        TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}
    )
    assert answer["TimeToLiveSpecification"] == {"Enabled": True, "AttributeName": "expires"}
    assert client.describe_time_to_live(TableName=table)["TimeToLiveDescription"] == {
        "TimeToLiveStatus": "ENABLED",
        "AttributeName": "expires",
    }
    with refused("TimeToLive is already enabled"):
        enable(client, table)
    for enabled in (True, False):
        with refused("TimeToLive is active on a different AttributeName: current AttributeName is expires"):
            client.update_time_to_live(
                TableName=table, TimeToLiveSpecification={"Enabled": enabled, "AttributeName": "other"}
            )
    client.update_time_to_live(TableName=table, TimeToLiveSpecification={"Enabled": False, "AttributeName": "expires"})
    assert client.describe_time_to_live(TableName=table)["TimeToLiveDescription"] == {"TimeToLiveStatus": "DISABLED"}
    enable(client, table, "other")


def test_a_table_that_is_not_there(client: "DynamoDBClient") -> None:
    message = "Requested resource not found: Table: missing not found"
    with refused(message, "ResourceNotFoundException"):
        client.describe_time_to_live(TableName="missing")
    with refused(message, "ResourceNotFoundException"):
        enable(client, "missing")


def test_what_has_expired_goes_when_it_is_swept(timed: Engine, clock: Clock) -> None:
    table = make_table(timed, gsis=[index("gsi", "group")])
    enable(timed, table)
    put(timed, table, "past", expires={"N": str(NOW - 1)}, group={"S": "g"})
    put(timed, table, "now", expires={"N": str(NOW)})
    put(timed, table, "fraction", expires={"N": f"{NOW - 1}.5"})
    put(timed, table, "soon", expires={"N": str(NOW + 10)}, group={"S": "g"})
    put(timed, table, "milliseconds", expires={"N": str(NOW * 1000)})
    put(timed, table, "far", expires={"N": "9" * 38 + "0" * 80})
    put(timed, table, "five years", expires={"N": str(int(NOW - 5 * YEAR + 10))})
    put(timed, table, "more than five years", expires={"N": str(int(NOW - 5 * YEAR - 10))})
    put(timed, table, "zero", expires={"N": "0"})
    put(timed, table, "negative", expires={"N": "-1"})
    assert len(keys(timed, table)) == 10
    assert timed.sweep_expired() == 3
    assert keys(timed, table) == {
        "now", "soon", "milliseconds", "far", "more than five years", "zero", "negative",
    }  # fmt: skip
    assert timed.sweep_expired() == 0
    clock.now += 11
    assert timed.sweep_expired() == 2
    assert "soon" not in keys(timed, table)
    assert timed.scan(TableName=table, IndexName="gsi")["Count"] == 0


def test_other_types_are_left_alone(timed: Engine) -> None:
    table = make_table(timed)
    enable(timed, table)
    old = str(NOW - 100)
    values: list[Any] = [
        {"S": old},
        {"B": old.encode()},
        {"NS": [old]},
        {"L": [{"N": old}]},
        {"M": {"N": {"N": old}}},
        {"M": {"expires": {"N": old}}},
        {"BOOL": True},
        {"NULL": True},
    ]
    for number, value in enumerate(values):
        put(timed, table, str(number), expires=value)
    put(timed, table, "nested", other={"M": {"expires": {"N": old}}})
    assert timed.sweep_expired() == 0
    assert len(keys(timed, table)) == 9


def test_the_attribute_may_be_a_key(timed: Engine) -> None:
    table = make_table(timed, "pk", "expires:N")
    enable(timed, table)
    put(timed, table, "a", expires={"N": str(NOW - 1)})
    put(timed, table, "a", expires={"N": str(NOW + 1)})
    assert timed.sweep_expired() == 1
    assert timed.scan(TableName=table)["Count"] == 1


def test_items_from_before_it_was_enabled(timed: Engine) -> None:
    table, other = make_table(timed), make_table(timed)
    for name in (table, other):
        put(timed, name, "a", expires={"N": str(NOW - 1)})
    assert timed.sweep_expired() == 0
    enable(timed, table)
    assert timed.sweep_expired() == 1
    assert (keys(timed, table), keys(timed, other)) == (set(), {"a"})


def test_more_than_one_step(timed: Engine) -> None:
    table = make_table(timed)
    enable(timed, table)
    for number in range(250):
        put(timed, table, str(number), expires={"N": str(NOW - 1)})
    assert timed.sweep_expired() == 250


@settings(max_examples=150)
@given(
    name=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
    other=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3),
)
def test_any_name_of_an_attribute(name: str, other: str) -> None:
    with Engine(clock=Clock()) as engine:
        table = make_table(engine, "the key")
        enable(engine, table, name)
        expired = {"N": str(NOW - 1)}
        engine.put_item(TableName=table, Item={"the key": {"S": "gone"}, name: expired})
        if other != name:
            engine.put_item(TableName=table, Item={"the key": {"S": "stays"}, other: expired})
        assert engine.sweep_expired() == 1


@pytest.mark.parametrize(
    "name", ['a"b', "a'b", "a''b", "a\\b", '\\"', "\\u0041", "a.b", "a[0]", "$", "ttl é 😀", "\n\t\x01", "a\x00b", " "]
)
def test_odd_names(client: "DynamoDBClient", engine: Engine, name: str) -> None:
    table = make_table(client)
    enable(client, table, name)
    put(client, table, "gone", **{name: {"N": str(int(time.time()) - 10)}})
    put(client, table, "stays", a={"N": str(int(time.time()) - 10)}, A={"N": "1"})
    assert engine.sweep_expired() == 1
    assert keys(client, table) == {"stays"}
    description = client.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    assert description["AttributeName"] == name


def test_a_sweeper_with_an_interval() -> None:
    with Engine(ttl_interval=0.02) as engine:
        table = make_table(engine)
        enable(engine, table)
        put(engine, table, "past", expires={"N": str(int(time.time()) - 10)})
        put(engine, table, "future", expires={"N": str(int(time.time()) + 1000)})
        deadline = time.monotonic() + 20
        while keys(engine, table) != {"future"} and time.monotonic() < deadline:
            time.sleep(0.01)
        assert keys(engine, table) == {"future"}


def test_one_sweeper_among_the_processes_on_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "app.db")
    with Engine(path, ttl_interval=60) as first, Engine(path, ttl_interval=60) as second:
        sweepers = [engine.database._maintenance for engine in (first, second)]
        owners = [sweeper._storage.write(sweeper._take_lease) for sweeper in sweepers]
        assert sorted(owners) == [False, True]
        # Each turn asks again, and the answer stays the same.
        assert [sweeper._storage.write(sweeper._take_lease) for sweeper in sweepers] == owners


def test_without_it_nothing_expires(timed: Engine) -> None:
    table = make_table(timed)
    enable(timed, table)
    timed.update_time_to_live(TableName=table, TimeToLiveSpecification={"Enabled": False, "AttributeName": "expires"})
    put(timed, table, "a", expires={"N": str(NOW - 1)})
    assert timed.sweep_expired() == 0
    timed.delete_table(TableName=table)
    assert timed.sweep_expired() == 0
