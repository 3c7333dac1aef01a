"""Hash shards: a number that spreads items over several partitions: `{shard(user_id, 16)}`.

The shard of a value is the first 8 bytes of the SHA-256 digest of its text in UTF-8, as an unsigned big-endian number,
modulo the number of shards. The text is the one that a key would have for it (a number without padding). There is no
seed. In a key, it is written with its number of shards, padded to one width: shard 5 of 16 is `05/16`.

SHA-256 spreads any values evenly, also those that were chosen to collide in a weaker hash, and every language has it.
The number of shards is part of the key, so that the partitions before and after a change of it are never the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from keyplan.design.errors import DesignError, InvalidValue

MOST_SHARDS = 256


def shard_of(text: str, count: int) -> int:
    """The shard of a value's text, from 0 to `count` - 1."""
    return int.from_bytes(sha256(text.encode()).digest()[:8]) % count


@dataclass(frozen=True)
class Shards:
    """How many shards a value is spread over, and how many it was spread over before, until all items are rewritten."""

    count: int
    was: int | None = None

    def text(self, value: str, count: int) -> str:
        """The shard of a value's text among so many, as keys have it."""
        try:
            return _text(shard_of(value, count), count)
        except UnicodeEncodeError:
            raise InvalidValue(
                "invalid", "key", "this text isn't valid Unicode: it contains a lone surrogate"
            ) from None

    @property
    def counts(self) -> tuple[int, ...]:
        """The numbers of shards in stored keys, the former one first.

        In this order, a list finds an item that is rewritten while it is read.
        """
        return (self.count,) if self.was is None else (self.was, self.count)

    def texts(self) -> Iterator[str]:
        """All shards, as keys have them."""
        for count in self.counts:
            for number in range(count):
                yield _text(number, count)

    def check(self, place: str) -> None:
        """Refuse numbers of shards that are out of range or the same."""
        for count in self.counts:
            if not 2 <= count <= MOST_SHARDS:
                raise DesignError(
                    "shard-count", place, f"{count} shards are out of range", f"Use 2 to {MOST_SHARDS} shards."
                )
        if self.was == self.count:
            raise DesignError("shard-count", place, f"there were {self.was} shards before, too", "Remove was=.")


def shard_width(count: int) -> int:
    """The number of digits of a shard."""
    return len(str(count - 1))


def _text(number: int, count: int) -> str:
    return f"{number:0{shard_width(count)}d}/{count}"
