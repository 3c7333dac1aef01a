"""What a design accepts, and acceptances that accept nothing."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from keyplan.design import Accepted
from keyplan.review.findings import Finding, Silence
from keyplan.review.registry import find_rule
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Rule
from keyplan.review.rules.portability.acceptances import UNKNOWN_RULE, UNUSED_ACCEPTANCE


def sorted_out(
    reviewed: Reviewed, found: Iterable[Finding], judging: Collection[Rule], silences: Collection[Silence]
) -> tuple[list[Finding], list[Finding]]:
    """What the design accepts, and what is left, with the acceptances that accept nothing.

    `judging` are the rules that were run. An acceptance of a rule that wasn't, or that couldn't judge its place, may
    accept something another time.
    """
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
    unused = [each for number, each in enumerate(reviewed.design.accepted) if number not in used]
    for each in () if reviewed.errors else unused:
        left += _without_use(reviewed, each, judging, silences)
    return accepted, left


def _accepts(reviewed: Reviewed, acceptance: Accepted, finding: Finding) -> bool:
    """Whether an acceptance is for a finding: by its rule, and by its place or what that is in."""
    place = finding.place
    names = (place.text, place.entity, place.table, reviewed.name)
    return acceptance.rule in (finding.rule.code, finding.rule.name) and acceptance.place in names


def _without_use(
    reviewed: Reviewed, acceptance: Accepted, judging: Collection[Rule], silences: Collection[Silence]
) -> Iterator[Finding]:
    written = f'accept("{acceptance.rule}", "{acceptance.place}")'
    place, rule = reviewed.at_design("accepted"), find_rule(acceptance.rule)
    if rule is None:
        happens, remedy = f"{written} names a rule that doesn't exist", "Name a rule by its code or its name."
        yield Finding(UNKNOWN_RULE, UNKNOWN_RULE.severity, place, happens, remedy)
    elif rule.is_imported:
        happens = f"{written} accepts what is refused when the design is imported, which can't be accepted"
        yield Finding(UNUSED_ACCEPTANCE, UNUSED_ACCEPTANCE.severity, place, happens, "Remove it.")
    elif rule in judging and not any(each.rule is rule and _is_about(reviewed, each, acceptance) for each in silences):
        happens = f"{written} accepts nothing: the rule finds nothing there any more"
        yield Finding(UNUSED_ACCEPTANCE, UNUSED_ACCEPTANCE.severity, place, happens, "Remove it.")


def _is_about(reviewed: Reviewed, silence: Silence, acceptance: Accepted) -> bool:
    """Whether a rule was silent at the place of an acceptance, or about the whole design or a table."""
    wide = (reviewed.name, *(table.name for table in reviewed.tables))
    first = silence.place.text.partition(".")[0]
    return silence.place.text in wide or acceptance.place in wide or acceptance.place.partition(".")[0] == first
