"""Cursors: where a page of a list ended, signed and encrypted.

A cursor is opaque to its holder. It is valid in every process with the same secret, for the same pattern with the same
arguments. It keeps a pattern's argument `now`, so that all pages of a list are of the same moment.
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
    """Seals and opens cursors with a secret."""

    def __init__(self, secret: bytes) -> None:
        self._secret = hashlib.blake2b(secret).digest()  # a secret may be longer than a key of blake2b

    def seal(self, subject: str, arguments: Mapping[str, object], position: object) -> str:
        """The cursor for a position in this list."""
        frozen = arguments.get(FROZEN)
        content = {"p": position, "n": frozen.isoformat() if isinstance(frozen, datetime) else None}
        body = orjson.dumps(content, default=_bytes_to_text)
        signature = self._signature(subject, arguments, body)
        return urlsafe_b64encode(signature + self._hidden(signature, body)).decode().rstrip("=")

    def open(self, subject: str, arguments: Mapping[str, object], cursor: str) -> tuple[Any, datetime | None]:
        """The position in a cursor of this list, and its moment; raises `BadCursor` for any other cursor."""
        try:
            data = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        except (ValueError, TypeError):
            raise BadCursor("this isn't a cursor") from None
        signature = data[:_SIGNATURE]
        body = self._hidden(signature, data[_SIGNATURE:])
        if not hmac.compare_digest(signature, self._signature(subject, arguments, body)):
            raise BadCursor("the cursor belongs to another list")
        content = json.loads(body, object_hook=_text_to_bytes)
        return content["p"], datetime.fromisoformat(content["n"]) if content["n"] else None

    def _hidden(self, signature: bytes, body: bytes) -> bytes:
        """Encrypt or decrypt the body, because it contains stored keys.

        The secret and the signature, which differs for every body, seed the stream of bytes that the body is XORed
        with.
        """
        stream = hashlib.shake_256(self._secret + signature).digest(len(body))
        mixed = int.from_bytes(body, "big") ^ int.from_bytes(stream, "big")
        return mixed.to_bytes(len(body), "big")

    def _signature(self, subject: str, arguments: Mapping[str, object], body: bytes) -> bytes:
        shown = [f"{name}={_shown(value)}" for name, value in sorted(arguments.items()) if name != FROZEN]
        message = "\0".join([subject, *shown]).encode() + b"\0" + body
        return hashlib.blake2b(message, key=self._secret, digest_size=_SIGNATURE).digest()


def _shown(value: object) -> str:
    """A value as text: the same in every process, and in every time zone for one moment."""
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
    """The key to continue a list after: what DynamoDB's LastEvaluatedKey is for this item."""
    return {name: item[name] for name in names}
