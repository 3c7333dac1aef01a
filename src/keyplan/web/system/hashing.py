"""A queue for requests that hash passwords.

A hash takes tens of milliseconds of one core, on purpose. Without a queue of their own, a burst of sign-ins would hold
all threads that serve requests while they wait for each other, and nobody else would be served. Here they wait on the
event loop instead, and run in a few threads of their own.

The number of places is limited, running ones included, and one address holds at most a quarter of them. Whoever finds
no place, or waits too long, gets a 503. A route asks for its place before it looks up anything, so that the answer is
the same whether an account exists or not.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import TypeVar

from keyplan.web.models.problems import Unavailable
from keyplan.web.system.observe import current

T = TypeVar("T")

_has_place: ContextVar[bool] = ContextVar("keyplan_has_place", default=False)


def check_place() -> None:
    """Fail if a request hashes a password without a place in the queue. Called before each hash."""
    if current.get(None) is not None and not _has_place.get():
        raise RuntimeError("this route hashes passwords: declare it with hashes=True")


class HashingQueue:
    """The places of a process, and the threads that the requests run in."""

    def __init__(self, *, places: int, seconds: float, threads: int | None = None) -> None:
        self._places = places
        self._of_address = max(1, places // 4)
        self._seconds = seconds
        threads = threads or max(1, (os.cpu_count() or 1) - 1)  # one core stays free for everything else
        self._turns = asyncio.Semaphore(threads)
        self._threads = ThreadPoolExecutor(threads, "keyplan hashing")
        self._held: Counter[str] = Counter()

    async def run(self, address: str, work: Callable[[], T]) -> T:
        """The result of the work, which runs in one of the threads. Raises `Unavailable` if there is no place."""
        if self._held.total() >= self._places or self._held[address] >= self._of_address:
            raise self._busy()
        self._held[address] += 1
        try:
            async with asyncio.timeout(self._seconds):
                await self._turns.acquire()
        except BaseException as error:
            self._leave(address)
            if isinstance(error, TimeoutError):
                raise self._busy() from None
            raise
        loop = asyncio.get_running_loop()
        future = self._threads.submit(copy_context().run, _with_place, work)
        # Not when this coroutine ends: the work goes on in its thread after the request has timed out.
        future.add_done_callback(lambda done: loop.call_soon_threadsafe(self._finish, address))
        return await asyncio.wrap_future(future)

    def _finish(self, address: str) -> None:
        self._turns.release()
        self._leave(address)

    def _leave(self, address: str) -> None:
        self._held[address] -= 1
        if not self._held[address]:
            del self._held[address]

    def _busy(self) -> Unavailable:
        detail = "Too many people are signing in right now. Try again in a few seconds."
        return Unavailable("sign-in-busy", detail, seconds=max(1, round(self._seconds)))


def _with_place(work: Callable[[], T]) -> T:
    _has_place.set(True)  # in a copy of the request's context
    return work()
