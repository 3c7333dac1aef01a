"""The record of tested patterns: pytest writes it, the review reads it."""

import subprocess
import sys
from pathlib import Path

import pytest

from keyplan.review import InvalidRecord, patterns_tested
from tests.review.shops import HEAD

SHOP = f"""{HEAD}
from keyplan.design import Get, count, get

shop = Table("Shop", key("PK", "SK"))

class Order(Entity, table=shop):
    order_id: Id
    primary = key("ORDER#{{order_id}}", "ORDER")

class Shop(Design):
    tables = (shop,)
    entities = (Order,)

    @pattern("Get order")
    def order(self, order_id: str) -> Get[Order]:
        return get(Order, order_id=order_id)

    @pattern("Orders with an id")
    def orders(self, order_id: str) -> Query[Order]:
        return query(Order.primary, order_id=order_id)

    @pattern("Orders that nobody tests")
    def untested(self, order_id: str) -> Query[Order]:
        return query(Order.primary, order_id=order_id)
"""
TESTS = """
import asyncio, subprocess, sys
from keyplan.data import AsyncStore, Store
from keyplan.engine import Engine
from shop import Shop

def test_get():
    with Engine() as engine:
        store = Store(Shop(), engine)
        store.create_tables()
        for _ in range(2):
            assert store.run(store.design.order("1")) is None

def test_query():
    with Engine() as engine:
        Store(Shop(), engine).create_tables()
        asyncio.run(AsyncStore(Shop(), engine).run(Shop().orders("1")))

def test_without_a_store():
    Shop().untested("1")
"""


def pytest_in(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    (folder / "shop.py").write_text(SHOP, "utf-8")
    (folder / "test_shop.py").write_text(TESTS, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_pytest_writes_the_patterns_that_stores_ran(tmp_path: Path) -> None:
    (tmp_path / "tested.txt").write_text("old:Shop untested\n", "utf-8")
    result = pytest_in(tmp_path, "-n", "1", "--keyplan-patterns", "tested.txt")
    assert result.returncode == 0, result.stdout
    lines = sorted((tmp_path / "tested.txt").read_text("utf-8").splitlines())
    assert lines == ["shop:Shop order", "shop:Shop orders"]


def test_a_record_that_can_not_be_written_is_said_at_once(tmp_path: Path) -> None:
    result = pytest_in(tmp_path, "--keyplan-patterns", "nowhere/tested.txt")
    assert result.returncode == 4
    assert "--keyplan-patterns: can't write " in result.stderr


class Shop:
    """Stands for a design: only its name is compared."""


def read(folder: Path, text: str) -> frozenset[str]:
    file = folder / "tested.txt"
    file.write_text(text, "utf-8")
    return patterns_tested(file, Shop)  # type: ignore[arg-type]  # stands for a design


def test_the_patterns_of_a_design_are_read(tmp_path: Path) -> None:
    name = f"{__name__}:Shop"
    assert read(tmp_path, f"{name} orders\nother:Shop order\n{name} orders\nsrc.{name} order\n") == {"orders", "order"}
    assert read(tmp_path, "") == frozenset()


@pytest.mark.parametrize("text", ["?", "shop:Shop", "shop Shop orders", "\x00", "other:Shop orders\n"])
def test_a_record_of_something_else_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidRecord):
        read(tmp_path, text)
