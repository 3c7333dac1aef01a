"""The pages of the five systems hold what their design documents hold.

The files in `systems` list what each document has: tables with their keys, item types with the templates of their keys,
indexes with their attributes and what is in them, access patterns with their wording, operation, place and what their
key condition begins with, attributes, and values. They are in the notation of the pages; `;` stands for a pipe. Where a
design departs from its document, a file has what the design does, and the page has the departure.
"""

import re
from functools import cache
from pathlib import Path

import pytest

from tools.write_designs import files

LISTS = Path(__file__).parent / "systems"
SYSTEMS = sorted(path.stem for path in LISTS.glob("*.txt"))


@cache
def listed(name: str, section: str) -> list[list[str]]:
    """The rows of a section of a system's list."""
    text = (LISTS / f"{name}.txt").read_text("utf-8")
    found = re.search(rf"^# {section}\n(.*?)(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    return [[cell.strip() for cell in line.split("|")] for line in found[1].splitlines()] if found else []


@cache
def page(name: str) -> str:
    return files()[f"{name}.md"]


def chapter(name: str, heading: str) -> str:
    """The part of a page under a heading."""
    level, text = heading.partition(" ")[0], page(name)
    start = text.index(f"\n{heading}\n")
    end = re.compile(rf"^#{{1,{len(level)}}} ", re.MULTILINE).search(text, start + len(heading) + 2)
    return text[start : end.start() if end else len(text)]


def cells(text: str) -> list[list[str]]:
    """The rows of the tables in a text, without backticks."""
    found = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip().replace("`", "").replace("\\|", ";") for cell in _split(line)] for line in found]


def _split(line: str) -> list[str]:
    return re.split(r"(?<!\\)\|", line)[1:-1]


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_table_is_there(name: str) -> None:
    for table, partition, sort in listed(name, "tables"):
        found = cells(chapter(name, f"### Table `{table}`"))
        assert ["Partition key", f"{partition} (S)"] in found
        assert not sort or ["Sort key", f"{sort} (S)"] in found
        assert ["Billing", "on demand (PAY_PER_REQUEST)"] in found


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_item_type_is_there(name: str) -> None:
    found = cells(chapter(name, "## Tables and indexes"))
    for item, *keys in listed(name, "items"):
        assert [item, *keys] in [row[: 1 + len(keys)] for row in found]
        assert chapter(name, f"### {item}")


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_index_is_there(name: str) -> None:
    for place, partition, sort, item, *keys in listed(name, "indexes"):
        table, index = place.split(".")
        found = cells(chapter(name, f"### Table `{table}`"))
        types = [re.sub(r" (\w)$", r" (\1)", each) for each in (partition, sort)]
        assert [row[2:5] for row in found if row[0] == index] == [[*types, "all attributes"]] or [
            row[2:4] for row in found if row[0] == index
        ] == [[types[0], "all attributes"]]
        held = cells(chapter(name, f"#### Index `{index}`") if name != "vcm" else chapter(name, f"### Table `{table}`"))
        assert [item, *filter(None, keys)] in [row[: 1 + len(list(filter(None, keys)))] for row in held]


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_access_pattern_is_there(name: str) -> None:
    """With its operation and key condition in the overview, and with a chapter of its own with requests."""
    found = cells(chapter(name, "## Access patterns"))
    for wording, operation, place, condition in listed(name, "patterns"):
        matching = [
            row
            for row in found
            if len(row) > 4
            and row[1].startswith(wording)
            and row[2].startswith(operation)
            and row[3] == place
            and (not condition or row[4].startswith(condition))
        ]
        assert matching, (wording, place)
        own = re.search(rf"^### {matching[0][0]}\. .*?(?=^### |^## )", page(name), re.MULTILINE | re.DOTALL)
        assert own
        for part in ("store.run(", "<summary>boto3</summary>", "<summary>AWS CLI</summary>", "aws dynamodb "):
            assert part in own[0]


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_attribute_is_there(name: str) -> None:
    for item, attributes in listed(name, "attributes"):
        found = {row[0] for row in cells(chapter(name, f"### {item}"))}
        assert set(attributes.split()) - found == set(), item


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_listed_value_is_there(name: str) -> None:
    assert [value for (value,) in listed(name, "values") if value.replace(";", "|") not in page(name)] == []


@pytest.mark.parametrize("name", SYSTEMS)
def test_purpose_departures_and_findings_are_there(name: str) -> None:
    assert len(page(name).split("\n## ")[0].split()) > 60, "its purpose"
    assert len(cells(chapter(name, "## Departures"))) > 5
    assert chapter(name, "## Findings")
    assert chapter(name, "## Rationale")
    for index in {row[0].split(".")[1] for row in listed(name, "indexes")}:
        assert any(index in row[0] for row in cells(chapter(name, "## Rationale"))), index
