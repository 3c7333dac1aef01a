"""Items in normal form are read and written on a fast path, others on a thorough one. Both give the same results.

And an update writes exactly what differs, for every type of field.
"""

import time
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import (
    ValidationError,
)

from keyplan.data import Store, create, update
from keyplan.data.codec.entities import DELETING, EntityCodec, codec_of
from keyplan.data.codec.values import AttributeValue, Item
from keyplan.design import (
    Design,
    Entity,
    InvalidValue,
    get,
)
from keyplan.design.compat import fast_paths
from keyplan.engine import Engine
from tests.data.samples import (
    CLASSES,
    Everything,
    Optional,
    Quick,
    Required,
    Strict,
    anything,
    new,
    outcome,
    same,
    table,
    values_of,
)
from tests.data.support import Recorder

needs_fast_paths = pytest.mark.skipif(not fast_paths, reason="fast paths are turned off, or not for this pydantic")


@settings(max_examples=25)
@given(st.data())
@pytest.mark.parametrize("entity", CLASSES, ids=[each.__name__ for each in CLASSES])
def test_any_stored_item_is_read_the_same_way_on_both_paths(entity: type[Entity], data: st.DataObject) -> None:
    codec: EntityCodec[Any] = codec_of(entity)
    item: Item = {"pk": {"S": f"{entity.__name__.upper()}#1"}, "id": {"S": "1"}, "text": {"S": "t"}}
    if entity in (Required, Optional, Everything):
        item = codec.encode(new(entity, data.draw(values_of(entity))))
    names = st.sampled_from(sorted({field.stored for field in codec.spec.fields.values()} - {"id"}))
    for name, value in data.draw(st.dictionaries(names, anything | st.none(), max_size=3)).items():
        item.pop(name, None)
        if value is not None:
            item[name] = value
    quick, thorough = outcome(codec.decode, item), outcome(codec._decode_thoroughly, item)
    if isinstance(quick, Everything) and isinstance(thorough, Everything) and "at" not in quick.model_fields_set:
        quick.__dict__["at"] = thorough.__dict__["at"]  # the current time, which moves on
    assert same(quick, thorough)
    several = codec.decode_all([item, item])
    if several is not None:  # nothing about it was unusual
        assert len(several) == 2
        for each in several:
            if isinstance(each, Everything) and "at" not in each.model_fields_set:
                each.__dict__["at"] = quick.__dict__["at"]
            assert same(each, quick)


@needs_fast_paths
def test_a_list_in_normal_form_is_read_at_once() -> None:
    codec: EntityCodec[Any] = codec_of(Strict)
    item: Item = {"pk": {"S": "STRICT#1"}, "id": {"S": "1"}, "text": {"S": "t"}}
    found = codec.decode_all([item, item])
    assert found is not None
    assert [each.id for each in found] == ["1", "1"]
    assert codec.decode_all([]) == []
    assert codec.decode_all([item, {**item, "pk": {"S": "OTHER#1"}}]) is None
    assert codec.decode_all([item, {**item, DELETING: {"S": "now"}}]) is None
    assert codec.decode_all([item, {**item, "text": {"N": "1"}}]) is None


@needs_fast_paths
def test_most_classes_use_the_fast_path() -> None:
    """Only classes in which a validator sees more than the value of one field don't."""
    quickly = {each.__name__ for each in CLASSES if codec_of(each)._read_quickly is not None}
    assert quickly == {"Required", "Optional", "Everything", "Strict", "Named", "Trimmed"}


def written(write: Any, values: Any) -> object:
    try:
        return write(values)
    except InvalidValue as error:
        return str(error)


WRONG = [
    *(None, 1, True, "", "a#b", "x" * 3000, b"x", float("nan"), Decimal("1E+9999999")),
    *(object(), [object()], {1, "a"}),
]


@settings(max_examples=25)
@given(st.data())
@pytest.mark.parametrize("entity", [Required, Optional, Everything])
def test_any_entity_is_written_the_same_way_on_both_paths(entity: type[Entity], data: st.DataObject) -> None:
    codec: EntityCodec[Any] = codec_of(entity)
    values = dict(new(entity, data.draw(values_of(entity))).__dict__)
    values |= data.draw(st.dictionaries(st.sampled_from(sorted(values)), st.sampled_from(WRONG), max_size=2))
    thorough = written(codec._written_thoroughly, values)
    assert written(codec._whole, values) == thorough
    assert written(lambda values: codec.encode_changed(values, entity.spec.fields, {}), values) == thorough


LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
"""Before the time to live of any sample has passed."""


@pytest.fixture(scope="module")
def opened() -> Any:
    with Engine() as engine:
        recorder = Recorder(engine)
        store = Store(Quick(), recorder, clock=lambda: LONG_AGO)
        store.create_tables()
        yield store, recorder


def touched(request: dict[str, Any]) -> set[str]:
    """The attributes that an update sets or removes."""
    placeholders = set(request["UpdateExpression"].replace(",", "").split())
    return {name for placeholder, name in request["ExpressionAttributeNames"].items() if placeholder in placeholders}


def differing(first: dict[str, AttributeValue], second: dict[str, AttributeValue]) -> set[str]:
    return {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}


@settings(max_examples=15)
@given(data=st.data())
@pytest.mark.parametrize("entity", [Required, Optional, Everything])
def test_an_update_writes_exactly_what_differs(opened: Any, entity: type[Entity], data: st.DataObject) -> None:
    store, recorder = opened
    before = new(entity, data.draw(values_of(entity)))
    recorder.client.delete_item(TableName="Quick", Key=codec_of(entity).key(before.__dict__))
    store.run(create(before))
    read: Any = store.run(get(entity, id="1"))
    assert same(vars(read), vars(codec_of(entity)._decode_thoroughly(codec_of(entity).encode(before))))
    old = codec_of(entity).encode(read)
    for name, value in data.draw(values_of(entity)).items():
        setattr(read, name, value)
    new_item = codec_of(entity).encode(read)
    recorder.taken()
    store.run(update(read))
    sent = recorder.taken()
    if old == new_item:
        assert sent == []
        return
    ((operation, request),) = sent
    assert operation == "update_item"
    assert touched(request) == differing(old, new_item) | {"version"}
    assert codec_of(entity).encode(read) == new_item | {"version": {"N": "2"}}
    item = recorder.client.get_item(TableName="Quick", Key=codec_of(entity).key(read.__dict__))["Item"]
    again = store.run(get(entity, id="1"))
    assert codec_of(entity).encode(again) == codec_of(entity).encode(read)
    assert item.keys() == codec_of(entity).encode(read).keys()


def test_a_changing_default_is_not_a_change(opened: Any) -> None:
    """An item without a creation time is read with the current time; an update of another field leaves it alone."""
    store, recorder = opened
    recorder.client.put_item(
        TableName="Quick", Item={"pk": {"S": "EVERYTHING#old"}, "id": {"S": "old"}, "kind": {"S": "card"}}
    )
    found = store.run(get(Everything, id="old"))
    recorder.taken()
    store.run(update(found))
    assert recorder.taken() == []
    found.count = 7
    store.run(update(found))
    ((_, request),) = recorder.taken()
    assert touched(request) == {"count", "version"}
    found.names.append("b")  # in place, so that no setter notices
    store.run(update(found))
    ((_, request),) = recorder.taken()
    assert touched(request) == {"names", "version"}
    found.at = found.at
    time.sleep(0.01)  # the default has changed by now
    store.run(update(found))
    ((_, request),) = recorder.taken()
    assert touched(request) == {"at", "version"}


def test_a_cached_property_is_not_a_field(opened: Any) -> None:
    _, recorder = opened

    class Kept(Everything, table=table):
        @cached_property
        def shout(self) -> str:
            return self.kind.upper()

    class Keeping(Design):
        tables, entities = (table,), (Kept,)

    store = Store(Keeping(), recorder)
    kept = store.run(create(Kept(id="kept", seen=0, version=0)))
    assert kept.shout == "CARD"
    kept.count = 9
    assert kept.shout == "CARD"
    recorder.taken()
    store.run(update(kept))
    ((_, request),) = recorder.taken()
    assert touched(request) == {"count", "version"}


def test_an_invalid_value_is_refused_with_its_field_by_the_model_too() -> None:
    with pytest.raises(ValidationError, match="names"):
        Everything(id="1", seen=0, version=0, names="a")  # type: ignore[arg-type]  # what is refused here
