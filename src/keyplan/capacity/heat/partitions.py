"""A model of the partitions of a table or an index.

A partition has a part of all hash keys, and of the sort keys below one of them if an item collection was split. It
serves 3,000 read units and 1,000 write units a second, and what it didn't use in the last 5 minutes on top of it. If
it is busy for a while, it is split where half of its load is on either side. That doesn't help if the load is on a
single item, at one end of a collection, or in a collection that can't be split because of a local index.

A position is a number of 64 bits: the hash of the hash key, then the place in the item collection.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

READ_UNITS = 3_000
WRITE_UNITS = 1_000
PARTITION_BYTES = 10 * 10**9
SORT_BITS = 20
"""The bits of a position that say where in its item collection an item is."""
_BURST_SECONDS = 300
_FIRST_PARTITIONS = 4
"""The partitions of a new on-demand table, which serves 12,000 reads and 4,000 writes."""
_BUSY = 0.9
_BUSY_STEPS = 2
"""How many steps in a row a partition is busy before it is split."""
_MOST = 1 << 16


@dataclass(frozen=True)
class Served:
    """What happened in a step: for each partition, the units that were asked for and the shares that were refused."""

    reads: Floats
    writes: Floats
    refused_reads: Floats
    refused_writes: Floats


class Partitions:
    """The partitions of a table or an index."""

    def __init__(self, size: float = 0, provisioned: tuple[float, float] | None = None, *, fixed: bool = False) -> None:
        for_load = (
            0 if provisioned is None else int(np.ceil(provisioned[0] / READ_UNITS + provisioned[1] / WRITE_UNITS))
        )
        first = _FIRST_PARTITIONS if provisioned is None else 1
        count = min(_MOST, max(first, for_load, int(np.ceil(size / PARTITION_BYTES))))
        step = 2**64 // count
        self.starts: Positions = np.array([step * number for number in range(count)], dtype=np.uint64)
        self._saved_reads = np.zeros(count)
        self._saved_writes = np.zeros(count)
        self._busy = np.zeros(count, dtype=np.int64)
        self.first = count
        self._capacity = provisioned if fixed else None
        """What all partitions together serve at most, without auto scaling."""
        self._unused = np.zeros(2)

    def __len__(self) -> int:
        return len(self.starts)

    def find(self, positions: Positions) -> Numbers:
        """The number of the partition that has each position."""
        return np.searchsorted(self.starts, positions, "right") - 1

    def serve(self, reads: Floats, writes: Floats, seconds: float) -> Served:
        """Serve a step. Units that weren't used are saved for a burst, for 5 minutes at most."""
        refused_reads, self._saved_reads = _served(reads, self._saved_reads, READ_UNITS, seconds)
        refused_writes, self._saved_writes = _served(writes, self._saved_writes, WRITE_UNITS, seconds)
        used = np.maximum(reads / (READ_UNITS * seconds), writes / (WRITE_UNITS * seconds))
        self._busy = np.where(used >= _BUSY, self._busy + 1, 0)
        if self._capacity is not None:
            passed = np.array([(reads * (1 - refused_reads)).sum(), (writes * (1 - refused_writes)).sum()])
            beyond, self._unused = _served(passed, self._unused, np.array(self._capacity), seconds)
            refused_reads = 1 - (1 - refused_reads) * (1 - beyond[0])
            refused_writes = 1 - (1 - refused_writes) * (1 - beyond[1])
        return Served(reads, writes, refused_reads, refused_writes)

    def split(self, positions: Positions, weights: Floats) -> int:
        """Split the partitions that were busy for a while, by the load of a step; returns how many were split."""
        busy = np.flatnonzero(self._busy >= _BUSY_STEPS)
        if not len(busy) or len(self) >= _MOST:
            return 0
        owners = self.find(positions)
        cuts = [cut for number in busy if (cut := _cut(positions[owners == number], weights[owners == number]))]
        if cuts:
            self._insert(np.array(sorted(cuts), dtype=np.uint64))
        return len(cuts)

    def _insert(self, cuts: Positions) -> None:
        after = self.find(cuts)
        self.starts = np.sort(np.concatenate([self.starts, cuts]))
        order = np.searchsorted(after, np.arange(len(self._busy)), "right")
        counts = np.diff(np.concatenate([[0], order])) + 1
        old = np.repeat(np.arange(len(counts)), counts)
        self._saved_reads, self._saved_writes = self._saved_reads[old], self._saved_writes[old]
        self._busy = np.where(counts > 1, 0, self._busy)[old]


def _served(asked: Floats, saved: Floats, limit: float | Floats, seconds: float) -> tuple[Floats, Floats]:
    """The shares that are refused, and what is saved for later."""
    available = limit * seconds + saved
    refused = np.where(asked > available, 1 - available / np.maximum(asked, 1e-9), 0.0)
    left = np.clip(available - asked, 0.0, limit * _BURST_SECONDS)
    return refused, left


def _cut(positions: Positions, weights: Floats) -> int | None:
    """Where to split a partition so that half of the load is on either side; None if all of it is at one position."""
    found, inverse = np.unique(positions, return_inverse=True)
    if len(found) < 2:
        return None
    load = np.cumsum(np.bincount(inverse, weights))
    before = load[:-1] / load[-1]
    return int(found[1 + int(np.argmin(np.abs(before - 0.5)))])
