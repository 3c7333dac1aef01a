"""Writes the parts of the documentation that are read off the code: `make docs`."""

import re
from pathlib import Path

from keyplan.cli.opening import served_systems
from keyplan.web.settings import Settings

DOCS = Path(__file__).parent.parent / "docs"


def settings_table() -> str:
    """Every setting, what it is when nobody says otherwise, and what it is for."""
    rows = ["| setting | default | description |", "| --- | --- | --- |"]
    for name, field in Settings.model_fields.items():
        shown = "" if field.default in (None, {}, []) else f"`{field.default}`"
        rows.append(f"| `KEYPLAN_{name.upper()}` | {shown} | {field.description} |")
    return "\n".join(rows)


def roles_table(system: str) -> str:
    """Who may do what in a system, by its routes."""
    (found,) = served_systems([system])
    roles = found.api.service.all_roles
    rows = [f"| operation | {' | '.join(roles)} |", f"| --- |{' --- |' * len(roles)}"]
    for verb, path, may in found.api.who_may_do_what():
        rows.append(f"| `{verb} {path}` | {' | '.join(may[role] for role in roles)} |")
    return "\n".join(rows)


def written(page: str) -> str:
    """The page with its generated parts as they should be."""

    def part(match: re.Match[str]) -> str:
        name = match[1]
        table = settings_table() if name == "settings" else roles_table(name.removeprefix("roles of "))
        return f"<!-- {name}: written by `make docs` -->\n{table}\n<!-- end of {name} -->"

    return re.sub(r"<!-- ([\w ]+): written by `make docs` -->\n.*?<!-- end of \1 -->", part, page, flags=re.DOTALL)


if __name__ == "__main__":
    for path in DOCS.glob("*.md"):
        page = path.read_text("utf-8")
        if (fresh := written(page)) != page:
            path.write_text(fresh, "utf-8")
