"""Segments: a scan in several parts that are read at the same time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from keyplan.data.errors import InvalidOperation
from keyplan.design import InvalidValue, ListOp, Page, Scan
from keyplan.design.operations.reading import BUDGET

T = TypeVar("T")

MOST_SEGMENTS = 1_000_000
"""DynamoDB's limit."""


class ScanProgress(NamedTuple):
    """How far a list was read, after one of its pages."""

    segment: int
    segments: int
    items: int
    """How many items of this segment were found so far."""
    ended: bool
    """Whether this segment was read to its end."""


Report: TypeAlias = Callable[[ScanProgress], object]


@dataclass
class Segment(Generic[T]):
    """A segment of a scan, or a whole list: the next page to read, and how many items were found."""

    op: ListOp[T]
    number: int = 0
    of: int = 1
    items: int = 0
    ended: bool = False

    def take(self, page: Page[T], report: Report | None) -> Sequence[T]:
        """The items of the next page; reports how far the segment was read."""
        self.items += len(page.items)
        self.ended = page.next is None
        self.op = self.op.after(page.next)
        if report is not None:
            report(ScanProgress(self.number, self.of, self.items, self.ended))
        return page.items


def segments_of(op: ListOp[T], total: int) -> list[Segment[T]]:
    """The segments of a scan."""
    scan: Any = op
    if not isinstance(op, ListOp):
        raise InvalidOperation(
            f"each() reads a list, such as query(...) or scan(...), and {op!r:.60} isn't one. Use run()"
        )
    if total == 1:
        return [Segment(op)]
    if not isinstance(scan, Scan) or not 0 < total <= MOST_SEGMENTS or scan.cursor is not None:
        problem = f"Only a scan from its beginning can be read in segments, 1 to {MOST_SEGMENTS} of them."
        raise InvalidValue("segments", type(op).__name__.lower(), problem)
    size = BUDGET if scan.size is None else scan.size
    return [Segment(scan.changed(segment=(n, total), size=size), n, total) for n in range(total)]


def read_in_threads(
    run: Callable[[ListOp[T]], Page[T]], parts: Sequence[Segment[T]], report: Report | None
) -> Iterator[T]:
    """The items of all segments, as their pages arrive; if there are several, each has a thread."""
    while len(parts) == 1 and not parts[0].ended:
        yield from parts[0].take(run(parts[0].op), report)
    if len(parts) == 1:
        return
    with ThreadPoolExecutor(len(parts), "keyplan-scan") as threads:
        waiting = {threads.submit(run, part.op): part for part in parts}
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                part = waiting.pop(future)
                items = part.take(future.result(), report)
                if not part.ended:
                    waiting[threads.submit(run, part.op)] = part
                yield from items


async def read_in_tasks(
    run: Callable[[ListOp[T]], Coroutine[Any, Any, Page[T]]], parts: Sequence[Segment[T]], report: Report | None
) -> AsyncIterator[T]:
    """The items of all segments, as their pages arrive; each segment has a task."""
    waiting = {asyncio.ensure_future(run(part.op)): part for part in parts}
    try:
        while waiting:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                part = waiting.pop(task)
                for item in part.take(task.result(), report):
                    yield item
                if not part.ended:
                    waiting[asyncio.ensure_future(run(part.op))] = part
    finally:
        for task in waiting:
            task.cancel()
