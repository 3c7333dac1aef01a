"""The endpoint's HTTP responses, without any I/O: heads, request ids, compression, and answers that aren't JSON.

A response is one `bytes` object, made from parts that are assembled once a second, when the date changes.
"""

import random
import time
import zlib
from collections.abc import Iterator, Mapping
from email.utils import formatdate
from http import HTTPStatus
from itertools import product

from keyplan.engine.protocol import CONTENT_TYPE

JSON_TYPES = frozenset({CONTENT_TYPE.encode(), b"application/json"})
GZIP_FROM = 8 * 1024

_REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}
_UNKNOWN_OPERATION = b"<UnknownOperationException/>\n"
_EXPOSED = b"x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,x-amz-crc32,Date"
_MAX_AGE = b"172800"

# AWS's request ids are 52 letters and digits; the second half never changes.
_ID_SUFFIX = b"VV4KQNSO5AEMVJF66Q9ASUAAJG"
_ID_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def request_ids() -> Iterator[bytes]:
    """Yield unique request ids at the cost of one concatenation each: a random block, then every four letters."""
    pairs = ["".join(pair).encode() for pair in product(_ID_LETTERS, repeat=2)]
    while True:
        block = "".join(random.choices(_ID_LETTERS, k=22)).encode()
        random.shuffle(pairs)
        for first in pairs:
            start = block + first
            for second in pairs:
                yield start + second + _ID_SUFFIX


class Responses:
    """Makes responses. Call `new_second` when the date changes.

    AWS lets web pages of any origin use the endpoint. Here that requires `cross_origin`; see hosts.py.
    """

    def __init__(self, region: str = "us-east-1", *, cross_origin: bool = False) -> None:
        self._cross_origin = cross_origin
        self._healthy = f"healthy: dynamodb.{region}.amazonaws.com ".encode()
        self._next_id = request_ids().__next__
        self._heads: dict[tuple[int, bool, bool, bool], bytes] = {}
        self._date = b""
        self._success_head = b""
        self.new_second()

    def new_second(self) -> None:
        """Update the date."""
        self._date = formatdate(time.time(), usegmt=True).encode()
        self._heads.clear()
        self._success_head = self._json_head(200, True, False, False)

    def success(self, body: bytes) -> bytes:
        """The response to nearly every request: 200, JSON, and the connection stays open."""
        return b"%b%d\r\nx-amzn-RequestId: %b\r\nx-amz-crc32: %d\r\n\r\n%b" % (
            self._success_head,
            len(body),
            self._next_id(),
            zlib.crc32(body),
            body,
        )

    def json(self, status: int, body: bytes, *, keep_alive: bool, headers: Mapping[bytes, bytes]) -> bytes:
        """A response in DynamoDB's JSON, compressed if the request's headers allow it."""
        compressed = len(body) >= GZIP_FROM and accepts_gzip(headers)
        if compressed:
            body = _gzip(body)
        key = (status, keep_alive, self._cross_origin and b"origin" in headers, compressed)
        head = self._heads.get(key)
        if head is None:
            head = self._heads[key] = self._json_head(*key)
        # The checksum covers the bytes as sent: AWS's SDKs compare it before they decompress.
        return b"%b%d\r\nx-amzn-RequestId: %b\r\nx-amz-crc32: %d\r\n\r\n%b" % (
            head,
            len(body),
            self._next_id(),
            zlib.crc32(body),
            body,
        )

    def no_operation(self, method: bytes, url: bytes, headers: Mapping[bytes, bytes], keep_alive: bool) -> bytes:
        """The response to anything but an operation: health check, CORS preflight, or an unknown URL."""
        if method == b"OPTIONS":
            return self._preflight(headers, keep_alive)
        if method in (b"GET", b"HEAD") and url.partition(b"?")[0] == b"/":
            return self._text(200, self._healthy, b"", keep_alive, method)
        return self._text(404, _UNKNOWN_OPERATION, b"", keep_alive, method)

    def refusal(self, status: int, body: bytes = b"", method: bytes = b"POST", *, keep_alive: bool = False) -> bytes:
        """The response to a message that isn't looked at any further. Usually the connection closes after it."""
        kind = b"Content-Type: " + CONTENT_TYPE.encode() + b"\r\n" if body else b""
        return self._text(status, body, kind, keep_alive, method)

    def _preflight(self, headers: Mapping[bytes, bytes], keep_alive: bool) -> bytes:
        if not self._cross_origin or b"origin" not in headers:
            return self._text(200, b"", b"", keep_alive, b"OPTIONS")
        extra = b"Access-Control-Allow-Origin: *\r\nAccess-Control-Max-Age: " + _MAX_AGE + b"\r\n"
        for asked, allowed in (
            (b"access-control-request-headers", b"Access-Control-Allow-Headers: "),
            (b"access-control-request-method", b"Access-Control-Allow-Methods: "),
        ):
            if asked in headers:
                extra += allowed + headers[asked] + b"\r\n"
        return self._text(200, b"", extra, keep_alive, b"OPTIONS")

    def _json_head(self, status: int, keep_alive: bool, cross_origin: bool, compressed: bool) -> bytes:
        lines = [self._start(status, keep_alive), b"Content-Type: ", CONTENT_TYPE.encode(), b"\r\n"]
        if compressed:
            lines.append(b"Content-Encoding: gzip\r\n")
        if cross_origin:
            lines += [b"Access-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: ", _EXPOSED, b"\r\n"]
        lines.append(b"Content-Length: ")
        return b"".join(lines)

    def _text(self, status: int, body: bytes, extra: bytes, keep_alive: bool, method: bytes) -> bytes:
        return b"%b%bContent-Length: %d\r\nx-amzn-RequestId: %b\r\nx-amz-crc32: %d\r\n\r\n%b" % (
            self._start(status, keep_alive),
            extra,
            len(body),
            self._next_id(),
            zlib.crc32(body),
            b"" if method == b"HEAD" else body,
        )

    def _start(self, status: int, keep_alive: bool) -> bytes:
        return b"HTTP/1.1 %d %b\r\nServer: Server\r\nDate: %b\r\nConnection: %b\r\n" % (
            status,
            _REASONS[status],
            self._date,
            b"keep-alive" if keep_alive else b"close",
        )


def accepts_gzip(headers: Mapping[bytes, bytes]) -> bool:
    """Whether the client accepts a compressed answer."""
    for coding in headers.get(b"accept-encoding", b"").lower().split(b","):
        name, _, quality = coding.partition(b";")
        if name.strip() == b"gzip":
            return quality.strip() not in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000")
    return False


def is_json(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a request has a content type that DynamoDB accepts."""
    kind = headers.get(b"content-type", b"")
    return kind in JSON_TYPES or kind.partition(b";")[0].strip().lower() in JSON_TYPES


class TooLarge(Exception):
    """A body is larger than the limit, possibly only after decompression."""


class BadEncoding(Exception):
    """A body doesn't match its Content-Encoding."""


def decompress(body: bytes, limit: int) -> bytes:
    """Return the content of a gzip body. Never produces more than `limit` bytes, whatever the body claims."""
    reader = zlib.decompressobj(wbits=31)
    try:
        content = reader.decompress(body, limit + 1)
    except zlib.error as error:
        raise BadEncoding from error
    if len(content) > limit:
        raise TooLarge
    if not reader.eof or reader.unused_data:
        raise BadEncoding
    return content


def _gzip(body: bytes) -> bytes:
    # The fastest level: on one machine the bottleneck is the processor, never the network.
    writer = zlib.compressobj(level=1, wbits=31)
    return writer.compress(body) + writer.flush()
