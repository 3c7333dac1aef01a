"""Request an upload, send it, confirm it, read it, delete it, sweep: the same on disk and in S3, over HTTP."""

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from keyplan.data import Refused, create
from keyplan.web.media import File
from keyplan.web.models.problems import InConflict, Missing, Unprocessable
from keyplan.web.models.refusals import problem_for
from tests.web.media_support import (
    GIF,
    HTML,
    JPEG,
    PURPOSE,
    SVG,
    WEBP,
    Gallery,
    Picture,
    disk_gallery,
    http,
    png,
    s3_gallery,
    s3_server,
    served,
)


@pytest.fixture(scope="module")
def s3_endpoint() -> Iterator[str]:
    with s3_server() as url:
        yield url


@pytest.fixture(params=["disk", "s3"])
def gallery(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Gallery]:
    if request.param == "disk":
        opened = disk_gallery(tmp_path / "media")
    else:
        opened = s3_gallery(request.getfixturevalue("s3_endpoint"))
    with opened as made, served(made):
        yield made


@pytest.mark.parametrize(
    ("data", "content_type"),
    [(png(), "image/png"), (JPEG, "image/jpeg"), (GIF, "image/gif"), (WEBP, "image/webp"), (png(70_000), "image/png")],
    ids=["png", "jpeg", "gif", "webp", "longer"],
)
def test_a_file_is_uploaded_confirmed_and_read(gallery: Gallery, data: bytes, content_type: str) -> None:
    ticket = gallery.sent(data, content_type, under=["profile", "avatars", "alice"])
    file = gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)
    assert file.name.startswith("profile/avatars/alice/")
    assert (file.content_type, file.size) == (content_type, len(data))
    assert gallery.media.read(file.name) == data

    answered = gallery.get(file.name)
    assert answered.status_code == 200
    assert answered.content == data
    assert answered.headers["content-type"] == content_type
    assert answered.headers["x-content-type-options"] == "nosniff"
    assert answered.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert answered.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answered.headers["etag"] == file.etag


def test_only_confirmed_files_are_served(gallery: Gallery) -> None:
    ticket = gallery.sent()
    (incoming,) = gallery.stored()
    for path in (incoming, ticket.fields["key"], f"gallery/{ticket.upload_id}", f"gallery/../{incoming}"):
        assert http.get(f"{gallery.url}/media/{path}").status_code == 404
    name = gallery.media.confirm(ticket.upload_id, purpose=PURPOSE).name
    assert gallery.get(name).status_code == 200


def test_range_requests(gallery: Gallery) -> None:
    data = png(600_000)
    file = gallery.media.put(data, "image/png")
    for asked, start, end in [
        ("bytes=0-9", 0, 10),
        ("bytes=500000-", 500_000, len(data)),
        ("bytes=-7", len(data) - 7, len(data)),
        ("bytes=-99999999", 0, len(data)),
        ("bytes=10-99999999", 10, len(data)),
    ]:
        answered = gallery.get(file.name, Range=asked)
        assert answered.status_code == 206
        assert answered.content == data[start:end]
        assert answered.headers["content-range"] == f"bytes {start}-{end - 1}/{len(data)}"
        assert answered.headers["x-content-type-options"] == "nosniff"
    for asked in ("bytes=9-1", "bytes=-", "bytes=0-1,4-5", "lines=1-2", "bytes=a-b"):
        assert gallery.get(file.name, Range=asked).content == data
    for asked in (f"bytes={len(data)}-", "bytes=-0"):
        refused = gallery.get(file.name, Range=asked)
        assert refused.status_code == 416
        assert refused.headers["content-range"] == f"bytes */{len(data)}"
        assert refused.headers["content-type"] == "application/problem+json"
    fresh = {"Range": "bytes=0-9", "If-Range": file.etag}
    assert len(gallery.get(file.name, **fresh).content) == 10
    assert gallery.get(file.name, **fresh | {"If-Range": '"other"'}).content == data


def test_an_unchanged_file_is_not_sent_again(gallery: Gallery) -> None:
    file = gallery.media.put(png(), "image/png")
    answered = gallery.get(file.name, **{"If-None-Match": f'"other", {file.etag}'})
    assert answered.status_code == 304
    assert answered.content == b""
    assert answered.headers["cache-control"].endswith("immutable")
    head = http.head(gallery.url + gallery.media.url(file.name))
    assert head.status_code == 200
    assert head.headers["content-length"] == str(file.size)
    assert head.headers["etag"] == file.etag


def test_nothing_else_is_served(gallery: Gallery) -> None:
    name = gallery.media.put(png(), "image/png").name
    for path in (
        "gallery/00000000-0000-0000-0000-000000000000.png",
        f"other/{name}",
        f"gallery//{name}",
        f"gallery/%2e%2e/gallery/{name}",
        f"gallery/..%2fgallery%2f{name}",
        f"gallery/a/..%2f{name}",
        f"gallery/{name}%00",
        "gallery/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "gallery/",
        "gallery/..%5c..%5csecret",
    ):
        answered = http.get(f"{gallery.url}/media/{path}")
        assert answered.status_code == 404, path
        assert answered.json()["code"] == "not-found"
    assert http.get(f"{gallery.url}/media/upload").status_code == 405
    assert http.post(f"{gallery.url}/media/gallery/{name}").status_code == 405


@pytest.mark.parametrize("data", [HTML, SVG, JPEG, b"GIF89a" + SVG], ids=["html", "svg", "jpeg", "gif"])
def test_a_file_of_the_wrong_type_is_deleted(gallery: Gallery, data: bytes) -> None:
    ticket = gallery.sent(data)
    with pytest.raises(Unprocessable) as refused:
        gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)
    assert refused.value.code == "wrong-type"
    assert gallery.stored() == set()
    # The ticket is used up: another file sent with it doesn't help, and is swept.
    gallery.send(ticket, png())
    with pytest.raises(Missing):
        gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)
    gallery.sweep_all()
    assert gallery.stored() == set()
    assert gallery.records() == []


def test_a_type_that_is_not_supported_gets_no_ticket(gallery: Gallery) -> None:
    for content_type in ("image/svg+xml", "text/html", "application/pdf", "IMAGE/PNG", "image/png; x=1", ""):
        with pytest.raises(Unprocessable, match="Upload JPEG, PNG, GIF or WebP"):
            gallery.ask(content_type)
    with pytest.raises(Unprocessable, match=r"Upload GIF\."):
        gallery.ask("image/png", types=["image/gif"])
    assert gallery.records() == []


def test_confirming_a_file_that_was_not_sent(gallery: Gallery) -> None:
    ticket = gallery.ask()
    with pytest.raises(InConflict, match="hasn't been uploaded"):
        gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)
    gallery.send(ticket, png())  # it isn't too late
    assert gallery.media.confirm(ticket.upload_id, purpose=PURPOSE).size == len(png())


@pytest.mark.parametrize("upload_id", ["", "x", "../x", "20260301131500-" + "0" * 32, "a#b", "x" * 5000], ids=range(6))
def test_confirming_an_unknown_upload(gallery: Gallery, upload_id: str) -> None:
    with pytest.raises(Missing):
        gallery.media.confirm(upload_id, purpose=PURPOSE)


def test_an_upload_has_one_purpose(gallery: Gallery) -> None:
    ticket = gallery.sent()
    with pytest.raises(Missing):
        gallery.media.confirm(ticket.upload_id, purpose="picture of bob")
    gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)


def test_confirming_again_gives_the_same_file(gallery: Gallery) -> None:
    ticket = gallery.sent()
    first = gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)
    gallery.send(ticket, png(100))  # the store may still accept it; it changes nothing
    assert gallery.media.confirm(ticket.upload_id, purpose=PURPOSE) == first
    assert gallery.media.read(first.name) == png()
    gallery.sweep_all()
    assert gallery.stored() == {f"gallery/{first.name}"}
    assert gallery.records() == []


def test_concurrent_confirms_give_the_same_file(gallery: Gallery) -> None:
    ticket = gallery.sent()

    def confirm(_: int) -> File:
        return gallery.other().confirm(ticket.upload_id, purpose=PURPOSE)

    with ThreadPoolExecutor(8) as threads:
        files = list(threads.map(confirm, range(8)))
    assert len({file.name for file in files}) == 1
    gallery.sweep_all()
    assert gallery.stored() == {f"gallery/{files[0].name}"}


def test_file_and_item_are_created_together(gallery: Gallery) -> None:
    ticket = gallery.sent()
    checked = gallery.media.check(ticket.upload_id, purpose=PURPOSE)
    again = gallery.media.check(ticket.upload_id, purpose=PURPOSE)
    gallery.store.transact(create(Picture(file=checked.file.name)), *checked.keep)
    with pytest.raises(Refused):  # one upload makes one picture, never two
        gallery.store.transact(create(Picture(file=again.file.name)), *again.keep)
    later = gallery.media.check(ticket.upload_id, purpose=PURPOSE)
    with pytest.raises(Refused) as refused:
        gallery.store.transact(create(Picture(file=later.file.name)), *later.keep)
    problem = problem_for(refused.value, gallery.store.design)
    assert (problem.status, problem.code) == (409, "added-already")
    gallery.sweep_all()
    assert gallery.stored() == {f"gallery/{checked.file.name}"}


def test_a_file_that_is_checked_and_not_kept_is_swept(gallery: Gallery) -> None:
    gallery.media.check(gallery.sent().upload_id, purpose=PURPOSE)
    gallery.sweep_all()
    assert gallery.stored() == set()
    assert gallery.records() == []


def test_an_unconfirmed_file_is_swept(gallery: Gallery) -> None:
    kept = gallery.media.confirm(gallery.sent().upload_id, purpose=PURPOSE)
    sent, asked = gallery.sent(), gallery.ask()
    gallery.clock.pass_(minutes=74)
    assert gallery.media.sweep() == 0
    assert len(gallery.records()) == 3
    gallery.clock.pass_(minutes=2)
    for ticket in (sent, asked):
        with pytest.raises(Missing):  # expired, whether it has been swept or not
            gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)
    assert gallery.media.sweep() == 2
    assert gallery.stored() == {f"gallery/{kept.name}"}
    with pytest.raises(Missing):
        gallery.media.confirm(sent.upload_id, purpose=PURPOSE)
    gallery.clock.pass_(hours=25)
    gallery.media.sweep()
    assert gallery.records() == []
    assert gallery.get(kept.name).status_code == 200


def test_two_processes_can_sweep_at_once(gallery: Gallery) -> None:
    kept = {gallery.media.confirm(gallery.sent().upload_id, purpose=PURPOSE).name for _ in range(5)}
    for _ in range(15):
        gallery.sent()
    for hours in (2, 25):
        gallery.clock.pass_(hours=hours)
        with ThreadPoolExecutor(4) as threads:
            swept = list(threads.map(lambda _: gallery.other().sweep(), range(4)))
        assert hours == 25 or sum(swept) == 15  # each is swept by only one of them
    assert gallery.stored() == {f"gallery/{name}" for name in kept}
    assert gallery.records() == []


def test_files_made_by_the_server(gallery: Gallery) -> None:
    media = gallery.media
    first = media.put(JPEG, "image/jpeg", under=["demo"])
    assert media.put(JPEG, "image/jpeg", under=["demo"]).name != first.name
    keyed = media.put(png(), "image/png", key="import/7")
    assert media.put(png(), "image/png", key="import/7").name == keyed.name
    assert gallery.other().put(png(), "image/png", key="import/7").name == keyed.name
    assert media.put(png(10), "image/png", key="import/7").name != keyed.name
    assert media.put(png(), "image/png", key="import/8").name != keyed.name
    with pytest.raises(Unprocessable):
        media.put(SVG, "image/svg+xml")
    with pytest.raises(Unprocessable):
        media.put(JPEG, "image/png")
    assert b"".join(media.chunks(first.name)) == JPEG


def test_copying_a_file(gallery: Gallery) -> None:
    first = gallery.media.put(JPEG, "image/jpeg")
    second = gallery.media.copy(first.name, under=["copies"])
    assert second.name.startswith("copies/")
    gallery.media.delete(first.name)
    assert gallery.get(second.name).content == JPEG
    assert gallery.get(second.name).headers["content-type"] == "image/jpeg"
    for name in (first.name, "../x", f"{first.name}/{first.name}"):
        with pytest.raises(Missing):
            gallery.media.copy(name)


def test_deleting_a_file(gallery: Gallery) -> None:
    file = gallery.media.put(png(), "image/png")
    gallery.media.delete(file.name)
    gallery.media.delete(file.name)
    gallery.media.delete("../../whatever")
    gallery.media.delete(f"a/{file.name}/b")
    assert not gallery.media.exists(file.name)
    assert gallery.media.find(file.name) is None
    assert gallery.get(file.name).status_code == 404
    with pytest.raises(Missing):
        gallery.media.read(file.name)


def test_a_file_that_is_deleted_while_it_is_requested(gallery: Gallery) -> None:
    file = gallery.media.put(png(), "image/png")
    chunks = gallery.objects.chunks(file, 0, file.size)
    gallery.media.delete(file.name)
    with pytest.raises(Missing):
        next(chunks)


def test_a_large_file_is_streamed(gallery: Gallery) -> None:
    """A file of several megabytes arrives complete."""
    data = png(5_000_000)
    ticket = gallery.ask(max_bytes=len(data))
    url = ticket.url if ticket.url.startswith("http") else gallery.url + ticket.url
    answered = http.post(url, data=ticket.fields, files={"file": ("x.png", io.BytesIO(data))})
    assert answered.status_code == 204
    file = gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)
    assert gallery.get(file.name).content == data
