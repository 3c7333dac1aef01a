"""The partition keys that a template can have, as a pattern for the condition key `dynamodb:LeadingKeys`.

`POST#{slug}` has keys like `POST#*`. AWS: "Using IAM policy conditions for fine-grained access control" describes the
condition key, and "IAM policy elements: Variables and tags" how `*`, `?` and `$` are written where they stand for
themselves.
"""

from collections.abc import Mapping

from keyplan.design.entities.specs import KeyPart, StandIn
from keyplan.design.keys.templates import Template
from keyplan.design.operations.bounds import Bound

ANY = "*"
_SPECIAL = {"*": "${*}", "?": "${?}", "$": "${$}"}
_LAST_ALLOWED = "\u00ff"
"""The last character that a policy may contain."""


def leading_key(hash_: tuple[KeyPart, ...], values: Mapping[str, object]) -> str | None:
    """The pattern of a hash key with these values, of which some are known; None if it can be anything.

    Keys of several attributes, and of numbers and binary values, can't be stated.
    """
    if len(hash_) != 1 or hash_[0].template is None:
        return None
    return template_pattern(hash_[0].template, values)


def template_pattern(template: Template, values: Mapping[str, object]) -> str | None:
    """The pattern of a template's keys with these values; None if they can be anything."""
    pattern = ""
    for part in template.parts:
        if isinstance(part, str):
            pattern += _literal(part)
            continue
        value = values.get(part.field)
        known = value is not None and not isinstance(value, StandIn) and not template.formats[part].computed
        pattern += _literal(template.piece(part.field, value)) if known and _is_value(value) else ANY
    while ANY * 2 in pattern:
        pattern = pattern.replace(ANY * 2, ANY)
    return None if pattern == ANY else pattern


def _is_value(value: object) -> bool:
    """Whether it is a value, and not a range of values."""
    return not isinstance(value, Bound)


def _literal(text: str) -> str:
    return "".join("?" if each > _LAST_ALLOWED else _SPECIAL.get(each, each) for each in text)
