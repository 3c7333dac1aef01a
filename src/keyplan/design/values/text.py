"""Text of one line for people: names, titles and tags.

`Annotated[str, OneLine(max_length=80)]` is such a text. Bodies and forms bring it into Unicode's composed form (NFC).
What can't be seen, or would change how the text around it is shown, is refused. Both are limits: what was stored before
is read as it is, and has to be corrected when the field is changed. docs/decisions/names.md says why.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from keyplan.design.values.limits import CHECKED_ON_WRITE, WRITTEN, Limit

_CONTROLS = "\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029"
"""C0 and C1 controls, and the line breaks of Unicode."""
_HIDDEN = "\\u200b\\u2060\\ufeff\\u202a-\\u202e\\u2066-\\u2069"
"""Characters without width, and those that set the direction of what follows."""
_JOINERS = "\\u200c\\u200d\\u200e\\u200f\\u061c"
"""Joiners (Persian, Indic scripts, emoji) and marks of direction, which have an effect between two characters only."""
_SELECTORS = "\\ufe00-\\ufe0f\\U000e0100-\\U000e01ef\\u180b-\\u180d\\u180f"
"""Variation selectors, which belong to the character before them: the last of a red heart is one."""
_PATTERN: Final = f"^[^{_CONTROLS}{_HIDDEN}]*$"

_control = re.compile(f"[{_CONTROLS}]").search
_hidden = re.compile(f"[{_HIDDEN}]").finditer
_dangling = re.compile(
    f"(?<![^\\s{_JOINERS}])(?P<joiner>[{_JOINERS}])|(?P<last>[{_JOINERS}])(?![^\\s{_JOINERS}{_SELECTORS}])"
    f"|(?<![^\\s{_JOINERS}{_SELECTORS}])(?P<selector>[{_SELECTORS}])"
).finditer
"""A joiner without a character on both sides, or a selector without one before it."""
_INVISIBLE = "This contains invisible characters ({characters}). Type it again, or paste it as plain text."
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and symbols that look like nothing."""
_UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Cs"})
"""The categories of characters that look like nothing. Those that this Python doesn't know yet may be visible."""


def check_line(text: str) -> None:
    """Refuse a text that isn't one visible line."""
    if not text or (text.isascii() and text.isprintable()):
        return
    if _control(text):
        raise PydanticCustomError("control_character", "Use one line, without line breaks or control characters.")
    if found := {each[0]: f"U+{ord(each[0]):04X}" for find in (_hidden, _dangling) for each in find(text)}:
        raise PydanticCustomError("hidden_character", _INVISIBLE, {"characters": ", ".join(found.values())})
    if all(each in _BLANK or unicodedata.category(each) in _UNSEEN for each in text):
        raise PydanticCustomError("nothing_visible", "Use at least one visible character.")


def _is_composed(text: str) -> bool:
    return text.isascii() or unicodedata.is_normalized("NFC", text)


def _is_allowed(text: str) -> bool:
    try:
        check_line(text)
    except PydanticCustomError:
        return False
    return True


@dataclass(frozen=True, kw_only=True)
class OneLine(Limit):
    """A text of one line, with a length in characters: `Annotated[str, OneLine(max_length=80)]`."""

    check: Callable[[Any], object] = check_line
    pattern: str | None = _PATTERN
    min_length: int = 1
    max_length: int

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        text = core_schema.str_schema(min_length=self.min_length or None, max_length=self.max_length)
        composed = core_schema.with_info_before_validator_function(_composed, text)
        return core_schema.with_info_after_validator_function(_checked, composed)


def _composed(value: object, info: core_schema.ValidationInfo) -> object:
    if not isinstance(value, str) or _is_composed(value):
        return value
    if info.context == WRITTEN:
        raise PydanticCustomError("not_composed", "Use the composed form of Unicode (NFC).")
    if info.context == CHECKED_ON_WRITE and not _is_allowed(value):
        return value  # perhaps it is the stored text, unchanged
    return unicodedata.normalize("NFC", value)


def _checked(value: str, info: core_schema.ValidationInfo) -> str:
    if info.context != CHECKED_ON_WRITE:
        check_line(value)
    return value
