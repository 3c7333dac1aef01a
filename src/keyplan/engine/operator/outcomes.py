"""What the functions of this package share: how they say how far they are, and why they did nothing."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Takes how much is done, and how much there is."""


class OperatorError(Exception):
    """Why something wasn't done, and what to do."""


def no_progress(done: int, total: int) -> None:
    """For callers that show none."""
