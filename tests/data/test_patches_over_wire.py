"""Patches, upserts and deletes by key over HTTP, with boto3's client."""

from collections.abc import Iterator
from decimal import Decimal

import boto3
import pytest

from keyplan.data import ConditionFailed, PathMissing, Store, at, create, delete, patch, upsert
from keyplan.design import InvalidValue, get, ref
from keyplan.engine import Database
from keyplan.engine.wire import serve_in_thread
from tests.data.workshop import Badge, Box, Size, Tool, Workshop

TOOL = ref(Tool, tool_id="1")


@pytest.fixture
def store() -> Iterator[Store[Workshop]]:
    database = Database()
    try:
        with serve_in_thread(database) as url:
            client = boto3.client(
                "dynamodb",
                endpoint_url=url,
                region_name="us-east-1",
                aws_access_key_id="any",
                aws_secret_access_key="any",
            )
            made = Store(Workshop(), client, secret=b"of the tests")
            made.create_tables()
            yield made
    finally:
        database.close()


def test_the_whole_vocabulary(store: Store[Workshop]) -> None:
    store.run(create(Tool(tool_id="1", parts=[Size()], numbers={1}, log=["a"])))
    after = store.run(
        patch(
            TOOL,
            lambda tool: (
                at(tool.size.width).set(3),
                at(tool.parts[0].unit).set("mm"),
                at(tool.notes["n"]).set(4),
                at(tool.status).set_default("old"),
                at(tool.weight).remove(),
                at(tool.stock).subtract(3),
                at(tool.price).add(Decimal("0.25")),
                at(tool.log).prepend("b"),
                at(tool.numbers).add(2, 3),
                at(tool.tags).add("t"),
                at(tool.wear).add(1),
            ),
            name="saw",
            where=lambda tool: tool.wear == 0,
            returning="new",
        )
    )
    assert (after.size.width, after.parts[0].unit, after.notes, after.status) == (3, "mm", {"n": 4}, "new")
    assert (after.stock, after.price, after.log, after.numbers) == (7, Decimal("1.75"), ["b", "a"], {1, 2, 3})
    assert (set(after.tags), after.wear, after.name, after.version) == ({"t"}, 1, "saw", 2)
    assert after == store.run(get(Tool, tool_id="1"))
    before = store.run(patch(TOOL, lambda tool: at(tool.numbers).delete(1), returning="updated-old"))
    assert before.get(lambda tool: tool.numbers) == {1, 2, 3}
    for change, error in (
        (patch(TOOL, lambda tool: at(tool.stock).add(99)), InvalidValue),
        (patch(TOOL, lambda tool: at(tool.parts[5]).set(Size())), PathMissing),
        (patch(TOOL, name="x", where=lambda tool: tool.name == "y"), ConditionFailed),
    ):
        with pytest.raises(error):
            store.run(change)
    assert store.verify() == []


def test_upserts_and_deletes_by_key(store: Store[Workshop]) -> None:
    number = upsert(TOOL, lambda tool: at(tool.wear).add(1), returning="updated")
    assert [store.run(number).get(lambda tool: tool.wear) for _ in range(3)] == [1, 2, 3]
    store.run(upsert(ref(Badge, badge_id="1"), code="a"))
    store.run(upsert(ref(Box, box_id="1"), lambda box: at(box.log).append("x")))
    tool, partial, nothing = store.transact(
        patch(TOOL, lambda tool: at(tool.wear).add(1), returning="new"),
        upsert(ref(Box, box_id="1"), lambda box: at(box.size.width).add(2), returning="updated"),
        delete(ref(Badge, badge_id="1")),
    )
    assert (tool.wear, partial.get(lambda box: box.size.width), nothing) == (4, 2, None)
    store.run(delete(TOOL, where=lambda tool: tool.wear == 4))
    assert store.run(get(Tool, tool_id="1")) is None
    assert store.verify() == []
