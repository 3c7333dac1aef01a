"""Uploads to the store on disk: what a form may and may not do, and what a broken connection leaves behind."""

import base64
import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from keyplan.web.media import DiskObjects, Ticket, receive
from keyplan.web.media.disk import _ensure
from keyplan.web.media.policy import signed_fields
from keyplan.web.models.problems import Forbidden, InConflict
from tests.web.media_support import PURPOSE, Gallery, disk_gallery, http, png, served


@pytest.fixture
def galleries(tmp_path: Path) -> Iterator[tuple[Gallery, Gallery]]:
    """Two systems with their files in the same folder."""
    with disk_gallery(tmp_path) as first, disk_gallery(tmp_path, "museum") as second, served(first, second):
        yield first, second


@pytest.fixture
def gallery(galleries: tuple[Gallery, Gallery]) -> Gallery:
    return galleries[0]


def refusal(answered: httpx.Response) -> tuple[int, str]:
    assert answered.headers["content-type"] == "application/problem+json"
    return answered.status_code, answered.json()["code"]


def test_the_size_limit_is_exact(gallery: Gallery) -> None:
    data = png(50_000)
    ticket = gallery.ask(max_bytes=len(data))
    assert refusal(gallery.send(ticket, data + b"x")) == (413, "entity-too-large")
    assert refusal(gallery.send(ticket, data * 40)) == (413, "entity-too-large")
    assert refusal(gallery.send(ticket, b"")) == (400, "entity-too-small")
    assert gallery.stored() == set()
    answered = gallery.send(ticket, data)
    assert (answered.status_code, answered.content) == (204, b"")
    assert gallery.media.confirm(ticket.upload_id, purpose=PURPOSE).size == len(data)


def test_the_last_upload_counts(gallery: Gallery) -> None:
    ticket = gallery.sent(png())
    assert gallery.send(ticket, png(20)).status_code == 204
    file = gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)
    assert gallery.media.read(file.name) == png(20)


def changed_policy(ticket: Ticket, change: Callable[[str], str]) -> str:
    return base64.b64encode(change(base64.b64decode(ticket.fields["policy"]).decode()).encode()).decode()


def test_forged_forms_are_refused(gallery: Gallery) -> None:
    ticket, other = gallery.ask(max_bytes=100), gallery.ask("image/gif")
    larger = changed_policy(ticket, lambda policy: policy.replace(",1,100]", ",1,100000000]"))
    assert larger != ticket.fields["policy"]
    longer = changed_policy(ticket, lambda policy: policy.replace("2026", "2036"))
    mismatch = (403, "signature-does-not-match")
    denied = (403, "access-denied")
    for fields, expected in [
        ({"policy": larger}, mismatch),
        ({"policy": longer}, mismatch),
        ({"policy": ""}, mismatch),
        ({"policy": "ü"}, mismatch),
        ({"policy": other.fields["policy"]}, mismatch),
        ({"x-keyplan-signature": "0" * 64}, mismatch),
        ({"x-keyplan-signature": "ü"}, mismatch),
        ({"x-keyplan-signature": other.fields["x-keyplan-signature"]}, mismatch),
        ({"key": other.fields["key"]}, denied),
        ({"key": "incoming/gallery/../../x"}, denied),
        ({"key": "../x"}, denied),
        ({"key": ""}, denied),
        ({"key": "gallery/x.png"}, denied),
        ({"Content-Type": "text/html"}, denied),
        ({"acl": "public-read"}, denied),
        ({"success_action_redirect": "https://example.com"}, denied),
    ]:
        assert refusal(gallery.send(ticket, png(), **fields)) == expected, fields
    assert gallery.stored() == set()


def test_a_form_with_a_missing_field_is_refused(gallery: Gallery) -> None:
    ticket = gallery.ask()
    for name in ticket.fields:
        lacking = {each: value for each, value in ticket.fields.items() if each != name}
        answered = http.post(gallery.url + ticket.url, data=lacking, files={"file": png()})
        assert answered.status_code == 403, name
    assert gallery.stored() == set()


def test_a_system_cannot_use_another_systems_files(galleries: tuple[Gallery, Gallery]) -> None:
    gallery, museum = galleries
    ticket, theirs = gallery.ask(), museum.ask()
    assert gallery.secret() != museum.secret()
    assert refusal(gallery.send(ticket, png(), key=theirs.fields["key"]))[0] == 403
    # A form that one system signs for the other's key isn't accepted either.
    expires_at = datetime.fromisoformat(theirs.expires_at)
    forged = signed_fields(gallery.secret(), theirs.fields["key"], "image/png", 1000, expires_at)
    assert refusal(gallery.send(ticket, png(), **forged)) == (403, "signature-does-not-match")
    assert isinstance(gallery.objects, DiskObjects)
    with pytest.raises(Forbidden, match="a different upload"):
        gallery.objects.begin(forged)
    name = museum.media.put(png(), "image/png").name
    assert not gallery.media.exists(name)
    assert gallery.get(name).status_code == 404
    gallery.media.delete(name)
    assert museum.get(name).status_code == 200
    with pytest.raises(ValueError, match="incoming"):
        DiskObjects(Path("x"), "incoming", secret=gallery.secret, clock=gallery.clock)


def test_a_form_expires(gallery: Gallery) -> None:
    ticket = gallery.ask()
    gallery.clock.pass_(minutes=14)
    assert gallery.send(ticket, png()).status_code == 204
    gallery.clock.pass_(minutes=1)
    assert refusal(gallery.send(ticket, png())) == (403, "policy-expired")
    gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)  # it was sent in time


# The form itself


def raw_form(fields: dict[str, str], data: bytes, *, end: bytes = b"\r\n--b--\r\n", after: bytes = b"") -> bytes:
    head = "".join(
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    )
    file = '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\nContent-Type: text/html\r\n\r\n'
    return head.encode() + file.encode() + data + after + end


def post(gallery: Gallery, body: bytes, kind: str = "multipart/form-data; boundary=b") -> httpx.Response:
    return http.post(f"{gallery.url}/media/upload", content=body, headers={"Content-Type": kind})


def test_a_handwritten_form_is_accepted(gallery: Gallery) -> None:
    ticket = gallery.ask()
    assert post(gallery, raw_form(ticket.fields, png())).status_code == 204
    button = b'\r\n--b\r\nContent-Disposition: form-data; name="submit"\r\n\r\nUpload'
    assert post(gallery, raw_form(ticket.fields, png(), after=button)).status_code == 204
    assert gallery.media.confirm(ticket.upload_id, purpose=PURPOSE).size == len(png())


def test_malformed_forms_are_refused(gallery: Gallery) -> None:
    ticket = gallery.ask()
    good = raw_form(ticket.fields, png())
    malformed = (400, "malformed-post-request")
    key = f'--b\r\nContent-Disposition: form-data; name="key"\r\n\r\n{ticket.fields["key"]}\r\n'.encode()
    long = {**ticket.fields, "policy": "x" * 21_000}
    for body, kind, expected in [
        (good, "application/x-www-form-urlencoded", malformed),
        (good, "multipart/form-data", malformed),
        (good, "", malformed),
        (good, "multipart/form-data; boundary=" + "b" * 300, malformed),
        (good, "multipart/form-data; boundary=other", malformed),
        (b"", "multipart/form-data; boundary=b", (400, "incomplete-body")),
        (b"nonsense", "multipart/form-data; boundary=b", malformed),
        (key + good, "multipart/form-data; boundary=b", malformed),
        (b"--b\r\nX: y\r\n\r\n\r\n--b--\r\n", "multipart/form-data; boundary=b", malformed),
        (key + b"--b--\r\n", "multipart/form-data; boundary=b", malformed),
        (good.replace(b'name="key"', b'name="\xff"'), "multipart/form-data; boundary=b", malformed),
        (raw_form(ticket.fields, png(), end=b""), "multipart/form-data; boundary=b", (400, "incomplete-body")),
        (raw_form(ticket.fields, png(), end=b"\r\n--b"), "multipart/form-data; boundary=b", (400, "incomplete-body")),
        (raw_form(long, png()), "multipart/form-data; boundary=b", (400, "max-post-pre-data-length-exceeded")),
        (
            raw_form(
                ticket.fields,
                png(),
                after=b'\r\n--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n' + b"x" * 21_000,
            ),
            "multipart/form-data; boundary=b",
            (400, "max-post-pre-data-length-exceeded"),
        ),
    ]:
        assert refusal(post(gallery, body, kind)) == expected, body[:80]
    assert gallery.stored() == set()
    with pytest.raises(InConflict):
        gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)


def connected(gallery: Gallery, length: int) -> socket.socket:
    address = urlsplit(gallery.url)
    connection = socket.create_connection((address.hostname or "", address.port or 0))
    head = "POST /media/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    connection.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode())
    return connection


def all_of(connection: socket.socket) -> bytes:
    """The whole problem in the answer, up to its last brace."""
    answered = b""
    while not answered.endswith(b"}"):
        answered += connection.recv(10_000)
    return answered


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_broken_connection_leaves_nothing_behind(gallery: Gallery) -> None:
    ticket = gallery.ask(max_bytes=1_000_000)
    body = raw_form(ticket.fields, png(500_000))
    for cut in (100, len(body) // 2, len(body) - 3):
        with connected(gallery, len(body)) as connection:
            connection.sendall(body[:cut])
            if cut > 100:
                until(lambda: len(gallery.stored()) == 1)  # the part being written
        until(lambda: gallery.stored() == set())
    with pytest.raises(InConflict, match="hasn't been uploaded"):
        gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)


def test_a_slow_client_does_not_block_others(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receive, "SILENCE_SECONDS", 0.5)
    name = gallery.media.put(png(), "image/png").name
    ticket = gallery.ask()
    body = raw_form(ticket.fields, png())
    with connected(gallery, len(body)) as slow:
        slow.sendall(body[: len(body) - 20])
        assert gallery.get(name).status_code == 200
        gallery.sent()
        assert b"request-timeout" in all_of(slow)


def test_an_upload_that_is_swept_while_it_is_sent(gallery: Gallery) -> None:
    ticket = gallery.ask(max_bytes=1_000_000)
    body = raw_form(ticket.fields, png(500_000))
    with connected(gallery, len(body)) as slow:
        slow.sendall(body[:-10])
        until(lambda: len(gallery.stored()) == 1)
        gallery.clock.pass_(hours=2)
        gallery.media.sweep()
        assert gallery.stored() == set()
        slow.sendall(body[-10:])
        assert b"policy-expired" in all_of(slow)
    gallery.sweep_all()
    assert gallery.stored() == set()


def test_files_left_by_killed_processes_are_removed(gallery: Gallery, tmp_path: Path) -> None:
    ticket = gallery.ask()
    assert isinstance(gallery.objects, DiskObjects)
    half = gallery.objects.begin(ticket.fields)
    half.write(b"half a pict")  # and then the process is killed
    half._file.close()
    left = tmp_path / "incoming" / "gallery" / "0123456789abcdef.part"
    left.write_bytes(b"half an imp")
    assert len(gallery.stored()) == 2
    started = gallery.clock().timestamp()
    os.utime(left, (started, started))
    gallery.sweep_all()
    assert len(gallery.stored()) == 1
    gallery.clock.pass_(days=2)
    gallery.media.sweep()
    assert gallery.stored() == set()


def test_files_are_laid_out_as_in_a_bucket(gallery: Gallery) -> None:
    ticket = gallery.sent(under=["profile", "avatars", "alice"])
    name = gallery.media.confirm(ticket.upload_id, purpose=PURPOSE).name
    gallery.sweep_all()
    (stored,) = gallery.stored()
    assert stored == f"gallery/{name}"
    assert re.fullmatch(r"gallery/profile/avatars/alice/[0-9a-f-]{36}\.png", stored)


def test_folders_are_for_their_owner_only(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    mask = os.umask(0)
    try:
        _ensure(tmp_path / "media" / "incoming")
    finally:
        os.umask(mask)
    assert {folder.stat().st_mode & 0o777 for folder in tmp_path.rglob("*")} == {0o700}
    folder = tmp_path / "media"
    folder.chmod(0o755)
    for _ in range(2):
        DiskObjects(folder, "wavyblog", secret=bytes, clock=lambda: datetime.now(UTC))
    (message,) = caplog.messages
    assert message == (
        f"Other users of this machine can use the folder {folder} (mode 0755), and files of users are for their owner "
        f"only: run `chmod 700 {folder}`."
    )
