"""Checkpoints: when the write-ahead log is copied into the main file, in a thread of its own.

A checkpoint flushes the main file to the disk, which slows down concurrent writers. So the log may grow beyond its
usual length until there is a moment without writes. If there is none, the log is copied while writers go on. Frames
that are written during a copy keep the log from starting over, so the last, short copy is made in the writer's own
thread, where nothing can be written at the same time.
"""

import logging
import threading
from collections.abc import Callable

import apsw

from keyplan.engine.errors import DamagedFile

_log = logging.getLogger("keyplan.engine")

CHECKPOINT_PAGES = 16_384
"""A checkpoint is due when the log has this many pages (64 MB).

Pages that many keys share are in the log many times and are copied once, so a longer log means less work.
"""
MAXIMUM_FACTOR = 4
"""When the log is this many times longer, the checkpoint no longer waits for a quiet moment."""
QUIET_SECONDS = 0.05
"""The time without a commit that counts as a quiet moment."""
COPIES = 3
"""How many times the log is copied while writers go on. Usually less is written during each copy, so that the last one
is short. A writer that is faster than the disk waits for the last one."""


class Checkpoints:
    """A thread that makes checkpoints; it starts when the first one is due."""

    def __init__(
        self,
        connect: Callable[[int], apsw.Connection],
        primary: apsw.Connection,
        copy: Callable[[apsw.Connection], None],
        sync: Callable[[], None],
    ) -> None:
        self._connect = connect
        self._primary = primary
        self._copy = copy
        self._sync = sync
        self._pages = 0
        self._wanted = threading.Event()
        self.nearly_done = False
        """Whether the next commit is followed by the last copy, which takes long if much was written meanwhile."""
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        primary.set_wal_hook(self._written)

    def _written(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def after_commit(self) -> None:
        """Start or finish a checkpoint if the log has become long."""
        if self._pages < CHECKPOINT_PAGES:
            self.nearly_done = False  # the last copy was complete, and the log has started over
            return
        if self.nearly_done:
            self.nearly_done = False
            self._copy(self._primary)
        elif not self._wanted.is_set():
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="keyplan-checkpoints", daemon=True)
                self._thread.start()
            self._wanted.set()

    def _run(self) -> None:
        connection: apsw.Connection | None = None
        while self._wanted.wait() and not self._stopping.is_set():
            try:
                connection = connection or self._connect(2)
                self._checkpoint(connection)
            except (apsw.Error, DamagedFile):
                _log.exception("A checkpoint failed")
            self._wanted.clear()
            if self._stopping.is_set():  # `stop` may have been called before the line above
                break
        if connection:
            connection.close()

    def _checkpoint(self, connection: apsw.Connection) -> None:
        if self._wait_for_quiet():
            self._copy(connection)
        elif not self._stopping.is_set():
            for _ in range(COPIES):
                self._copy(connection)
            self._sync()
            self.nearly_done = True

    def _wait_for_quiet(self) -> bool:
        """Wait for a moment without a commit; return False if the log grows too long or the thread stops first."""
        seen = -1
        while self._pages != seen:
            seen = self._pages
            if seen >= MAXIMUM_FACTOR * CHECKPOINT_PAGES or self._stopping.wait(QUIET_SECONDS):
                return False
        return True

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        self._wanted.set()
        if self._thread:
            self._thread.join()
