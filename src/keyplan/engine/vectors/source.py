"""A vector index as a search reads it: in several short reads, between which others write."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from keyplan.engine.errors import validation_error
from keyplan.engine.storage.catalog import Table, VectorIndex
from keyplan.engine.storage.transaction import Transaction

T = TypeVar("T")


class Reads(Protocol):
    """Runs a function on a snapshot of the storage."""

    def __call__(self, work: Callable[[Transaction], T], /) -> T: ...


class Source:
    """An index, which may be deleted between two reads."""

    def __init__(self, reads: Reads, find: Callable[[Transaction], tuple[Table, VectorIndex]]) -> None:
        """`find` returns the index, or raises AWS's error if it isn't there."""
        self._reads = reads
        self._find = find
        self.table, self.index = reads(find)

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run a function on a snapshot that has the index."""

        def checked(transaction: Transaction) -> T:
            _, index = self._find(transaction)
            if index.rows != self.index.rows:  # it was deleted, and another one has its name
                raise validation_error(f"The table does not have the specified index: {index.name}")
            return work(transaction)

        return self._reads(checked)
