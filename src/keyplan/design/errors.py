"""Errors in declarations and in values.

Every error says where it is, what is wrong and what to do about it, and has a stable code.

The first error in a declaration ends the import. Inside `collecting()`, errors are recorded instead, at boundaries that
are marked with `recorded()`: what can't be used is left out of the declaration, and the rest is kept. Using what was
left out raises `Unusable`, which is never recorded: it follows from an error that was.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType, TracebackType


class DesignError(Exception):
    """A declaration that can't work. Raised when the design is imported.

    `code` is stable. `place` is the entity and attribute, such as `Post.by_author`.
    """

    def __init__(self, code: str, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem}. {remedy} [{code}]")
        self.code = code
        self.place = place
        self.problem = problem
        self.remedy = remedy
        self.pattern: str | None = None
        """The access pattern in which it was raised, if it was in one."""
        self.file: str | None = None
        """The file in which the declaration is, if the error was recorded."""
        self.line: int | None = None


class Unusable(DesignError):
    """A use of a declaration that has errors, which were recorded."""

    def __init__(self, place: str) -> None:
        super().__init__("unusable", place, "it is used, and its declaration has errors", "Fix these first.")


_collected: ContextVar[list[DesignError] | None] = ContextVar("collected", default=None)
_OURS, _PYTHONS = str(Path(__file__).parent), str(Path(os.__file__).parent)


@contextmanager
def collecting() -> Iterator[list[DesignError]]:
    """Record errors in declarations instead of raising them: `with collecting() as errors: import shop`.

    What has errors is left out of the design, so it can be looked at, but not used.
    """
    errors: list[DesignError] = []
    token = _collected.set(errors)
    try:
        yield errors
    finally:
        _collected.reset(token)


def is_collecting() -> bool:
    """Whether errors in declarations are recorded."""
    return _collected.get() is not None


class recorded:  # noqa: N801 - used like a function: `with recorded():`
    """A part of a declaration without which the rest makes sense: its error is recorded inside `collecting()`."""

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        errors = _collected.get()
        if errors is None or not isinstance(error, DesignError):
            return False
        if not isinstance(error, Unusable) and str(error) not in map(str, errors):
            error.file, error.line = _declared_at(error)
            errors.append(error)
        return True


def _declared_at(error: DesignError) -> tuple[str | None, int | None]:
    """The file and line of the declaration: the innermost code that isn't a library's."""
    inner = []
    traceback = error.__traceback__
    while traceback is not None:
        inner.append((traceback.tb_frame.f_code.co_filename, traceback.tb_lineno))
        traceback = traceback.tb_next
    for file, line in (*reversed(inner), *_callers(sys._getframe(2))):
        if not _is_library(file):
            return file, line
    return None, None


def _callers(frame: FrameType | None) -> Iterator[tuple[str, int]]:
    while frame is not None:
        yield frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back


def _is_library(file: str) -> bool:
    """Whether code in a file only processes declarations."""
    parts = Path(file).parts
    is_pythons = file.startswith((_PYTHONS, "<")) and "site-packages" not in parts
    return is_pythons or file.startswith(_OURS) or "pydantic" in parts


class InvalidValue(ValueError):
    """A value that can't be stored, or can't be part of a key. Nothing was sent.

    `field` is the entity's field, if there is one. `is_joint` says that a limit on several fields was broken.
    """

    def __init__(
        self, code: str, place: str, problem: str, *, field: str | None = None, is_joint: bool = False
    ) -> None:
        super().__init__(f"{place}: {problem} [{code}]")
        self.code = code
        self.place = place
        self.problem = problem
        self.field = field
        self.is_joint = is_joint
