"""Where requests run: reads on the event loop or in a thread, and what writes in turns.

A write may wait for storage, such as behind a lock that another process holds. The thread that it runs in waits too,
and without threads nobody could even read a page. So all writes together use three quarters of the threads at most,
and those of one person or address a quarter. The others wait on the event loop, which costs nothing.

A request that should only read may write nevertheless, such as when somebody was last there. It has no turn, and as
soon as it begins to write, it starts again with one.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
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


class _TakesLong(BaseException):
    """The work has to run in a thread instead of the event loop. Nothing may catch it as an error of the request."""


class _Writes(BaseException):
    """The work has to run in a turn. Nothing may catch it as an error of the request."""


_LOOP, _THREAD = "event loop", "thread"
_reads: ContextVar[str | None] = ContextVar("keyplan_reads", default=None)
"""Where a request runs that only read so far."""


def takes_long() -> None:
    """Declare that what follows is slow. A read that runs on the event loop then starts again in a thread."""
    if _reads.get() is _LOOP:
        raise _TakesLong


def begins_to_write() -> None:
    """Declare that what follows writes. A request without a turn starts again in one."""
    if _reads.get() is not None:
        raise _Writes


async def answered(work: Callable[[], T], *, subject: str, reads: bool, at_once: bool = False) -> T:
    """The result of a request's work, which runs in a thread. A read runs on the event loop with `at_once`.

    What writes waits for a turn of the subject: the person or the address that the request is from.
    """
    for place in (_LOOP, _THREAD) if at_once else (_THREAD,):
        if not reads:
            break
        token = _reads.set(place)
        try:
            return work() if place is _LOOP else await run_in_threadpool(work)
        except _TakesLong:
            continue
        except _Writes:
            break
        finally:
            _reads.reset(token)
    async with turns().of(subject):
        return await run_in_threadpool(work)
