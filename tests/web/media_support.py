"""A small system with pictures, with files on disk or in S3, served over HTTP; and ways to interrupt it."""

import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import boto3
import httpx
from botocore.config import Config
from moto.server import ThreadedMotoServer
from PIL import Image
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from keyplan.data import Store
from keyplan.design import Design, Entity, Id, Table, key, new_id
from keyplan.engine import Engine
from keyplan.web.media import DiskObjects, Media, Objects, Quota, S3Objects, Ticket, media_routes
from keyplan.web.media.secret import KeptSecret
from keyplan.web.models.problems import Problem, answer
from tests.web import site

BUCKET = "pictures"
PURPOSE = "picture of alice"
NO_LIMIT = Quota(0, 0, 0)
START = datetime(2026, 3, 1, 12, tzinfo=UTC)

http = httpx.Client(verify=False, trust_env=False)
"""Shared by all tests: creating one takes longer than most requests."""

gallery_table = Table("Gallery", key("PK", "SK"), case="pascal")


class Picture(Entity, table=gallery_table):
    """An item with the name of a file."""

    picture_id: Id = new_id()
    file: str

    primary = key("PICTURE#{picture_id}", "PICTURE")


class GalleryDesign(Design):
    """A design with one table."""

    tables = (gallery_table,)
    entities = (Picture,)


# Pictures


def png(size: int = 0) -> bytes:
    """A valid PNG of at least this many bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(b"\x00\x7f"))
    comment = chunk(b"tEXt", b"Comment\x00" + b"x" * size) if size else b""
    return start + comment + body + chunk(b"IEND", b"")


def encoded(kind: str, size: tuple[int, int] = (1, 1), *, mode: str = "RGB") -> bytes:
    """A picture of one color, by Pillow's name of its format."""
    file = BytesIO()
    Image.new(mode, size).save(file, kind)
    return file.getvalue()


JPEG, GIF, WEBP = encoded("JPEG"), encoded("GIF", mode="P"), encoded("WEBP")
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HTML = b"<!doctype html><script>alert(1)</script>"


# The gallery


class Clock:
    """A clock that only advances when a test says so."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_(self, **passed: float) -> None:
        self.now += timedelta(**passed)


@dataclass
class Gallery:
    """A system with uploaded files."""

    media: Media
    store: Store[GalleryDesign]
    objects: Objects
    clock: Clock
    stored: Callable[[], set[str]]
    """The keys of all objects, kept or incoming."""
    url: str = ""
    secret: Callable[[], bytes] = field(default=lambda: b"")

    def other(self, *, store: object = None, objects: object = None) -> Media:
        """The media of another process, optionally with another client or object store."""
        its = self.store if store is None else Store(GalleryDesign(), store, clock=self.clock)
        found: Any = self.objects if objects is None else objects
        return Media(self.media.system, found, its, secret=KeptSecret(its), quota=NO_LIMIT)

    def ask(self, content_type: str = "image/png", max_bytes: int = 100_000, **more: Any) -> Ticket:
        return self.media.ask(content_type, **{"owner": "alice", "purpose": PURPOSE, "max_bytes": max_bytes, **more})

    def sent(self, data: bytes | None = None, content_type: str = "image/png", **more: Any) -> Ticket:
        """A ticket whose file has been sent."""
        ticket = self.ask(content_type, **more)
        answered = self.send(ticket, png() if data is None else data)
        assert answered.status_code == 204, answered.text
        return ticket

    def send(self, ticket: Ticket, data: bytes, **fields: str) -> httpx.Response:
        """Send the form as a browser does."""
        form = {**ticket.fields, **fields}
        url = ticket.url if ticket.url.startswith("http") else self.url + ticket.url
        return http.post(url, data=form, files={"file": ("C:\\fakepath\\me.png", data, "text/html")})

    def get(self, name: str, **headers: str) -> httpx.Response:
        return http.get(self.url + self.media.url(name), headers=headers)

    def records(self) -> list[dict[str, Any]]:
        """The stored records of uploads."""
        table = self.store.design.table_name(self.store.design.all_tables[-1])
        client: Any = self.store.client
        items = client.scan(TableName=table)["Items"]
        return [item for item in items if item["pk"]["S"] == "UPLOADS"]

    def sweep_all(self) -> None:
        """Run all sweeps of the next few days."""
        for hours in (2, 25, 25):
            self.clock.pass_(hours=hours)
            self.media.sweep()


@contextmanager
def disk_gallery(folder: Path, system: str = "gallery") -> Iterator[Gallery]:
    clock = Clock()
    with Engine() as engine:
        store = Store(GalleryDesign(), engine, clock=clock)
        store.create_tables()
        secret = KeptSecret(store)
        objects = DiskObjects(folder, system, secret=secret, clock=clock)

        def stored() -> set[str]:
            return {str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()}

        yield Gallery(
            Media(system, objects, store, secret=secret, quota=NO_LIMIT), store, objects, clock, stored, secret=secret
        )


@contextmanager
def s3_gallery(endpoint: str, system: str = "gallery") -> Iterator[Gallery]:
    clock = Clock()
    client: Any = s3_client(endpoint)
    client.create_bucket(Bucket=BUCKET)
    with Engine() as engine:
        store = Store(GalleryDesign(), engine, clock=clock)
        store.create_tables()
        secret = KeptSecret(store)
        objects = S3Objects(client, BUCKET, system, clock=clock)

        def stored() -> set[str]:
            return {each["Key"] for each in client.list_objects_v2(Bucket=BUCKET).get("Contents", [])}

        yield Gallery(
            Media(system, objects, store, secret=secret, quota=NO_LIMIT), store, objects, clock, stored, secret=secret
        )
    for key_ in stored():
        client.delete_object(Bucket=BUCKET, Key=key_)


@contextmanager
def s3_server() -> Iterator[str]:
    """A server with S3's API."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def s3_client(endpoint: str) -> object:
    config = Config(signature_version="s3v4", s3={"addressing_style": "path"}, retries={"max_attempts": 1})
    return boto3.client("s3", endpoint_url=endpoint, config=config)


@contextmanager
def served(*galleries: Gallery) -> Iterator[str]:
    """Serves the galleries' files over HTTP."""

    async def on_problem(request: Request, error: Exception) -> Response:
        assert isinstance(error, Problem)
        return answer(error, "request")

    app = Starlette(routes=media_routes(galleries), exception_handlers={Problem: on_problem})
    with site.served(app) as url:
        for each in galleries:
            each.url = url
        yield url


# Interruptions


class Killed(BaseException):
    """Ends the process; nothing may catch it."""


class Tripwire:
    """Counts the calls that pass through what it wraps, and calls `act` before one of them."""

    def __init__(self, at: int, act: Callable[[], None]) -> None:
        self.at = at
        self._act = act
        self.steps = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps == self.at:
            self._act()

    def around(self, inner: object) -> Any:
        return _Wired(inner, self)


class _Wired:
    def __init__(self, inner: object, wire: Tripwire) -> None:
        self._inner = inner
        self._wire = wire

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found
        if name == "received":
            return self._received

        def call(*args: Any, **kwargs: Any) -> Any:
            self._wire.step()
            result = found(*args, **kwargs)
            self._wire.step()
            return result

        return call

    @contextmanager
    def _received(self, upload_id: str) -> Iterator[Any]:
        self._wire.step()
        inner: Any = self._inner
        with inner.received(upload_id) as received:
            yield None if received is None else _Wired(received, self._wire)
