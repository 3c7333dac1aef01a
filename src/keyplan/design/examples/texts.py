"""Example texts that match a pattern: `text_of_pattern(r"^[A-Z]{2}-[0-9]{4}$", 7)` is `AA-0006`."""

import re
import string
from collections.abc import Iterator, Sequence
from typing import Any

_LETTERS = string.digits + string.ascii_lowercase + string.ascii_uppercase + "-_. " + string.punctuation
"""The characters that are tried, the plainest first."""
_ENOUGH = 4
"""How often a part is repeated that may be repeated without end, so that texts of different numbers differ."""


def text_of_pattern(pattern: str, number: int) -> str | None:
    """A text that matches a pattern, another one for each number if the pattern allows; None if none is found."""
    parser: Any = getattr(re, "_parser", None)  # not public; without it, patterns have no examples
    if parser is None:
        return None
    try:
        choices = [choice for node in parser.parse(pattern) for choice in _choices(node)]
    except (re.error, RecursionError):
        return None
    text = []
    left = number - 1
    for choice in reversed(choices):
        if not choice:
            return None
        left, chosen = divmod(left, len(choice))
        text.append(choice[chosen])
    found = "".join(reversed(text))
    return found if re.search(pattern, found) else None


def _choices(node: tuple[Any, Any]) -> Iterator[Sequence[str]]:
    """For each character of the text that a part of a pattern stands for, the characters that it can be."""
    kind, value = str(node[0]), node[1]
    match kind:
        case "LITERAL":
            yield [chr(value)]
        case "NOT_LITERAL":
            yield [each for each in _LETTERS if each != chr(value)]
        case "ANY":
            yield _LETTERS
        case "IN":
            yield _members(value)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, parts = value
            for _ in range(max(least, min(int(most), _ENOUGH))):
                yield from (choice for part in parts for choice in _choices(part))
        case "SUBPATTERN":
            yield from (choice for part in value[-1] for choice in _choices(part))
        case "ATOMIC_GROUP":
            yield from (choice for part in value for choice in _choices(part))
        case "BRANCH":
            yield from (choice for part in value[1][0] for choice in _choices(part))


def _members(parts: Sequence[tuple[Any, Any]]) -> Sequence[str]:
    """The characters of a class such as `[a-z_]`."""
    negated = bool(parts) and str(parts[0][0]) == "NEGATE"
    members = [each for each in _LETTERS if any(_is_member(each, part) for part in parts) != negated]
    if members or negated:
        return members
    first, value = parts[0]  # none of the plain characters
    return [chr(value[0] if str(first) == "RANGE" else value)] if str(first) in ("RANGE", "LITERAL") else []


def _is_member(letter: str, part: tuple[Any, Any]) -> bool:
    kind, value = str(part[0]), part[1]
    if kind == "LITERAL":
        return bool(ord(letter) == value)
    if kind == "RANGE":
        return bool(value[0] <= ord(letter) <= value[1])
    if kind == "CATEGORY":
        classes = {"CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s", "CATEGORY_WORD": r"\w"}
        opposite = str(value).replace("NOT_", "")
        if opposite != str(value):
            return not re.match(classes[opposite], letter)
        return bool(re.match(classes[str(value)], letter))
    return False
