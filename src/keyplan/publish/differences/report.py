"""Differences as text, Markdown and JSON."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from keyplan.publish.differences.changes import Difference, Differences, Phase, Step

ReportFormat: TypeAlias = Literal["text", "markdown", "json"]

_SIGNS = {"added": "+", "removed": "-", "changed": "~"}
_PHASES: Mapping[Phase, str] = {
    "before": "In place, before the new code",
    "after": "In place, once no old code runs",
}


def difference_report(differences: Differences, format: ReportFormat = "text") -> str:
    """What differs, what can be changed in place, and what has to be migrated."""
    return REPORTS[format](differences)


def _text(found: Differences) -> str:
    if not found.changes:
        return f"{found.before} and {found.after} are the same.\n"
    lines = [f"{found.before} -> {found.after}: {_count(len(found.changes), 'difference')}", ""]
    for change in found.changes:
        lines += _change_lines(change)
    for phase, title in _PHASES.items():
        steps = [each for each in found.steps if each.phase == phase]
        if steps:
            lines += ["", f"{title}:"]
            lines += [line for number, step in enumerate(steps, 1) for line in _step_lines(number, step)]
    if found.migrations:
        lines += ["", "Migrations:"]
        for migration in found.migrations:
            lines.append(f"  {migration.effect}: {', '.join(migration.places)}")
            lines.append(f"      {migration.how}")
    return "\n".join(lines) + "\n"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _change_lines(change: Difference) -> Iterator[str]:
    what = f", {change.what}" if change.what else ""
    effect = "" if change.effect == "code" else f"  [{change.effect}]"
    yield f"{_SIGNS[change.kind]} {change.place}{what}{effect}"
    if change.before:
        yield f"    - {change.before}"
    if change.after:
        yield f"    + {change.after}"
    if change.note:
        yield f"    {change.note}"


def _step_lines(number: int, step: Step) -> Iterator[str]:
    yield f"  {number}. {step.table}: {step.does}"
    yield f"     {step.operation} {json.dumps(step.request, ensure_ascii=False)}"
    if step.wait:
        yield f"     Wait {step.wait}."


# Markdown


def _markdown(found: Differences) -> str:
    if not found.changes:
        return f"{_code(found.before)} and {_code(found.after)} are the same.\n"
    lines = [
        f"## {_code(found.before)} → {_code(found.after)}",
        "",
        "| | what | before | after | takes |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [_row(each) for each in found.changes]
    for phase, title in _PHASES.items():
        steps = [each for each in found.steps if each.phase == phase]
        if steps:
            lines += ["", f"### {title}", ""]
        for number, step in enumerate(steps, 1):
            wait = f" Then wait {step.wait}." if step.wait else ""
            lines.append(f"{number}. {_code(step.table)}: {_cell(step.does)}.{wait}")
            request = json.dumps(step.request, ensure_ascii=False)
            lines += ["", "   ```json", f"   {request}", "   ```", ""]
    if found.migrations:
        lines += ["", "### Migrations", ""]
        for migration in found.migrations:
            places = ", ".join(map(_code, migration.places))
            lines.append(f"- **{migration.effect}** {places}: {migration.how}")
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def _row(change: Difference) -> str:
    what = f"{change.place}{f', {change.what}' if change.what else ''}"
    takes = change.effect + (f". {change.note}" if change.note else "")
    cells = (change.kind, _cell(what), *(_code(each) if each else "" for each in (change.before, change.after)))
    return f"| {' | '.join((*cells, _cell(takes)))} |"


def _code(text: str) -> str:
    """Text as code, also with backticks and pipes in it."""
    fence = "``" if "`" in text else "`"
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{_pipes(text)}{pad}{fence}"


def _cell(text: str) -> str:
    return _pipes(text).replace("<", "&lt;")


def _pipes(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


# JSON


def _json(found: Differences) -> str:
    values: dict[str, Any] = {
        "before": found.before,
        "after": found.after,
        "same": not found.changes,
        "changes": [
            {
                "kind": each.kind,
                "place": each.place,
                "what": each.what or None,
                "before": each.before or None,
                "after": each.after or None,
                "effect": each.effect,
                "note": each.note or None,
            }
            for each in found.changes
        ],
        "steps": [
            {
                "phase": each.phase,
                "table": each.table,
                "does": each.does,
                "operation": each.operation,
                "request": each.request,
                "wait": each.wait or None,
            }
            for each in found.steps
        ],
        "migrations": [{"effect": each.effect, "places": each.places, "how": each.how} for each in found.migrations],
    }
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


REPORTS: Mapping[ReportFormat, Callable[[Differences], str]] = {"text": _text, "markdown": _markdown, "json": _json}
"""What writes each format."""
