"""Checkpoints: when and how the write-ahead log is copied into the main file, in a thread of its own.

A checkpoint flushes the main file to the disk, which slows down concurrent writers. So the log may grow beyond its
usual length until there is a moment without writes. If there is none, the log is copied while writers go on. Frames
that are written during a copy keep the log from starting over, so the last, short copy is made under the write lock.

The log is copied up to exact marks only, by which `log_binding` recognizes later which log belongs to the main file. So
all copying is done here, also at the end (`finish_log`), and never by SQLite itself.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw

from keyplan.engine.errors import DamagedFile, DynamoError
from keyplan.engine.storage.limits import LOG_SETTING, log_limit_mib
from keyplan.engine.storage.log_binding import (
    CLOSED,
    COMPLETE,
    COPIED,
    LAST_MARK,
    NEW_MARK,
    NONE,
    OPEN,
    Binding,
    check_binding,
    main_binding,
    read_binding,
)

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
is short."""
OPENING_SECONDS = 0.2
"""How long after the first commit of a log the main file is marked as one that needs this log."""
PAGES_PER_MIB = 256
WARNING_PAGES = 1024 * PAGES_PER_MIB
"""A log of this length is reported, and again each time it has doubled."""
ROOM_SECONDS = 5.0
"""How long writes wait at the limit for the end of a checkpoint. Then they are refused, until one has succeeded."""
ROOM_PAUSE_SECONDS = 0.005
PATIENCE_SECONDS = 0.05
"""The pause between two looks whether the read has ended that holds up a checkpoint."""
OTHERS_SECONDS = 1.0
"""How long an attempt of another process is waited for before an own one, which makes the log longer."""
MARK_TRIES = 20
"""How many times a mark is written again because another process has written behind it."""
LOCK_ATTEMPTS = 5_000
LOCK_PAUSE_SECONDS = 0.002
"""Like this, the write lock is found free sooner or later beside processes that write all the time."""
CACHE_MIB = 2


class LogCopy:
    """Three connections that together copy the log up to exact marks.

    One writes the marks, one copies, and one holds a read at a mark, beyond which nothing is copied then.
    """

    def __init__(self, path: Path, connect: Callable[[int], apsw.Connection], stopping: threading.Event) -> None:
        self._path = path
        self._stopping = stopping
        self._marker = connect(CACHE_MIB)
        self._copier = connect(CACHE_MIB)
        self._reader = connect(CACHE_MIB)
        self._pages = 0
        self._marker.set_wal_hook(self._written)
        self._marker.set_busy_handler(self._wait_for_lock)

    def close(self) -> None:
        for connection in (self._marker, self._copier, self._reader):
            connection.close()

    def copy(self) -> None:
        """Copy the log up to a mark, while others may write."""
        # Somebody may have written another file over the main file, and would lose that one too.
        check_binding(self._path, self._reader, current=True)
        try:
            if not self._mark():
                return
            frame = self._pages
            binding = self._stop_at_mark()
            self._checkpoint()
        finally:
            self._release()
        copied = main_binding(self._path)
        if copied and copied.mark == binding.mark:
            self._marker.execute(COPIED, (NONE + frame, binding.base))

    def finish(self, state: int, *, patient: bool = False) -> bool:
        """Copy all of the log; return False if somebody else writes it, or reads what it begins with.

        With `patient`, wait for the end of such a read, as long as nobody writes.

        The last mark is copied by itself when the main file has everything else, so that a main file with this mark is
        complete even if it was copied at this moment. Until then the log must not be copied as a whole: the next commit
        would start it over, and if the last mark couldn't be written, nothing would tell where the new log began.
        """
        self.copy()  # which writes the mark before all other pages, and leaves little for the rest
        try:
            if not self._mark():
                return False
            self._stop_at_mark()
            if not self._copy_to_end(patient=patient):
                return False
            self._reader.execute("COMMIT")
            seen = self._version()
            frame = self._pages + 1
            self._marker.execute(LAST_MARK, (NONE + frame, state))
            self._marker.execute("COMMIT")
            self._marker.execute("BEGIN IMMEDIATE")
            if self._pages != frame or self._version() != seen:
                return False
            return self._checkpoint() == (frame, frame)
        finally:
            self._release()

    def another_waits(self) -> bool:
        """Whether the log goes on ending with the marks of another process, which waits for the end of a read.

        Only one process should try: each attempt makes the log longer.
        """
        end = self._copier.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)[0]
        logged = read_binding(self._reader)
        if logged.state != OPEN or logged.frame != end - 1:
            return False
        self._stopping.wait(OTHERS_SECONDS)  # if the other process has ended, the log stays as it is
        return self._copier.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)[0] != end

    def _copy_to_end(self, *, patient: bool) -> bool:
        """Copy everything up to the mark, which must be at the end of the log, and take the write lock."""
        end = self._pages
        self._marker.execute("BEGIN IMMEDIATE")
        while (found := self._checkpoint()) != (end, end - 1):
            # Trying again makes the log no longer, however long the read takes.
            if found[0] != end or not patient:
                return False
            self._marker.execute("ROLLBACK")
            if self._stopping.wait(PATIENCE_SECONDS):
                return False
            check_binding(self._path, self._copier, current=True)
            self._marker.execute("BEGIN IMMEDIATE")
        return True

    def _stop_at_mark(self) -> Binding:
        """Let nothing behind the mark be copied until `_release`, and give back the write lock."""
        self._reader.execute("BEGIN")
        binding = read_binding(self._reader)
        # With a commit behind the mark, the log isn't copied as a whole, and so doesn't start over. It must be to
        # another page, because SQLite doesn't copy a page at all if it was written again behind the mark.
        self._marker.pragma("user_version", self._marker.pragma("user_version"))
        self._marker.execute("COMMIT")
        return binding

    def _mark(self) -> bool:
        """Write a mark at the end of the log, and keep the write lock, so that it stays the end."""
        self._marker.execute("BEGIN IMMEDIATE")
        for _ in range(MARK_TRIES):
            seen = self._version()
            frame = self._pages + 1
            self._marker.execute(NEW_MARK, (NONE + frame,))
            self._marker.execute("COMMIT")
            self._marker.execute("BEGIN IMMEDIATE")
            if self._pages == frame and self._version() == seen:
                return True
        return False

    def _version(self) -> int:
        """A number that changes when another connection commits."""
        version: int = self._marker.pragma("data_version")
        return version

    def _checkpoint(self) -> tuple[int, int]:
        """Return the number of pages in the log, and how many of them the main file has."""
        return self._copier.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _wait_for_lock(self, attempts: int) -> bool:
        """SQLite's question whether to try once more to get the write lock."""
        return attempts < LOCK_ATTEMPTS and not self._stopping.wait(LOCK_PAUSE_SECONDS)

    def _release(self) -> None:
        if self._marker.in_transaction:
            self._marker.execute("ROLLBACK")
        if self._reader.in_transaction:
            self._reader.execute("COMMIT")

    def _written(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._pages = pages
        return apsw.SQLITE_OK


def finish_log(path: Path, connect: Callable[[int], apsw.Connection]) -> None:
    """Copy all of the log, so that the main file needs it no longer."""
    copy = LogCopy(path, connect, threading.Event())
    try:
        copy.finish(CLOSED)
    finally:
        copy.close()


class Checkpoints:
    """A thread that makes checkpoints; it starts when the first one is due."""

    def __init__(
        self,
        path: Path,
        connect: Callable[[int], apsw.Connection],
        primary: apsw.Connection,
        failed: Callable[[BaseException], None],
        may_copy: Callable[[], bool],
    ) -> None:
        self._path = path
        self._connect = connect
        self._failed = failed
        self._may_copy = may_copy
        self.pages = 0
        """The length of the log."""
        self._limit = log_limit_mib() * PAGES_PER_MIB
        # A log with a low limit is copied earlier, so that only a read can let it grow to the limit.
        self._due = min(CHECKPOINT_PAGES, self._limit // 4)
        self._urgent = min(MAXIMUM_FACTOR * CHECKPOINT_PAGES, self._limit // 2)
        self.notable_pages = self._due
        """From this length on, writers call `check_length` and `after_commit`; with a shorter log, that is no use."""
        self._first_warning = min(WARNING_PAGES, self._limit * 3 // 4)
        self._warn_at = self._first_warning
        self._full_since = 0.0
        self._wanted = threading.Event()
        self._opened = False
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        primary.set_wal_hook(self._written)

    def _written(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self.pages = pages
        return apsw.SQLITE_OK

    def check_length(self, *, may_wait: bool) -> bool:
        """Refuse a write if the log is too long, because a read keeps it from starting over.

        Returns False if only waiting can show that it does: the log may be about to start over.
        """
        if self.pages < self._warn_at and self.pages < self._limit:
            return True
        if self.pages >= self._limit:
            return self._wait_for_room(may_wait=may_wait)
        self._warn_at *= 2
        _log.warning(
            "The log of %s has %d MiB, because a long read keeps it from starting over. At %d MiB (%s), writes are "
            "refused. End what reads: a backup, an export or another program.",
            *(self._path, self.pages // PAGES_PER_MIB, self._limit // PAGES_PER_MIB, LOG_SETTING),
        )
        return True

    def _wait_for_room(self, *, may_wait: bool) -> bool:
        self._full_since = self._full_since or time.monotonic()
        while self.pages >= self._limit:
            self._wake()
            if time.monotonic() - self._full_since > ROOM_SECONDS:
                mib = self._limit // PAGES_PER_MIB
                raise DynamoError(
                    "InternalServerError",
                    f"The log of the database has grown to its limit of {mib} MiB, because a long read keeps it from "
                    "starting over, so nothing is written. End what reads (a backup, an export or another program), "
                    f"or raise the limit with {LOG_SETTING}.",
                    status=500,
                )
            if not may_wait:
                return False
            time.sleep(ROOM_PAUSE_SECONDS)
        return True

    def after_commit(self, *, opened: bool) -> None:
        """Start a checkpoint if the log has become long. `opened` says that the commit may have begun a new log."""
        if opened:
            self._opened = True
        elif self.pages < self._due or self._wanted.is_set():
            return
        self._wake()

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="keyplan-checkpoints", daemon=True)
            self._thread.start()
        self._wanted.set()

    def _run(self) -> None:
        copy: LogCopy | None = None
        while self._wanted.wait() and not self._stopping.is_set():
            if self._opened and self._stopping.wait(OPENING_SECONDS):
                break
            try:
                if self._may_copy():
                    copy = copy or LogCopy(self._path, self._connect, self._stopping)
                    self._checkpoint(copy)
            except apsw.BusyError:
                pass  # another process is doing it
            except (apsw.Error, DamagedFile) as error:
                # The log keeps growing, and the next checkpoint tries again.
                _log.warning("The log could not be copied into the main file: %s", error)
                with suppress(DamagedFile):
                    self._failed(error)
            if not self._opened:
                self._wanted.clear()
            if self._stopping.is_set():  # `stop` may have been called before the line above
                break
        if copy:
            copy.close()

    def _checkpoint(self, copy: LogCopy) -> None:
        if self._opened:
            self._opened = False
            copy.copy()
        if self.pages < self._due or copy.another_waits():
            return
        for _ in range(0 if self._wait_for_quiet() else COPIES - 1):
            if self._stopping.is_set():
                return
            copy.copy()
        if not self._stopping.is_set() and copy.finish(COMPLETE, patient=True):
            self.pages = 0  # the next commit starts the log over
            self._full_since = 0.0
            self._warn_at = self._first_warning

    def _wait_for_quiet(self) -> bool:
        """Wait for a moment without a commit; return False if the log grows too long or the thread stops first."""
        seen = -1
        while self.pages != seen:
            seen = self.pages
            if seen >= self._urgent or self._stopping.wait(QUIET_SECONDS):
                return False
        return True

    def stop(self) -> None:
        """End the thread."""
        self._stopping.set()
        self._wanted.set()
        if self._thread:
            self._thread.join()
