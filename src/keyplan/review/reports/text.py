"""A review as text for people, with colors on a terminal."""

from collections.abc import Iterator
from textwrap import indent

from keyplan.review.findings import Finding
from keyplan.review.reports.report import Report, numbers
from keyplan.review.rule import Severity

_COLORS: dict[Severity, str] = {"error": "31", "warning": "33", "info": "36"}
_BOLD, _DIM = "1", "2"


def text_report(report: Report, *, colors: bool = False, verbose: bool = False) -> str:
    """A review as text. `verbose`: with what the design accepts, what is known, and which rules couldn't judge."""
    lines = [*_findings(report, colors)]
    if verbose:
        lines += _details(report)
    lines += _summary(report, verbose)
    return "\n".join(lines) + "\n"


def _findings(report: Report, colors: bool) -> Iterator[str]:
    for finding in report.findings:
        severity = _painted(finding.severity, _COLORS[finding.severity], colors)
        place = _painted(f"{_location(report, finding)}", _BOLD, colors)
        rule = _painted(f"[{finding.rule.code} {finding.rule.name}]", _DIM, colors)
        yield f"{place}{severity}: {finding.place.text}: {finding.happens} {rule}"
        yield indent(finding.remedy, "    ")
        if finding.change:
            yield indent(finding.change, "        ")
        yield ""


def _location(report: Report, finding: Finding) -> str:
    """`shop.py:12: `, or nothing if the file isn't known."""
    file, line = report.file_of(finding), finding.place.line
    return "" if file is None else f"{file}: " if line is None else f"{file}:{line}: "


def _painted(text: str, color: str, colors: bool) -> str:
    return f"\033[{color}m{text}\033[0m" if colors and text else text


def _details(report: Report) -> Iterator[str]:
    if report.accepted:
        yield "Accepted by the design:"
        for each in report.accepted:
            yield f"    {each.rule.code} {each.place.text}: {each.happens}"
            yield f"        because {each.accepted}"
        yield ""
    if report.known:
        yield "In the baseline:"
        yield from (f"    {each.rule.code} {each.place.text}: {each.happens}" for each in report.known)
        yield ""
    if report.silences:
        yield "Rules that couldn't judge everything, and what they need:"
        for rule, word, places in report.silent_rules():
            yield f"    {rule.code} {rule.name} needs {word}"
            yield f"        at {', '.join(places)}"
        yield ""


def _summary(report: Report, verbose: bool) -> Iterator[str]:
    counts = report.counts()
    beside = [f"{len(report.accepted)} accepted by the design"] if report.accepted else []
    beside += [f"{len(report.known)} in the baseline"] if report.known else []
    yield f"{report.design}: {numbers(counts)}" + (f" ({', '.join(beside)})." if beside else ".")
    if report.gone:
        are = "findings of the baseline are" if len(report.gone) > 1 else "finding of the baseline is"
        yield f"{len(report.gone)} {are} fixed. Write it again with --write-baseline."
    silent = len({each.rule.code for each in report.silences})
    if silent and not verbose:
        rules = "rules" if silent > 1 else "rule"
        yield f"{silent} {rules} couldn't judge everything: --verbose says what the design would have to say."
    if report.findings:
        yield f"To read about a rule: keyplan review --explain {report.findings[0].rule.code}"
