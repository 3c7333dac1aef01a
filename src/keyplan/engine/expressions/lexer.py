"""Splits the text of an expression into tokens.

A character that can't start a token is a token of its own (`OTHER`), because it is the parser that refuses it: AWS's
message names the token and its neighbors.
"""

import re
from typing import NamedTuple

NAME = "name"
NAME_PLACEHOLDER = "#name"
VALUE_PLACEHOLDER = ":value"
NUMBER = "number"
KEYWORD = "keyword"
SYMBOL = "symbol"
OTHER = "other"
END = "end"

KEYWORDS = frozenset({"AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE"})

_TOKEN = re.compile(
    r"[ \t\r\n]*(?:"
    r"(?P<name>[A-Za-z][A-Za-z0-9_]*)"
    r"|(?P<name_placeholder>\#[A-Za-z0-9_]+)"
    r"|(?P<value_placeholder>:[A-Za-z0-9_]+)"
    r"|(?P<number>0|[1-9][0-9]*)"  # no zeros in front: 01 are two numbers
    r"|(?P<symbol><>|<=|>=|[=<>+\-(),.\[\]])"
    r"|(?P<other>[^ \t\r\n])"
    r")"
)

_KINDS = {
    "name": NAME,
    "name_placeholder": NAME_PLACEHOLDER,
    "value_placeholder": VALUE_PLACEHOLDER,
    "number": NUMBER,
    "symbol": SYMBOL,
    "other": OTHER,
}


class Token(NamedTuple):
    """A part of the text. The grammar compares `symbol`: a keyword in capitals, an operator, or empty for names etc."""

    kind: str
    text: str
    symbol: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """Return all tokens of the text, followed by one of kind `END`."""
    result: list[Token] = []
    for match in _TOKEN.finditer(text):
        group = match.lastgroup or "other"
        kind = _KINDS[group]
        part = match[group]
        symbol = ""
        if kind is SYMBOL:
            symbol = part
        elif kind is NAME and part.upper() in KEYWORDS:
            kind, symbol = KEYWORD, part.upper()
        result.append(Token(kind, part, symbol, match.start(group), match.end(group)))
    result.append(Token(END, "<EOF>", "<EOF>", len(text), len(text)))
    return result
