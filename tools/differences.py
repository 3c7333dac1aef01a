"""What differs between two JSON values, place by place, and which of that was intended."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

SEPARATOR = " > "
_LONGEST_VALUE = 300
_MOST_SHOWN = 12


class _Absent:
    """There is nothing at this place."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT = _Absent()
ANYTHING = object()


@dataclass(frozen=True)
class Difference:
    """A place where two values differ: the members that lead there, and what was and is there."""

    where: str
    before: object
    now: object

    def __str__(self) -> str:
        return f"{self.where}\n    before: {_shown(self.before)}\n    now:    {_shown(self.now)}"


@dataclass(frozen=True)
class Intended:
    """Something that a system does differently on purpose.

    `where` is the place as a failure shows it; a `*` stands for any text, and what is below the place is meant as well.
    `now` is what has to be there instead, where one entry is about one value (`ABSENT`: nothing).
    """

    system: str
    where: str
    why: str
    now: object = ANYTHING

    def covers(self, difference: Difference) -> bool:
        """Whether this says that the difference is intended."""
        pattern = ".*".join(map(re.escape, self.where.split("*")))
        matches = re.fullmatch(f"{pattern}(?:{SEPARATOR}.*)?", difference.where, re.DOTALL) is not None
        return matches and (self.now is ANYTHING or self.now == difference.now)


def differences(before: Any, now: Any, where: tuple[str, ...] = ()) -> Iterator[Difference]:  # noqa: ANN401 - JSON
    """The smallest places where two values differ. Lists of different lengths are one place."""
    if type(before) is type(now) and isinstance(before, dict):
        for name in [*before, *(name for name in now if name not in before)]:
            yield from differences(before.get(name, ABSENT), now.get(name, ABSENT), (*where, name))
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for number, (old, new) in enumerate(zip(before, now, strict=True)):
            yield from differences(old, new, (*where, str(number)))
    elif type(before) is not type(now) or before != now:
        yield Difference(SEPARATOR.join(where), before, now)


def unintended(found: Sequence[Difference], intended: Sequence[Intended]) -> tuple[list[Difference], list[Intended]]:
    """The differences that no entry covers, and the entries that cover none."""
    left = [each for each in found if not any(entry.covers(each) for entry in intended)]
    unused = [entry for entry in intended if not any(entry.covers(each) for each in found)]
    return left, unused


def report(found: Sequence[Difference]) -> str:
    """Differences, to be read: the first of each part."""
    lines = [f"{len(found)} differences"]
    for part, group in groupby(found, key=lambda each: each.where.partition(SEPARATOR)[0]):
        of_part = list(group)
        lines += map(str, of_part[:_MOST_SHOWN])
        if len(of_part) > _MOST_SHOWN:
            lines.append(f"... and {len(of_part) - _MOST_SHOWN} more in {part}")
    return "\n".join(lines)


def _shown(value: object) -> str:
    """A value on one line; of a list of requests, what they are."""
    if isinstance(value, list) and all(isinstance(each, dict) and len(each) == 1 for each in value):
        text = f"{len(value)}: {', '.join(next(iter(each)) for each in value)}"
    else:
        text = repr(value) if value is ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]} ..."
