"""The club served over HTTP, with an admin, a moderator, and somebody who is neither."""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from keyplan.apps.vcm.api import SYSTEM
from keyplan.apps.vcm.entities import Media
from keyplan.data import create
from keyplan.engine import Engine
from keyplan.web.server.work import Worker
from keyplan.web.settings import Settings
from tests.web.site import Site, settings_of, site

ANY = {"If-Match": "*"}
ROLES: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "anyone": (None, ()),
    "signed in": ("gast", ()),
    "Moderator": ("mona", ("Moderator",)),
    "Admin": ("anja", ("Admin",)),
}


def settings(folder: Path, **given: Any) -> Settings:
    """Settings for a test, which ignore the environment."""
    fixed = {"dev": True, "rate_identity": 0, "rate_address": 0, "request_seconds": 60}
    return settings_of(path=folder / "vcm.db", **{**fixed, **given})


@contextmanager
def club(folder: Path, engine: Engine | None = None, **given: Any) -> Iterator[Site]:
    """The club, without anything in it."""
    with site(SYSTEM, settings(folder, **given), engine) as served:
        yield served


def as_role(site: Site, role: str) -> httpx.Client:
    """A client with this role. Always the same one, because making one is slow."""
    known: dict[str, httpx.Client] = site.__dict__.setdefault("clients", {})
    if role not in known:
        sub, groups = ROLES[role]
        known[role] = site.as_(sub, *groups)
    return known[role]


def visitor(site: Site) -> httpx.Client:
    return as_role(site, "anyone")


def editor(site: Site) -> httpx.Client:
    return as_role(site, "Moderator")


def admin(site: Site) -> httpx.Client:
    return as_role(site, "Admin")


def doc(*paragraphs: str) -> dict[str, Any]:
    """A document of plain paragraphs."""
    content = [{"type": "paragraph", "content": [{"type": "text", "text": each}]} for each in paragraphs]
    return {"type": "doc", "content": content}


def picture(media_id: str, alt: str = "Ein Bild") -> dict[str, Any]:
    return {"type": "image", "attrs": {"mediaId": media_id, "alt": alt}}


def made(answer: httpx.Response) -> dict[str, Any]:
    """The created item."""
    assert answer.status_code in (200, 201), answer.text
    body: dict[str, Any] = answer.json()
    return body


def write(site: Site, title: str = "Heimsieg", **more: object) -> dict[str, Any]:
    """An article."""
    body = {"title": title, "content": doc("Drei zu null."), **more}
    return made(editor(site).post("/news", json=body))


def announce(site: Site, title: str = "Sommerfest", **more: object) -> dict[str, Any]:
    """An event."""
    body = {"title": title, "startDate": "2030-07-01T16:00:00.000Z", **more}
    return made(editor(site).post("/events", json=body))


def add(site: Site, path: str, **body: object) -> dict[str, Any]:
    """Another kind of item."""
    return made(editor(site).post(path, json=body))


def png(number: int = 0) -> bytes:
    """A small picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes((number % 256, number // 256 % 256, 90)) * 8) * 8
    header = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def upload(site: Site, data: bytes | None = None, alt: str | None = "Ein Bild") -> dict[str, Any]:
    """Add a media item: request an upload, send it, add it."""
    client = editor(site)
    data = data if data is not None else png()
    ticket = made(client.post("/media/upload", json={"contentType": "image/png", "size": len(data)}))
    sent = httpx.post(
        f"{site.url}{ticket['url']}" if ticket["url"].startswith("/") else ticket["url"],
        data=ticket["fields"],
        files={"file": ("bild.png", data, "image/png")},
    )
    assert sent.is_success, sent.text
    return made(client.post("/media", json={"uploadId": ticket["uploadId"], "alt": alt}))


def put_media(site: Site, *ids: str) -> None:
    """Media items with files, written directly through the store."""
    media = site.running.media
    for number, id in enumerate(ids):
        file = media.put(png(number), "image/png", under=["media"], key=id)
        item = Media(
            id=id,
            filename=file.name.rpartition("/")[2],
            s3_key=file.name,
            s3_bucket=media.bucket,
            url=media.url(file.name),
        )
        site.running.store.run(create(item))


def work_off(site: Site) -> None:
    """Run the background work until nothing is left to do."""
    worker = Worker([site.running], site.engine)
    while worker.run_once():
        pass
    worker.stop()
