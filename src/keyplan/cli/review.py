"""`keyplan review`: what a design gets wrong, before it is launched."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keyplan.cli.opening import declared_design, fail

if TYPE_CHECKING:
    from keyplan.design import Design
    from keyplan.review import Report, Rule

Form = Literal["text", "json", "sarif", "markdown"]
Target = Literal["aws", "extenddb", "alternator", "embedded"]
FailOn = Literal["error", "warning", "info"]


def review(
    design: Annotated[
        str | None,
        typer.Argument(
            help="Name of a system, or module:NAME of a design or a system. The module is imported, which runs it.",
            metavar="DESIGN",
            show_default=False,
        ),
    ] = None,
    target: Annotated[Target, typer.Option("--target", help="Which DynamoDB the design will run on.")] = "aws",
    traffic: Annotated[
        Path | None,
        typer.Option("--traffic", help="Traffic file: how often patterns and writes happen.", metavar="FILE"),
    ] = None,
    tests: Annotated[
        Path | None,
        typer.Option(
            "--tests",
            help="Record of the patterns that tests ran, written by pytest --keyplan-patterns FILE.",
            metavar="FILE",
        ),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="Format of the report.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: short for --format json.")] = False,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="Exit with 1 if there is a finding of this severity or worse.")
    ] = "error",
    baseline: Annotated[
        Path | None, typer.Option("--baseline", help="File with known findings, which don't count.", metavar="FILE")
    ] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option("--write-baseline", help="Write all findings into a file for --baseline.", metavar="FILE"),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose", "-v", help="Also show findings that are accepted or known, and what rules need to know."
        ),
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option("--explain", help="Explain the rule with this code or name, and exit.", metavar="RULE"),
    ] = None,
) -> None:
    """Review a design: what DynamoDB rejects, and what answers wrongly, runs hot, costs too much or is hard to run.

    This imports DESIGN, which runs its module. A design with errors that can't be imported is reviewed as well. Exits
    with 1 if there is a finding as severe as --fail-on, and with 2 if the design can't be loaded at all.
    """
    if explain is not None:
        typer.echo(_explained(_rule(explain), "json" if as_json else form), nl=False)
        return
    if design is None:
        raise typer.BadParameter("Name a design: a system, or module:NAME.")

    from keyplan.review import baseline_text

    report, failure = _reported(design, target, traffic, tests)
    report = replace(report, folder=_repository() if form == "sarif" else Path.cwd())
    if write_baseline is not None:
        _write(write_baseline, baseline_text(report.findings))
        typer.echo(f"Wrote {write_baseline}: {len(report.findings)} findings.")
        raise typer.Exit(failure or 0)
    if baseline is not None:
        report = _without_known(report, baseline)
    sys.stdout.write(_text(report, "json" if as_json else form, verbose))
    if failure is not None:
        raise typer.Exit(failure)
    if _is_bad(report, fail_on):
        raise typer.Exit(1)


def _explained(rule: Rule, form: str) -> str:
    if form != "json":
        return rule.page
    names = ("code", "name", "group", "severity", "title", "page")
    return json.dumps({name: getattr(rule, name) for name in names}, indent=2, ensure_ascii=False) + "\n"


def _rule(code_or_name: str) -> Rule:
    from difflib import get_close_matches

    from keyplan.review import all_rules, find_rule

    found = find_rule(code_or_name)
    if found is None:
        names = [name for rule in all_rules() for name in (rule.code, rule.name)]
        meant = get_close_matches(code_or_name.lower(), names, 3)
        hint = f"Did you mean {' or '.join(meant)}?" if meant else "Name its code, such as KP301, or its name."
        fail(f"No rule {code_or_name}. {hint}")
    return found


def _reported(name: str, target: Target, traffic: Path | None, tests: Path | None) -> tuple[Report, int | None]:
    """The report on a design, and the exit code if it could be loaded in part only."""
    from importlib.metadata import version

    from keyplan.review import Report, Reviewed, errors_recorded, review, review_of_errors

    design: type[Design] | None = None
    failure: int | None = None
    with errors_recorded() as errors:
        try:
            design = declared_design(name)
        except typer.Exit as error:
            failure = error.exit_code
    if design is None:
        if failure is not None and not errors:
            raise typer.Exit(failure)
        result = review_of_errors(errors)
    else:
        rates = None if traffic is None else _rates(traffic, design)
        result = review(Reviewed(design, target, rates, _tested(tests, design), errors))
    findings, accepted, silences = result.findings, result.accepted, result.silences
    return Report(name, findings, accepted, silences=silences, target=target, version=version("keyplan")), failure


def _rates(file: Path, design: type[Design]) -> Mapping[str, float]:
    """How often patterns and writes happen per second, at the busiest hour."""
    from keyplan.capacity.traffic import TrafficError, read_traffic

    try:
        traffic = read_traffic(file, design)
    except TrafficError as error:
        fail(str(error))
    except OSError as error:
        fail(f"Can't read {file}: {error.strerror or error}")
    rates = {name: each.rate for name, each in traffic.patterns.items()}
    rates |= {f"{entity}.{kind}": each.rate for (entity, kind), each in traffic.writes.items()}
    return {name: traffic.per_second(rate) * traffic.peak for name, rate in rates.items()}


def _tested(file: Path | None, design: type[Design]) -> frozenset[str] | None:
    from keyplan.review import InvalidRecord, patterns_tested

    try:
        return None if file is None else patterns_tested(file, design)
    except InvalidRecord as error:
        fail(f"Can't use {file}: {error}")
    except OSError as error:
        fail(f"Can't read {file}: {error.strerror or error}")


def _without_known(report: Report, file: Path) -> Report:
    from keyplan.review import InvalidBaseline, compared, read_baseline

    try:
        result = compared(report.findings, read_baseline(file))
    except InvalidBaseline as error:
        fail(f"Can't use {file}: {error}")
    except OSError as error:
        fail(f"Can't read {file}: {error.strerror or error}")
    return replace(report, findings=result.new, known=result.known, gone=result.gone)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        fail(f"Can't write {file}: {error.strerror or error}")


def _text(report: Report, form: Form, verbose: bool) -> str:
    from keyplan.review import json_report, markdown_report, sarif_report, text_report

    if form == "text":
        colors = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        return text_report(report, colors=colors, verbose=verbose)
    return {"json": json_report, "sarif": sarif_report, "markdown": markdown_report}[form](report)


def _repository() -> Path:
    """The folder of the repository that the current folder is in; otherwise the current folder."""
    here = Path.cwd()
    return next((each for each in (here, *here.parents) if (each / ".git").exists()), here)


def _is_bad(report: Report, fail_on: FailOn) -> bool:
    from keyplan.review import SEVERITIES

    return any(SEVERITIES.index(each.severity) <= SEVERITIES.index(fail_on) for each in report.findings)
