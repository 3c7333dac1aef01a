"""What the functions of this package share: how they say how far they are, and why they did nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import apsw

from keyplan.engine.storage.damage import damaged, is_damage

Progress: TypeAlias = Callable[[int, int], None]
"""Takes how much is done, and how much there is."""


class OperatorError(Exception):
    """Why something wasn't done, and what to do."""


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Raise `DamagedFile` if a file turns out to be damaged while it is read."""
    try:
        yield
    except apsw.Error as error:
        if is_damage(error):
            raise damaged(path, error) from error
        raise


def no_progress(done: int, total: int) -> None:
    """For callers that show none."""
