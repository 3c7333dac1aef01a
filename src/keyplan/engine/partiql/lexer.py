"""Splits a statement into tokens. The kinds have the names that AWS's messages use ("Expected RIGHT_PAREN")."""

import re
from typing import NamedTuple

from keyplan.engine.partiql.keywords import KEYWORDS, OPERATORS, TOGETHER
from keyplan.engine.partiql.statement_errors import Span, malformed

IDENTIFIER = "IDENTIFIER"
QUOTED_IDENTIFIER = "QUOTED_IDENTIFIER"
KEYWORD = "KEYWORD"
OPERATOR = "OPERATOR"
STRING = "STRING"
NUMBER = "NUMBER"
BOOLEAN = "BOOLEAN"
NULL = "NULL"
MISSING = "MISSING"
PARAMETER = "QUESTION_MARK"
EOF = "EOF"

_SYMBOLS = {
    "(": "LEFT_PAREN",
    ")": "RIGHT_PAREN",
    "[": "LEFT_BRACKET",
    "]": "RIGHT_BRACKET",
    "{": "LEFT_CURLY",
    "}": "RIGHT_CURLY",
    "<<": "LEFT_DOUBLE_ANGLE_BRACKET",
    ">>": "RIGHT_DOUBLE_ANGLE_BRACKET",
    ":": "COLON",
    ",": "COMMA",
    ".": "DOT",
    "*": "STAR",
    ";": "SEMICOLON",
    "?": PARAMETER,
}
_WORDS = {
    **{word: word.upper() for word in ("as", "at", "by", "for", "asc", "desc")},
    "null": NULL,
    "missing": MISSING,
    "true": BOOLEAN,
    "false": BOOLEAN,
    **dict.fromkeys(KEYWORDS, KEYWORD),
    **dict.fromkeys(OPERATORS, OPERATOR),
}
_SPELLINGS = {"!=": "<>"}

# A number ends where it can't go on; "1e" isn't the number 1 and a name.
_TOKEN = re.compile(
    r"""
      (?P<space> [ \t\r\n\f\v]+ | --[^\r\n]* | /\*(?>.*?\*/) )
    | (?P<string> '(?:[^']|'')*' )
    | (?P<quoted> "(?:[^"]|"")*" )
    | (?P<number> (?>[0-9]+(?:\.[0-9]*)?|\.[0-9]+) (?:[eE][+-]?[0-9]+|(?![eE])) )
    | (?P<word> [A-Za-z_$][A-Za-z0-9_$]* )
    | (?P<symbol> << | >> | <= | >= | <> | != | \|\| | /(?!\*) | [()\[\]{}:,*;?<>=+\-%@.] )
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """A part of the statement. `text` is a name or string without its quotes, or a keyword or operator in lower case.

    Keywords that belong together ("insert into") are one token.
    """

    kind: str
    text: str
    span: Span


def tokens(statement: str) -> list[Token]:
    """Return all tokens of the statement, followed by one of kind `EOF`; comments and spaces are left out."""
    result: list[Token] = []
    position, line, line_start = 0, 1, 0
    while position < len(statement):
        match = _TOKEN.match(statement, position)
        if match is None:
            raise malformed("")  # AWS's lexer has no words for what it can't read
        group, text = str(match.lastgroup), match.group()
        span = Span(line, position - line_start + 1, len(text))
        position = match.end()
        if "\n" in text:
            line += text.count("\n")
            line_start = position - (len(text) - text.rindex("\n") - 1)
        if group != "space":
            _add(result, _token(group, text, span))
    result.append(Token(EOF, "", Span(line, position - line_start + 1, 0)))
    return result


def _token(group: str, text: str, span: Span) -> Token:
    match group:
        case "string":
            return Token(STRING, text[1:-1].replace("''", "'"), span)
        case "quoted":
            return Token(QUOTED_IDENTIFIER, text[1:-1].replace('""', '"'), span)
        case "number":
            return Token(NUMBER, text, span)
        case "word":
            kind = _WORDS.get(text.lower())
            return Token(IDENTIFIER, text, span) if kind is None else Token(kind, text.lower(), span)
    return Token(_SYMBOLS.get(text, OPERATOR), _SPELLINGS.get(text, text), span)


def _add(result: list[Token], token: Token) -> None:
    """Append a token, or combine it with the one before it."""
    if result and (result[-1].text, token.text) in TOGETHER and result[-1].kind in (KEYWORD, OPERATOR):
        before = result.pop()
        token = Token(before.kind, f"{before.text} {token.text}", before.span)
    result.append(token)
