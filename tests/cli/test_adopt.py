"""`keyplan adopt`, as a command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from keyplan.engine import Engine

SECRET = "Grace Hopper"


def keyplan(folder: Path, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "keyplan.cli", *map(str, arguments)]
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    with Engine(str(tmp_path / "shop.db")) as engine:
        engine.create_table(
            TableName="Shop",
            AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in ("PK", "SK")],
            KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
            BillingMode="PAY_PER_REQUEST",
        )
        for number in range(30):
            user = f"u{number:03}"
            item = {"PK": f"USER#{user}", "SK": "PROFILE", "userId": user, "name": SECRET}
            engine.put_item(TableName="Shop", Item={name: {"S": value} for name, value in item.items()})
            order = {"PK": f"USER#{user}", "SK": f"ORDER#o{number}", "userId": user, "orderId": f"o{number}"}
            engine.put_item(TableName="Shop", Item={name: {"S": value} for name, value in order.items()})
    return tmp_path


def test_an_adopted_design_imports_and_is_reviewed(shop: Path) -> None:
    done = keyplan(shop, "adopt", "Shop", "--path", "shop.db")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "Wrote adopted/design.py: 2 entities with 2 keys in 1 table.",
        "60 of 60 items come back unchanged.",
        "Wrote adopted/report.md: nothing in it is unsure.",
        "To review the design: keyplan review adopted.design:DESIGN",
    ]
    assert sorted(each.name for each in (shop / "adopted").iterdir()) == ["design.py", "report.md"]
    for file in (shop / "adopted").iterdir():
        assert SECRET not in file.read_text("utf-8"), "no value of an item without --with-values"
    reviewed = keyplan(shop, "review", "adopted.design:DESIGN", "--json")
    assert reviewed.returncode == 0, reviewed.stderr
    assert {each["severity"] for each in json.loads(reviewed.stdout)["findings"]} <= {"warning", "info"}
    described = keyplan(shop / "adopted", "patterns", "design:DESIGN", "--json")
    assert described.returncode == 0, described.stderr
    assert json.loads(described.stdout)


def test_values_are_shown_on_request(shop: Path) -> None:
    done = keyplan(shop, "adopt", "Shop", "--path", "shop.db", "--with-values")
    assert done.returncode == 0, done.stderr
    assert SECRET in (shop / "adopted" / "report.md").read_text("utf-8")
    assert SECRET not in (shop / "adopted" / "design.py").read_text("utf-8")


def test_nothing_is_replaced_without_force(shop: Path) -> None:
    (shop / "adopted").mkdir()
    (shop / "adopted" / "design.py").write_text("mine = True\n")
    done = keyplan(shop, "adopt", "Shop", "--path", "shop.db")
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert (shop / "adopted" / "design.py").read_text() == "mine = True\n"


def test_a_template_alone_has_tables_and_no_items(tmp_path: Path) -> None:
    written = keyplan(tmp_path, "infra", "wavyblog", "--format", "cloudformation", "--out", "infra")
    assert written.returncode == 0, written.stderr
    done = keyplan(tmp_path, "adopt", "--from", "infra/template.yaml")
    assert done.returncode == 0, done.stderr
    assert "2 tables. There are no items, so nothing says which entities there are." in done.stdout
    assert "There were no items." in (tmp_path / "adopted" / "report.md").read_text("utf-8")
    described = keyplan(tmp_path, "tables", "adopted.design:DESIGN", "--json")
    assert described.returncode == 0, described.stderr
    assert len(json.loads(described.stdout)[0]["CreateTable"]["GlobalSecondaryIndexes"]) == 4
    assert keyplan(tmp_path, "docs", "adopted.design:DESIGN").returncode == 0


def test_mistakes_are_named(shop: Path) -> None:
    assert "Shop" in keyplan(shop, "adopt", "Shops", "--path", "shop.db").stderr
    assert "Name the tables to adopt" in keyplan(shop, "adopt", "--path", "shop.db").stderr
    nobody = keyplan(shop, "adopt", "Shop", "--endpoint-url", "http://127.0.0.1:1", KEYPLAN_DYNAMODB_TIMEOUT="0.1")
    assert nobody.returncode == 2
    assert nobody.stderr.splitlines()[-1].startswith(
        "keyplan: Can't read Shop in http://127.0.0.1:1: Could not connect"
    )
    listed = keyplan(shop, "adopt", "--endpoint-url", "http://127.0.0.1:1", KEYPLAN_DYNAMODB_TIMEOUT="0.1")
    assert listed.returncode == 2
    assert "keyplan: Can't read the tables in http://127.0.0.1:1: Could not connect" in listed.stderr
    missing = keyplan(shop, "adopt", "--from", "absent.json")
    assert (missing.returncode, "absent.json" in missing.stderr) == (2, True)
