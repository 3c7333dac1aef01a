"""One client's connection: bytes in, requests out to the database, responses back in order.

A connection has one request in progress at a time. Whatever the client has sent after it waits, and no more is read
from that client until it is answered. So a client that pipelines requests, or that stops reading, can't fill the
memory.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeAlias, cast

import httptools

from keyplan.engine import protocol
from keyplan.engine.errors import DynamoError
from keyplan.engine.executor import ASKS_FOR_ADDRESS, CalledOperation, Request
from keyplan.engine.protocol import MAX_BODY
from keyplan.engine.wire import http
from keyplan.engine.wire.hosts import Hosts
from keyplan.engine.wire.sigv4 import Authenticator

MAX_HEADERS = 64 * 1024
LARGE_BODY = 64 * 1024
"""A longer body is read in a thread. Reading this one takes about a millisecond."""

# Seconds: for sending one request or reading one answer, for keeping an idle connection, for reading a refusal.
REQUEST_TIME = 60
IDLE_TIME = 300
LINGER_TIME = 10


# One complete HTTP request: method, URL, headers with lower-case names, body, whether to keep the connection open.
_Message: TypeAlias = tuple[bytes, bytes, dict[bytes, bytes], bytes, bool]


class Service(Protocol):
    """What a connection needs from its server."""

    responses: http.Responses
    authenticator: Authenticator
    hosts: Hosts
    names_callers: bool
    """Whether it matters who sends a request."""
    connections: set["Connection"]
    stopping: bool
    second: int

    def submit(self, connection: "Connection", operation: str, request: Request) -> None:
        """Execute the request; `connection.answer` is called with the result."""

    def submit_unread(self, connection: "Connection", read: Callable[[], tuple[str, Request]]) -> None:
        """The same for a large request, which is read in a thread; `read` may raise the error that answers it."""

    def disconnected(self, connection: "Connection") -> None:
        """Forget a connection that was closed."""


class _Callbacks:
    """The callbacks of the HTTP parser. Headers and body go straight into containers, without Python code between."""

    def __init__(self, connection: "Connection") -> None:
        self.on_url = connection.url_parts.append
        self.on_header = connection.headers.__setitem__
        self.on_headers_complete = connection.on_headers_complete
        self.on_body = connection.body_parts.append
        self.on_message_complete = connection.on_message_complete


class Connection(asyncio.Protocol):
    """A client's connection on asyncio's event loop."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._transport: asyncio.Transport | None = None
        self.url_parts: list[bytes] = []
        self.headers: dict[bytes, bytes] = {}
        self.body_parts: list[bytes] = []
        self._parser = httptools.HttpRequestParser(_Callbacks(self))
        self._waiting: deque[_Message] = deque()
        self._current: _Message | None = None
        self._refusal: bytes | None = None
        # A client spells its headers the same way each time, so the lower-case names are computed once.
        self._names: tuple[bytes, ...] = ()
        self._lower_names: list[bytes] = []
        self._since = service.second
        self._size = 0
        self._headers_ended = False
        self._counting = False
        self._headers_checked = False
        self._write_paused = False
        self._read_paused = False
        self._half_closed = False
        self._lingering = False

    # asyncio calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not an assertion: uvloop's transports aren't subclasses of asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self._service.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._waiting.clear()
        self._service.disconnected(self)

    def data_received(self, data: bytes) -> None:
        if self._refusal is not None or self._lingering:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._ignore_upgrade(memoryview(data)[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._refuse(self._service.responses.refusal(400))
        if self.url_parts:
            self._check_size(len(data))
        if self._waiting:
            self._proceed()

    def eof_received(self) -> bool:
        self._half_closed = True
        return self.busy

    def pause_writing(self) -> None:
        self._write_paused = True
        self._since = self._service.second

    def resume_writing(self) -> None:
        self._write_paused = False
        self._since = self._service.second
        self._proceed()

    # The HTTP parser calls these.

    def on_headers_complete(self) -> None:
        self._headers_ended = True

    def on_message_complete(self) -> None:
        parser = self._parser
        url, headers, body = self.url_parts, self.headers, self.body_parts
        names = tuple(headers)
        if names != self._names:
            self._names, self._lower_names = names, [name.lower() for name in names]
        self._waiting.append(
            (
                parser.get_method(),
                url[0] if len(url) == 1 else b"".join(url),
                dict(zip(self._lower_names, headers.values())),  # noqa: B905 - the lengths are equal, and strict=True is slower
                body[0] if len(body) == 1 else b"".join(body),
                parser.should_keep_alive(),
            )
        )
        url.clear()
        body.clear()
        headers.clear()
        self._headers_ended = self._counting = self._headers_checked = False

    # The server calls these.

    @property
    def busy(self) -> bool:
        """Whether a request is in progress or waiting."""
        return self._current is not None or bool(self._waiting)

    def answer(self, status: int, body: bytes) -> None:
        """Send the answer to the request in progress, then continue with the next."""
        self._respond(status, body)
        if self._waiting or self._read_paused or self._refusal is not None:
            self._proceed()

    def check_time(self) -> None:
        """Close the connection if its client was too slow or idle for too long. Called once a second."""
        transport = self._transport
        if transport is None or self._current is not None:
            return
        age = self._service.second - self._since
        if self._lingering:
            overdue = age > LINGER_TIME
        else:
            overdue = age > (REQUEST_TIME if self.url_parts or self._write_paused else IDLE_TIME)
        if overdue:
            transport.abort()

    def finish(self) -> None:
        """Close once the requests that have arrived are answered, because the server is stopping."""
        if self._transport is not None and not self.busy and not self.url_parts:
            self._transport.close()

    def abort(self) -> None:
        """Close immediately."""
        if self._transport is not None:
            self._transport.abort()

    def _ignore_upgrade(self, rest: memoryview) -> None:
        """Stay with HTTP/1.1 when a client offers to switch to HTTP/2.

        The parser stopped after the headers with the offer, as if a message without a body ended there. A new parser
        reads the same headers without the offer and continues from there.
        """
        while True:
            head = b"" if self._waiting[-1][0] == b"CONNECT" else _without_upgrade(self._waiting.pop())
            self._parser = httptools.HttpRequestParser(_Callbacks(self))
            try:
                self._parser.feed_data(head)
                self._parser.feed_data(rest)
                return
            except httptools.HttpParserUpgrade as upgrade:
                rest = rest[upgrade.args[0] :]
            except httptools.HttpParserError:
                self._refuse(self._service.responses.refusal(400))
                return

    def _check_size(self, received: int) -> None:
        """Check an incomplete message: it may be too large already, or the client may wait for "100 Continue"."""
        if self._counting:
            self._size += received
        else:
            # The first chunk may contain the end of another message, so it isn't counted; it is small anyway.
            self._counting = True
            self._size = 0
            self._since = self._service.second
        if not self._headers_ended:
            if self._size > MAX_HEADERS:
                self._refuse(self._service.responses.refusal(431))
        elif self._size > MAX_BODY + MAX_HEADERS:
            self._refuse_large()
        elif not self._headers_checked:
            self._headers_checked = True
            self._check_headers()

    def _check_headers(self) -> None:
        """Refuse a body that is too large, or ask for it, before it arrives."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length[:20]) > MAX_BODY:
            self._refuse_large()
        elif headers.get(b"expect", b"").lower() == b"100-continue" and not self.body_parts and not self.busy:
            assert self._transport is not None
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _refuse_large(self) -> None:
        error = protocol.request_too_large()
        self._refuse(self._service.responses.refusal(error.status, protocol.encode_error(error)))

    def _refuse(self, response: bytes) -> None:
        """Stop reading from this client, and send it this response after the answers to its earlier requests."""
        self._refusal = response
        self.url_parts.clear()
        self.headers.clear()
        self.body_parts.clear()
        self._proceed()

    def _proceed(self) -> None:
        """Serve the waiting requests, as long as the client reads the answers."""
        while self._waiting and self._current is None and not self._write_paused:
            self._serve(self._waiting.popleft())
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if self._refusal is not None and not self.busy:
            self._send_refusal(transport, self._refusal)
        elif self._waiting and not self._read_paused:
            self._read_paused = True
            transport.pause_reading()
        elif self._read_paused and not self._waiting:
            self._read_paused = False
            transport.resume_reading()

    def _send_refusal(self, transport: asyncio.Transport, refusal: bytes) -> None:
        """Send the refusal and let the client finish sending: a reset would make it lose the response."""
        if self._lingering:
            return
        self._lingering = True
        self._since = self._service.second
        transport.write(refusal)
        if self._half_closed or not transport.can_write_eof():
            transport.close()
            return
        transport.write_eof()
        if self._read_paused:
            self._read_paused = False
            transport.resume_reading()

    def _serve(self, message: _Message) -> None:
        method, url, headers, body, keep_alive = message
        self._current = message
        refusal = self._service.hosts.refusal(headers)
        if refusal is not None:
            body = protocol.encode_error(refusal)
            self._send(self._service.responses.refusal(refusal.status, body, method, keep_alive=keep_alive), keep_alive)
            return
        if method != b"POST" or (url != b"/" and not url.startswith(b"/?")) or not http.is_json(headers):
            self._send(self._service.responses.no_operation(method, url, headers, keep_alive), keep_alive)
            return
        if len(body) > LARGE_BODY or b"content-encoding" in headers:  # 16 KB can be 16 MB packed
            self._service.submit_unread(self, partial(_read, self._service, message))
            return
        try:
            operation, request = _read(self._service, message)
        except DynamoError as error:
            self._respond(error.status, protocol.encode_error(error))
            return
        self._service.submit(self, operation, request)

    def _respond(self, status: int, body: bytes) -> None:
        message = self._current
        if message is None or self._transport is None:
            return
        _, _, headers, _, keep_alive = message
        keep_alive = keep_alive and not self._service.stopping
        if status == 200 and keep_alive and len(body) < http.GZIP_FROM and b"origin" not in headers:
            response = self._service.responses.success(body)
        else:
            response = self._service.responses.json(status, body, keep_alive=keep_alive, headers=headers)
        self._send(response, keep_alive)

    def _send(self, response: bytes, keep_alive: bool) -> None:
        self._current = None
        self._since = self._service.second
        transport = self._transport
        if transport is None:
            return
        transport.write(response)
        if not keep_alive or self._service.stopping or (self._half_closed and not self._waiting):
            self._waiting.clear()
            transport.close()


def _read(service: Service, message: _Message) -> tuple[str, Request]:
    """The operation and the request of a message, after all checks of its form and its signature."""
    method, url, headers, body, _ = message
    authenticator = service.authenticator
    operation = protocol.operation_of(headers.get(b"x-amz-target"))
    if not body:  # AWS looks for a signature before it misses the body
        authenticator.check(method, url, headers, body)
    request = protocol.decode(_content(headers, body))
    authenticator.check(method, url, headers, body)
    if service.names_callers or operation == ASKS_FOR_ADDRESS:
        operation = CalledOperation.by(authenticator.caller(url, headers), operation)
    return operation, request


def _without_upgrade(message: _Message) -> bytes:
    """The head of a message without its offer to leave HTTP/1.1."""
    method, url, headers, _, keep_alive = message
    headers[b"connection"] = b"keep-alive" if keep_alive else b"close"
    headers.pop(b"upgrade", None)
    fields = b"".join(b"%b: %b\r\n" % field for field in headers.items())
    return b"%b %b HTTP/1.1\r\n%b\r\n" % (method, url, fields)


def _content(headers: dict[bytes, bytes], body: bytes) -> bytes:
    """The body without its Content-Encoding."""
    if len(body) > MAX_BODY:
        raise protocol.request_too_large()
    if headers.get(b"content-encoding", b"").lower() != b"gzip":
        return body
    try:
        return http.decompress(body, MAX_BODY)
    except http.TooLarge:
        raise protocol.request_too_large() from None
    except http.BadEncoding:
        raise DynamoError("SerializationException", "") from None
