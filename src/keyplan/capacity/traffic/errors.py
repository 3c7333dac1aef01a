"""The error of a traffic file."""

from collections.abc import Iterable
from difflib import get_close_matches


class TrafficError(Exception):
    """A traffic file that can't be used: what is wrong, in which line, and what to do. `code` is stable."""

    def __init__(self, code: str, file: str, line: int, problem: str, remedy: str) -> None:
        super().__init__(f"{file}:{line}: {problem}. {remedy} [{code}]")
        self.code = code
        self.file = file
        self.line = line
        self.problem = problem
        self.remedy = remedy


def nearest(name: str, known: Iterable[str]) -> str:
    """What was probably meant, and otherwise what there is: the remedy for an unknown name."""
    names = list(known)
    lower = {each.lower(): each for each in names}
    meant = get_close_matches(name.lower(), lower, 1)
    if meant:
        return f"Did you mean {lower[meant[0]]}?"
    return f"There is: {', '.join(names)}." if names else "There are none."
