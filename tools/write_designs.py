"""Writes the pages of docs/designs, with their pictures, from the designs of the five systems: `make docs`."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from keyplan.cli.documents import document_of_design
from keyplan.cli.opening import served_systems
from keyplan.publish.document import Document, markdown

PAGES = Path(__file__).parent.parent / "docs" / "designs"
_INDEX = """# Designs of the five systems

Each page is the document of a design, as people write such documents by hand: tables and indexes, item types, access
patterns with their requests and what they cost, what changes together, where the design departs from the document that
it was made from, and what a review finds. [keyplan docs](../documents.md) makes such a page of any design.

| system | about | contents |
| --- | --- | --- |
{rows}

<!-- Written by `make docs`. -->
"""


@cache
def documents() -> Mapping[str, tuple[Document, str]]:
    """The documents of the systems, by name, each with what the system is about."""
    return {
        system.name: (document_of_design(system.design(), system.title), system.summary) for system in served_systems()
    }


def files() -> dict[str, str]:
    """The text of each file in docs/designs, by its path in there."""
    found = {"README.md": _INDEX.format(rows="\n".join(_row(name) for name in documents()))}
    for name, (document, _) in documents().items():
        note = f"<!-- Written by `make docs` from keyplan.apps.{name}, whose examples the tests run. -->"
        found[f"{name}.md"] = f"{markdown(document, name)}\n{note}\n"
        found |= {f"{name}/{drawing.name}.svg": drawing.svg for drawing in document.drawings}
    return found


def _row(name: str) -> str:
    document, about = documents()[name]
    contents = dict(document.facts)["Contents"]
    return f"| [{document.title}]({name}.md) | {about} | {contents} |"


def write() -> None:
    """Write the files, and remove those that are no longer made."""
    made = files()
    for path in PAGES.rglob("*"):
        if path.is_file() and str(path.relative_to(PAGES)) not in made:
            path.unlink()
    for name, text in made.items():
        path = PAGES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
