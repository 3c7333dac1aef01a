"""SQLite tables of numbered entries with a time: streams and histories.

Numbers have no gaps, and entries are in the order of time, so that a moment is found by a binary search.
"""

from typing import cast

from keyplan.engine.storage.transaction import Transaction


def last_number(transaction: Transaction, log: str) -> int:
    """Return the number of the last entry; 0 if there is none."""
    number: int | None = transaction.sql(f"SELECT max(number) FROM {log}").get
    return number or 0


def last_before(transaction: Transaction, log: str, moment: float) -> int:
    """Return the number of the last entry before a moment, stored or not."""
    low, high = cast(
        tuple[int | None, int | None],
        transaction.sql(f"SELECT min(number), max(number) FROM {log}").fetchone(),
    )
    if low is None or high is None:
        return 0

    def later(number: int) -> bool:
        return bool(transaction.sql(f"SELECT at FROM {log} WHERE number = ?", (number,)).get >= moment)

    if later(low):
        return low - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (low, middle - 1) if later(middle) else (middle, high)
    return low
