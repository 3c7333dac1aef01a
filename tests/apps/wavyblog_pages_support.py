"""WavyBlog served for tests of its pages: a few people, posts and a category, and browsers without a screen."""

import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from html import unescape
from ipaddress import ip_address
from itertools import count
from pathlib import Path

import httpx

from keyplan.apps.wavyblog.api import SYSTEM
from keyplan.apps.wavyblog.entities import Category, Post, User
from keyplan.apps.wavyblog.service.accounts import hashed
from keyplan.data import create
from keyplan.design import Secret
from keyplan.web import Caller
from keyplan.web.identity.sessions import SESSION, Sessions
from keyplan.web.settings import Settings
from tests.web.site import Site, site

PASSWORD = "a long password"
DRAFT = "half-done"
POST = "first-words"


@cache
def _hashed() -> Secret[str]:
    return hashed(PASSWORD)


def settings_in(folder: Path, **more: object) -> Settings:
    """Settings for a test: nothing from the environment, and no limits."""
    values: dict[str, object] = {
        "_env_file": None,
        "dev": True,
        "path": folder / "test.db",
        "rate_identity": 0,
        "rate_address": 0,
        "trusted_proxies": ["127.0.0.1"],
        "request_seconds": 30,
        "hashing_threads": 2,
    }
    return Settings(**{**values, **more})  # type: ignore[arg-type]  # by their names


class Reader:
    """A browser without JavaScript."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(path.removeprefix("/wavyblog"), headers=headers)

    def post(self, path: str, values: dict[str, str | list[str]]) -> httpx.Response:
        return self.client.post(path.removeprefix("/wavyblog"), data=values)

    def token(self, at: str = "/time-zone") -> str:
        """A form's token, from a page that everybody can open."""
        return hidden(self.get(at), "csrf")

    def send(self, to: str, /, **values: str | list[str]) -> httpx.Response:
        """Send a form, with its token."""
        return self.post(to, {"csrf": self.token(), "form": "main", "confirmed": "yes", **values})

    def follow(self, answer: httpx.Response) -> httpx.Response:
        assert answer.status_code == 303, answer.text
        return self.get(answer.headers["location"])


def hidden(page: httpx.Response, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page.text)
    assert found, page.text
    return unescape(found[1])


def notice_of(page: httpx.Response) -> str:
    found = re.search(r'role="status">([^<]*)</p>', page.text)
    return unescape(found[1]) if found else ""


def problems_of(page: httpx.Response) -> list[str]:
    box = re.search(r'class="problems".*?</div>', page.text, re.DOTALL)
    found = re.findall(r"<li>(?:<a[^>]*>)?(?:[A-Z][a-z -]+: )?([^<]*)", box[0]) if box else []  # not its name
    return [unescape(each) for each in found]


@dataclass
class Served:
    """The blog, with clients for its users."""

    site: Site
    _stack: ExitStack
    _numbers: Iterator[int] = field(default_factory=count)

    def visitor(self) -> Reader:
        # Each browser has an address of its own, because some pages allow only so many requests from an address.
        address = str(ip_address("10.0.0.0") + next(self._numbers))
        headers = {"X-Forwarded-For": address}
        client = httpx.Client(base_url=f"{self.site.url}/wavyblog", headers=headers, timeout=30)
        return Reader(self._stack.enter_context(client))

    def as_(self, username: str) -> Reader:
        """A browser that is already signed in as this user."""
        reader = self.visitor()
        proof = Sessions(self.site.running.store).open(Caller(username))
        reader.client.cookies.set(SESSION, proof, domain="127.0.0.1", path="/wavyblog/")
        return reader

    def who(self, role: str) -> Reader:
        names = {"other": "otto", "author": "anna", "admin": "mira"}
        return self.visitor() if role == "visitor" else self.as_(names[role])


@contextmanager
def blog(settings: Settings) -> Iterator[Served]:
    """The blog with anna, who has a post and a draft, otto, who has none, and mira, who is an admin."""
    with site(SYSTEM, settings) as started, ExitStack() as stack:
        store = started.running.store
        for username in ("anna", "otto", "mira"):
            store.run(
                create(
                    User(
                        username=username,
                        email=f"{username}@example.org",
                        password_hash=_hashed(),
                        role="admin" if username == "mira" else "user",
                    )
                )
            )
        store.run(create(Category(slug="travel", name="Travel & more")))
        for number, (slug, title) in enumerate([(POST, "First words"), (DRAFT, "Half done")]):
            store.run(
                create(
                    Post(
                        slug=slug,
                        title=title,
                        content=f"The text of {title}, with **weight**.",
                        author_id="anna",
                        category="travel",
                        is_published=slug == POST,
                        created_at=datetime(2025, 5, 1 + number, 12, 0, tzinfo=UTC),
                    )
                )
            )
        yield Served(started, stack)


def png(width: int = 320, height: int = 200) -> bytes:
    """A picture: a sky over a sea."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes((120, 180, 230) if y * 2 < height else (20, 100, 110)) * width for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
