"""Slugs: what a title or a name is called in an address."""

import re
import unicodedata

_NOT_IN_SLUGS = re.compile(r"[^a-z0-9]+")
_LETTERS = str.maketrans({"æ": "ae", "ø": "o", "ł": "l", "đ": "d", "þ": "th", "œ": "oe"})
"""Letters that are no other letter with a mark; ß is ss without regard to case."""
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe"})


def slug_of(text: str, longest: int, *, german: bool = False) -> str:
    """The slug of a text: a-z, 0-9 and hyphens; empty where nothing of the text can be in one.

    A letter with a mark is the letter; `german`: an umlaut is two.
    """
    # Composed first: a keyboard may send ä as a and two dots.
    plain = unicodedata.normalize("NFC", text).casefold()
    plain = unicodedata.normalize("NFKD", plain.translate(_GERMAN) if german else plain).translate(_LETTERS)
    return _NOT_IN_SLUGS.sub("-", plain.encode("ascii", "ignore").decode()).strip("-")[:longest].rstrip("-")
