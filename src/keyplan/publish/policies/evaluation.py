"""Whether policies allow a request, by AWS's rules.

- AWS: "Policy evaluation logic": nothing is allowed unless a statement allows it, and a statement that denies it wins.
- AWS: "IAM JSON policy elements: Condition operators": a condition on a key that the request doesn't have is false,
  except with `IfExists` and `Null`, and for operators that negate.
- AWS: "Set operators for multivalued context keys": `ForAllValues` is true if each value of the request matches one
  of the policy, also if there are none; `ForAnyValue` if at least one does.
- AWS: "IAM policy elements: Variables and tags": `${*}`, `${?}` and `${$}` are the characters themselves.

An operator that isn't known here is an error: nothing is allowed by mistake.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

Document = Mapping[str, Any]
"""A policy as JSON."""

_TOKEN = re.compile(r"\$\{([*?$])\}|([*?])|(.)", re.DOTALL)


@dataclass(frozen=True)
class AccessRequest:
    """What somebody wants to do: an action on a resource, with the values of condition keys."""

    action: str
    resource: str
    context: Mapping[str, Sequence[str]] = field(default_factory=dict)


def is_allowed(request: AccessRequest, documents: Iterable[Document]) -> bool:
    """Whether these policies together allow a request."""
    matching = [each["Effect"] for document in documents for each in _statements(document) if _applies(each, request)]
    return "Allow" in matching and "Deny" not in matching


def _statements(document: Document) -> Sequence[Document]:
    given = document["Statement"]
    return [given] if isinstance(given, Mapping) else given


def _applies(statement: Document, request: AccessRequest) -> bool:
    unknown = statement.keys() - {"Sid", "Effect", "Action", "Resource", "Condition"}
    if unknown:
        raise ValueError(f"it isn't known what {', '.join(sorted(unknown))} means in a statement")
    return (
        any(_like(each.lower(), request.action.lower()) for each in _texts(statement["Action"]))
        and any(_like(each, request.resource) for each in _texts(statement["Resource"]))
        and all(
            _holds(operator, _texts(wanted), request.context.get(key))
            for operator, keys in statement.get("Condition", {}).items()
            for key, wanted in keys.items()
        )
    )


def _texts(given: str | Sequence[str]) -> Sequence[str]:
    return [given] if isinstance(given, str) else given


# Conditions


def _holds(operator: str, wanted: Sequence[str], found: Sequence[str] | None) -> bool:
    quantifier, _, name = operator.rpartition(":")
    name, if_exists = name.removesuffix("IfExists"), name.endswith("IfExists")
    if name == "Null":
        return (found is None or not found) == (wanted[0] == "true")
    if name not in _COMPARISONS or quantifier not in ("", "ForAllValues", "ForAnyValue"):
        raise ValueError(f"it isn't known what the condition operator {operator} means")
    compare, negated = _COMPARISONS[name]

    def matches(value: str) -> bool:
        return any(compare(each, value) for each in wanted) != negated

    if not found:
        return if_exists or quantifier == "ForAllValues" or (negated and not quantifier)
    return any(map(matches, found)) if quantifier == "ForAnyValue" else all(map(matches, found))


def _equal(wanted: str, found: str) -> bool:
    return re.sub(r"\$\{([*?$])\}", r"\1", wanted) == found


def _like(pattern: str, text: str) -> bool:
    return _pattern(pattern).fullmatch(text) is not None


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    parts = []
    for own, wildcard, other in _TOKEN.findall(pattern):
        parts.append({"*": ".*", "?": "."}[wildcard] if wildcard else re.escape(own or other))
    return re.compile("".join(parts), re.DOTALL)


_COMPARISONS: Mapping[str, tuple[Callable[[str, str], bool], bool]] = {
    "StringEquals": (_equal, False),
    "StringNotEquals": (_equal, True),
    "StringLike": (_like, False),
    "StringNotLike": (_like, True),
}
