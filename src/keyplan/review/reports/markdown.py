"""A review as Markdown, for comments on pull requests."""

import re
from collections.abc import Iterator, Sequence

from keyplan.review.findings import Finding
from keyplan.review.reports.report import Report, numbers

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|@~])")


def markdown_report(report: Report) -> str:
    """A review as Markdown."""
    lines = [f"## Review of {_escaped(report.design)}: {numbers(report.counts())}", ""]
    for finding in report.findings:
        lines += _finding(finding, report)
    if report.accepted:
        lines += _folded("Accepted by the design", [_accepted(each) for each in report.accepted])
    if report.known:
        lines += _folded("In the baseline", [f"- {_named(each)}: {_escaped(each.happens)}" for each in report.known])
    if report.gone:
        lines += [f"{len(report.gone)} of the baseline: fixed. Write it again with `--write-baseline`.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _finding(finding: Finding, report: Report) -> Iterator[str]:
    file = report.file_of(finding)
    line = f":{finding.place.line}" if finding.place.line else ""
    where = f" (`{file}{line}`)" if file else ""
    yield f"### {finding.severity.capitalize()}: {_escaped(finding.rule.title)}"
    yield ""
    yield f"{_named(finding)}{where}: {_escaped(finding.happens)}."
    yield ""
    yield _escaped(finding.remedy)
    yield ""
    if finding.change:
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", finding.change)), 3)
        yield f"{fence}python\n{finding.change}\n{fence}"
        yield ""


def _accepted(finding: Finding) -> str:
    return f"- {_named(finding)}: {_escaped(finding.happens)}, because {_escaped(finding.accepted or '')}"


def _named(finding: Finding) -> str:
    return f"{finding.rule.code} **{_escaped(finding.place.text)}**"


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return [f"<details><summary>{title}: {len(lines)}</summary>", "", *lines, "", "</details>", ""]


def _escaped(text: str) -> str:
    """Text from a design, so that nothing in it is Markdown, HTML or a mention of somebody."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
