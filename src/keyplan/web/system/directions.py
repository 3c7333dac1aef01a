"""Names within sentences: one that is written from right to left doesn't change the direction of the words around it.

`isolated(name)` is the name between the characters U+2068 and U+2069, if it needs them. Pages show what is between them
in an element `<bdi>`. Sentences with names in braces (`notice="{name} created"`) isolate their names themselves.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime

FIRST_STRONG, POP = "\u2068", "\u2069"
_OTHER_DIRECTION = re.compile(
    "[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""Letters that are written from right to left, and controls of direction."""
_ISOLATES = re.compile("[\u2066-\u2069]")


def isolated(name: str) -> str:
    """A name for a sentence that is made in Python."""
    return f"{FIRST_STRONG}{_ISOLATES.sub('', name)}{POP}" if turns(name) else name


def filled_in(sentence: str, names: Mapping[str, object], day: Callable[[date], str]) -> str:
    """A sentence with names in braces, with these names. `day` writes a day as people do."""
    return sentence.format_map(_Isolated(names, day))


def turns(text: str) -> bool:
    """Whether a text would change the direction of what is around it."""
    return not text.isascii() and _OTHER_DIRECTION.search(text) is not None


def balanced(text: str) -> str:
    """The text with an end for every isolate in it, and no other ends: one of those would end ours."""
    depth = 0

    def kept(found: re.Match[str]) -> str:
        nonlocal depth
        if found[0] == POP and not depth:
            return ""
        depth += -1 if found[0] == POP else 1
        return found[0]

    return _ISOLATES.sub(kept, text) + POP * depth


class _Isolated(dict[str, object]):
    """Names that isolate themselves."""

    def __init__(self, names: Mapping[str, object], day: Callable[[date], str]) -> None:
        super().__init__()
        self._names = names
        self._day = day

    def __missing__(self, name: str) -> object:
        value = self._names[name]
        if isinstance(value, date) and not isinstance(value, datetime):
            return self._day(value)
        return isolated(value) if isinstance(value, str) else value
