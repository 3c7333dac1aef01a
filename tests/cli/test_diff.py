"""`keyplan diff` as a user runs it: designs, files, revisions and tables that exist."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from keyplan.cli import main
from keyplan.engine import Engine
from keyplan.engine.wire import serve_in_thread

DESIGN = '''
from keyplan.design import *

table = Table("notes", key("PK", "SK"), indexes={{{indexes}}})


class Note(Entity, table=table):
    id: Id
    text: str = {default!r}
    primary = key("NOTE#{{id}}", "NOTE")


class Notes(Design):
    """Notes."""

    tables = (table,)
    entities = (Note,)
'''
INDEX = '"ByTag": key("tag")'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEYPLAN_DYNAMODB_TIMEOUT", "4")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["diff", *arguments])


def declare(module: str, indexes: str = "", default: str = "") -> str:
    """A module with a design. Each has another name, since a process imports a module once."""
    Path(f"{module}.py").write_text(DESIGN.format(indexes=indexes, default=default), "utf-8")
    return f"{module}:Notes"


def test_the_exit_code_is_that_of_diff() -> None:
    one, other = declare("diff_one"), declare("diff_other", INDEX)
    same = run(one, one)
    assert (same.exit_code, same.output) == (0, f"{one} and {one} are the same.\n")
    found = run(one, other)
    assert found.exit_code == 1
    assert found.output.startswith(f"{one} -> {other}: 1 difference\n")
    assert "+ index notes.ByTag  [in place]" in found.output
    assert "create index ByTag" in found.output
    assert run(one, "diff_missing:Notes").exit_code == 2
    assert run(one).exit_code == 2
    assert run("deployed", "deployed").exit_code == 2


def test_the_documentation_shows_what_is_printed() -> None:
    """The example of the page, with the requests left out where the page has dots."""
    page = (Path(__file__).parent.parent.parent / "docs" / "infrastructure.md").read_text("utf-8")
    shown = page.partition("$ keyplan diff main:blog:Blog blog:Blog\n")[2].partition("```")[0]
    Path("blog_before.py").write_text(BLOG, "utf-8")
    changed = BLOG.replace("{created_at}", "{created_at}#{slug}").replace(
        '"GSI1SK")}', '"GSI1SK"), "GSI5": key("GSI5PK")}'
    )
    Path("blog_after.py").write_text(changed, "utf-8")
    printed = run("blog_before:Blog", "blog_after:Blog").stdout
    shown = shown.replace("main:blog:Blog -> blog:Blog", "blog_before:Blog -> blog_after:Blog")
    pattern = re.escape(shown).replace(re.escape("[...]"), r"\[.*\]")
    assert re.fullmatch(pattern, printed)


BLOG = """
from keyplan.design import *

blog = Table("Blog", key("PK", "SK"), indexes={"GSI1": key("GSI1PK", "GSI1SK")})


class Post(Entity, table=blog):
    slug: Id
    author: Id
    created_at: Created = created()
    primary = key("POST#{slug}", "METADATA")
    by_author = blog.GSI1("POSTS_BY_USER#{author}", "POST#{created_at}")


class Blog(Design):
    tables, entities = (blog,), (Post,)
"""


def test_a_report_as_json_or_markdown() -> None:
    one, other = declare("diff_forms"), declare("diff_forms_other", default="none")
    values = json.loads(run(one, other, "--json").stdout)
    assert values == json.loads(run(one, other, "--format", "json").stdout)
    assert [each["place"] for each in values["changes"]] == ["field Note.text"]
    assert "| changed | field Note.text, default |" in run(one, other, "--format", "markdown").stdout
    assert json.loads(run(one, one, "--json").stdout)["same"] is True


def test_a_snapshot_is_compared_with_the_design_later(folder: Path) -> None:
    one, other = declare("diff_kept"), declare("diff_kept_other", INDEX)
    kept = run(one, "--snapshot")
    assert kept.exit_code == 0
    (folder / "notes.json").write_text(kept.stdout, "utf-8")
    assert run("notes.json", one).exit_code == 0
    assert run("notes.json", other).exit_code == 1
    (folder / "broken.json").write_text("{}", "utf-8")
    broken = run("broken.json", one)
    assert broken.exit_code == 2
    assert "keyplan: Can't read broken.json: it isn't a snapshot" in broken.stderr
    assert "Can't read nothing.json: No such file" in run("nothing.json", one).stderr
    assert run(one, one, "--snapshot").exit_code == 2


def test_deployed_tables_are_compared_in_a_file_and_at_an_endpoint() -> None:
    one, other = declare("diff_deployed"), declare("diff_deployed_other", INDEX)
    assert CliRunner().invoke(main, ["tables", one, "--create", "--path", "x.db"]).exit_code == 0
    same = run("deployed", one, "--path", "x.db")
    assert (same.exit_code, same.output) == (0, "file x.db and Notes are the same.\n")
    missing = run("deployed", other, "--path", "x.db")
    assert missing.exit_code == 1
    assert "+ index notes.ByTag" in missing.output
    superfluous = run(other, "deployed", "--path", "x.db")
    assert "- index notes.ByTag" in superfluous.output
    with Engine("x.db") as engine, serve_in_thread(engine.database) as url:
        assert run("deployed", one, "--endpoint-url", url).exit_code == 0
    nobody = run("deployed", one, "--endpoint-url", "http://127.0.0.1:1")
    assert nobody.exit_code == 2
    assert "Can't read the tables" in nobody.stderr
    assert run("deployed", one, "--path", "nothing.db").exit_code == 2


# Revisions of git


def git(*arguments: str) -> None:
    who = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org"}
    who |= {name.replace("AUTHOR", "COMMITTER"): value for name, value in who.items()}
    subprocess.run(["git", *arguments], check=True, capture_output=True, env={**os.environ, **who})


def test_a_revision_is_imported_from_a_copy_that_is_gone_afterwards(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a subfolder of a repository, whose files are left alone."""
    copies = folder / "copies"
    copies.mkdir()
    monkeypatch.setenv("TMPDIR", str(copies))
    monkeypatch.setattr("tempfile.tempdir", None)
    project = folder / "repository" / "app"
    project.mkdir(parents=True)
    monkeypatch.chdir(project)
    git("init", "--quiet")
    design = declare("diff_revisions")
    git("add", ".")
    git("commit", "--quiet", "-m", "Notes")
    assert run("HEAD:diff_revisions:Notes", design).exit_code == 0
    changed = DESIGN.format(indexes=INDEX, default="")
    Path("diff_revisions.py").write_text(changed, "utf-8")
    # Another process: this one has the module imported already.
    command = [sys.executable, "-m", "keyplan.cli", "diff", "HEAD:diff_revisions:Notes", design]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 1, found.stderr
    assert "+ index notes.ByTag" in found.stdout
    assert Path("diff_revisions.py").read_text("utf-8") == changed
    assert list(copies.iterdir()) == []
    assert not any(Path(".git").glob("worktrees/*"))


def test_what_is_wrong_with_a_revision_is_said() -> None:
    design = declare("diff_no_revision")
    outside = run("HEAD:diff_no_revision:Notes", design)
    assert outside.exit_code == 2
    assert "not a git repository" in outside.stderr
    git("init", "--quiet")
    Path("README").write_text("Notes\n", "utf-8")
    git("add", "README")
    git("commit", "--quiet", "-m", "Nothing to import")
    assert "The repository has no revision nothing." in run("nothing:diff_no_revision:Notes", design).stderr
    unknown = run("HEAD:diff_no_revision:Notes", design)
    assert unknown.exit_code == 2
    assert "Can't read diff_no_revision:Notes in revision HEAD: Can't import" in unknown.stderr
    assert run("--", "-x:diff_no_revision:Notes", design).exit_code == 2
    assert "imports the designs, which runs their modules" in " ".join(run("--help").stdout.split())
