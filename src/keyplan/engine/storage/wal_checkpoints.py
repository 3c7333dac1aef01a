"""When the log is copied into the main file: beside the requests, and in a quiet moment if there is one.

What is copied has to be flushed to the disk, and whoever writes meanwhile waits for the disk now and then. So the log
may become longer than it should, until nothing was written for a moment. Where no such moment comes, it is copied
beside the writer: frames written while a copy is being made keep the log from starting over, so that ends with a short
copy of the rest in the writer's thread, where nothing can be written meanwhile.
"""

import logging
import threading
from collections.abc import Callable

import apsw

from keyplan.engine.errors import DamagedFile

_log = logging.getLogger("keyplan.engine")

CHECKPOINT_PAGES = 16_384
"""The log is to be copied when it has grown by so many pages (64 MB).

Pages that many keys share are in it again and again and are copied once: the longer it is, the less work.
"""
LONGEST = 4
"""At so many times of it, nobody waits for a quiet moment any longer."""
QUIET = 0.05
"""So many seconds without a commit are a quiet moment."""
COPIES = 3
"""So often the log is copied beside the writer: as a rule, less was written meanwhile each time, and the last copy is
short. Who writes faster than the disk takes it, waits for the disk at the last."""


class Checkpoints:
    """A thread that makes checkpoints; it is started when the first is due."""

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
        self._nearly_done = False
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        primary.set_wal_hook(self._written)

    def _written(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK

    def note(self) -> None:
        """After each commit: start or finish a checkpoint where the log has become long."""
        if self._pages < CHECKPOINT_PAGES:
            self._nearly_done = False  # the last copy was complete, and the log has started over
            return
        if self._nearly_done:
            self._nearly_done = False
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
                _log.exception("a checkpoint could not be made")
            self._wanted.clear()
            if self._stopping.is_set():  # told so before the line above
                break
        if connection:
            connection.close()

    def _checkpoint(self, connection: apsw.Connection) -> None:
        if self._waits_for_quiet():
            self._copy(connection)
        elif not self._stopping.is_set():
            for _ in range(COPIES):
                self._copy(connection)
            self._sync()
            self._nearly_done = True

    def _waits_for_quiet(self) -> bool:
        """Whether there is a moment without a commit before the log has become too long, or the end has come."""
        seen = -1
        while self._pages != seen:
            seen = self._pages
            if seen >= LONGEST * CHECKPOINT_PAGES or self._stopping.wait(QUIET):
                return False
        return True

    def stop(self) -> None:
        self._stopping.set()
        self._wanted.set()
        if self._thread:
            self._thread.join()
