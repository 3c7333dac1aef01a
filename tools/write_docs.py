"""Writes the parts of the documentation that are read off the code: `make docs`."""

import re
from pathlib import Path

from pydantic.fields import FieldInfo

from bench.lines import count
from bench.lines.scenario import FEATURES
from keyplan.cli.opening import served_systems
from keyplan.web.settings import Protects, Settings

DOCS = Path(__file__).parent.parent / "docs"


def settings_table() -> str:
    """Every setting, what it is when nobody says otherwise, and what it is for."""
    rows = ["| setting | default | description |", "| --- | --- | --- |"]
    for name, field in Settings.model_fields.items():
        rows.append(f"| `KEYPLAN_{name.upper()}` | {_default(field)} | {field.description} |")
    return "\n".join(rows)


def limits_table() -> str:
    """Every setting that is marked as a limit: its default, what it protects, and what to set behind a proxy."""
    rows = ["| setting | default | limit | protects | behind a proxy |", "| --- | --- | --- | --- | --- |"]
    for name, field in Settings.model_fields.items():
        for mark in field.metadata:
            if isinstance(mark, Protects):
                cells = (f"`KEYPLAN_{name.upper()}`", _default(field), field.description, mark.what, mark.behind_proxy)
                rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


def _default(field: FieldInfo) -> str:
    return "" if field.default in (None, {}, []) else f"`{field.default}`"


def roles_table(system: str) -> str:
    """Who may do what in a system, by its routes."""
    (found,) = served_systems([system])
    roles = found.api.service.all_roles
    rows = [f"| operation | {' | '.join(roles)} |", f"| --- |{' --- |' * len(roles)}"]
    for verb, path, may in found.api.who_may_do_what():
        rows.append(f"| `{verb} {path}` | {' | '.join(may[role] for role in roles)} |")
    return "\n".join(rows)


def features_list() -> str:
    """What the slices of the shop do that are counted."""
    return "\n".join(f"{number}. {feature}" for number, feature in enumerate(FEATURES, start=1))


def written(page: str) -> str:
    """The page with its generated parts as they should be."""

    def part(match: re.Match[str]) -> str:
        name = match[1]
        whole = {"settings": settings_table, "limits": limits_table, "features": features_list, "lines": count.table}
        table = whole[name]() if name in whole else roles_table(name.removeprefix("roles of "))
        return f"<!-- {name}: written by `make docs` -->\n{table}\n<!-- end of {name} -->"

    return re.sub(r"<!-- ([\w ]+): written by `make docs` -->\n.*?<!-- end of \1 -->", part, page, flags=re.DOTALL)


if __name__ == "__main__":
    for path in DOCS.glob("*.md"):
        page = path.read_text("utf-8")
        if (fresh := written(page)) != page:
            path.write_text(fresh, "utf-8")
