"""`keyplan docs` as a user runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from keyplan.cli import main

SHOP = '''
from typing import Annotated

from keyplan.design import *

shop = Table("shop-{stage}", key("PK", "SK"))


def impossible(value):
    raise ValueError("Nothing is right.")


class Order(Entity, table=shop):
    """What somebody bought."""

    buyer: Id
    number: int
    primary = key("BUYER#{buyer}", "ORDER#{number:05}")


class Riddle(Entity, table=shop):
    name: Annotated[str, limit(impossible), NoSeparator()]
    primary = key("RIDDLE#{name}", "RIDDLE")


class Shop(Design):
    """Orders of buyers."""

    tables = (shop,)
    entities = (Order,)

    @pattern("Orders of a buyer since a number")
    def since(self, buyer: str, number: int) -> Query[Order]:
        return query(Order.primary, buyer=buyer, number=at_least(number))


class Riddles(Design):
    """A design with an entity of which no example can be made."""

    tables = (shop,)
    entities = (Order, Riddle)

    @pattern("Get order")
    def order(self, buyer: str, number: int) -> Get[Order]:
        return get(Order, buyer=buyer, number=number)

    @pattern("Get riddle")
    def riddle(self, name: str) -> Get[Riddle]:
        return get(Riddle, name=name)
'''


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs_shop.py").write_text(SHOP, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def docs(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["docs", *arguments])


def test_a_design_of_ones_own_is_printed_as_markdown() -> None:
    result = docs("docs_shop:Shop", "--environment", "stage=test")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("# Shop\n\nOrders of buyers.\n")
    assert "```mermaid\nerDiagram" in result.stdout
    assert ".svg" not in result.stdout
    condition = 'PK = "BUYER#{buyer}" AND SK BETWEEN "ORDER#{number:05}" AND "ORDER#…"'
    assert f"| 1 | Orders of a buyer since a number | query | `shop-test` | `{condition}` |" in result.stdout
    assert "from docs_shop import Shop" in result.stdout
    assert 'design = Shop({"stage": "test"})' in result.stdout


def test_the_environment_is_not_in_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    """Table names can come from variables of the environment. No other variable is shown."""
    monkeypatch.setenv("API_SECRET", "swordfish")
    monkeypatch.setenv("STAGE", "red")
    for form in ("markdown", "html", "json"):
        shown = docs("docs_shop:Shop", "--format", form).stdout
        assert "shop-red" in shown
        assert "swordfish" not in shown


def test_files_are_written_to_a_folder(tmp_path: Path) -> None:
    result = docs("docs_shop:Shop", "--out", "site")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "site/shop.md").read_text("utf-8")
    for picture in ("entities", "table-shop-dev"):
        assert f"(shop/{picture}.svg)" in page
        assert (tmp_path / f"site/shop/{picture}.svg").read_text("utf-8").startswith("<svg ")
        assert f"Wrote site/shop/{picture}.svg" in result.stdout
    for form in ("html", "json"):
        assert docs("docs_shop:Shop", "--out", "site", "--format", form).stdout == f"Wrote site/shop.{form}\n"
        assert (tmp_path / f"site/shop.{form}").is_file()


def test_a_file_has_the_name_of_the_design_not_that_of_a_constant(tmp_path: Path) -> None:
    (tmp_path / "docs_adopted.py").write_text("from docs_shop import Shop\n\nDESIGN = Shop\n")
    result = docs("docs_adopted:DESIGN", "--out", "site", "--format", "html")
    assert result.stdout == "Wrote site/shop.html\n", result.output


def test_json_is_the_model() -> None:
    found = json.loads(docs("docs_shop:Shop", "--json").stdout)
    assert found == json.loads(docs("docs_shop:Shop", "--format", "json").stdout)
    (pattern,) = found["patterns"]
    assert pattern["parameters"] == ["buyer", "number"]
    assert pattern["requests"][0]["request"]["TableName"] == "shop-dev"
    assert pattern["cost"]["uses"] == [{"table": "shop-dev", "index": None, "reads": 0.5, "writes": 0}]
    assert {each["name"] for each in found["drawings"]} == {"entities", "table-shop-dev"}


def test_html_is_one_file() -> None:
    page = docs("docs_shop:Shop", "--format", "html").stdout
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page
    assert "<svg " in page


def test_what_has_no_example_is_documented_all_the_same() -> None:
    result = docs("docs_shop:Riddles")
    assert result.exit_code == 0, result.output
    assert "### Riddle\n" in result.stdout
    assert "### 2. Get riddle\n" in result.stdout
    assert 'PK = "RIDDLE#{name}" AND SK = "RIDDLE"' in result.stdout
    assert "## Examples that can't be made" in result.stdout
    assert "BUYER#buyer-1" in result.stdout, "the others have examples"


def test_mistakes_end_with_a_message(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    for arguments, message in (
        (("none",), "Unknown system: none"),
        (("docs_shop:None",), "Can't import docs_shop:None"),
        (("docs_shop:Order",), "is neither a system nor a design"),
        (("docs_shop:Shop", "--out", "taken"), "Can't write taken/shop.md"),
        (("docs_shop:Shop", "--format", "pdf"), "pdf"),
    ):
        result = docs(*arguments)
        assert result.exit_code == 2, arguments
        assert message in " ".join(result.output.split()), result.output


def test_the_command_itself(tmp_path: Path) -> None:
    """Also its progress: a document takes about a second."""
    result = subprocess.run(
        [sys.executable, "-m", "keyplan.cli", "docs", "threefc", "--format", "html", "--out", "."],
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "Wrote threefc.html\n", "")
