"""What somebody else changed since a form was shown.

A form about a version carries a short digest of each value that it showed first (`SHOWN`). If there is a newer version
when it comes back, three values are compared: what was shown, what was entered, and what is stored now. A field that
only somebody else has changed gets the newer value. A field that both have changed keeps what was entered, and the page
shows the newer value beside it. A form without digests, such as another client's, keeps everything that it sent.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

SHOWN = "shown"
"""The name of the hidden field with the digests."""
_LONG = 120

Texts = Sequence[str]
"""The values of a field, as its inputs have them."""


@dataclass(frozen=True)
class Newer:
    """The value that a field has now, and that the form didn't show."""

    field: str
    texts: Texts
    is_taken: bool
    """Whether the form has it, because nobody had changed the field there."""

    @property
    def is_long(self) -> bool:
        """Whether it needs more than a line."""
        return any("\n" in text or len(text) > _LONG for text in self.texts)


def digests_of(values: Mapping[str, Texts]) -> str:
    """The digests of values, as the hidden field has them."""
    return " ".join(f"{name}={_digest(texts)}" for name, texts in values.items())


def changed_since(shown: str, entered: Mapping[str, Texts]) -> set[str]:
    """The fields that have other values than those that were shown, by the digests of the form."""
    first = _digests_in(shown)
    return {name for name, texts in entered.items() if first.get(name) != _digest(texts)}


def newer_values(
    entered: Mapping[str, Texts], now: Mapping[str, Texts], shown: str, together: Iterable[Texts]
) -> dict[str, Newer]:
    """The newer values of fields, by name. `shown` are the digests of the form.

    `together` are groups of fields that make one value, such as the parts of an address: they keep what was entered if
    one of them was changed.
    """
    first = _digests_in(shown)
    group_of = {name: group for group in together for name in group}
    untouched = {name for name in now if first.get(name) == _digest(entered.get(name, ()))}
    found: dict[str, Newer] = {}
    for name, texts in now.items():
        digest = _digest(texts)
        if digest not in (first.get(name), _digest(entered.get(name, ()))):
            is_taken = all(each in untouched for each in group_of.get(name, (name,)) if each in now)
            found[name] = Newer(name, texts, is_taken)
    return found


def _digests_in(shown: str) -> dict[str, str]:
    return dict(each.split("=", 1) for each in shown.split() if "=" in each)


def _digest(texts: Texts) -> str:
    """A digest that is the same in whatever order boxes were ticked, and with spaces around a text."""
    values = sorted(text for each in texts if (text := each.strip()))
    return hashlib.blake2b("\0".join(values).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
