"""How wide text is, at most, and how it is broken into lines. Fonts differ, so the widest of the usual ones counts."""

import unicodedata

MONO = 0.605
"""The width of a character of a monospaced font, by its size: that of DejaVu Sans Mono and Menlo."""
BOLD = 0.82
"""The width of a character of a bold sans serif font, by its size: that of wide words in DejaVu Sans Bold."""
_BREAKS = "#/ ,.-:&="


def cells(text: str) -> int:
    """How many columns of a monospaced font a text takes. East Asian characters and emoji take two."""
    return sum(
        2 if unicodedata.east_asian_width(each) in "WF" else 0 if unicodedata.combining(each) else 1 for each in text
    )


def width(text: str, size: float, factor: float = MONO) -> float:
    """The width of a text of this size in pixels."""
    return cells(text) * size * factor


def wrapped(text: str, columns: int, most: int = 4) -> list[str]:
    """A text in lines of at most so many columns, broken after separators if possible; cut off after `most` lines."""
    lines: list[str] = []
    rest = clean(text)
    while cells(rest) > columns:
        end = _end(rest, columns)
        lines.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    lines.append(rest)
    return lines if len(lines) <= most else [*lines[: most - 1], shortened(lines[most - 1] + "…", columns, always=True)]


def shortened(text: str, columns: int, *, always: bool = False) -> str:
    """A text of at most so many columns, with an ellipsis if it was cut off."""
    line = clean(text)
    if cells(line) <= columns:
        return line
    while cells(line) > columns - 1:
        line = line[:-1]
    return line.rstrip("…") + "…"


def clean(text: str) -> str:
    """A text on one line, without what a picture can't show: control characters and marks of direction."""
    line = " ".join(text.split())
    return "".join(each for each in line if unicodedata.category(each) not in ("Cc", "Cf", "Cs", "Co", "Cn"))


def _end(text: str, columns: int) -> int:
    """Where to break a text: after the last separator that fits, or where the line is full."""
    taken = end = 0
    for position, each in enumerate(text):
        taken += cells(each)
        if taken > columns:
            return end if end > position // 3 else max(position, 1)
        if each in _BREAKS:
            end = position + 1
    return len(text)
