"""`Report`: what all forms of a report show."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from keyplan.review.findings import Finding, Silence
from keyplan.review.reviewed import TargetName
from keyplan.review.rule import SEVERITIES, Rule, Severity


@dataclass(frozen=True)
class Report:
    """What all forms of a report show."""

    design: str
    """The design, as it was asked for: `blog:Blog`."""
    findings: Sequence[Finding]
    """What counts: neither accepted by the design nor in the baseline."""
    accepted: Sequence[Finding] = ()
    known: Sequence[Finding] = ()
    """What is in the baseline."""
    gone: Sequence[tuple[str, str]] = ()
    """The rule and place of what is in the baseline and isn't found any more."""
    silences: Sequence[Silence] = ()
    target: TargetName = "aws"
    version: str = ""
    """The version of Keyplan."""
    folder: Path = Path()
    """The folder in which people look for files."""

    def counts(self) -> dict[Severity, int]:
        """How many findings there are of each severity."""
        return {severity: sum(each.severity == severity for each in self.findings) for severity in SEVERITIES}

    def file_of(self, finding: Finding) -> str | None:
        """The file of a finding: relative to the folder if it is in there."""
        file = finding.place.file
        return None if file is None else relative(file, self.folder)

    def silent_rules(self) -> Iterator[tuple[Rule, str, Sequence[str]]]:
        """The rules that couldn't judge, with the word that each needs, and the places where it is missing."""
        places: dict[tuple[Rule, str], list[str]] = {}
        for each in self.silences:
            places.setdefault((each.rule, each.word), []).append(each.place.text)
        for (rule, word), missing in sorted(places.items(), key=lambda found: found[0][0].code):
            yield rule, word, tuple(dict.fromkeys(missing))


def relative(file: str, folder: Path) -> str:
    """A file as it is named in a folder: relative if it is in there, and with slashes on all systems."""
    inside = os.path.relpath(file, folder) if Path(file).is_relative_to(folder.absolute()) else file
    return Path(inside).as_posix()


def numbers(counts: dict[Severity, int]) -> str:
    """`1 error, 2 warnings`."""
    several = {"error": "errors", "warning": "warnings", "info": "info"}
    parts = [f"{count} {severity if count == 1 else several[severity]}" for severity, count in counts.items() if count]
    return ", ".join(parts) or "no findings"
