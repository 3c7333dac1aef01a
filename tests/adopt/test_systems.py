"""The demo tables of the five systems, adopted without knowing their designs, give the designs back."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from keyplan.cli.opening import system_names
from keyplan.engine import Engine
from keyplan.web.server import running
from tests.adopt.support import Adopted, adopted, compare, sampled
from tests.web.site import settings_of

DIFFERENT: dict[str, dict[str, str]] = {
    "funkedupshift": {},
    "hacktracker": {"User.by_cognito_sub": "{user_id}: the same as the token's subject in every item of the demo data"},
    "threefc": {"Goal.primary": "{third:01} instead of {third}: one digit as text, as for any of the three values"},
    "vcm": {},
    "wavyblog": {"User.email_guard": "{email} instead of {email.address}: all addresses are in lower case already"},
}
"""What is not found as it was declared, and why."""

WITHOUT_ITEMS: dict[str, list[str]] = {
    **{name: [] for name in system_names()},
    "hacktracker": ["FormerPlayer", "Invitation"],
}
"""The entities that the demo data has no items of."""


@pytest.fixture(scope="module", params=sorted(DIFFERENT))
def system(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A system with its demo data: the running system, its tables, and what they were adopted as."""
    folder = tmp_path_factory.mktemp("demo")
    kind = import_module(f"keyplan.apps.{request.param}.api").SYSTEM
    with Engine() as engine:
        started = running(kind, settings_of(path=Path(folder / "demo.db"), dev=True), engine)
        started.store.create_tables()
        if kind.prepare is not None:
            kind.prepare(started)
        kind.demo(started, lambda done, total: None)
        tables = [sampled(engine, started.design.table_name(table)) for table in started.design.tables]
    return request.param, started.design, tables, adopted(tables)


def test_all_tables_and_indexes_are_found_and_nearly_all_entities_and_keys(system: Any) -> None:
    name, real, tables, again = system
    result: Adopted = again
    for table in real.tables:
        (mine,) = [each for each in result.design.tables if each.name == real.table_name(table)]
        assert mine.key_types == table.key_types
        assert (mine.ttl, mine.stream, mine.billing) == (table.ttl, table.stream, table.billing)
        if any(entity.spec.table is mine for entity in result.design.entities):
            assert (mine.case, mine.times, mine.envelope) == (table.case, table.times, table.envelope)
        for index, declared in table.by_name.items():
            found = mine.by_name[index]
            assert (found.hash, found.range, found.local) == (declared.hash, declared.range, declared.local)
            assert found.projection == declared.projection
        assert mine.by_name.keys() == table.by_name.keys()
    comparison = compare(real, result.design, tables)
    assert comparison.different.keys() == DIFFERENT[name].keys(), comparison.different
    assert comparison.without_items == WITHOUT_ITEMS[name]
    assert comparison.share >= 0.9


def test_every_item_comes_back_as_it_is(system: Any) -> None:
    _, _, tables, again = system
    result: Adopted = again
    assert result.checked.problems == {}
    assert result.checked.same == result.checked.items == sum(len(table.items) for table in tables)
