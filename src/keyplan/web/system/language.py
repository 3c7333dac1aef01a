"""The language of a system's pages.

The kit, and the rules of the systems, speak English. A system whose people speak another language gives its words for
what is said: `Language("de", {"Sign in": "Anmelden", "Only {types} are taken.": "Es geht nur {types}."})`.
"""

import re
from collections.abc import Mapping
from functools import cached_property

_VALUE = re.compile(r"{(\w+)}")


class Language:
    """A language, and what is said in it for what is said in English; what it has no words for stays English.

    In a sentence with names in braces, any text may stand for each of them.
    """

    def __init__(self, code: str = "en", words: Mapping[str, str] | None = None) -> None:
        self.code = code
        """As HTML names it."""
        self.words = words or {}

    def say(self, text: str) -> str:
        """A text of the kit or of a rule, in this language."""
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
    pieces = _VALUE.split(english)  # texts, and between them names
    return re.compile(
        "".join(f"(?P<{each}>.+)" if at % 2 else re.escape(each) for at, each in enumerate(pieces)), re.DOTALL
    )


ENGLISH = Language()
