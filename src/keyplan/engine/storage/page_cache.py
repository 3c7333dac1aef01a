"""How much of the file is kept in memory: as much as is missed.

While a file is small, SQLite walks through all pages that it keeps, and through the room for more of them, at every
commit that split a page of an index. Who only writes needs few pages besides those of the indexes. So the cache begins
small, and is doubled where pages had to be read again; a large file has all of it at once.
"""

import os

import apsw

LEAST_MIB = 16
WALKED_BYTES = 2**30
"""SQLite puts a page aside behind this place when it splits one, and looks for it in files that end before it."""
EVERY = 256
"""The misses are looked at after so many transactions; one for each of them is too many."""


def most_mib() -> int:
    """An eighth of the machine's memory, at most 2 GiB."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 256
    return max(64, min(2048, memory // 8 // 2**20))


class PageCache:
    """The cache of a connection, which grows."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._mib = -connection.pragma("cache_size") // 1024
        self._most = most_mib()
        self._transactions = 0

    def note(self) -> None:
        """After each transaction: make the cache larger where too many pages were missed."""
        self._transactions += 1
        if self._transactions < EVERY or self._mib >= self._most:
            return
        if self.forget() > EVERY:
            self._mib = min(2 * self._mib, self._most)
            self._connection.execute(f"PRAGMA cache_size = {-1024 * self._mib}")

    def forget(self) -> int:
        """Count anew; the misses so far. A table that was dropped or filled in was read once, and that is all."""
        self._transactions = 0
        missed, _ = self._connection.status(apsw.SQLITE_DBSTATUS_CACHE_MISS, True)
        return missed
