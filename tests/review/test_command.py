"""`keyplan review` as people and CI run it."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from keyplan.cli import main
from tests.review.shops import BROKEN, SHOP, module


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, in which modules are found."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("shop", "broken", "wrong"):
        sys.modules.pop(name, None)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["review", *arguments])


INVALID = """from keyplan.design import Design, Entity, Get, Id, Table, get, key, pattern

table = Table("Shops", key("PK"))

class Shop(Entity, table=table):
    shop_id: Id
    primary = key("SHOP#{shop_id}")

class Shops(Design):
    tables, entities = (table,), (Shop,)

    @pattern("The first shop")
    def first(self) -> Get[Shop]:
        return get(Shop, shop_id=1)
"""
ERROR = """shop.py:14: error: Customer.email: two items of Customer can have the same email: \
no primary key or guard prevents it [KP301 claim-not-guarded]
    Declare a guard in the entity.
        email_guard = unique("CUSTOMEREMAIL#{email.address}", carries="customer_id")
"""


def test_a_finding_says_where_what_and_what_to_do(folder: Path) -> None:
    result = run(module(folder, "shop", SHOP))
    assert result.exit_code == 1
    assert ERROR in result.output
    assert "shop.py:6: warning: Shop.GSI1: nothing reads the index GSI1" in result.output
    assert re.search(r"^shop:Shop: 1 error, \d+ warnings", result.output, re.MULTILINE)
    assert "keyplan review --explain KP301" in result.output


@pytest.mark.parametrize(
    ("fail_on", "source", "code"),
    [("error", SHOP, 1), ("error", SHOP.replace('claims=("email",)', "claims=()"), 0), ("warning", SHOP, 1)],
)
def test_the_exit_code_says_whether_there_is_something_as_bad(
    folder: Path, fail_on: str, source: str, code: int
) -> None:
    assert run(module(folder, "shop", source), "--fail-on", fail_on).exit_code == code


def test_a_design_that_can_not_be_imported_is_reviewed(folder: Path) -> None:
    result = run(module(folder, "broken", BROKEN))
    assert result.exit_code == 1
    assert "broken.py:3: error: Shop: recovery=99 isn't a number of days [KP012 recovery]" in result.output
    assert "broken.py:17: error: Customer.primary: 'number' isn't a field [KP026 no-such-field]" in result.output


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import nowhere", "keyplan: Can't import wrong:Shop: {file}, line 1: ModuleNotFoundError: No module named"),
        ("class Shop:\n  x = 1 / 0\n", "keyplan: Can't import wrong:Shop: {file}, line 2: ZeroDivisionError: division"),
        ("def x(:\n", "keyplan: Can't import wrong:Shop: {file}, line 1: "),
        ("import sys\nsys.exit(3)\n", "keyplan: Can't import wrong:Shop: {file}, line 2: the module ends the program"),
        ("Shop = 1", "keyplan: wrong:Shop is neither a system nor a design."),
        ("", "keyplan: Can't import wrong:Shop: module 'wrong' has no attribute 'Shop'"),
        (INVALID, "keyplan: Can't import wrong:Shop: {file}, line 14: InvalidValue: Shop.primary.shop_id: "),
    ],
)
def test_a_module_that_is_wrong_is_one_sentence(folder: Path, source: str, message: str) -> None:
    result = run(module(folder, "wrong", source))
    assert result.exit_code == 2
    (line,) = result.output.splitlines()
    assert line.startswith(message.replace("{file}", str(folder / "wrong.py")))


def test_what_was_found_before_a_module_fails_is_shown(folder: Path) -> None:
    result = run(module(folder, "broken", BROKEN + "\nshop.nothing()\n1 / 0\n"))
    assert result.exit_code == 2
    assert "Can't import broken:Shop: " in result.output
    assert "[KP012 recovery]" in result.output


def test_other_commands_name_the_error_and_the_command_that_lists_all(folder: Path) -> None:
    result = CliRunner().invoke(main, ["tables", module(folder, "broken", BROKEN)])
    assert result.exit_code == 2
    place = f"{folder / 'broken.py'}, line "
    assert f"keyplan: Can't import broken:Shop: {place}" in result.output
    assert ": Shop: recovery=99 isn't a number of days." in result.output
    assert "To see all errors of the design: keyplan review broken:Shop" in result.output


@pytest.mark.parametrize("arguments", [(), ("nothing",), ("nothing:Shop",), ("wavyblog", "--format", "xml")])
def test_usage_is_explained(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_the_name_of_a_file_is_not_that_of_a_module(folder: Path) -> None:
    result = run("shops/shop.py:Shop")
    assert result.exit_code == 2
    assert result.output == "keyplan: Can't import shops/shop.py:Shop: name the module, not its file: shops.shop:Shop\n"


def test_a_rule_is_explained_by_code_or_name() -> None:
    page = run("--explain", "KP012").output
    assert page.startswith("# A recovery period that AWS doesn't have\n\n`KP012` · `recovery` · error")
    assert run("--explain", "recovery").output == page
    as_json = json.loads(run("--explain", "recovery", "--json").output)
    assert (as_json["code"], as_json["page"]) == ("KP012", page)
    unknown = run("--explain", "claims-not-guarded")
    assert unknown.exit_code == 2
    assert "Did you mean claim-not-guarded" in unknown.output
    assert "Name its code" in run("--explain", "12345678").output


def test_json_has_everything_that_a_program_needs(folder: Path) -> None:
    source = SHOP.replace(
        "class Shop(Design):", 'class Shop(Design):\n    accepted = (accept("KP401", "Shop", because="x"),)'
    )
    result = run(module(folder, "shop", source), "--json")
    assert result.exit_code == 1
    report = json.loads(result.output)
    assert (report["version"], report["design"], report["target"]) == (1, "shop:Shop", "aws")
    assert report["summary"]["error"] == 1
    assert report["summary"]["accepted"] == 1
    assert report["findings"][0] == {
        "rule": "KP301",
        "name": "claim-not-guarded",
        "group": "wrong",
        "severity": "error",
        "place": "Customer.email",
        "file": "shop.py",
        "line": 14,
        "table": "Shop",
        "entity": "Customer",
        "attribute": "email",
        "index": None,
        "pattern": None,
        "happens": "two items of Customer can have the same email: no primary key or guard prevents it",
        "remedy": "Declare a guard in the entity.",
        "change": 'email_guard = unique("CUSTOMEREMAIL#{email.address}", carries="customer_id")',
    }
    assert (report["accepted"][0]["rule"], report["accepted"][0]["because"]) == ("KP401", "x")
    assert run("shop:Shop", "--format", "json").output == result.output


def test_verbose_shows_what_is_accepted_and_what_rules_need(folder: Path) -> None:
    source = SHOP.replace('claims=("email",)', "claims=()").replace(
        "class Shop(Design):", 'class Shop(Design):\n    accepted = (accept("KP401", "Shop.GSI1", because="reports"),)'
    )
    name = module(folder, "shop", source)
    assert "--verbose says what" in run(name).output
    output = run(name, "--verbose").output
    assert "    KP401 Shop.GSI1: nothing reads the index" in output
    assert "        because reports" in output
    assert '    KP301 claim-not-guarded needs claims=("email",)\n        at Customer' in output


def test_sarif_names_files_from_the_folder_of_the_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".git").mkdir()
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    monkeypatch.syspath_prepend(str(folder / "inner"))
    log = json.loads(run(module(folder / "inner", "shop", SHOP), "--format", "sarif").output)
    places = [result["locations"][0]["physicalLocation"] for result in log["runs"][0]["results"]]
    assert {each["artifactLocation"]["uri"] for each in places} == {"inner/shop.py"}


# Baselines


def test_what_is_in_the_baseline_does_not_count(folder: Path) -> None:
    name = module(folder, "shop", SHOP)
    written = run(name, "--write-baseline", "known.json")
    assert written.exit_code == 0
    assert written.output.startswith("Wrote known.json: ")
    result = run(name, "--baseline", "known.json", "--fail-on", "info")
    assert result.exit_code == 0, result.output
    assert re.search(r"shop:Shop: no findings \(\d+ in the baseline\)\.", result.output)


def test_what_is_new_counts_and_what_is_fixed_is_said(folder: Path) -> None:
    run(module(folder, "shop", SHOP), "--write-baseline", "known.json")
    sys.modules.pop("shop")
    moved = "\n\n" + SHOP.replace('consumer("search")', 'consumer("search", failures="q")').replace(
        'claims=("email",)', 'claims=("email", "customer_id", "name")'
    ).replace("    email: str\n", "    email: str\n    name: str\n")
    result = run(module(folder, "shop", moved), "--baseline", "known.json")
    assert result.exit_code == 1
    assert [line.split(": ")[2] for line in result.output.splitlines() if ": error: " in line] == ["Customer.name"]
    assert "of the baseline is fixed. Write it again with --write-baseline." in result.output


@pytest.mark.parametrize("content", ["[]", "{}", "no JSON", '{"version": 2, "findings": []}', None])
def test_a_baseline_that_can_not_be_used_is_said(folder: Path, content: str | None) -> None:
    if content is not None:
        (folder / "known.json").write_text(content, "utf-8")
    result = run(module(folder, "shop", SHOP), "--baseline", "known.json")
    assert result.exit_code == 2
    (line,) = result.output.splitlines()
    assert re.match(r"keyplan: Can't (use|read) known\.json: ", line)


# Traffic


def test_rates_come_from_a_traffic_file(folder: Path) -> None:
    (folder / "traffic.yaml").write_text("patterns:\n  customers: 3 per second\n", "utf-8")
    result = run(module(folder, "shop", SHOP), "--traffic", "traffic.yaml")
    assert result.exit_code == 2
    assert result.output.startswith("keyplan: traffic.yaml:2: unknown pattern: customers. Did you mean customer?")
    (folder / "traffic.yaml").write_text("patterns:\n  customer: 3 per second\n", "utf-8")
    assert run("shop:Shop", "--traffic", "traffic.yaml").exit_code == 1
    assert "Can't read none.yaml" in run("shop:Shop", "--traffic", "none.yaml").output


# The command itself


def test_the_command_prints_colors_on_a_terminal_only(folder: Path) -> None:
    command = [sys.executable, "-m", "keyplan.cli", "review", module(folder, "shop", SHOP)]
    plain = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (plain.returncode, plain.stderr) == (1, "")
    assert plain.stdout.startswith(ERROR)
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    subprocess.run(command, cwd=folder, stdout=slave, stderr=slave, env=environment, check=False)
    os.close(slave)
    shown = os.read(master, 65536).decode()
    os.close(master)
    assert "\033[31merror\033[0m" in shown
