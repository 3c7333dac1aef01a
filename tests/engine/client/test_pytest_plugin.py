"""The fixtures that keyplan gives to other projects' tests."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest

if TYPE_CHECKING:
    from keyplan.engine import Engine


def test_a_fresh_engine(dynamodb: "Engine") -> None:
    assert dynamodb.list_tables()["TableNames"] == []


def test_a_running_endpoint(dynamodb_endpoint: str) -> None:
    client = boto3.client("dynamodb", endpoint_url=dynamodb_endpoint, region_name="us-east-1")
    assert client.list_tables()["TableNames"] == []


OTHER = """
import pytest
@pytest.fixture
def dynamodb():
    return "the other plugin's"
"""
TESTS = """
def test_theirs(dynamodb):
    assert dynamodb == "the other plugin's"
def test_ours(keyplan_engine, dynamodb_url):
    assert keyplan_engine.list_tables()["TableNames"] == []
    assert dynamodb_url.startswith("http://127.0.0.1:")
"""


def pytest_run(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def test_a_project_can_give_them_other_names(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\nkeyplan_dynamodb_fixture = keyplan_engine\nkeyplan_endpoint_fixture = dynamodb_url\n"
    )
    (tmp_path / "other.py").write_text(OTHER)
    (tmp_path / "test_it.py").write_text(TESTS)
    assert "2 passed" in (said := pytest_run(tmp_path, "-p", "other", "test_it.py")), said
    assert "dynamodb_endpoint" not in pytest_run(tmp_path, "--fixtures")


def test_an_empty_name_leaves_a_fixture_out(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nkeyplan_dynamodb_fixture =\n")
    (tmp_path / "test_it.py").write_text("def test_it(dynamodb): pass\n")
    assert "fixture 'dynamodb' not found" in pytest_run(tmp_path, "test_it.py")
    assert "dynamodb_endpoint" in pytest_run(tmp_path, "--fixtures")


@pytest.mark.parametrize("name", ["my-engine", "class", "request", "dynamodb_endpoint"])
def test_a_name_that_no_test_can_use_is_refused_at_the_start(tmp_path: Path, name: str) -> None:
    (tmp_path / "pytest.ini").write_text(f"[pytest]\nkeyplan_endpoint_fixture = {name}\n")
    if name == "dynamodb_endpoint":
        (tmp_path / "pytest.ini").write_text(f"[pytest]\nkeyplan_dynamodb_fixture = {name}\n")
    said = pytest_run(tmp_path, "--fixtures")
    assert f"_fixture = {name}: use a name that can be a test's argument and that no other fixture has." in said
    assert "INTERNALERROR" not in said


def test_another_project_finds_them_without_importing_the_engine_first(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import sys\n"
        "def test_not_imported_yet():\n"
        "    assert 'keyplan.engine.client' not in sys.modules\n"
        "def test_fixture(dynamodb):\n"
        "    assert dynamodb.list_tables()['TableNames'] == []\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert "2 passed" in done.stdout, done.stdout + done.stderr
