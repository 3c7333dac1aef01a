"""Receives a presigned POST for the store on disk: a form whose last field is the file.

The form is read as it arrives. Its fields decide whether the file is accepted. Never more of the file is written than
the form allows, and it is written in threads, so that a slow disk doesn't delay other requests.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from keyplan.web.media.disk import DiskObjects, Incoming
from keyplan.web.media.objects import INCOMING
from keyplan.web.models.problems import BadRequest, Forbidden

MOST_FIELDS = 20_000
"""The maximum bytes of a form besides the file; S3's own limit."""
SILENCE_SECONDS = 30.0
"""How long a client may send nothing before the connection counts as lost."""
_FILE = "file"


async def receive(request: Request, systems: Mapping[str, DiskObjects]) -> Response:
    """Receive a form as S3 does: the response is a 204 or a problem."""
    form = _Form(_boundary(request.headers.get("content-type", "")))
    incoming: Incoming | None = None
    try:
        async for chunk in _chunks(request):
            data = form.feed(chunk)
            if form.file_begun and incoming is None:
                incoming = await run_in_threadpool(_begin, systems, form.fields)
            if data and incoming is not None:
                await run_in_threadpool(incoming.write, data)
            if form.complete:
                break
        if not form.complete:
            raise BadRequest("incomplete-body", "The form ends before its last boundary.")
        if incoming is None:
            raise _malformed("it has no field named 'file'")
        await run_in_threadpool(incoming.finish)
    finally:
        if incoming is not None:
            incoming.abort()  # not in a thread, because it also runs when the request is cancelled
    return Response(status_code=204)


def _begin(systems: Mapping[str, DiskObjects], fields: Mapping[str, str]) -> Incoming:
    """The incoming file, in the store of the system that is in the form's key."""
    area, _, rest = fields.get("key", "").partition("/")
    system, _, _ = rest.partition("/")
    if area != INCOMING or system not in systems:
        raise Forbidden("access-denied", "Uploads aren't accepted here.")
    return systems[system].begin(fields)


async def _chunks(request: Request) -> AsyncIterator[bytes]:
    """The body, in parts as it arrives."""
    stream = aiter(request.stream())
    while True:
        try:
            async with asyncio.timeout(SILENCE_SECONDS):
                chunk = await anext(stream)
        except StopAsyncIteration:
            return
        except TimeoutError as error:
            raise BadRequest("request-timeout", f"No data arrived for {SILENCE_SECONDS:g} seconds.") from error
        except ClientDisconnect as error:
            raise BadRequest("incomplete-body", "The connection was closed before the form was complete.") from error
        yield chunk


def _boundary(content_type: str) -> bytes:
    kind, options = parse_options_header(content_type)
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise _malformed("it must be multipart/form-data with a boundary")
    return options[b"boundary"]


def _malformed(problem: str) -> BadRequest:
    return BadRequest("malformed-post-request", f"The form can't be read: {problem}.")


class _Form:
    """A form, read as it arrives: fields first, then the file. What follows the file is ignored, as in S3."""

    def __init__(self, boundary: bytes) -> None:
        self.fields: dict[str, str] = {}
        self.file_begun = False
        self.complete = False
        self._in_file = False
        self._name = ""
        self._value = b""
        self._header = b""
        self._header_value = b""
        self._seen = 0
        self._data: list[bytes] = []
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._on_part_begin,
                    "on_header_field": self._on_header_field,
                    "on_header_value": self._on_header_value,
                    "on_header_end": self._on_header_end,
                    "on_headers_finished": self._on_headers_finished,
                    "on_part_data": self._on_part_data,
                    "on_part_end": self._on_part_end,
                    "on_end": self._on_end,
                },
            )
        except FormParserError as error:
            raise _malformed("its boundary isn't valid") from error

    def feed(self, chunk: bytes) -> bytes:
        """Read the next part. Returns the bytes of the file in it."""
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise _malformed("its parts are malformed") from error
        data = b"".join(self._data)
        self._data.clear()
        return data

    def _on_part_begin(self) -> None:
        self._name, self._value = "", b""

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _on_header_end(self) -> None:
        self._count(len(self._header) + len(self._header_value))
        if self._header.lower() == b"content-disposition":
            _, options = parse_options_header(self._header_value)
            self._name = _text(options.get(b"name", b""))
        self._header, self._header_value = b"", b""

    def _on_headers_finished(self) -> None:
        if not self._name:
            raise _malformed("a part has no name")
        if self._name == _FILE and not self.file_begun:
            self.file_begun = self._in_file = True

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._in_file:
            self._data.append(data[start:end])
        else:
            self._count(end - start)
            self._value += data[start:end]

    def _on_part_end(self) -> None:
        if not self._in_file and not self.file_begun:
            if self._name in self.fields:
                raise _malformed("a field occurs twice")
            self.fields[self._name] = _text(self._value)
        self._in_file = False

    def _on_end(self) -> None:
        self.complete = True

    def _count(self, size: int) -> None:
        self._seen += size
        if self._seen > MOST_FIELDS:
            raise BadRequest(
                "max-post-pre-data-length-exceeded", f"The form has more than {MOST_FIELDS:,} bytes besides the file."
            )


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise _malformed("a field isn't UTF-8") from error
