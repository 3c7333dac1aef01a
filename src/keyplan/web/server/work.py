"""Background work of running systems: finishes interrupted jobs, cleans up, and runs stream handlers.

It can run in any number of processes. Each piece of work has a lease in the system's housekeeping table, so that one
process does it at a time, and another takes over if that one stops. All state is in tables, so a process can be killed
at any point.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from keyplan.data.streams import LEASE_SECONDS, Lease, LeaseLost, StreamRunner
from keyplan.web.system.running import Running

logger = logging.getLogger("keyplan.work")

_POLL_SECONDS = 0.5
"""How long to wait for new records of an idle stream."""
_LONGEST_PAUSE = 6
"""The longest pause after repeated failures is 2 to the power of this, in seconds."""


class Turn(NamedTuple):
    """The result of a turn: how much was done, and the seconds until the next turn."""

    done: int
    pause: float


class Piece(Protocol):
    """A piece of work that one of several processes does."""

    @property
    def name(self) -> str: ...

    @property
    def lease(self) -> Lease: ...

    def turn(self) -> Turn:
        """Do the work that is due, unless another process does it."""

    def stop(self) -> None:
        """Make a running turn end soon."""

    def close(self) -> None:
        """Let other processes do the work."""


class StreamPiece:
    """The stream of one table."""

    def __init__(self, name: str, runner: StreamRunner[Any], lease_seconds: float) -> None:
        self.name = name
        self.lease = runner.lease
        self.stop = runner.stop
        self.close = runner.close
        self._runner = runner
        self._others_turn = min(lease_seconds / 3, 5.0)

    def turn(self) -> Turn:
        done = self._runner.run_once()
        if done:
            return Turn(done, 0)
        return Turn(0, _POLL_SECONDS if self.lease.held else self._others_turn)


class Chores:
    """Regular cleanup of a system: interrupted jobs, uploads, and the system's own `sweep`."""

    def __init__(self, running: Running[Any], lease_seconds: float) -> None:
        self.name = f"chores of {running.system.name}"
        self.lease = Lease(running.store, "chores", seconds=lease_seconds)
        self._system = running.system.name
        self._every = running.settings.sweep_seconds
        self._others_turn = min(lease_seconds / 3, self._every)
        self._stopping = threading.Event()
        self._duties = list(_duties(running))

    def turn(self) -> Turn:
        # The lease is kept between turns: otherwise every process would do the chores in every period.
        if not self.lease.held and not self.lease.take():
            return Turn(0, self._others_turn)
        done = 0
        for name, duty in self._duties:
            if self._stopping.is_set():
                break
            try:
                done += duty()
            except Exception:
                # It is tried again with the next turn; the other duties don't wait for it.
                logger.exception("background work failed", extra=_about(f"{name} of {self._system}"))
        return Turn(done, self._every)

    def stop(self) -> None:
        self._stopping.set()

    def close(self) -> None:
        self.lease.release()


def _duties(running: Running[Any]) -> Iterator[tuple[str, Callable[[], int]]]:
    yield "interrupted jobs", running.store.resume
    yield "sweep of uploads", running.media.sweep
    if running.system.sweep is not None:
        yield "sweep", lambda: _swept(running)


def _swept(running: Running[Any]) -> int:
    assert running.system.sweep is not None
    running.system.sweep(running)
    return 0


def _about(work: str) -> dict[str, object]:
    """The fields of a log line about a piece of work."""
    return {"fields": {"work": work}}


class Worker:
    """Does the background work of systems, in threads of this process.

    `streams` is boto3's client for `dynamodbstreams`, or the embedded engine. Errors are logged, and the work is tried
    again later; they never stop the worker.
    """

    def __init__(
        self, runnings: Sequence[Running[Any]], streams: object, *, lease_seconds: float = LEASE_SECONDS
    ) -> None:
        self.pieces: list[Piece] = [piece for running in runnings for piece in _pieces(running, streams, lease_seconds)]
        self._heartbeat_seconds = lease_seconds / 3
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    def run_once(self) -> int:
        """Run one turn of all work, in this thread. Returns how much was done."""
        return sum(self._turn(piece, 0)[0].done for piece in self.pieces)

    def start(self) -> None:
        """Start working, in threads, until `stop`."""
        named = [(piece.name, lambda piece=piece: self._work_on(piece)) for piece in self.pieces]
        for name, target in [*named, ("heartbeat", self._beat)]:
            # Daemons: a process that ends without calling `stop` must not hang.
            thread = threading.Thread(target=target, name=f"keyplan {name}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self, timeout: float = 10.0) -> None:
        """Stop after the current turns, and release the leases. Waits up to `timeout` seconds."""
        self._stopping.set()
        for piece in self.pieces:
            piece.stop()
        if not self._threads:
            for piece in self.pieces:
                piece.close()
        until = time.monotonic() + timeout
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                logger.warning("background work is still running", extra=_about(thread.name))
        self._threads.clear()

    def _turn(self, piece: Piece, failures: int) -> tuple[Turn, int]:
        try:
            return piece.turn(), 0
        except Exception:
            logger.exception("background work failed", extra=_about(piece.name))
            return Turn(0, float(2**failures)), min(failures + 1, _LONGEST_PAUSE)

    def _work_on(self, piece: Piece) -> None:
        failures = 0
        while not self._stopping.is_set():
            turn, failures = self._turn(piece, failures)
            self._stopping.wait(turn.pause)
        piece.close()

    def _beat(self) -> None:
        """Renew the leases of long turns."""
        while not self._stopping.wait(self._heartbeat_seconds):
            for piece in self.pieces:
                if piece.lease.held:
                    self._renew(piece)

    def _renew(self, piece: Piece) -> None:
        try:
            piece.lease.keep()
        except LeaseLost:
            pass  # the turn itself will notice
        except Exception:
            logger.exception("background work failed", extra=_about(f"lease of {piece.name}"))


def _pieces(running: Running[Any], streams: object, lease_seconds: float) -> Iterator[Piece]:
    yield Chores(running, lease_seconds)
    handlers = running.system.handlers
    for table in running.design.tables:
        if any(handler.entity.spec.table is table for handler in handlers):
            tries = running.settings.stream_tries
            runner = StreamRunner(
                running.store, table, handlers, running, streams, tries=tries, lease_seconds=lease_seconds
            )
            yield StreamPiece(f"stream of {running.design.table_name(table)}", runner, lease_seconds)
