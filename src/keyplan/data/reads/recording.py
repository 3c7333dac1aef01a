"""A record of the access patterns that a process runs: `pytest --keyplan-patterns FILE` asks for it.

It is switched on by an environment variable, so that it reaches the stores of all processes that tests start. Each
pattern is written once by each process, as a line such as `shop:Shop orders_of_customer`.
"""

import os
from pathlib import Path
from typing import Any

from keyplan.data.reads.list_requests import Clock
from keyplan.data.reads.reader import Reader
from keyplan.data.relations import Relations
from keyplan.data.steps import Steps
from keyplan.design import Design, Op
from keyplan.design.operations.item_reads import Get

_VARIABLE = "KEYPLAN_PATTERNS"
_written: set[tuple[str, str]] = set()


def reader_of(design: Design, relations: Relations, secret: bytes | None) -> Reader:
    """The reader of a store, which records patterns if it is asked to."""
    file = os.environ.get(_VARIABLE)
    return _RecordingReader(design, relations, secret, file) if file else Reader(design, relations, secret)


class _RecordingReader(Reader):
    """A reader that writes into a file which patterns it is asked for."""

    def __init__(self, design: Design, relations: Relations, secret: bytes | None, file: str) -> None:
        super().__init__(design, relations, secret)
        self._file = file
        self._place = f"{type(design).__module__}:{type(design).__qualname__}"

    def run(self, op: Op[Any], clock: Clock) -> Steps[Any]:
        self._record(op)
        return super().run(op, clock)

    def get(self, op: Get[Any], clock: Clock) -> Steps[Any]:
        self._record(op)
        return super().get(op, clock)

    def _record(self, op: Op[Any]) -> None:
        line = f"{self._place} {op.pattern}"
        if op.pattern is not None and (self._file, line) not in _written:
            with Path(self._file).open("a", encoding="utf-8") as record:
                record.write(f"{line}\n")
            _written.add((self._file, line))
