"""Texts that are printed by templates don't change the direction of what is around them.

`Isolation` is an extension of Jinja. It knows from the HTML of a template where each `{{ ... }}` is, and passes the
text through a filter: between elements it is put into `<bdi>`, and where no element can be, in a title, an option or an
attribute that people read, between the characters U+2068 and U+2069. Values of inputs and addresses stay as they are.
So does every text without letters or controls of another direction, which are nearly all. In a sentence that was made
with `isolated` names, only these are isolated.
"""

import re
from collections.abc import Iterable, Iterator

from jinja2.environment import Environment
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from markupsafe import Markup, escape

from keyplan.web.system.directions import FIRST_STRONG, POP, balanced, turns

_ISOLATED = re.compile("<bdi>.*?</bdi>", re.DOTALL)
_NAME = re.compile(f"{FIRST_STRONG}([^\u2066-\u2069]*){POP}")
"""A name that was isolated when its sentence was made."""
_ONLY_TEXT = {"title", "option"}
"""Elements without elements in them."""
_READ_BY_PEOPLE = {"alt", "aria-description", "aria-label", "label", "placeholder", "title"}
"""Attributes that are shown or read aloud."""


def in_html(value: object) -> object:
    """A text between elements, isolated; of a sentence, only the names that it was made with."""
    if not isinstance(value, str) or value.isascii():
        return value
    if _turns(value):
        return Markup("<bdi>{}</bdi>").format(_balanced(value))
    if isinstance(value, Markup) or FIRST_STRONG not in value:
        return value
    pieces = _NAME.split(value)  # texts, with names between them
    shown = (Markup("<bdi>{}</bdi>").format(each) if at % 2 else escape(each) for at, each in enumerate(pieces))
    return Markup().join(shown)


def in_text(value: object) -> object:
    """A text where no element can be, isolated."""
    if not isinstance(value, str):
        return value
    turned = _turns(value)
    if isinstance(value, Markup):  # of a macro, which doesn't know where it is used
        value = value.replace(Markup("<bdi>"), Markup(FIRST_STRONG)).replace(Markup("</bdi>"), Markup(POP))
    # Made of the same type, so that markup is not escaped again.
    return type(value)(f"{FIRST_STRONG}{_balanced(value)}{POP}") if turned else value


def _turns(text: str) -> bool:
    """Whether a text would change the direction of what is around it.

    Of markup, only what has no elements is text: names that a template put together with the output of a macro.
    """
    if isinstance(text, Markup):
        text = _ISOLATED.sub("", text)
        return "<" not in text and turns(text)
    return turns(_NAME.sub("", text))


def _balanced(text: str) -> str:
    return Markup(balanced(text)) if isinstance(text, Markup) else balanced(text)


class Isolation(Extension):
    """Adds the filters to the expressions of a template."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        environment.filters["isolated_in_html"] = in_html
        environment.filters["isolated_in_text"] = in_text

    def filter_stream(self, stream: TokenStream) -> Iterable[Token]:
        """The tokens of a template, with a filter at the end of each expression that is printed."""
        place, blocks = _Place(), _Blocks()
        name: str | None = None
        for token in stream:
            if token.type == "data":
                place.read(token.value)
            blocks.read(token)
            if token.type == "variable_begin":
                name = "isolated_in_text" if blocks.in_title and place.in_html else place.filter
                yield token
                if name is not None:
                    yield Token(token.lineno, "lparen", "(")
            elif token.type == "variable_end" and name is not None:
                yield from _filtered(token, name)
            else:
                yield token


def _filtered(end: Token, name: str) -> Iterator[Token]:
    yield Token(end.lineno, "rparen", ")")
    yield Token(end.lineno, "pipe", "|")
    yield Token(end.lineno, "name", name)
    yield end


class _Blocks:
    """Whether tokens are in the block `title`, whose element is in another template."""

    def __init__(self) -> None:
        self._open: list[str] = []
        self._words: list[str] = []

    def read(self, token: Token) -> None:
        if token.type == "block_begin":
            self._words = []
        elif token.type == "name":
            self._words.append(token.value)
        elif token.type == "block_end" and self._words:
            if self._words[0] == "block":
                self._open.append(self._words[1])
            elif self._words[0] == "endblock":
                self._open.pop()
            self._words = []

    @property
    def in_title(self) -> bool:
        return "title" in self._open


_NEXT = re.compile(
    r"""<(?P<slash>/?)(?P<element>[a-zA-Z][\w-]*)   # the beginning of a tag
    | (?P<attribute>[\w-]+)\s*=\s*(?P<quote>["'])    # the beginning of an attribute's value
    | (?P<end>["'>])                                 # the end of a value or of a tag
    """,
    re.VERBOSE,
)


class _Place:
    """Where we are in the HTML of a template, as far as it was read."""

    def __init__(self) -> None:
        self._tag = self._element = self._attribute = self._quote = ""

    def read(self, html: str) -> None:
        for found in _NEXT.finditer(html):
            if self._quote:
                if (found["end"] or found["quote"]) == self._quote:
                    self._attribute = self._quote = ""
            elif self._tag:
                if found["quote"]:
                    self._attribute, self._quote = found["attribute"].lower(), found["quote"]
                elif found["end"] == ">":
                    self._element = "" if self._tag.startswith("/") else self._tag
                    self._tag = ""
            elif found["element"]:
                self._tag = found["slash"] + found["element"].lower()

    @property
    def in_html(self) -> bool:
        return not self._tag

    @property
    def filter(self) -> str | None:
        """The filter for an expression here."""
        if self._quote:
            return "isolated_in_text" if self._attribute in _READ_BY_PEOPLE else None
        if self._tag or self._element in ("script", "style", "textarea"):
            return None
        return "isolated_in_text" if self._element in _ONLY_TEXT else "isolated_in_html"
