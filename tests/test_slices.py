"""The slices of the shop that the documentation counts: those that run here do what they claim, and are counted right.

`python -m bench.lines` also runs those with PynamoDB and ElectroDB, which are not in this environment.
"""

from pathlib import Path
from typing import Any

import pytest

from bench.lines import boto3_shop, count, keyplan_shop, scenario
from keyplan.engine import Engine

PYTHON = '''"""A docstring
of two lines."""

import os
from x import (
    y,
)

# A comment.
a = """text
of two lines"""


def f() -> None:
    """What it does."""
    return y(  # why
        os
    )
'''
JAVASCRIPT = """// A comment.
import { x } from "y";

const a = {
  b: 1, // why
};
"""


@pytest.mark.parametrize("make", [keyplan_shop.Shop, boto3_shop.Shop])
def test_a_slice_has_all_features(make: Any) -> None:
    with Engine() as engine:
        scenario.run(make(engine.boto3_session().client("dynamodb")))


def test_code_is_counted_without_what_is_not_code(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(PYTHON, "utf-8")
    (tmp_path / "a.mjs").write_text(JAVASCRIPT, "utf-8")
    assert count.size_of(tmp_path / "a.py").lines == 6
    assert count.size_of(tmp_path / "a.mjs") == count.Size(3, len("consta={b:1,//why};"))
