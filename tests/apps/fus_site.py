"""funkedupshift served over HTTP, with some people, sites and players in it."""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from keyplan.apps.funkedupshift.api import SYSTEM
from keyplan.apps.funkedupshift.entities import Group, Membership, SquashPlayer
from keyplan.apps.funkedupshift.entities import Site as CatalogSite
from keyplan.apps.funkedupshift.fields import Permission
from keyplan.data import create, utc_now
from keyplan.engine import Engine
from keyplan.web.settings import Settings
from tests.web.site import Site, settings_of, site

ANY = {"If-Match": "*"}
PEOPLE: dict[str, tuple[str, ...]] = {
    "anyone": (),
    "signed in": ("ada",),
    "sites:write": ("sue",),
    "groups:write": ("gil",),
    "manager": ("max", "manager"),
    "admin": ("root", "admin"),
    "squash:read": ("rae",),
    "squash:write": ("wim",),
    "member": ("moe",),
    "manager in Squash": ("mia", "manager"),
}
"""Somebody of each kind: the subject and the groups of their token."""
GIVEN: dict[str, Permission] = {
    "sue": "sites:write",
    "gil": "groups:write",
    "rae": "squash:read",
    "wim": "squash:write",
}
"""Who has which permission by a group of its own."""


def settings(folder: Path, **given: Any) -> Settings:
    """Settings for a test, which ignore the environment."""
    fixed = {"dev": True, "rate_identity": 0, "rate_address": 0, "request_seconds": 60}
    return settings_of(path=folder / "fus.db", **{**fixed, **given})


class FusSite(Site):
    """A served system with one client per person. Clients are quick to make, because they load no certificates."""

    def as_(self, sub: str | None = None, *groups: str, **options: Any) -> httpx.Client:
        kept: dict[tuple[str | None, ...], httpx.Client] = self.__dict__.setdefault("_kept", {})
        if options or (sub, *groups) not in kept:
            made = super().as_(sub, *groups, **{"verify": False, **options})
            if options:
                return made
            kept[sub, *groups] = made
        return kept[sub, *groups]


@contextmanager
def fus(folder: Path, engine: Engine | None = None, **given: Any) -> Iterator[FusSite]:
    """funkedupshift with a site, five players, and one user of each kind."""
    with site(SYSTEM, settings(folder, **given), engine) as started:
        served = FusSite(started.url, started.engine, started.running, started._stack)
        _fill(served)
        yield served


def reset(served: FusSite) -> FusSite:
    """The same server with its tables reset. Making tables is fast; making routes is slow."""
    served.running.store.client, served.running.store.clock = served.engine, utc_now
    for table in served.engine.list_tables()["TableNames"]:
        served.engine.delete_table(TableName=table)
    served.running.store.create_tables()
    _fill(served)
    return served


def _fill(served: FusSite) -> None:
    store = served.running.store
    store.run(create(CatalogSite(id="one", url="https://one.example.org", title="One", tags=["web"])))
    store.run(create(Group(name="Squash")))
    store.run(create(Group(name="walkers")))
    for name in ("moe", "mia"):
        store.run(create(Membership(user_id=name, group_name="Squash", added_by="root")))
    for name, permission in GIVEN.items():
        group = f"with-{permission.replace(':', '-')}"
        store.run(create(Group(name=group, permissions=[permission])))
        store.run(create(Membership(user_id=name, group_name=group, added_by="root")))
    for name in ("p1", "p2", "p3", "p4", "p5"):
        store.run(create(SquashPlayer(id=name, name=name.upper(), email=f"{name}@example.org", user_id=None)))


def somebody(served: Site, kind: str) -> httpx.Client:
    """A client that is signed in as a user of this kind."""
    return served.as_(*(PEOPLE[kind] or (None,)))


def match(client: httpx.Client, date: str = "2026-03-01", **more: Any) -> dict[str, Any]:
    """A match that p1 and p2 won."""
    answer = client.post("/squash/matches", json=match_body(date, **more))
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def match_body(date: str = "2026-03-01", players: str = "p1 p2 p3 p4", **more: Any) -> dict[str, object]:
    """The body of a request for a match."""
    names = ("team_a_player1_id", "team_a_player2_id", "team_b_player1_id", "team_b_player2_id")
    score = {"winning_team": "A", "team_a_games": 3, "team_b_games": 1}
    return {"date": date, **dict(zip(names, players.split(), strict=True)), **score, **more}


def png(width: int = 64, height: int = 64, shade: int = 120) -> bytes:
    """A picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes((shade, y * 3 % 256, 90)) * width for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def send_avatar(client: httpx.Client, data: bytes, content_type: str = "image/png") -> str:
    """Ask for an upload and send it. Returns its ID."""
    ticket = client.post("/me/avatar/upload", json={"content_type": content_type, "size": max(len(data), 1)}).json()
    address = httpx.URL(str(client.base_url)).join(ticket["url"])
    answer = client.post(address, data=ticket["fields"], files={"file": ("a.png", data, content_type)})
    assert answer.is_success, answer.text
    upload_id: str = ticket["upload_id"]
    return upload_id


def all_of(client: httpx.Client, path: str, **params: Any) -> list[dict[str, Any]]:
    """All items of a list, page by page; each page but the last is full."""
    found: list[dict[str, Any]] = []
    limit = params.get("limit", 50)
    while True:
        answer = client.get(path, params=params)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += page["items"]
        if page["next"] is None:
            return found
        assert len(page["items"]) == limit
        params["cursor"] = page["next"]
