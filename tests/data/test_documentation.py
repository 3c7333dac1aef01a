"""The page about the data layer: its table of values comes from the code, and every public name is on it."""

import re
from pathlib import Path
from typing import get_args

from keyplan import data
from keyplan.data import errors
from keyplan.data.codec import values
from keyplan.data.upkeep.findings import VerifyFindingKind

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text("utf-8")


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")]


def test_the_table_of_values_matches_the_code() -> None:
    section = PAGE.partition("## How values are stored")[2].partition("\n## ")[0]
    assert rows(section) == rows(values.__doc__ or "")


def test_every_error_is_explained() -> None:
    section = PAGE.partition("## Refusals")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", "\n".join(rows(section))))
    own = {name: each for name, each in vars(errors).items() if getattr(each, "__module__", "") == errors.__name__}
    kinds = {name for name, each in own.items() if isinstance(each, type) and issubclass(each, Exception)}
    assert named == kinds - {"DataError", "Refused"}


def test_every_kind_of_finding_is_explained() -> None:
    section = PAGE.partition("## Verify and repair")[2].partition("\n## ")[0]
    named = [name for row in rows(section)[2:] for name in re.findall(r"`([\w-]+)`", row.split("|")[1])]
    assert sorted(named) == sorted(get_args(VerifyFindingKind))


def test_every_public_name_is_mentioned() -> None:
    assert {name for name in data.__all__ if not re.search(rf"\b{name}\b", PAGE)} == set()
