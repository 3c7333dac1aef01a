"""`Rule`: what a review looks for, with the page that explains it; and what a rule's check yields."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from keyplan.review.places import Place
from keyplan.review.reviewed import Reviewed, TargetName

Severity: TypeAlias = Literal["error", "warning", "info"]
Group: TypeAlias = Literal["rejected", "wrong", "hot", "operations", "portability"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""From the worst to the mildest."""
GROUPS: dict[Group, str] = {
    "rejected": "Rejected: what DynamoDB or the data layer refuses",
    "wrong": "Wrong: what gives wrong answers, or loses data",
    "hot": "Hot and expensive: what runs into limits or costs more than it has to",
    "operations": "Operations: what hurts when the tables are run",
    "portability": "Portability and upkeep: what other engines do differently, and what is left unfinished",
}


@dataclass(frozen=True)
class Violation:
    """What a rule's check found at one place."""

    place: Place
    happens: str
    """What is there, and what will happen. Without a full stop."""
    remedy: str
    """What to do, as a sentence."""
    change: str = ""
    """The changed lines of the design, if they are known."""
    severity: Severity | None = None
    """How bad it is, if it differs from the rule's."""


@dataclass(frozen=True)
class Unjudged:
    """A place that a rule can't judge, because the design doesn't say a word that the rule needs."""

    place: Place
    word: str
    """The word, as it would be written: `expected=expect(items=...)`."""


Check: TypeAlias = Callable[[Reviewed], Iterator[Violation | Unjudged]]


@dataclass(frozen=True)
class Rule:
    """What a review looks for.

    `code` is never used again for something else. `name` says the same in words; for what is refused when a design is
    imported, it is the code of the `DesignError`.
    """

    code: str
    name: str
    group: Group
    severity: Severity
    title: str
    explanation: str
    """What it is about, why it matters, and what to do, in Markdown."""
    check: Check | None = None
    """The check. None: the rule is checked when the design is imported, or by the review itself."""
    needs: tuple[str, ...] = ()
    """Words of the design, or options of the review, without which it can't judge, as they are written."""
    whole: bool = False
    """Whether it judges by what a design doesn't have, so that it needs all of it."""
    targets: tuple[TargetName, ...] = ()
    """The targets that it is about. None: all."""

    @property
    def is_imported(self) -> bool:
        """Whether it is checked when the design is imported."""
        return self.code < "KP2"

    @property
    def page(self) -> str:
        """The rule's page, in Markdown."""
        facts = f"`{self.code}` · `{self.name}` · {self.severity} · {GROUPS[self.group].partition(':')[0].lower()}"
        when = "\n\nIt is checked when the design is imported." if self.is_imported else ""
        needs = f"\n\nWithout {_listed(self.needs)}, it doesn't judge." if self.needs else ""
        there = (
            f"\n\nIt is about {' and '.join(f'`--target {each}`' for each in self.targets)}." if self.targets else ""
        )
        return f"# {self.title}\n\n{facts}\n\n{self.explanation}{when}{needs}{there}\n"


def _listed(words: tuple[str, ...]) -> str:
    return " and ".join(f"`{word}`" for word in words)


def rule(
    code: str,
    name: str,
    *,
    group: Group,
    severity: Severity,
    title: str,
    needs: tuple[str, ...] = (),
    whole: bool = False,
    targets: tuple[TargetName, ...] = (),
) -> Callable[[Check], Rule]:
    """Make a rule of a check. Its docstring is the explanation on the rule's page, in Markdown.

    A rule that judges by what isn't there, such as an index that no pattern reads, is declared with `whole=True`: it
    isn't run on a design with errors, of which parts were left out. One that is about some targets only names them.
    """

    def declare(check: Check) -> Rule:
        explanation = inspect.cleandoc(check.__doc__ or "")
        return Rule(code, name, group, severity, title, explanation, check, needs, whole, targets)

    return declare


def refused(code: str, name: str, title: str, explanation: str) -> Rule:
    """A rule that is checked when a design is imported: the code of its `DesignError` is `name`."""
    return Rule(code, name, "rejected", "error", title, explanation)
