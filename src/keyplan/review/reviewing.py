"""`review`: run all rules on a design, and set aside what the design accepts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from keyplan.design import DesignError
from keyplan.review.accepting import sorted_out
from keyplan.review.declaring import findings_of_errors
from keyplan.review.findings import Finding, Silence
from keyplan.review.registry import all_rules
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import SEVERITIES, Rule, Severity, Violation


@dataclass(frozen=True)
class Review:
    """The result of a review."""

    findings: Sequence[Finding]
    """What is wrong, the worst first. What the design accepts isn't among it."""
    accepted: Sequence[Finding] = ()
    """What the design accepts, each with the reason."""
    silences: Sequence[Silence] = ()
    """The rules that couldn't judge, and which word of the design they need."""

    def at_or_above(self, severity: Severity) -> Sequence[Finding]:
        """The findings of this severity or worse."""
        bad = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return [finding for finding in self.findings if finding.severity in bad]


def review(reviewed: Reviewed, rules: Iterable[Rule] | None = None) -> Review:
    """The findings of all rules, or of these, on a design.

    If it has errors, of which parts were left out, rules that need the whole design aren't run.
    """
    found: list[Finding] = []
    silences: list[Silence] = []
    judging = [rule for rule in (all_rules() if rules is None else rules) if _judges(rule, reviewed)]
    for rule in judging:
        for each in rule.check(reviewed) if rule.check is not None else ():
            if isinstance(each, Violation):
                found.append(_finding(rule, each))
            else:
                silences.append(Silence(rule, each.place, each.word))
    accepted, left = sorted_out(reviewed, found, judging, silences)
    left += findings_of_errors(reviewed.errors, reviewed.design)
    return Review(in_order(left), in_order(accepted), silences)


def _judges(rule: Rule, reviewed: Reviewed) -> bool:
    """Whether a rule is about such a design: one for its target, and all of it if it has to be."""
    is_for_target = not rule.targets or reviewed.target in rule.targets
    return rule.check is not None and is_for_target and not (rule.whole and reviewed.errors)


def review_of_errors(errors: Iterable[DesignError]) -> Review:
    """The errors of a declaration of which nothing is left."""
    return Review(in_order(findings_of_errors(errors)))


def _finding(rule: Rule, problem: Violation) -> Finding:
    severity = problem.severity or rule.severity
    return Finding(rule, severity, problem.place, problem.happens, problem.remedy, problem.change)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings, the worst first, then by rule and place."""
    return sorted(
        findings,
        key=lambda each: (SEVERITIES.index(each.severity), each.rule.code, each.place.line or 0, each.place.text),
    )
