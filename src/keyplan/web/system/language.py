"""The language of a system's pages.

The kit and the rules of the systems use English. A system whose pages have another language has a catalog:
`Language("fr", {"Sign in": "Se connecter", "Signed in as {name}": "Bonjour, {name} !"})`. The kit has its own
sentences in German, `GERMAN`, and a system adds its words: `GERMAN.with_words({"Title": "Titel"})`.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import cached_property

_VALUE = re.compile(r"{(\w+)}")


def english_day(value: date) -> str:
    """A day as people write it in English: 1 May 2026."""
    return f"{value:%-d %B %Y}"


class Language:
    """A language, with translations of English sentences. A sentence without a translation stays English.

    A name in braces stands for any text.
    """

    def __init__(
        self, code: str = "en", words: Mapping[str, str] | None = None, day: Callable[[date], str] | None = None
    ) -> None:
        self.code = code
        """The language code, as in HTML."""
        self.words = words or {}
        self.day = day or english_day
        """A day as people write it."""

    def with_words(self, words: Mapping[str, str]) -> "Language":
        """The language with the words of a system, which come first."""
        return Language(self.code, {**self.words, **words}, self.day)

    def say(self, text: str) -> str:
        """A sentence of the kit or of a rule, in this language."""
        if (found := self.words.get(text)) is not None:
            return found
        for pattern, words in self._patterns:
            if (match := pattern.fullmatch(text)) is not None:
                return words.format_map(match.groupdict())
        return text

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        return [(_pattern(english), words) for english, words in self.words.items() if _VALUE.search(english)]


def _pattern(english: str) -> re.Pattern[str]:
    pieces = _VALUE.split(english)  # texts, with names between them
    return re.compile(
        "".join(f"(?P<{each}>.+)" if at % 2 else re.escape(each) for at, each in enumerate(pieces)), re.DOTALL
    )


ENGLISH = Language()
