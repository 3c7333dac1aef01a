"""`review`: run all rules on a design, and set aside what the design accepts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from keyplan.design import Accepted, DesignError
from keyplan.review.declaring import findings_of_errors
from keyplan.review.findings import Finding, Silence
from keyplan.review.places import Place
from keyplan.review.registry import all_rules, find_rule
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import SEVERITIES, Problem, Rule, Severity
from keyplan.review.rules.portability.acceptances import UNKNOWN_RULE, UNUSED_ACCEPTANCE


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
        """The findings that are at least as bad."""
        bad = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return [finding for finding in self.findings if finding.severity in bad]


def review(reviewed: Reviewed, rules: Iterable[Rule] | None = None) -> Review:
    """The findings of all rules, or of these, on a design.

    If it has errors, of which parts were left out, rules that need the whole design aren't run.
    """
    found: list[Finding] = []
    silences: list[Silence] = []
    for rule in all_rules() if rules is None else rules:
        if rule.check is None or (rule.whole and reviewed.errors):
            continue
        for each in rule.check(reviewed):
            if isinstance(each, Problem):
                found.append(_finding(rule, each))
            else:
                silences.append(Silence(rule, each.place, each.word))
    accepted, left = _sorted_out(reviewed, found)
    left += findings_of_errors(reviewed.errors, reviewed.design)
    return Review(in_order(left), in_order(accepted), silences)


def review_of_errors(errors: Iterable[DesignError]) -> Review:
    """The errors of a declaration of which nothing is left."""
    return Review(in_order(findings_of_errors(errors)))


def _finding(rule: Rule, problem: Problem) -> Finding:
    severity = problem.severity or rule.severity
    return Finding(rule, severity, problem.place, problem.happens, problem.remedy, problem.change)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings, the worst first, then by rule and place."""
    return sorted(
        findings,
        key=lambda each: (SEVERITIES.index(each.severity), each.rule.code, each.place.line or 0, each.place.text),
    )


def _sorted_out(reviewed: Reviewed, found: Iterable[Finding]) -> tuple[list[Finding], list[Finding]]:
    """What the design accepts, and what is left, with the acceptances that accept nothing."""
    accepted: list[Finding] = []
    left: list[Finding] = []
    used: set[int] = set()
    for finding in found:
        matching = [number for number, each in enumerate(reviewed.design.accepted) if _accepts(reviewed, each, finding)]
        used.update(matching)
        if matching:
            accepted.append(replace(finding, accepted=reviewed.design.accepted[matching[0]].because))
        else:
            left.append(finding)
    judged = () if reviewed.errors else reviewed.design.accepted
    unused = [each for number, each in enumerate(judged) if number not in used]
    return accepted, [*left, *_unused(reviewed, unused)]


def _accepts(reviewed: Reviewed, acceptance: Accepted, finding: Finding) -> bool:
    """Whether an acceptance is for a finding: by its rule, and by its place or what that is in."""
    place = finding.place
    names = (place.text, place.entity, place.table, reviewed.name)
    return acceptance.rule in (finding.rule.code, finding.rule.name) and acceptance.place in names


def _unused(reviewed: Reviewed, unused: Iterable[Accepted]) -> Iterator[Finding]:
    place: Place = reviewed.at_design("accepted")
    for each in unused:
        written = f'accept("{each.rule}", "{each.place}")'
        if find_rule(each.rule) is None:
            happens, remedy = f"{written} names a rule that doesn't exist", "Name a rule by its code or its name."
            yield Finding(UNKNOWN_RULE, UNKNOWN_RULE.severity, place, happens, remedy)
        else:
            happens = f"{written} accepts nothing: the rule finds nothing there any more"
            yield Finding(UNUSED_ACCEPTANCE, UNUSED_ACCEPTANCE.severity, place, happens, "Remove it.")
