"""Slugs: titles and names in URLs."""

import re
import unicodedata

_NOT_IN_SLUGS = re.compile(r"[^a-z0-9]+")
_LETTERS = str.maketrans({"æ": "ae", "ø": "o", "ł": "l", "đ": "d", "þ": "th", "œ": "oe"})
"""Letters that don't decompose into a letter and a mark. (Case folding makes ß ss.)"""
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe"})


def slug_of(text: str, longest: int, *, german: bool = False) -> str:
    """The slug of a text: a-z, 0-9 and hyphens; empty if no character of the text can be in one.

    Marks are removed from letters. With `german`, ä becomes ae, and so on.
    """
    # Composed first: some keyboards send ä as a and two dots.
    plain = unicodedata.normalize("NFC", text).casefold()
    plain = unicodedata.normalize("NFKD", plain.translate(_GERMAN) if german else plain).translate(_LETTERS)
    return _NOT_IN_SLUGS.sub("-", plain.encode("ascii", "ignore").decode()).strip("-")[:longest].rstrip("-")
