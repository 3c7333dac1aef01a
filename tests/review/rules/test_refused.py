"""What the rules say about DynamoDB is what happens: the embedded DynamoDB refuses what they find, and no more."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from keyplan.data import DataError, Store, create
from keyplan.design import Design, InvalidValue
from keyplan.design.examples import example_item
from keyplan.engine import Engine
from keyplan.review import Reviewed, review
from tests.review.rules import rejected_designs as designs
from tests.review.rules.cases import reviewed

TABLES = ("KP201", "KP202", "KP203", "KP204", "KP205", "KP207")
"""The rules about what CreateTable refuses."""
FOUND = {code: declaration for code, _, declaration in designs.CASES.found}
CLEAN = {(code, declaration.__name__): declaration for code, declaration in designs.CASES.clean if code in TABLES}


def made(declaration: Callable[[], Any]) -> Design:
    design = reviewed(declaration).design
    return design({"env": "test"})


@pytest.mark.parametrize("code", TABLES)
def test_tables_that_are_found_can_not_be_created(code: str) -> None:
    with Engine() as engine, pytest.raises(DataError):
        Store(made(FOUND[code]), engine).create_tables()


@pytest.mark.parametrize("case", CLEAN, ids="-".join)
def test_tables_that_are_not_found_can_be_created(case: tuple[str, str]) -> None:
    with Engine() as engine:
        store = Store(made(CLEAN[case]), engine)
        store.create_tables()
        assert all(store.tables_exist().values())


def test_two_tables_with_one_name_are_one_table() -> None:
    with Engine() as engine:
        Store(made(FOUND["KP206"]), engine).create_tables()
        assert [name for name in engine.list_tables()["TableNames"] if "keyplan" not in name] == ["Blog"]


FACE = "\U0001f600"
TOO_MUCH: dict[str, tuple[str, dict[str, Any]]] = {
    # for each rule: the entity, and values that the limits of its fields accept
    "KP208": ("Place", {"country": FACE * 512, "name": FACE * 510, "code": "A" * 600}),
    "KP209": ("Page", {"text": FACE * 110_000}),
    "KP210": ("Coin", {"supply": Decimal("1" * 40)}),
}


@pytest.mark.parametrize("code", TOO_MUCH)
def test_values_that_limits_accept_are_refused(code: str) -> None:
    design = made(FOUND[code])
    name, values = TOO_MUCH[code]
    entity = design.entity(name)
    item = example_item(entity, **values)  # checks the limits
    with Engine() as engine:
        store = Store(design, engine)
        store.create_tables()
        with pytest.raises((DataError, InvalidValue)):
            store.run(create(item))
        store.run(create(example_item(entity)))


def test_answers_to_answers_are_refused_in_the_end() -> None:
    design = made(FOUND["KP211"])
    answers: list[object] = []
    for _ in range(20):
        answers = [{"text": "", "answers": answers}]
    with Engine() as engine:
        store = Store(design, engine)
        store.create_tables()
        with pytest.raises((DataError, InvalidValue)):
            store.run(create(design.entity("Question").model_validate({"question_id": "1", "answers": answers})))


@pytest.mark.parametrize(("name", "arguments"), [("by_code", {"town_id": "1"}), ("by_range", {})])
def test_long_filters_are_refused(name: str, arguments: dict[str, str]) -> None:
    design = made(FOUND["KP212"])
    with Engine() as engine:
        store = Store(design, engine)
        store.create_tables()
        with pytest.raises((DataError, InvalidValue)):
            store.run(getattr(design, name)(**arguments))


def test_a_table_with_a_stream_of_new_images_gets_no_replica() -> None:
    with Engine() as engine:
        Store(made(FOUND["KP213"]), engine).create_tables()
        replica: Any = [{"Create": {"RegionName": "eu-central-1"}}]
        with pytest.raises(Exception, match="NEW_AND_OLD_IMAGES"):
            engine.update_table(TableName="Streamed", ReplicaUpdates=replica)


def test_each_rule_of_the_group_is_compared_or_has_a_reason() -> None:
    reasons = {
        "KP214": "the embedded DynamoDB has no keys",
        "KP215": "Keyplan reads the table as well, so nothing is refused",
    }
    compared = {*TABLES, *TOO_MUCH, "KP206", "KP211", "KP212", "KP213", *reasons}
    assert {code for code, *_ in designs.CASES.found} == compared
    assert review(Reviewed(reviewed(FOUND["KP201"]).design)).findings
