"""Baselines: files with findings that are known, so that only new ones count.

A baseline has the rule and the place of each finding, and neither lines nor wording, so that it stays valid when code
moves and when Keyplan words things in another way. If a rule finds more at a place than the baseline has, the rest is
new.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from keyplan.review.findings import Finding

_VERSION = 1


class InvalidBaseline(Exception):
    """A file that isn't a baseline."""


@dataclass(frozen=True)
class Compared:
    """Findings, compared with a baseline."""

    new: Sequence[Finding]
    known: Sequence[Finding]
    gone: Sequence[tuple[str, str]]
    """The rule and place of what is in the baseline and isn't found any more."""


def baseline_text(findings: Iterable[Finding]) -> str:
    """The baseline with these findings, as the text of a file."""
    entries = sorted(finding.identity for finding in findings)
    lines = [json.dumps({"rule": rule, "place": place}, ensure_ascii=False) for rule, place in entries]
    listed = ",".join(f"\n    {line}" for line in lines) + ("\n  " if lines else "")
    return f'{{\n  "version": {_VERSION},\n  "findings": [{listed}]\n}}\n'


def read_baseline(file: Path) -> Counter[tuple[str, str]]:
    """The findings in a baseline. Raises `InvalidBaseline`, or `OSError` if it can't be read."""
    try:
        content = json.loads(file.read_text("utf-8"))
        if content["version"] != _VERSION:
            raise InvalidBaseline(f"it has version {content['version']}, and this Keyplan reads version {_VERSION}")
        return Counter((str(each["rule"]), str(each["place"])) for each in content["findings"])
    except (ValueError, LookupError, TypeError) as error:
        raise InvalidBaseline("it isn't a baseline: write one with --write-baseline") from error


def compared(findings: Iterable[Finding], baseline: Counter[tuple[str, str]]) -> Compared:
    """Findings, compared with a baseline."""
    left = Counter(baseline)
    new: list[Finding] = []
    known: list[Finding] = []
    for finding in findings:
        if left[finding.identity] > 0:
            left[finding.identity] -= 1
            known.append(finding)
        else:
            new.append(finding)
    return Compared(new, known, sorted(left.elements()))
