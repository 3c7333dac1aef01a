"""Turns for requests that write, so that they don't hold all the threads that serve requests.

A write may wait for storage, such as behind a lock that another process holds. The thread that it runs in waits too,
and without threads nobody could even read a page. So all writes together use three quarters of the threads at most,
and those of one person or address a quarter. The others wait on the event loop, which costs nothing.

A request that should only read may write nevertheless, such as when somebody was last there. It has no turn, and as
soon as it begins to write, it starts again with one.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TypeVar
from weakref import WeakKeyDictionary

from anyio.to_thread import current_default_thread_limiter
from starlette.concurrency import run_in_threadpool

T = TypeVar("T")


class Turns:
    """The turns of a process."""

    def __init__(self, threads: int) -> None:
        self._all = asyncio.Semaphore(max(1, threads * 3 // 4))
        self._most = max(1, threads // 4)
        self._own: dict[str, asyncio.Semaphore] = {}
        self._waiting: dict[str, int] = {}

    @asynccontextmanager
    async def of(self, subject: str) -> AsyncIterator[None]:
        """Wait for a turn of this person or address, and hold it within the block."""
        own = self._own.setdefault(subject, asyncio.Semaphore(self._most))
        self._waiting[subject] = self._waiting.get(subject, 0) + 1
        try:
            async with own, self._all:
                yield
        finally:
            self._waiting[subject] -= 1
            if not self._waiting[subject]:
                del self._waiting[subject], self._own[subject]


_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, Turns] = WeakKeyDictionary()


def turns() -> Turns:
    """The turns of the process that runs this event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _turns:
        _turns[loop] = Turns(int(current_default_thread_limiter().total_tokens))
    return _turns[loop]


class _NeedsTurn(BaseException):
    """A request that only read so far began to write. Nothing may catch it as an error of the request."""


_only_reads: ContextVar[bool] = ContextVar("keyplan_only_reads", default=False)


def needs_turn() -> None:
    """Declare that what follows writes. A request without a turn starts again, and then has one."""
    if _only_reads.get():
        raise _NeedsTurn


async def unless_it_writes(subject: str, reads: Callable[[], Awaitable[T]], work: Callable[[], T]) -> T:
    """The result of a request's work that should only read. If it writes, it is done again, in a turn."""
    token = _only_reads.set(True)
    try:
        return await reads()
    except _NeedsTurn:
        pass
    finally:
        _only_reads.reset(token)
    return await in_turn(subject, work)


async def in_turn(subject: str, work: Callable[[], T]) -> T:
    """The result of work that writes, in a thread."""
    async with turns().of(subject):
        return await run_in_threadpool(work)
