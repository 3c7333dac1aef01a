"""Policies as values, and as JSON for IAM."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from keyplan.design import Design

LONGEST_POLICY = 6144
"""The most characters of a managed policy, without whitespace. AWS: "IAM and AWS STS quotas"."""

Kind = Literal["table", "index", "stream", "queue", "all"]


@dataclass(frozen=True, order=True)
class PolicyTarget:
    """What a statement is about: a table by its declared name, one of its indexes, its stream, or a queue."""

    kind: Kind
    name: str = ""
    index: str = ""


EVERYTHING = PolicyTarget("all")
"""For actions that can't be limited to a resource."""


@dataclass(frozen=True)
class Statement:
    """Actions that are allowed on targets, and the partition keys that they are limited to, if they are."""

    actions: tuple[str, ...]
    targets: tuple[PolicyTarget, ...]
    leading_keys: tuple[str, ...] = ()
    """Patterns with the wildcards `*` and `?`."""


@dataclass(frozen=True)
class Policy:
    """What somebody may do. What no statement allows is denied."""

    name: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, order=True)
class Need:
    """One action that something needs, with the partition keys that it is about; None if they can be any."""

    action: str
    target: PolicyTarget
    leading_key: str | None = None


def statements_for(needs: Iterable[Need]) -> tuple[Statement, ...]:
    """The fewest statements that allow exactly these needs, in an order that depends on nothing else."""
    keys: dict[tuple[PolicyTarget, str], set[str] | None] = {}
    for need in needs:
        known = keys.setdefault((need.target, need.action), set())
        if need.leading_key is None or known is None:
            keys[need.target, need.action] = None
        else:
            known.add(need.leading_key)
    by_limits: dict[tuple[PolicyTarget, tuple[str, ...]], set[str]] = {}
    for (target, action), limits in keys.items():
        by_limits.setdefault((target, _without_covered(limits or ())), set()).add(action)
    by_actions: dict[tuple[tuple[str, ...], tuple[str, ...]], set[PolicyTarget]] = {}
    for (target, limit), actions in by_limits.items():
        by_actions.setdefault((tuple(sorted(actions)), limit), set()).add(target)
    made = [Statement(actions, tuple(sorted(targets)), limit) for (actions, limit), targets in by_actions.items()]
    return tuple(sorted(made, key=lambda each: (each.targets, each.actions, each.leading_keys)))


def _without_covered(limits: Iterable[str]) -> tuple[str, ...]:
    """The patterns without those that another one includes: `POST#*` includes `POST#a*`."""
    every = set(limits)
    starts = {each[:-1] for each in every if each.endswith("*") and "*" not in each[:-1] and "?" not in each}
    return tuple(
        sorted(each for each in every if not any(each.startswith(start) and each != f"{start}*" for start in starts))
    )


# JSON

Arn = Callable[[PolicyTarget], object]
"""The ARN of a target: text, or what stands for it in a template."""


def as_document(policy: Policy, arn: Arn) -> dict[str, Any]:
    """A policy as IAM takes it."""
    return {"Version": "2012-10-17", "Statement": [_statement(each, arn) for each in policy.statements]}


def _statement(statement: Statement, arn: Arn) -> dict[str, Any]:
    described: dict[str, Any] = {
        "Effect": "Allow",
        "Action": list(statement.actions),
        "Resource": [arn(each) for each in statement.targets],
    }
    if statement.leading_keys:
        # AWS: "Using IAM policy conditions for fine-grained access control" requires ForAllValues with this key.
        described["Condition"] = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(statement.leading_keys)}}
    return described


def anywhere(
    design: Design, *, partition: str = "aws", region: str = "*", account: str = "*"
) -> Callable[[PolicyTarget], str]:
    """The ARNs of the targets of a design, in a region and an account; `*` for any."""
    names: Mapping[str, str] = design.table_names

    def arn(target: PolicyTarget) -> str:
        if target.kind == "all":
            return "*"
        if target.kind == "queue":
            return (
                target.name
                if target.name.startswith("arn:")
                else f"arn:{partition}:sqs:{region}:{account}:{target.name}"
            )
        table = f"arn:{partition}:dynamodb:{region}:{account}:table/{names[target.name]}"
        return f"{table}/{_PARTS[target.kind](target)}" if target.kind in _PARTS else table

    return arn


_PARTS: Mapping[str, Callable[[PolicyTarget], str]] = {
    "index": lambda target: f"index/{target.index}",
    "stream": lambda target: "stream/*",
}


def divided(policy: Policy, longest: int = LONGEST_POLICY) -> Iterator[Policy]:
    """The policy, in as many parts as it takes for each to be short enough for IAM. Long lists of keys are divided
    too."""
    parts: list[list[Statement]] = [[]]
    for statement in (piece for each in policy.statements for piece in _pieces(each, longest)):
        if parts[-1] and _length((*parts[-1], statement)) > longest:
            parts.append([])
        parts[-1].append(statement)
    for number, statements in enumerate(parts, start=1):
        yield replace(
            policy, name=policy.name if number == 1 else f"{policy.name}{number}", statements=tuple(statements)
        )


def _pieces(statement: Statement, longest: int) -> Iterator[Statement]:
    """A statement, or several that allow the same with fewer keys each."""
    if _length((statement,)) <= longest or len(statement.leading_keys) < 2:
        yield statement
        return
    half = len(statement.leading_keys) // 2
    for keys in (statement.leading_keys[:half], statement.leading_keys[half:]):
        yield from _pieces(replace(statement, leading_keys=keys), longest)


def _length(statements: tuple[Statement, ...]) -> int:
    """The length of a policy whose ARNs are as long as they can be in practice."""
    document = as_document(Policy("", statements), lambda target: "r" * (80 + len(target.name) + len(target.index)))
    return len(json.dumps(document, separators=(",", ":")))
