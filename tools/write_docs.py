"""Writes the parts of the documentation that are read off the code: `make docs`."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from pydantic.fields import FieldInfo

from bench.lines import count
from bench.lines.scenario import FEATURES
from keyplan.capacity.prices import ITEMS, known_prices, known_regions
from keyplan.capacity.traffic import traffic_schema
from keyplan.cli.opening import served_systems
from keyplan.review import GROUPS, Rule, all_rules
from keyplan.web.settings import Protects, Settings
from tests.engines.known_failures import KNOWN_FAILURES
from tests.engines.servers import SERVERS
from tools import write_designs
from tools.forecasts_table import forecasts_table
from tools.operations_table import counts_line, operations_table

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


def servers_table() -> str:
    """The other servers on which tests run, and where their packages are."""
    rows = ["| server | version | npm package |", "| --- | --- | --- |"]
    rows += (f"| {server.name} | {server.version} | `{server.package}` |" for server in SERVERS)
    return "\n".join(rows)


def failures_table() -> str:
    """What fails on other servers."""
    rows = ["| server | what fails | why | what to do |", "| --- | --- | --- | --- |"]
    rows += (f"| {known.server} | {known.what} | {known.why} | {known.remedy} |" for known in KNOWN_FAILURES)
    clean = [server.name for server in SERVERS if server.name not in {known.server for known in KNOWN_FAILURES}]
    rows += (f"| {name} | nothing | | |" for name in clean)
    return "\n".join(rows)


def rules_table() -> str:
    """The rules of reviews, by group: first what is found in designs, then what is refused when they are imported."""
    parts = []
    for group, title in GROUPS.items():
        parts.append(_rules(title, [rule for rule in all_rules() if rule.group == group and not rule.is_imported]))
    parts.append(_rules("Refused when a design is imported", [rule for rule in all_rules() if rule.is_imported]))
    return "\n\n".join(parts)


def _rules(title: str, rules: Iterable[Rule]) -> str:
    rows = [f"### {title}", "", "| rule | name | severity | what it finds |", "| --- | --- | --- | --- |"]
    rows += [f"| {rule.code} | `{rule.name}` | {rule.severity} | {rule.title} |" for rule in rules]
    return "\n".join(rows)


def prices_table() -> str:
    """The prices that come with Keyplan, with their date and source."""
    rows = ["| region | what | US dollars | per | free each month | from | source |"]
    rows += ["| --- | --- | ---: | --- | ---: | --- | --- |"]
    for region in known_regions():
        for charge, price in known_prices(region).by_charge.items():
            per, usd = ITEMS[charge.item], price.usd
            if per.endswith(("request unit", "request", "data capture unit")):
                per, usd = f"million {per}s", usd * 1_000_000
            free = f"{price.free:,.0f}" if price.free else ""
            rows.append(f"| {region} | {charge} | {usd:.6g} | {per} | {free} | {price.date} | {price.source} |")
    return "\n".join(rows)


_PARTS = {
    "prices": prices_table,
    "rules": rules_table,
    "settings": settings_table,
    "limits": limits_table,
    "features": features_list,
    "lines": count.table,
    "servers": servers_table,
    "failures": failures_table,
    "operations": operations_table,
    "operation counts": counts_line,
    "forecasts": forecasts_table,
}


def written(page: str) -> str:
    """The page with its generated parts as they should be."""

    def part(match: re.Match[str]) -> str:
        name = match[1]
        table = _PARTS[name]() if name in _PARTS else roles_table(name.removeprefix("roles of "))
        return f"<!-- {name}: written by `make docs` -->\n{table}\n<!-- end of {name} -->"

    return re.sub(r"<!-- ([\w ]+): written by `make docs` -->\n.*?<!-- end of \1 -->", part, page, flags=re.DOTALL)


if __name__ == "__main__":
    for path in DOCS.glob("*.md"):
        page = path.read_text("utf-8")
        if (fresh := written(page)) != page:
            path.write_text(fresh, "utf-8")
    schema = json.dumps(traffic_schema(), indent=2, ensure_ascii=False)
    (DOCS / "traffic.schema.json").write_text(f"{schema}\n", "utf-8")
    write_designs.write()
