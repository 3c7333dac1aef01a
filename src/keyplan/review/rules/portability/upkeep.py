"""What is unfinished in a design, or doesn't help those who come after."""

from collections.abc import Iterator
from typing import Any

from keyplan.design import Entity, Lookup, Pattern
from keyplan.design.entities.effects import Copies
from keyplan.design.operations.operation_entities import entities_read
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Unjudged, Violation, rule

_TESTS = "--tests FILE"


@rule(
    "KP610",
    "untested-pattern",
    group="portability",
    severity="warning",
    title="An access pattern without a test",
    needs=(_TESTS,),
)
def untested_pattern(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """No test ran the pattern. That its key can answer it is checked at import; that it answers what its wording says,
    in the right order and without items too many, only a test can show.

    `pytest --keyplan-patterns FILE` writes which patterns tests ran, and `--tests FILE` reads that. With the fixture
    `dynamodb`, a test needs neither network nor Docker.

    Write a test that creates a few items, runs the pattern and compares the answer. Remove a pattern that nobody uses.
    """
    if reviewed.tested is None:
        yield Unjudged(reviewed.at_design(), _TESTS)
        return
    for pattern in reviewed.patterns:
        if pattern.name not in reviewed.tested:
            yield Violation(
                reviewed.at_pattern(pattern), "no test ran it", "Write a test that runs it and compares the answer."
            )


@rule(
    "KP611",
    "entity-without-pattern",
    group="portability",
    severity="info",
    title="An entity that no access pattern reads",
    whole=True,
)
def entity_without_pattern(reviewed: Reviewed) -> Iterator[Violation]:
    """The design stores the entity's items, and no access pattern reads them, not even as the children of another one
    or through a mirror. Either a pattern is missing from the design, or the items are of no use.

    Programs can read items by their keys without a pattern. But then documents, permissions, costs and this review
    don't know about it.

    Declare the pattern that reads them. If they are read by another program, or only counted, accept the finding."""
    read = {entity for pattern in reviewed.patterns for entity in entities_read(pattern.symbolic)}
    read |= {copy for pattern in reviewed.patterns for copy in _mirrors(pattern)}
    read |= {spec.entity for spec in reviewed.specs for parent in spec.parents if parent.on_delete == "cascade"}
    for spec in reviewed.specs:
        if spec.entity not in read:
            yield Violation(
                reviewed.at(spec),
                f"no access pattern reads a {spec.noun}",
                "Declare the pattern that does, or remove the entity.",
            )


def _mirrors(pattern: Pattern[..., Any]) -> Iterator[type[Entity]]:
    """The mirrors through which a pattern looks up items."""
    op = pattern.symbolic
    if isinstance(op, Lookup) and isinstance(op.way, Copies):
        yield from op.way.derived.entities


@rule(
    "KP612",
    "departure-without-reason",
    group="portability",
    severity="warning",
    title="A departure without a reason",
)
def departure_without_reason(reviewed: Reviewed) -> Iterator[Violation]:
    """The design says that it departs from its document, and not from what, what it does instead, or why. Whoever reads
    it can't tell a decision from a mistake, and will undo the one or keep the other.

    A departure has three texts: what the document says, what the design does, and the reason.

    Write all three: `departure("GSI1 lists posts", "GSI4 lists them", "GSI1 would have drafts, too")`."""
    for number, each in enumerate(reviewed.design.departures, start=1):
        missing = [name for name in ("document", "here", "because") if not str(getattr(each, name)).strip()]
        if missing:
            yield Violation(
                reviewed.at_design("departures"),
                f"number {number} doesn't say {' and '.join(missing)}",
                "Say what the document says, what the design does, and why.",
            )


@rule(
    "KP613",
    "same-wording",
    group="portability",
    severity="warning",
    title="Two access patterns with the same wording",
)
def same_wording(reviewed: Reviewed) -> Iterator[Violation]:
    """Two patterns have the same wording, so documents, the console and this review show two that can't be told apart.
    One of them was probably copied, and its wording wasn't changed.

    The wording is what a pattern answers, in the words of whoever asks. It says what differs: by whom, in which order,
    whether with drafts.

    Say in both what they answer. If they do answer the same, remove one."""
    seen: dict[str, str] = {}
    for pattern in reviewed.patterns:
        words = " ".join(pattern.wording.lower().split())
        other = seen.setdefault(words, pattern.name)
        if other != pattern.name:
            yield Violation(
                reviewed.at_pattern(pattern),
                f"it has the same wording as {other}: {' '.join(pattern.wording.split())}",
                "Say in both what they answer.",
            )


@rule(
    "KP614",
    "no-purpose",
    group="portability",
    severity="info",
    title="A design that doesn't say what it is for",
)
def no_purpose(reviewed: Reviewed) -> Iterator[Violation]:
    """The class of the design has no docstring. Its documents begin with that text: what the tables are for, who uses
    them, and what is left out on purpose.

    Whoever changes a key in two years decides by it whether a pattern is still needed.

    Write one or two sentences, such as "Orders and stock of the web shop; invoices are in another system".
    """
    if not reviewed.design.purpose:
        yield Violation(
            reviewed.at_design(),
            "its class has no docstring, with which its documents would begin",
            "Write what it is for in one or two sentences.",
        )
