"""Python source in the usual layout: what fits is in one line, and the rest has one argument per line."""

from collections.abc import Sequence

WIDTH = 120
_STEP = "    "


def text(value: str) -> str:
    """A text as Python source."""
    quoted = repr(value)
    return quoted if '"' in value else f'"{quoted[1:-1]}"'.replace("\\'", "'")


def group(before: str, members: Sequence[str], after: str, *, indent: int = 0, apart: bool = False) -> str:
    """Something in brackets: `key(` and `)` with arguments. `apart`: each member in its own line.

    `indent` is the number of levels around it, and members in several lines are indented for it already.
    """
    space, inner = _STEP * indent, _STEP * (indent + 1)
    line = f"{before}{', '.join(members)}{after}"
    several = apart or any("\n" in member for member in members)
    if not several and len(space) + len(line) <= WIDTH:
        return line
    if not several and len(inner) + len(", ".join(members)) <= WIDTH:
        return f"{before}\n{inner}{', '.join(members)}\n{space}{after}"
    return "".join((f"{before}\n", *(f"{inner}{member},\n" for member in members), f"{space}{after}"))


def sequence(members: Sequence[str], *, indent: int = 0, room: int = 0) -> str:
    """A tuple of names; `room` is what stands before it in its line."""
    if len(members) == 1:
        return f"({members[0]},)"
    line = f"({', '.join(members)})"
    if room + len(line) + len(_STEP) * indent <= WIDTH:
        return line
    return group("(", members, ")", indent=indent, apart=True)
