"""The fixtures that keyplan gives to other projects' tests."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import boto3

if TYPE_CHECKING:
    from keyplan.engine import Engine


def test_a_fresh_engine(dynamodb: "Engine") -> None:
    assert dynamodb.list_tables()["TableNames"] == []


def test_a_running_endpoint(dynamodb_endpoint: str) -> None:
    client = boto3.client("dynamodb", endpoint_url=dynamodb_endpoint, region_name="us-east-1")
    assert client.list_tables()["TableNames"] == []


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
