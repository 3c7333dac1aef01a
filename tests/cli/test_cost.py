"""`keyplan cost` as a user runs it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from keyplan.cli import main

TRAFFIC = """\
users: 1_000
requests: 20 per user and day
patterns:
  post: 5 per second
  posts_by_user: {rate: 1 per second, items: 20}
writes:
  Post:
    create: 500 per day
items:
  Post: {count: 100_000, size: 3 KB}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traffic.yaml").write_text(TRAFFIC, "utf-8")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["cost", *arguments])


def test_the_command_says_what_a_design_costs(folder: Path) -> None:
    command = [sys.executable, "-m", "keyplan.cli", "cost", "wavyblog"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("wavyblog in us-east-1: $")
    assert " per user, " in lines[0]
    assert "pattern post: 13,140,000 times, each 0.5 read units (WavyBlog)" in result.stdout
    assert "write Post.create: 15,208 times, each" in result.stdout
    assert "WavyBlog: storage:" in result.stdout
    assert "Prices without tax: AWS price list" in result.stdout


def test_all_forms_say_the_same(folder: Path) -> None:
    document = json.loads(run("wavyblog", "--json").stdout)
    assert document == json.loads(run("wavyblog", "--format", "json").stdout)
    markdown = run("wavyblog", "--format", "markdown").stdout
    assert markdown.startswith("# wavyblog in us-east-1: $")
    assert f"| {document['lines'][0]['kind']} {document['lines'][0]['name']} |" in markdown or (
        f"| {document['lines'][0]['name']} |" in markdown
    )
    assert document["total"] == pytest.approx(sum(each["usd"] for each in document["lines"]))
    assert document["unmetered"] == {}


def test_a_starter_is_written_and_read(folder: Path) -> None:
    (folder / "traffic.yaml").unlink()
    missing = run("wavyblog")
    assert missing.exit_code == 2
    assert "To write a starter: keyplan cost wavyblog --init" in missing.stderr
    made = run("wavyblog", "--init")
    assert made.exit_code == 0
    assert "Wrote traffic.yaml" in made.stdout
    assert run("wavyblog", "--free-tier").exit_code == 0
    assert "traffic.yaml exists" in run("wavyblog", "--init").stderr
    assert run("wavyblog", "--init", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("patterns:\n  postt: 5 per second\n", "traffic.yaml:2: unknown pattern: postt. Did you mean post?"),
        ("patterns:\n  post: -5 per second\n", "traffic.yaml:2: the rate '-5 per second' is below 0."),
        ("users: 7\npatterns:\n  post: 5\n", "traffic.yaml:3: the rate '5' has no unit."),
        ("writes:\n  Post:\n    creat: 1 per day\n", "traffic.yaml:3: unknown write: creat. Did you mean create?"),
        (
            "tables:\n  wavyblog: {recovery: yes}\n",
            "traffic.yaml:2: unknown table: wavyblog. Did you mean WavyBlog?",
        ),
    ],
)
def test_a_mistake_in_the_traffic_has_its_line(folder: Path, text: str, message: str) -> None:
    (folder / "traffic.yaml").write_text(text, "utf-8")
    result = run("wavyblog")
    assert result.exit_code == 2
    assert message in result.stderr


def test_other_regions_need_their_prices(folder: Path) -> None:
    assert "eu-central-1: $" in run("wavyblog", "--region", "eu-central-1").stdout
    unknown = run("wavyblog", "--region", "sa-east-1")
    assert unknown.exit_code == 2
    assert "download AWS's price list and name it with --prices" in unknown.stderr
    assert "Can't read prices.json: No such file" in run("wavyblog", "--prices", "prices.json").stderr


def test_an_old_price_list_is_warned_about(folder: Path) -> None:
    attributes = {"usagetype": "EU-ReadRequestUnits", "regionCode": "eu-west-1"}
    dimension = {
        "beginRange": "0",
        "endRange": "Inf",
        "unit": "ReadRequestUnits",
        "pricePerUnit": {"USD": "0.00000028"},
    }
    offer = {"priceDimensions": {"A.B.C": dimension}, "termAttributes": {}}
    document = {
        "offerCode": "AmazonDynamoDB",
        "publicationDate": "2022-01-31T00:00:00Z",
        "products": {"A": {"sku": "A", "attributes": attributes}},
        "terms": {"OnDemand": {"A": {"A.B": offer}}},
    }
    (folder / "index.json").write_text(json.dumps(document), "utf-8")
    result = run("wavyblog", "--prices", "index.json")
    assert result.exit_code == 0
    assert "wavyblog in eu-west-1: $" in result.stdout
    assert "Warning: the price of read request is from 2022-01-31, which is more than a year ago." in result.stdout
    assert "Not in the sum, because no price is known in eu-west-1: write request, storage" in result.stdout


def test_a_design_without_examples_is_an_error(folder: Path) -> None:
    (folder / "riddles.py").write_text(
        "from typing import Annotated\n\n"
        "from keyplan.design import *\n\n"
        "table = Table('Riddles', key('pk'))\n\n\n"
        "def never(value: str) -> None:\n    raise ValueError('no')\n\n\n"
        "class Riddle(Entity, table=table):\n"
        "    riddle_id: Id\n    answer: Annotated[str, limit(never)]\n    primary = key('RIDDLE#{riddle_id}')\n\n\n"
        "class Riddles(Design):\n    tables, entities = (table,), (Riddle,)\n",
        "utf-8",
    )
    (folder / "traffic.yaml").write_text("items: {Riddle: 5}\n", "utf-8")
    result = run("riddles:Riddles")
    assert result.exit_code == 2
    assert "Can't make examples of riddles:Riddles: " in result.stderr
    assert "Field(examples=[...])" in result.stderr


def test_the_help_says_that_the_module_runs() -> None:
    assert "This imports DESIGN, which runs its module." in " ".join(run("--help").stdout.split())


def test_the_example_of_the_documentation_is_true(folder: Path) -> None:
    """The traffic file of the page gives the report of the page; lines that are left out there are `...`."""
    page = (Path(__file__).parent.parent.parent / "docs" / "cost.md").read_text("utf-8")
    (yaml,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (folder / "traffic.yaml").write_text(yaml, "utf-8")
    example = re.search(r"^\$ keyplan cost wavyblog\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert example is not None
    report = run("wavyblog").stdout
    for part in re.split(r"^ *\.\.\.\n", example[1], flags=re.MULTILINE):
        assert part.strip("\n") in report
