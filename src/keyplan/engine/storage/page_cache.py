"""How much of the file is kept in memory: a cache that grows with its misses.

While a file is small, SQLite walks through the whole cache, including its unused part, at every commit that splits a
page of an index. A program that only writes needs few pages besides those of the indexes. So the cache starts small
and is doubled when pages have to be read again; for a large file it has its full size from the start.
"""

import apsw

from keyplan.engine.storage.limits import cache_mib

MINIMUM_MIB = 16
SMALL_FILE_BYTES = 2**30
"""When SQLite splits a page, it sets one aside beyond this offset, and searches the cache if the file is shorter."""
CHECK_EVERY = 256
"""Misses are checked after this many transactions; more than one miss per transaction is too many."""


class PageCache:
    """The growing page cache of a connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._mib = -connection.pragma("cache_size") // 1024
        self._maximum = cache_mib()
        self._transactions = 0

    def after_transaction(self) -> None:
        """Enlarge the cache if there were too many misses."""
        self._transactions += 1
        if self._transactions < CHECK_EVERY or self._mib >= self._maximum:
            return
        if self.reset_misses() > CHECK_EVERY:
            self._mib = min(2 * self._mib, self._maximum)
            self._connection.execute(f"PRAGMA cache_size = {-1024 * self._mib}")

    def reset_misses(self) -> int:
        """Start counting again; return the misses so far. Dropping or filling a table reads it only once."""
        self._transactions = 0
        missed, _ = self._connection.status(apsw.SQLITE_DBSTATUS_CACHE_MISS, True)
        return missed
