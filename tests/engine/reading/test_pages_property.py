"""For any items and page sizes, the pages together are the whole result, in order, in both directions."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan.engine import Engine
from tests.engine.item_support import Client, Item, fill, values
from tests.engine.support import index, make_table

few_texts = st.text("ab\x00\x01é😀", min_size=1, max_size=2)
numbers = st.integers(-3, 3) | st.sampled_from(["0.5", "-0.5", "1e10", "-1e-10", "1e-130"])
binaries = st.binary(min_size=1, max_size=2)
KINDS = {"S": few_texts, "N": numbers.map(str), "B": binaries}


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, str], list[Item]]:
    """Types for the key attributes, and items that have the attributes of the indexes or have not."""
    kinds = {name: draw(st.sampled_from("SNB")) for name in ("sk", "ls", "g1", "r1", "r2")}
    contents = {name: st.fixed_dictionaries({kind: KINDS[kind]}) for name, kind in kinds.items()}
    required = {"pk": st.sampled_from([{"S": "a"}, {"S": "b"}]), "sk": contents["sk"]}
    optional = {name: contents[name] for name in ("ls", "g1", "r1", "r2")}
    made: list[Any] = draw(st.lists(st.fixed_dictionaries(required, optional=optional), max_size=12))
    return kinds, list({(str(one["pk"]), normal(one["sk"])): one for one in made}.values())


def normal(value: dict[str, Any]) -> object:
    """What two equal values have in common."""
    ((kind, content),) = value.items()
    return float(content) if kind == "N" else content.encode() if kind == "S" else content


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """One for all examples; each makes a table of its own."""
    with Engine() as made:
        yield made


def walk(client: Client, operation: str, request: dict[str, Any], limits: list[int]) -> list[Item]:
    """All items, with pages of these sizes in turn."""
    found: list[Item] = []
    start: dict[str, Any] = {}
    turn = 0
    while True:
        page = getattr(client, operation)(**request, **start, Limit=limits[turn % len(limits)])
        assert page["Count"] == page["ScannedCount"] == len(page["Items"]) <= limits[turn % len(limits)]
        found += page["Items"]
        if "LastEvaluatedKey" not in page:
            return found
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        turn += 1
        assert turn < 40


@settings(max_examples=60)
@given(tables(), st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_pages_are_the_whole(engine: Engine, made: tuple[dict[str, str], list[Item]], limits: list[int]) -> None:
    kinds, items = made
    typed = {name: f"{name}:{kind}" for name, kind in kinds.items()}
    table = make_table(
        engine,
        "pk",
        typed["sk"],
        gsis=[
            index("wide", typed["g1"], [typed["r1"], typed["r2"]]),
            index("flat", typed["g1"], projection="KEYS_ONLY"),
        ],
        lsis=[index("local", "pk", typed["ls"], projection="KEYS_ONLY")],
    )
    fill(engine, table, items)
    reads = [(None, ["pk"], ["sk"]), ("local", ["pk"], ["ls"]), ("wide", ["g1"], ["r1", "r2"]), ("flat", ["g1"], [])]
    for name, hashes, ranges in reads:
        where: dict[str, Any] = {"TableName": table} | ({"IndexName": name} if name else {})
        inside = [one for one in items if all(key in one for key in hashes + ranges)]
        scanned = walk(engine, "scan", where, limits)
        assert scanned == engine.scan(**where)["Items"]
        assert sorted(map(identity, scanned)) == sorted(map(identity, inside))
        for partition in {normal(one[hashes[0]]): one[hashes[0]] for one in inside}.values():
            expected = [one for one in inside if normal(one[hashes[0]]) == normal(partition)]
            expected.sort(key=lambda one: [normal(one[key]) for key in ranges])
            check_query(engine, where, hashes[0], partition, ranges, expected, limits)
    engine.delete_table(TableName=table)


def identity(one: Item) -> str:
    return repr((one["pk"], normal(one["sk"])))


def check_query(
    engine: Engine,
    where: dict[str, Any],
    name: str,
    partition: dict[str, Any],
    ranges: list[str],
    expected: list[Item],
    limits: list[int],
) -> None:
    request = where | {"KeyConditionExpression": f"{name} = :k", "ExpressionAttributeValues": {":k": partition}}
    forward = walk(engine, "query", request, limits)
    backward = walk(engine, "query", request | {"ScanIndexForward": False}, limits)
    assert backward == forward[::-1]
    assert forward == engine.query(**request)["Items"]
    assert sorted(map(identity, forward)) == sorted(map(identity, expected))
    keys = [[normal(one[key]) for key in ranges] for one in expected]
    assert [[normal(one[key]) for key in ranges] for one in forward] == keys


@settings(max_examples=40)
@given(
    st.lists(st.integers(-20, 20), unique=True, max_size=15),
    st.sampled_from(["<", "<=", ">", ">=", "=", "BETWEEN"]),
    st.integers(-20, 20),
    st.integers(0, 15),
    st.integers(1, 4),
    st.booleans(),
)
def test_pages_of_a_condition_on_the_sort_key(
    engine: Engine, keys: list[int], operator: str, bound: int, width: int, limit: int, forward: bool
) -> None:
    table = make_table(engine, "pk", "sk:N")
    fill(engine, table, [{"pk": {"S": "a"}, "sk": {"N": str(key)}} for key in keys])
    high = bound + width
    condition = "sk BETWEEN :b AND :h" if operator == "BETWEEN" else f"sk {operator} :b"
    request: dict[str, Any] = {
        "TableName": table,
        "KeyConditionExpression": f"pk = :p AND {condition}",
        "ExpressionAttributeValues": values(p="a", b=bound) | (values(h=high) if ":h" in condition else {}),
        "ScanIndexForward": forward,
    }
    matches = {
        "<": lambda key: key < bound,
        "<=": lambda key: key <= bound,
        ">": lambda key: key > bound,
        ">=": lambda key: key >= bound,
        "=": lambda key: key == bound,
        "BETWEEN": lambda key: bound <= key <= high,
    }[operator]
    found = [int(one["sk"]["N"]) for one in walk(engine, "query", request, [limit])]
    assert found == sorted(filter(matches, keys), reverse=not forward)
    engine.delete_table(TableName=table)
