"""Findings: what a review reports."""

from dataclasses import dataclass

from keyplan.review.places import Place
from keyplan.review.rule import Rule, Severity


@dataclass(frozen=True)
class Finding:
    """What a rule found at one place: what will happen, and what to do."""

    rule: Rule
    severity: Severity
    place: Place
    happens: str
    remedy: str
    change: str = ""
    """The changed lines of the design, if they are known."""
    accepted: str | None = None
    """Why the design accepts it, if it does."""

    @property
    def identity(self) -> tuple[str, str]:
        """What stays the same when lines move and Keyplan words things in another way: it tells known findings from new
        ones. A rule can find several things at one place, which have the same identity."""
        return self.rule.code, self.place.text


@dataclass(frozen=True)
class Silence:
    """A rule that couldn't judge a place, for want of a word in the design."""

    rule: Rule
    place: Place
    word: str
