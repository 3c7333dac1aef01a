"""Cursors: where a page ended, signed, and bound to what it was a page of.

A cursor is opaque to its holder. It is good in every process that has the same secret, for the same pattern with the
same arguments. A pattern's argument `now` is frozen in it: the pages of one list are of one moment.
"""

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from keyplan.data.codec.values import Item
from keyplan.data.errors import BadCursor

_SIGNATURE = 16
FROZEN = "now"


class Cursors:
    """Makes and opens cursors with a secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = hashlib.blake2b(secret).digest()  # of a key's length, whatever is given

    def seal(self, subject: str, arguments: Mapping[str, object], position: object) -> str:
        """A cursor for a position of this list."""
        frozen = arguments.get(FROZEN)
        content = {"p": position, "n": frozen.isoformat() if isinstance(frozen, datetime) else None}
        body = orjson.dumps(content, default=_bytes_to_text)
        signature = self._signature(subject, arguments, body)
        return urlsafe_b64encode(signature + self._hidden(signature, body)).decode().rstrip("=")

    def open(self, subject: str, arguments: Mapping[str, object], cursor: str) -> tuple[Any, datetime | None]:
        """The position in a cursor of this list, and its moment; refuses any other."""
        try:
            data = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        except (ValueError, TypeError):
            raise BadCursor("this is no cursor") from None
        signature = data[:_SIGNATURE]
        body = self._hidden(signature, data[_SIGNATURE:])
        if not hmac.compare_digest(signature, self._signature(subject, arguments, body)):
            raise BadCursor("the cursor is not one of this list")
        content = json.loads(body, object_hook=_text_to_bytes)
        return content["p"], datetime.fromisoformat(content["n"]) if content["n"] else None

    def _hidden(self, signature: bytes, body: bytes) -> bytes:
        """The body made unreadable, or readable again: it holds stored keys, which are nobody's business.

        The signature, which differs for every body, starts a stream of bytes that only the secret's holder can make.
        """
        stream = hashlib.shake_256(self._secret + signature).digest(len(body))
        mixed = int.from_bytes(body, "big") ^ int.from_bytes(stream, "big")
        return mixed.to_bytes(len(body), "big")

    def _signature(self, subject: str, arguments: Mapping[str, object], body: bytes) -> bytes:
        shown = [f"{name}={_shown(value)}" for name, value in sorted(arguments.items()) if name != FROZEN]
        message = "\0".join([subject, *shown]).encode() + b"\0" + body
        return hashlib.blake2b(message, key=self._secret, digest_size=_SIGNATURE).digest()


def _shown(value: object) -> str:
    """A value as text that is the same in every process, and for every spelling of one moment."""
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
        case set() | frozenset():
            return f"{{{', '.join(sorted(map(_shown, value)))}}}"
        case list() | tuple():
            return f"[{', '.join(map(_shown, value))}]"
    return repr(value)


def _bytes_to_text(value: object) -> object:
    assert isinstance(value, bytes)
    return {"__bytes__": value.hex()}


def _text_to_bytes(value: dict[str, Any]) -> object:
    return bytes.fromhex(value["__bytes__"]) if value.keys() == {"__bytes__"} else value


def position_of(item: Item, names: tuple[str, ...]) -> Item:
    """The key that a list goes on behind: what DynamoDB's LastEvaluatedKey is for this item."""
    return {name: item[name] for name in names}
