"""The routes of files: receive what is sent, and serve what is kept, in the same way for both stores.

The server sets the type of a served file. With `nosniff` and a sandbox policy, browsers treat it as nothing else and
run nothing in it. The bytes of a name never change, so clients may cache them forever.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from keyplan.web.media.disk import DiskObjects
from keyplan.web.media.objects import CACHE_CONTROL, File
from keyplan.web.media.receive import receive
from keyplan.web.media.uploads import Media
from keyplan.web.models.problems import Missing, Problem
from keyplan.web.models.versions import not_modified

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
}


class WithMedia(Protocol):
    """An object with files: a running system."""

    @property
    def media(self) -> Media: ...


class RangeNotSatisfiable(Problem):
    """The requested part isn't in the file."""

    status = 416


def media_routes(systems: Iterable[WithMedia]) -> list[BaseRoute]:
    """The routes of the files of all systems, for the outermost application.

    `POST /media/upload` receives files for the stores on disk; it has its own limits of size and time.
    `GET /media/<system>/<name>` serves a kept file. Problems are raised for the application to answer.
    """
    media = {each.media.system: each.media for each in systems}
    disks = {name: each.objects for name, each in media.items() if isinstance(each.objects, DiskObjects)}

    async def upload(request: Request) -> Response:
        return await receive(request, disks)

    return [
        Route("/media/upload", upload, methods=["POST"]),
        Route("/media/{system}/{name:path}", _serving(media), methods=["GET"]),
    ]


def _serving(media: dict[str, Media]) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        found = media.get(request.path_params["system"])
        if found is None:
            raise Missing
        return await run_in_threadpool(_served, found, request)

    return serve


@dataclass(frozen=True)
class _Part:
    """The requested part of a file: from `start` up to but not including `end`."""

    start: int
    end: int
    whole: bool = False

    @property
    def size(self) -> int:
        return self.end - self.start


def _served(media: Media, request: Request) -> Response:
    file = media.find(request.path_params["name"])
    if file is None:
        raise Missing
    headers = {**_SAFE, "Cache-Control": CACHE_CONTROL, "ETag": file.etag, "Accept-Ranges": "bytes"}
    if not_modified(request.headers.get("if-none-match"), file.etag):
        return Response(status_code=304, headers=headers)
    part = _part(request, file)
    headers["Content-Length"] = str(part.size)
    if not part.whole:
        headers["Content-Range"] = f"bytes {part.start}-{part.end - 1}/{file.size}"
    status = 200 if part.whole else 206
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=file.content_type)
    chunks = _begun(media.objects.chunks(file, part.start, part.end))
    return StreamingResponse(chunks, status, headers, media_type=file.content_type)


def _begun(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The chunks, with the first one already read: a deleted file is noticed before the response starts."""
    return chain([next(chunks, b"")], chunks)


def _part(request: Request, file: File) -> _Part:
    """The part that a `Range` header asks for. Several ranges, or an invalid header, mean the whole file."""
    whole = _Part(0, file.size, whole=True)
    match = _RANGE.fullmatch(request.headers.get("range", "").strip())
    if match is None or not (match[1] or match[2]) or request.headers.get("if-range", file.etag) != file.etag:
        return whole
    if match[1]:
        start, end = int(match[1]), min(int(match[2]) + 1, file.size) if match[2] else file.size
    else:
        start, end = max(0, file.size - int(match[2])), file.size
    if match[1] and match[2] and int(match[2]) < start:
        return whole
    if start >= end:
        size = f"bytes */{file.size}"
        raise RangeNotSatisfiable(
            "range-not-satisfiable", "The range starts after the end of the file.", headers={"Content-Range": size}
        )
    return _Part(start, end)
