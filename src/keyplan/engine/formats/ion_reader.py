"""Items from lines of Amazon Ion text.

It reads Ion 1.0 text as far as items need it: structs, lists, strings, symbols as names, all kinds of numbers,
booleans, nulls, blobs, and the annotations of sets. Types that DynamoDB doesn't have are refused: timestamps, clobs,
symbols as values, S-expressions.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from keyplan.engine.formats.lines import BadRecord

DEEPEST = 64
"""Levels of nesting; DynamoDB has 32, and reports more itself."""

LONGEST_BITS = 500
"""Digits of a hexadecimal or binary number; the largest of DynamoDB has 419 bits."""

_TOKENS = re.compile(
    r"""
      (?P<space>  \s+ | //[^\n]* | /\*.*?\*/ )
    | (?P<blob>   \{\{[A-Za-z0-9+/=\s]*+\}\} )
    | (?P<long>   '''(?:[^'\\]++|\\.|'(?!''))*+''' )
    | (?P<string> "(?:[^"\\]++|\\.)*+" )
    | (?P<quoted> '(?:[^'\\]++|\\.)*+' )
    | (?P<number> [+-]?(?:0[xX][0-9a-fA-F_]++|0[bB][01_]++|\d[\d_]*+(?:\.[\d_]*+)?(?:[eEdD][+-]?\d++)?)(?![\w.:-]) )
    | (?P<name>   [A-Za-z_$][\w$]*(?:\.[a-z]+)? )
    | (?P<mark>   :: | [{}\[\],:] )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPES = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\r\n|.)", re.DOTALL)
_SIMPLE = {"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "v": "\v", "\n": "", "\r\n": ""}
_SETS = {"$dynamodb_SS": "SS", "$dynamodb_NS": "NS", "$dynamodb_BS": "BS"}
_NULL = re.compile(r"null(?:\.[a-z]+)?")


class _Token(NamedTuple):
    kind: str
    text: str


def read_record(line: bytes) -> dict[str, object]:
    """Return the struct of a line, which has an `Item`, with its values as attribute values in JSON form.

    Members other than the item are plain: texts, and maps of texts or of attribute values.
    """
    try:
        return _Reader(line.decode()).record()
    except UnicodeDecodeError:
        raise BadRecord("The line is not UTF-8") from None


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while position < len(text):
        found = _TOKENS.match(text, position)
        if found is None or found.lastgroup is None:
            raise BadRecord(f"The line is not Ion text: unexpected {text[position : position + 10]!r}")
        position = found.end()
        if found.lastgroup != "space":
            yield _Token(found.lastgroup, found.group())
    yield _Token("end", "")


class _Reader:
    """Reads one line."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._token = next(self._tokens)

    def record(self) -> dict[str, object]:
        if self._token == ("name", "$ion_1_0"):
            self._next()
        self._expect("{")
        record: dict[str, object] = {}
        structs = set()
        for name in self._names():
            if self._token == ("mark", "{"):
                structs.add(name)
            record[name] = self._struct(1) if name in structs else self._value(1)
        if self._token.kind != "end":
            self._refuse()
        if "Item" not in structs:
            raise BadRecord("The line is not a struct with an Item")
        return {name: value if name == "Item" else _plain(name, value) for name, value in record.items()}

    def _next(self) -> _Token:
        token = self._token
        if token.kind != "end":
            self._token = next(self._tokens)
        return token

    def _expect(self, mark: str) -> None:
        if self._token != ("mark", mark):
            self._refuse()
        self._next()

    def _refuse(self) -> NoReturn:
        raise BadRecord(f"The line is not Ion text: unexpected {self._token.text[:10] or 'end'!r}")

    def _names(self) -> Iterator[str]:
        """Yield the names in a struct that has begun; the caller reads their values."""
        while self._token != ("mark", "}"):
            token = self._next()
            match token.kind:
                case "name":
                    name = token.text
                case "quoted" | "string":
                    name = _unescaped(token.text[1:-1])
                case _:
                    raise BadRecord(f"The line is not Ion text: {token.text[:10]!r} is not a name")
            self._expect(":")
            yield name
            if self._token != ("mark", "}"):
                self._expect(",")
        self._next()

    def _struct(self, depth: int) -> dict[str, object]:
        self._expect("{")
        members: dict[str, object] = {}
        for name in self._names():
            if name in members:
                raise BadRecord(f"A struct has two fields with the same name: {name}")
            members[name] = self._value(depth + 1)
        return members

    def _value(self, depth: int) -> dict[str, object]:
        """Return the attribute value that starts here."""
        if depth > DEEPEST:
            raise BadRecord("The item is nested too deeply")
        token = self._token
        if token == ("mark", "{"):
            return {"M": self._struct(depth)}
        if token == ("mark", "["):
            return {"L": self._list(depth)}
        self._next()
        match token.kind:
            case "string":
                return {"S": _unescaped(token.text[1:-1])}
            case "long":
                return {"S": self._long(token)}
            case "number":
                return {"N": _number(token.text)}
            case "blob":
                return {"B": "".join(token.text[2:-2].split())}
            case "name" if token.text in ("true", "false"):
                return {"BOOL": token.text == "true"}
            case "name" if _NULL.fullmatch(token.text):
                return {"NULL": True}
            case "name" | "quoted" if self._token == ("mark", "::"):
                return self._set(token, depth)
        raise BadRecord(f"DynamoDB has no type for the Ion value {token.text[:20]!r}")

    def _list(self, depth: int) -> list[dict[str, object]]:
        self._expect("[")
        values = []
        while self._token != ("mark", "]"):
            values.append(self._value(depth + 1))
            if self._token != ("mark", "]"):
                self._expect(",")
        self._next()
        return values

    def _set(self, annotation: _Token, depth: int) -> dict[str, object]:
        kind = _SETS.get(annotation.text.strip("'"))
        self._next()
        if kind is None or self._token != ("mark", "["):
            raise BadRecord(f"Unknown annotation {annotation.text[:30]}")
        values = self._list(depth)
        if any(kind[0] not in value for value in values):
            raise BadRecord(f"A set of type {kind} has a value of another type")
        return {kind: [value[kind[0]] for value in values]}

    def _long(self, token: _Token) -> str:
        parts = [token.text[3:-3]]
        while self._token.kind == "long":
            parts.append(self._next().text[3:-3])
        return "".join(_unescaped(part) for part in parts)


def _number(text: str) -> str:
    """Return a number as DynamoDB writes it; whether it is in its range is checked with the item."""
    digits = text.replace("_", "")
    sign, unsigned = ("-", digits[1:]) if digits.startswith("-") else ("", digits.lstrip("+"))
    if unsigned[:2].lower() in ("0x", "0b"):
        if len(unsigned) > LONGEST_BITS:
            raise BadRecord(f"A number has more than {LONGEST_BITS} digits: {unsigned[:20]}...")
        return sign + str(int(unsigned, 0))
    return sign + unsigned.upper().replace("D", "E").replace(".E", "E").rstrip(".")


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def replaced(found: re.Match[str]) -> str:
        escape = found.group()[1:]
        if escape[0] in "xuU" and len(escape) > 1:
            return chr(int(escape[1:], 16))
        return _SIMPLE.get(escape, escape)

    try:
        return _ESCAPES.sub(replaced, text).encode("utf-16", "surrogatepass").decode("utf-16")
    except (ValueError, UnicodeDecodeError):
        raise BadRecord("A text has an escape that is no character") from None


def _plain(name: str, value: object) -> object:
    """Return a member of a conditional put: a text, a map of texts, or a map of attribute values."""
    if not isinstance(value, dict):
        return value
    if name == "ExpressionAttributeValues":
        return value
    if set(value) == {"S"} and isinstance(value["S"], str):
        return value["S"]
    return {key: each["S"] if isinstance(each, dict) and "S" in each else each for key, each in value.items()}
