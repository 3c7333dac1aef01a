"""Attacks with requests: too many, too large, forged."""

import base64
import json
import random
import socket
import sqlite3
import struct
import threading
import time
import zlib
from collections import Counter
from contextlib import suppress

import httpx

from bench.attack.connections import rest
from bench.attack.target import LONG, Outcome, Target

_API = "/api/wavyblog"


def logins(target: Target) -> Outcome:
    """Sign in with wrong passwords, 200 at once."""
    with target.client(target.new_address()) as client:
        body = {"user": "mira_berg", "password": "wrong password"}
        found = target.many(200, lambda _: client.post(f"{_API}/login", json=body).status_code, 200)
    return _only(found, {401, 429, 503})


def bad_tokens(target: Target) -> Outcome:
    """Send tokens that are not valid; over the limit of the address they are refused unseen."""
    name, token = target.new_user(target.new_address())
    head, payload, signature = token.split(".")
    forged = [f"{head}.{payload}.{signature[::-1]}", f"{_unsigned(name)}", "x" * 4000, f"{head}.{payload}."]
    with target.client(target.new_address()) as client:

        def ask(turn: int) -> int:
            headers = {"Authorization": f"Bearer {forged[turn % len(forged)]}"}
            return client.get(f"{_API}/me", headers=headers).status_code

        found = target.many(500, ask)
    outcome = _only(found, {401, 429})
    return Outcome(outcome.tried, outcome.held and found.count(429) > 100, outcome.what)


def _unsigned(name: str) -> str:
    parts = ({"alg": "none", "typ": "JWT"}, {"sub": name, "exp": int(time.time()) + 3600})
    return ".".join([*(base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=") for each in parts), ""])


def forged_cursors(target: Target) -> Outcome:
    """Change cursors, or make them up."""
    chance = random.Random(14)
    with target.client(target.new_address()) as client:
        paths = (f"{_API}/posts", f"{_API}/categories", f"{_API}/authors/mira_berg/posts")
        found = []
        for path in paths:
            real = client.get(path, params={"limit": 1}).json()["next"] or "x"
            forged = [_changed(real, chance) for _ in range(40)]
            found += [client.get(path, params={"cursor": each}).status_code for each in forged]
    return _only(found, {400, 422})


def _changed(cursor: str, chance: random.Random) -> str:
    at = chance.randrange(len(cursor))
    return chance.choice(
        [
            cursor[:at],
            cursor + "A",
            cursor[:at] + chance.choice("AZaz09-_") * 2 + cursor[at:],
            base64.urlsafe_b64encode(chance.randbytes(40)).decode(),
            base64.urlsafe_b64encode(b'{"PK": {"S": "USER#mira_berg"}}').decode(),
            "\udcff".encode("utf-8", "surrogateescape").decode("latin-1"),
        ]
    )


def held_lock(target: Target) -> Outcome:
    """Hold the write lock of the file while many write; /healthz must answer at once."""
    _, token = target.new_user(target.new_address())
    address, waits = target.new_address(), []
    lock = sqlite3.connect(target.file, isolation_level=None, timeout=LONG)
    lock.execute("BEGIN IMMEDIATE")
    try:
        with target.client(address, token) as client:
            body = {"title": "Locked", "content": "x"}
            writing = [
                threading.Thread(target=_quietly, args=(client, f"{_API}/posts", body), daemon=True) for _ in range(60)
            ]
            for each in writing:
                each.start()
            end = time.monotonic() + 3
            while time.monotonic() < end:
                began = time.monotonic()
                httpx.get(f"{target.url}/healthz", timeout=LONG).raise_for_status()
                waits.append(time.monotonic() - began)
                time.sleep(0.1)
            lock.execute("ROLLBACK")
            for each in writing:
                each.join()
    finally:
        lock.close()
    return Outcome(60, max(waits) < 1, f"/healthz took at most {max(waits) * 1000:.0f} ms")


def _quietly(client: httpx.Client, path: str, body: object) -> None:
    with suppress(httpx.TransportError):
        client.post(path, json=body)


def monitoring(target: Target) -> Outcome:
    """Ask for /readyz and /metrics all the time."""
    with target.client(target.new_address()) as client:
        found = target.many(600, lambda turn: client.get(("/readyz", "/metrics")[turn % 2]).status_code)
    return _only(found, {200, 429, 503})


def large_headers(target: Target) -> Outcome:
    """Send headers without end."""
    address, found = target.new_address(), []
    for _ in range(20):
        with target.connect(address, b"GET / HTTP/1.1\r\nHost: x\r\nX: ") as connection:
            found.append(_status_of_flood(connection, 20_000_000))
    return _only(found, {0, 400, 431})


def large_bodies(target: Target) -> Outcome:
    """Send bodies without end, with and without saying so."""
    address, found = target.new_address(), []
    for turn in range(20):
        length = b"Content-Length: 50000000" if turn % 2 else b"Transfer-Encoding: chunked"
        head = b"POST /api/wavyblog/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + length
        with target.connect(address, head + b"\r\n\r\n") as connection:
            found.append(_status_of_flood(connection, 20_000_000, b"10000\r\n" if turn % 2 == 0 else b""))
    return _only(found, {0, 413})


def _status_of_flood(connection: socket.socket, most: int, size: bytes = b"") -> int:
    """The status of the answer to a lot of bytes; 0 if the connection was closed."""
    part = size + b"x" * 65536 + (b"\r\n" if size else b"")
    try:
        for _ in range(most // len(part)):
            connection.sendall(part)
    except OSError:
        pass
    return _status(connection)


def _status(connection: socket.socket) -> int:
    try:
        return int(connection.recv(65536)[9:12] or 0)
    except (OSError, ValueError):
        return 0


def deep_json(target: Target) -> Outcome:
    """Nest JSON deeply."""
    with target.client(target.new_address()) as client:
        shapes = (("[", "", "]"), ('{"a":', "1", "}"))
        bodies = [a * depth + b + c * depth for a, b, c in shapes for depth in (33, 1000, 100_000)]
        headers = {"Content-Type": "application/json"}
        found = [client.post(f"{_API}/login", content=body, headers=headers).status_code for body in bodies]
    return _only(found, {400, 422})


def host_header(target: Target) -> Outcome:
    """Pretend to be another host, which must not get into links, redirects or cookies."""
    address, bad = target.new_address(), 0
    paths = ("/", "/wavyblog/", "/wavyblog/sign-in", "/wavyblog/write", "/api/wavyblog/posts", "/wavyblog")
    names = ("evil.example", "evil.example:80", "x@evil.example", "evil.example\tx")
    for path in paths:
        for name in names:
            request = f"GET {path} HTTP/1.1\r\nHost: {name}\r\nX-Forwarded-Host: {name}\r\nConnection: close\r\n\r\n"
            with target.connect(address, request.encode()) as connection:
                bad += b"evil.example" in rest(connection)
    return Outcome(len(paths) * len(names), not bad, f"{bad} answers named the host")


def path_traversal(target: Target) -> Outcome:
    """Ask for files outside of the folders that are served."""
    address, found = target.new_address(), []
    ways = ("../", "..%2f", "%2e%2e/", "..%5c", "....//", "..%252f", "%00/")
    for folder in ("/static/", "/wavyblog/static/", "/media/wavyblog/", "/"):
        for way in ways:
            for file in ("etc/passwd", "attacked.db", "pyproject.toml"):
                request = f"GET {folder}{way * 8}{file} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                with target.connect(address, request.encode()) as connection:
                    found.append(_status(connection))
    return _only(found, {0, 307, 400, 404, 405})


def smuggling(target: Target) -> Outcome:
    """Hide a second request in the body of the first, with contradicting lengths."""
    address, hidden, bad = target.new_address(), b"GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n", 0
    heads = (
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        b"Content-Length: 5\r\nContent-Length: 0\r\n\r\n",
        b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"Content-Length: +5\r\n\r\n",
    )
    for head in heads:
        with target.connect(address, b"POST /api/wavyblog/login HTTP/1.1\r\nHost: x\r\n" + head + hidden) as connection:
            connection.settimeout(4)
            bad += rest(connection).count(b"HTTP/1.1 ") > 1
    return Outcome(len(heads), not bad, f"{bad} were answered twice")


def upload_flood(target: Target) -> Outcome:
    """Upload files until somebody says no."""
    _, token = target.new_user(target.new_address())
    data = _picture(600, 600) + bytes(9_000_000)
    with target.client(target.new_address(), token) as client:
        found = []
        for _ in range(12):
            asked = client.post(f"{_API}/images/upload", json={"content_type": "image/png", "size": len(data)})
            found.append(asked.status_code)
            if asked.is_success:
                _send(client, asked.json(), data)
    return Outcome(len(found), 409 in found, _counted(found))


def size_bombs(target: Target) -> Outcome:
    """Upload pictures that are small files and huge in memory, or not pictures at all."""
    _, token = target.new_user(target.new_address())
    pictures = {
        "bomb": _picture(60_000, 60_000, whole=False),
        "garbage": _picture(10, 10)[:33] + b"garbage" * 100,
        "page": b"\x89PNG\r\n\x1a\n<html><script>alert(1)</script></html>",
    }
    found, kept = [], []
    with target.client(target.new_address(), token) as client:
        for name, data in pictures.items():
            asked = client.post(f"{_API}/images/upload", json={"content_type": "image/png", "size": len(data)})
            if asked.is_success:
                _send(client, asked.json(), data)
                made = client.post(f"{_API}/images", json={"upload_id": asked.json()["upload_id"]})
                found.append(made.status_code)
                kept += [name] if made.is_success else []
    return Outcome(len(pictures), not kept, f"kept: {', '.join(kept)}" if kept else _counted(found))


def _send(client: httpx.Client, ticket: dict[str, object], data: bytes) -> None:
    fields = {str(name): str(value) for name, value in dict(ticket.get("fields") or {}).items()}  # type: ignore[call-overload]
    client.post(str(ticket["url"]), data=fields, files={"file": ("x.png", data, "image/png")})


def _picture(width: int, height: int, *, whole: bool = True) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress((b"\0" + b"\0" * width) * (height if whole else 1))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def _only(found: list[int], allowed: set[int]) -> Outcome:
    """The server holds if all answers are refusals."""
    return Outcome(len(found), set(found) <= allowed, _counted(found))


def _counted(found: list[int]) -> str:
    return ", ".join(f"{number} x {status or 'closed'}" for status, number in sorted(Counter(found).items()))
