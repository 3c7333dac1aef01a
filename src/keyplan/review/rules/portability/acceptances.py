"""Acceptances that accept nothing. The review itself finds them, when all rules have been run."""

from keyplan.review.rule import Rule

UNUSED_ACCEPTANCE = Rule(
    "KP901",
    "unused-acceptance",
    "portability",
    "warning",
    "An acceptance that accepts nothing",
    "`accepted` of the design has an `accept(...)` for a rule that finds nothing at that place any more. Left there, "
    "it would silently accept the next finding of the rule, for a reason that no longer holds. Remove it.",
)
UNKNOWN_RULE = Rule(
    "KP902",
    "unknown-rule",
    "portability",
    "warning",
    "An acceptance of a rule that doesn't exist",
    "`accepted` of the design has an `accept(...)` whose rule has no such code or name, so it accepts nothing. Look "
    "for the right one in the list of rules; codes are never used again for another rule.",
)
