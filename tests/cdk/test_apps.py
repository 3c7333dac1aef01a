"""What other tools make of the templates: the CDK app's template is ours, and Terraform accepts its configuration.

The CDK isn't among the dependencies; `make test-infra` installs it. Terraform downloads its AWS provider.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("aws_cdk", reason="the CDK has an environment of its own: make test-infra")

from keyplan.design import Design
from keyplan.publish.infra import Format, render, stack_of
from tests.all_designs import SYSTEMS, design
from tests.publish.every_word import Library

DESIGNS: dict[str, type[Design]] = {name: design(f"apps/{name}") for name in SYSTEMS} | {"every word": Library}


def written(name: str, format: Format, folder: Path) -> str:
    """The text of a format, and its file in a folder."""
    made = render(stack_of(DESIGNS[name]()), format)
    (folder / made.file).write_text(made.text, "utf-8")
    return made.text


@pytest.mark.parametrize("name", DESIGNS)
def test_the_template_of_the_cdk_app_is_the_cloudformation_template(name: str, tmp_path: Path) -> None:
    written(name, "cdk", tmp_path)
    environment = {**os.environ, "CDK_OUTDIR": str(tmp_path / "out"), "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": "1"}
    done = subprocess.run(
        [sys.executable, "app.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (template,) = (tmp_path / "out").glob("*.template.json")
    synthesized: dict[str, Any] = json.loads(template.read_text("utf-8"))
    assert synthesized == yaml.safe_load(written(name, "cloudformation", tmp_path))


@pytest.mark.parametrize("name", DESIGNS)
def test_terraform_validates_its_configuration(name: str, tmp_path: Path) -> None:
    if shutil.which("terraform") is None:
        pytest.skip("NOT TESTED: terraform isn't installed")
    written(name, "terraform", tmp_path)
    ready = subprocess.run(
        ["terraform", "init", "-backend=false", "-input=false", "-no-color"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    if ready.returncode != 0:
        pytest.skip("NOT TESTED: Terraform can't install its AWS provider")
    done = subprocess.run(
        ["terraform", "validate", "-no-color"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
