"""Pictures are decoded whole when they are confirmed, in a process that can be killed."""

import struct
import threading
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from keyplan.web.media import decoding
from keyplan.web.media.decoder import Decoder
from keyplan.web.media.uploads import Media
from keyplan.web.models.problems import Missing, Unavailable, Unprocessable
from tests.web.media_support import PURPOSE, Gallery, disk_gallery, encoded, png, s3_gallery, s3_server, served

TYPES = {"JPEG": "image/jpeg", "PNG": "image/png", "GIF": "image/gif", "WEBP": "image/webp"}
MODES = {"JPEG": "RGB", "PNG": "RGBA", "GIF": "P", "WEBP": "RGB"}
HANGS = "sys.stdin.buffer.readline(); open(sys.argv[0] + '.begun', 'w').close(); time.sleep(600)"
SCRIPT = b"<script>alert(1)</script>"


def noise(kind: str, size: tuple[int, int] = (64, 64)) -> bytes:
    """A picture that doesn't compress well."""
    file = BytesIO()
    Image.effect_noise(size, 100).convert(MODES[kind]).save(file, kind, lossless=True)
    return file.getvalue()


def animated(frames: int, size: tuple[int, int] = (8, 8)) -> bytes:
    """A GIF with so many different frames."""
    made = [Image.new("RGB", size, (number % 250, number // 250, 0)) for number in range(frames)]
    file = BytesIO()
    made[0].save(file, "GIF", save_all=True, append_images=made[1:])
    return file.getvalue()


def bomb(pixels: int) -> bytes:
    """A PNG of a few KB that claims to have a million by so many pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1_000_000, pixels, 8, 0, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(bytes(100_000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + data + chunk(b"IEND", b"")


def commented(text: bytes) -> bytes:
    """A PNG with a text in it."""
    chunk = struct.pack(">I", len(text) + 2) + b"tEXt" + b"a\0" + text
    chunk += struct.pack(">I", zlib.crc32(chunk[4:]))
    return png()[:33] + chunk + png()[33:]


def fault(data: bytes, content_type: str, pixels: int = 1_000_000) -> str | None:
    try:
        decoding.check(data, content_type, pixels)
    except decoding.Fault as found:
        return str(found)
    return None


@pytest.mark.parametrize("kind", TYPES)
def test_a_picture_is_taken(kind: str) -> None:
    for data in (encoded(kind, mode=MODES[kind]), noise(kind), noise(kind) + bytes(10)):
        assert fault(data, TYPES[kind]) is None


@pytest.mark.parametrize("kind", TYPES)
def test_a_picture_that_was_cut_off_is_damaged(kind: str) -> None:
    data = noise(kind)
    for length in (len(data) - 1, len(data) - 20, len(data) // 2, 60):
        assert fault(data[:length], TYPES[kind]) == "damaged", length


@pytest.mark.parametrize("kind", ["PNG", "GIF", "WEBP"])
def test_garbage_after_the_header_is_damaged(kind: str) -> None:
    data = noise(kind)
    assert fault(data[:60] + bytes(reversed(data[60:-12])) + data[-12:], TYPES[kind]) == "damaged"


def test_a_jpeg_whose_segments_are_garbage_is_damaged() -> None:
    data = noise("JPEG")
    assert fault(data[:20] + bytes(reversed(data[20:])), "image/jpeg") == "damaged"


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("more", [b"x", b"PK\x03\x04", bytes(50) + b"\0\0\0\x18ftypmp42"])
def test_nothing_may_follow_a_picture(kind: str, more: bytes) -> None:
    assert fault(noise(kind) + more, TYPES[kind]) == "goes-on"


def test_a_camera_may_put_several_pictures_into_a_jpeg() -> None:
    several = noise("JPEG") + bytes(7) + noise("JPEG")
    assert fault(several, "image/jpeg") is None
    assert fault(several + b"x", "image/jpeg") == "goes-on"


@pytest.mark.parametrize("text", [SCRIPT, b"<HTML >", b"<!DOCTYPE  html>", b"<?php echo 1;", b"<iframe src=x>"])
def test_html_in_a_picture_is_refused_wherever_it_is(text: bytes) -> None:
    assert fault(commented(text), "image/png") == "html"
    assert fault(noise("JPEG") + text, "image/jpeg") == "html"
    assert fault(commented(b"a < b, 1 <2> and <x:xmpmeta><rdf:RDF>"), "image/png") is None


def test_another_format_than_its_type_is_refused() -> None:
    for kind in TYPES:
        for other in TYPES.keys() - {kind}:
            assert fault(noise(other), TYPES[kind]) in ("damaged", "goes-on"), (kind, other)


def test_a_picture_has_a_size() -> None:
    for kind in TYPES:
        assert fault(noise(kind, (100, 100)), TYPES[kind], 10_000) is None
        assert fault(noise(kind, (100, 101)), TYPES[kind], 10_000) == "too-large"
    assert fault(bomb(1000), "image/png", 50_000_000) == "too-large"


def test_so_has_an_animation() -> None:
    assert fault(animated(20), "image/gif") is None
    assert fault(animated(20), "image/gif", 64 * 2) is None
    assert fault(animated(21), "image/gif", 64 * 2) == "too-many-frames"
    assert fault(animated(decoding.FRAMES + 1), "image/gif") == "too-many-frames"


# The process


class Sent:
    """A file that was sent."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def head(self, count: int) -> bytes:
        return self._data[:count]

    def chunks(self) -> Iterator[bytes]:
        yield self._data

    def keep(self, name: str, content_type: str) -> None:
        raise AssertionError


def code(decoder: Decoder, data: bytes, content_type: str = "image/png") -> str | None:
    found = decoder.fault(Sent(data), content_type)
    return None if found is None else found.code


@pytest.fixture
def decoder() -> Iterator[Decoder]:
    made = Decoder(1, 1)
    yield made
    made.close()


def _program(folder: Path, lines: str) -> Path:
    path = folder / "program.py"
    path.write_text(f"import os, sys, time\n{lines}\n")
    return path


def test_a_process_decodes_one_picture_after_another(decoder: Decoder) -> None:
    assert [code(decoder, each) for each in (png(), png()[:-20], png() + b"x", commented(SCRIPT), png())] == [
        None, "picture-damaged", "picture-goes-on", "picture-has-html", None,
    ]  # fmt: skip
    assert code(decoder, bomb(1000)) == "picture-too-large"
    assert code(decoder, png(3_000_000)) is None


def test_it_has_no_access_to_our_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    told = tmp_path / "environment"
    program = _program(tmp_path, f"open({str(told)!r}, 'w').write(repr(dict(os.environ)))")
    decoder = Decoder(1, 1, program=program)
    assert code(decoder, png()) == "picture-too-complex"  # it ends at once, and so does the next
    assert "secret" not in told.read_text()


def test_a_process_that_hangs_is_killed_and_others_go_on(tmp_path: Path) -> None:
    hangs = _program(tmp_path, HANGS)
    stuck = Decoder(2, 1, seconds=1.5, program=hangs)
    found: list[str | None] = []
    thread = threading.Thread(target=lambda: found.append(code(stuck, png())))
    thread.start()
    while not Path(f"{hangs}.begun").exists():
        threading.Event().wait(0.01)
    stuck._program = Path(decoding.__file__)  # the next one is fine, while the first still hangs
    stuck._seconds = 60
    assert code(stuck, png()) is None
    assert thread.is_alive()
    thread.join()
    assert found == ["picture-too-complex"]
    stuck.close()


def test_a_process_that_ended_by_chance_is_replaced(decoder: Decoder) -> None:
    assert code(decoder, png()) is None
    (process,) = decoder._idle
    process.kill()
    assert code(decoder, png()) is None
    assert process.poll() is not None


def test_only_so_many_may_wait(tmp_path: Path) -> None:
    hangs = _program(tmp_path, HANGS)
    decoder = Decoder(1, 1, seconds=1, program=hangs, waiting=0)
    thread = threading.Thread(target=lambda: code(decoder, png()))
    thread.start()
    while not Path(f"{hangs}.begun").exists():
        threading.Event().wait(0.01)
    with pytest.raises(Unavailable) as busy:
        code(decoder, png())
    assert (busy.value.code, busy.value.headers) == ("pictures-busy", {"Retry-After": "1"})
    thread.join()


def test_memory_is_limited() -> None:
    """A picture that needs more than the process may have ends neither it nor us."""
    decoder = Decoder(1, 100, memory=200 * 1024 * 1024)
    try:
        assert code(decoder, encoded("PNG", (9000, 9000))) == "picture-too-large"
        assert code(decoder, png()) is None
    finally:
        decoder.close()


# Uploads


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with s3_server() as url:
        yield url


@pytest.fixture(params=["disk", "s3"])
def gallery(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Gallery]:
    made = disk_gallery(tmp_path) if request.param == "disk" else s3_gallery(request.getfixturevalue("endpoint"))
    with made as gallery, served(gallery) as gallery.url:
        yield gallery


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (bomb(1000), "picture-too-large"),
        (noise("PNG")[:-40], "picture-damaged"),
        (png() + b"x", "picture-goes-on"),
        (commented(SCRIPT), "picture-has-html"),
    ],
    ids=["bomb", "cut off", "trailing", "html"],
)
def test_a_bad_picture_is_refused_and_deleted(gallery: Gallery, data: bytes, expected: str) -> None:
    ticket = gallery.sent(data)
    with pytest.raises(Unprocessable) as refused:
        gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)
    assert refused.value.code == expected
    assert gallery.stored() == set()
    with pytest.raises(Missing):
        gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)


def test_what_the_server_writes_itself_is_checked_too(gallery: Gallery) -> None:
    """An import is as good as where it comes from."""
    for data, expected in ((bomb(1000), "picture-too-large"), (commented(SCRIPT), "picture-has-html")):
        with pytest.raises(Unprocessable) as refused:
            gallery.media.put(data, "image/png")
        assert refused.value.code == expected
    assert gallery.stored() == set()
    assert gallery.media.exists(gallery.media.put(png(), "image/png").name)


def test_what_is_kept_already_stays(gallery: Gallery) -> None:
    name = gallery.media.put(png(), "image/png").name
    gallery.objects.write(name, commented(SCRIPT), "image/png")  # as it could be kept before
    assert gallery.media.exists(name)
    assert gallery.get(name).content == commented(SCRIPT)


def test_a_picture_is_not_decoded_again_when_it_is_confirmed_again(gallery: Gallery) -> None:
    class Once:
        calls = 0

        def fault(self, *picture: object) -> None:
            self.calls += 1

    once = Once()
    media = Media("gallery", gallery.objects, gallery.store, secret=gallery.secret, decoder=once)  # type: ignore[arg-type]  # it only counts
    ticket = gallery.sent(png())
    first = media.confirm(ticket.upload_id, purpose=PURPOSE)
    assert media.confirm(ticket.upload_id, purpose=PURPOSE) == first
    assert once.calls == 1
