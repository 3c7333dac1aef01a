"""`keyplan infra` as a user runs it: what it writes, and what it refuses to write over."""

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from keyplan.cli import main

DESIGN = """
from keyplan.design import *
from keyplan.design.operations.queries import Query

table = Table({name!r}, {key}, indexes={{{indexes}}})


class Note(Entity, table=table):
    id: Id
    primary = key("NOTE#{{id}}", "NOTE")


class Notes(Design):
    tables = (table,)
    entities = (Note,)

    @pattern("Parts of a note")
    def parts(self, id: str) -> Query[Note]:
        return query(Note.primary, id=id)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["infra", *arguments])


def declare(module: str, name: str = "notes-{stage}", key: str = 'key("PK", "SK")', indexes: str = "") -> str:
    """A module with a design. Each has another name, since a process imports a module once."""
    Path(f"{module}.py").write_text(DESIGN.format(name=name, key=key, indexes=indexes), "utf-8")
    return f"{module}:Notes"


def test_a_template_is_printed(folder: Path) -> None:
    done = run(declare("infra_printed"), "--format", "cloudformation", "--environment", "stage=prod")
    assert done.exit_code == 0, done.output
    tables = yaml.safe_load(done.stdout)["Resources"]
    assert tables["NotesTable"]["Properties"]["TableName"] == "notes-prod"
    assert list(folder.glob("*.yaml")) == []


def test_each_format_goes_into_its_file(folder: Path) -> None:
    design = declare("infra_formats")
    for format, file in (("cloudformation", "template.yaml"), ("terraform", "main.tf"), ("cdk", "app.py")):
        done = run(design, "--format", format, "--out", format)
        assert done.exit_code == 0, done.output
        assert f"Wrote {format}/{file}: 2 tables, 4 alarms, 3 policies.\n" in done.output
        assert sorted(each.name for each in (folder / format).iterdir()) == sorted([file, "tables.json"])


def test_policies_alone_are_those_of_services_and_patterns() -> None:
    done = run(declare("infra_policies"), "--format", "iam")
    found = json.loads(done.stdout)
    assert found["services"].keys() == {"Service", "Reader", "Operator"}
    (query,) = [each for each in found["patterns"]["parts"]["Statement"] if each["Action"] == ["dynamodb:Query"]]
    assert query["Resource"] == ["arn:aws:dynamodb:*:*:table/notes-dev"]
    assert query["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["NOTE#*"]}}


def test_a_template_is_written_again_without_asking(folder: Path) -> None:
    design = declare("infra_again")
    assert run(design, "--format", "cloudformation", "--out", "x").exit_code == 0
    before = (folder / "x" / "template.yaml").read_text("utf-8")
    assert run(design, "--format", "cloudformation", "--out", "x").exit_code == 0
    assert (folder / "x" / "template.yaml").read_text("utf-8") == before
    more = declare("infra_again_more", indexes='"ByTag": key("tag"), "ByText": key("text")')
    done = run(more, "--format", "cloudformation", "--out", "x")
    assert done.exit_code == 0
    assert "Note: 2 indexes of notes-dev are created or deleted. CloudFormation does one in an update" in done.stderr
    changed = declare("infra_again_changed", indexes='"ByTag": key("tag", "text"), "ByText": key("text")')
    done = run(changed, "--format", "cloudformation", "--out", "x")
    assert "Note: CloudFormation can't change the index notes-dev.ByTag. Give it another name." in done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"key": 'key("PK", "SK:N")'}, "changed table notes-dev, key: PK (S), SK (S) -> PK (S), SK (N)"),
        ({"name": "{stage=x}-notes"}, "changed table x-notes, name: notes-dev -> x-notes"),
        ({"name": "papers"}, "removed table notes-dev: PK (S), SK (S)"),
        ({"indexes": '"ByTag": local("tag")'}, "added index notes-dev.ByTag: local, PK (S), tag (S), all attributes"),
    ],
)
def test_a_template_that_would_replace_a_table_is_not_written(
    change: dict[str, str], said: str, folder: Path, request: pytest.FixtureRequest
) -> None:
    number = str(abs(hash(request.node.name)))
    assert run(declare(f"before_{number}"), "--format", "terraform", "--out", "x").exit_code == 0
    before = (folder / "x" / "main.tf").read_text("utf-8")
    source = {name: value for name, value in change.items() if name != "key"}
    changed = declare(f"after_{number}", **source)
    if "key" in change:  # the entity's key is text, so another table has the number
        Path(f"after_{number}.py").write_text(NUMBERED, "utf-8")
    done = run(changed, "--format", "terraform", "--out", "x")
    assert done.exit_code == 1
    assert f"{said}\n" in done.stderr
    assert "--replace" in done.stderr
    assert (folder / "x" / "main.tf").read_text("utf-8") == before
    assert run(changed, "--format", "terraform", "--out", "x", "--replace").exit_code == 0
    assert (folder / "x" / "main.tf").read_text("utf-8") != before


NUMBERED = """
from keyplan.design import *

table = Table("notes-{stage}", key("PK", "SK:N"))


class Note(Entity, table=table):
    id: Id
    page: int
    primary = key("NOTE#{id}", "{page}")


class Notes(Design):
    tables = (table,)
    entities = (Note,)
"""


def test_a_file_that_is_not_known_is_not_written_over(folder: Path) -> None:
    (folder / "x").mkdir()
    (folder / "x" / "main.tf").write_text("# mine\n", "utf-8")
    done = run(declare("infra_mine"), "--format", "terraform", "--out", "x")
    assert done.exit_code == 2
    assert "x/main.tf exists, and there is no x/tables.json" in done.stderr
    assert (folder / "x" / "main.tf").read_text("utf-8") == "# mine\n"


def test_policies_have_a_file_of_their_own(folder: Path) -> None:
    done = run(declare("infra_iam"), "--format", "iam", "--out", "x")
    assert done.output == "Wrote x/policies.json.\n"
    assert [each.name for each in (folder / "x").iterdir()] == ["policies.json"]


def test_files_that_cannot_be_read_or_written_are_named(folder: Path) -> None:
    design = declare("infra_files")
    assert run(design, "--format", "cdk", "--out", "x").exit_code == 0
    (folder / "x" / "tables.json").write_text("{", "utf-8")
    assert "Can't read x/tables.json: it isn't JSON" in run(design, "--format", "cdk", "--out", "x").stderr
    assert "Can't write" in run(design, "--format", "cdk", "--out", "infra_files.py/x").stderr
    twice = declare("infra_twice", indexes='"by-tag": key("a"), "by_tag": key("b")')
    assert "Can't write a template for infra_twice:Notes: 2 resources" in run(twice, "--format", "cdk").stderr


def test_what_is_wrong_is_said() -> None:
    assert "Unknown system: nothing" in run("nothing", "--format", "cdk").stderr
    assert "Can't import" in run("no_such_module:X", "--format", "cdk").stderr
    Path("misspelled.py").write_text("from keyplan.apps.wavyblog.design import Post\n\nkey = Post.by_typ\n")
    said = run("misspelled:X", "--format", "cdk").stderr
    assert "misspelled.py, line 3: AttributeError: Post has no by_typ. Did you mean by_type?" in said
    done = run(declare("infra_wrong"), "--format", "cdk", "--environment", "stagge=x")
    assert done.exit_code == 2
    assert "{stage}" in done.stderr
    assert "imports DESIGN, which runs its module" in " ".join(run("--help").stdout.split())
