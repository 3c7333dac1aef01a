"""Every command that opens data finds the same DynamoDB, with the same options, variables and `.env`."""

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import boto3
import pytest
from typer.testing import CliRunner, Result

from keyplan.cli import main
from keyplan.engine import Engine
from keyplan.engine.wire import serve_in_thread

NOBODY = "http://127.0.0.1:1"
"""An endpoint where nothing listens, so that a command that uses it fails."""
OPENING = {
    "tables": ("tables", "wavyblog", "--create"),
    "verify": ("verify", "wavyblog"),
    "work": ("work", "--set-aside", "wavyblog"),
    "make-admin": ("wavyblog", "make-admin", "nobody"),
}
FOUND = {
    "tables": (0, "WavyBlog: already exists\nWavyBlog-keyplan: already exists\n"),
    "verify": (0, "wavyblog: 0 found, 0 left.\n"),
    "work": (0, "No records are set aside.\n"),
    "make-admin": (1, 'keyplan: User "nobody" not found. Register the account first.\n'),
}
"""What the commands print when wavyblog's tables exist and are empty."""
FLAGS = {"--path": ("x.db",), "--endpoint-url": (NOBODY,), "--aws": ()}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The commands run in an empty folder, and try an endpoint only once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEYPLAN_DYNAMODB_TIMEOUT", "4")
    return tmp_path


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """An endpoint with wavyblog's tables."""
    with Engine() as engine, serve_in_thread(engine.database) as address:
        assert run(*OPENING["tables"], "--endpoint-url", address).exit_code == 0
        assert set(engine.list_tables()["TableNames"]) == {"WavyBlog", "WavyBlog-keyplan"}
        yield address


def run(*arguments: str, **variables: str) -> Result:
    return CliRunner().invoke(main, arguments, env=variables)


def said(*arguments: str, **variables: str) -> tuple[int, str]:
    done = run(*arguments, **variables)
    return done.exit_code, done.output


@pytest.mark.parametrize("command", OPENING)
@pytest.mark.parametrize(
    "variable", ["KEYPLAN_ENDPOINT_URL", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL", "KEYPLAN_AWS", ".env"]
)
def test_variables_name_an_endpoint(folder: Path, url: str, command: str, variable: str) -> None:
    """With KEYPLAN_AWS, boto3 still follows AWS's variables."""
    given = {variable: url}
    if variable == "KEYPLAN_AWS":
        given = {"KEYPLAN_AWS": "true", "AWS_ENDPOINT_URL": url}
    elif variable == ".env":
        (folder / ".env").write_text(f"KEYPLAN_ENDPOINT_URL={url}\n")
        given = {"KEYPLAN_ENDPOINT_URL": ""}
    assert said(*OPENING[command], **given) == FOUND[command]
    assert not list(folder.glob("*.db"))


def test_variables_name_a_file(folder: Path) -> None:
    """An explicit file overrides AWS's variables, and an empty variable counts as not set."""
    given = {"KEYPLAN_PATH": "blog.db", "AWS_ENDPOINT_URL": NOBODY, "KEYPLAN_ENDPOINT_URL": ""}
    assert said(*OPENING["tables"], **given) == (0, "WavyBlog: created\nWavyBlog-keyplan: created\n")
    for name, command in OPENING.items():
        assert said(*command, **given) == FOUND[name]
    assert [each.name for each in folder.glob("*.db")] == ["blog.db"]


@pytest.mark.parametrize("command", OPENING)
@pytest.mark.parametrize("flag", FLAGS)
def test_a_flag_counts_over_every_variable(folder: Path, url: str, command: str, flag: str) -> None:
    arguments, variables = {
        "--path": (("--path", "mine.db"), {"KEYPLAN_ENDPOINT_URL": NOBODY, "KEYPLAN_PATH": "theirs.db"}),
        "--endpoint-url": (("--endpoint-url", url), {"KEYPLAN_AWS": "true", "AWS_ENDPOINT_URL": NOBODY}),
        "--aws": (("--aws",), {"KEYPLAN_ENDPOINT_URL": NOBODY, "AWS_ENDPOINT_URL": url}),
    }[flag]
    if flag == "--path":
        run(*OPENING["tables"], *arguments)
    assert said(*OPENING[command], *arguments, **variables) == FOUND[command]
    assert [each.name for each in folder.glob("*.db")] == (["mine.db"] if flag == "--path" else [])


def test_a_file_counts_over_aws_of_the_variables(folder: Path) -> None:
    variables = {"KEYPLAN_AWS": "true", "AWS_ENDPOINT_URL": NOBODY}
    assert said(*OPENING["tables"], "--path", "mine.db", **variables)[0] == 0
    assert (folder / "mine.db").exists()


@pytest.mark.parametrize("command", [*OPENING.values(), ("serve", "--port", "0"), ("vcm", "import", ".")], ids=" ".join)
def test_flags_that_name_a_dynamodb_exclude_each_other(folder: Path, command: tuple[str, ...]) -> None:
    for first, second in combinations(FLAGS, 2):
        refused = run(*command, first, *FLAGS[first], second, *FLAGS[second])
        assert refused.exit_code == 2
        assert f"{first} and {second} can't be used together." in refused.output
    refused = run(*command, *(part for flag, value in FLAGS.items() for part in (flag, *value)))
    assert "--path, --endpoint-url and --aws can't be used together." in refused.output
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("command", OPENING.values(), ids=" ".join)
def test_an_endpoint_without_a_name_is_not_aws(command: tuple[str, ...]) -> None:
    refused = run(*command, "--endpoint-url", "")
    assert refused.exit_code == 2
    assert "--endpoint-url is empty." in refused.output


@pytest.mark.parametrize("command", [*OPENING.values(), ("tables", "wavyblog"), ("patterns", "wavyblog")], ids=" ".join)
def test_what_is_wrong_with_the_variables_is_said(command: tuple[str, ...]) -> None:
    given = {"KEYPLAN_AWS": "true", "KEYPLAN_ENDPOINT_URL": NOBODY}
    assert said(*command, **given) == (2, "keyplan: aws and endpoint_url can't be used together\n")
    assert said(*command, KEYPLAN_AWS="perhaps")[1].startswith("keyplan: aws: Input should be a valid boolean")


def test_names_of_tables_are_those_of_the_settings() -> None:
    with Engine() as engine, serve_in_thread(engine.database) as address:
        given = {"KEYPLAN_ENDPOINT_URL": address, "KEYPLAN_TABLES": json.dumps({"environment": "live"})}
        assert run("tables", "hacktracker", "--create", **given).exit_code == 0
        assert said("verify", "hacktracker", **given) == (0, "hacktracker: 0 found, 0 left.\n")
        client = boto3.client("dynamodb", endpoint_url=address)
        assert client.list_tables()["TableNames"] == ["hacktracker-live", "hacktracker-live-keyplan"]
        client.close()


def test_the_settings_that_hold_name_the_endpoint_and_where_it_is_from() -> None:
    rows = {
        row[1]: row[2:4]
        for row in (
            line.split("│") for line in run("config", AWS_ENDPOINT_URL=NOBODY).stdout.replace(" ", "").splitlines()
        )
        if row[1:]
    }
    assert rows["KEYPLAN_ENDPOINT_URL"] == [NOBODY, "environment"]
    assert rows["KEYPLAN_PATH"] == ["keyplan.db", "default"]
