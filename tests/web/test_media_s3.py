"""What is specific to S3: forms and requests as AWS requires them, also with a store that enforces less.

The test server accepts any form, whatever its policy says, and ignores the conditions of a copy. So these tests check
what is enforced when an upload is confirmed and, where AWS itself must enforce something, the request that is sent.
"""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from keyplan.web.media import S3Objects, media_of
from keyplan.web.models.problems import InConflict, Unavailable, Unprocessable
from keyplan.web.settings import Settings
from tests.web.media_support import BUCKET, HTML, PURPOSE, Gallery, png, s3_client, s3_gallery, s3_server, served


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with s3_server() as url:
        yield url


@pytest.fixture
def client(endpoint: str) -> Any:
    return s3_client(endpoint)


@pytest.fixture
def gallery(endpoint: str) -> Iterator[Gallery]:
    with s3_gallery(endpoint) as made, served(made):
        yield made


class AsAws:
    """A client that enforces the conditions of a copy, as AWS does and the test server doesn't."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.copies: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def copy_object(self, **request: Any) -> Any:
        self.copies.append(request)
        source = self._client.head_object(**request["CopySource"])
        there = self._client.list_objects_v2(Bucket=request["Bucket"], Prefix=request["Key"])["KeyCount"]
        if source["ETag"] != request.get("CopySourceIfMatch", source["ETag"]) or (there and "IfNoneMatch" in request):
            raise ClientError({"Error": {"Code": "PreconditionFailed", "Message": ""}}, "CopyObject")
        return self._client.copy_object(**request)


def test_the_form_is_an_s3_post_form(gallery: Gallery, endpoint: str) -> None:
    ticket = gallery.ask("image/png", max_bytes=1234)
    assert ticket.url == f"{endpoint}/{BUCKET}"
    assert ticket.fields["key"] == f"incoming/gallery/{ticket.upload_id}"
    assert ticket.fields["x-amz-algorithm"] == "AWS4-HMAC-SHA256"
    policy = json.loads(base64.b64decode(ticket.fields["policy"]))
    assert ["content-length-range", 1, 1234] in policy["conditions"]
    assert {"Content-Type": "image/png"} in policy["conditions"]
    assert {"key": ticket.fields["key"]} in policy["conditions"]


def test_confirm_refuses_what_the_store_accepted(gallery: Gallery) -> None:
    for data, max_bytes, code in [
        (png(5_000), 5_000, "file-too-large"),
        (b"", 100, "file-empty"),
        (HTML, 100, "wrong-type"),
    ]:
        ticket = gallery.sent(data, max_bytes=max_bytes)
        with pytest.raises(Unprocessable) as refused:
            gallery.media.confirm(ticket.upload_id, purpose=PURPOSE)
        assert refused.value.code == code
    assert gallery.stored() == set()


def test_a_kept_object_has_its_content_type(gallery: Gallery, client: Any) -> None:
    for name in (
        gallery.media.confirm(gallery.sent().upload_id, purpose=PURPOSE).name,
        gallery.media.put(png(), "image/png").name,
        gallery.media.copy(gallery.media.put(png(), "image/png").name).name,
    ):
        status = client.head_object(Bucket=BUCKET, Key=f"gallery/{name}")
        assert status["ContentType"] == "image/png"
        assert status["CacheControl"] == "public, max-age=31536000, immutable"


def test_a_file_that_is_replaced_between_check_and_copy_is_refused(gallery: Gallery, client: Any) -> None:
    aws = AsAws(client)
    objects = S3Objects(aws, BUCKET, "gallery", clock=gallery.clock)
    ticket = gallery.sent()
    with objects.received(ticket.upload_id) as received:
        assert received is not None
        assert received.size == len(png())
        gallery.send(ticket, HTML)
        with pytest.raises(InConflict, match="uploaded again"):
            received.head(10)
        with pytest.raises(InConflict, match="uploaded again"):
            received.keep("00000000-0000-0000-0000-000000000000.png", "image/png")
    assert {each["CopySourceIfMatch"] for each in aws.copies} != {None}
    assert {each["IfNoneMatch"] for each in aws.copies} == {"*"}
    with pytest.raises(Unprocessable):
        gallery.other(objects=objects).confirm(ticket.upload_id, purpose=PURPOSE)


def test_a_kept_file_is_never_replaced(gallery: Gallery, client: Any) -> None:
    objects = S3Objects(AsAws(client), BUCKET, "gallery", clock=gallery.clock)
    file = gallery.media.confirm(gallery.sent().upload_id, purpose=PURPOSE)
    with objects.received(gallery.sent(png(50)).upload_id) as received:
        assert received is not None
        received.keep(file.name, "image/png")
    assert gallery.media.read(file.name) == png()


def test_an_object_that_disappears_while_it_is_checked(gallery: Gallery, client: Any) -> None:
    ticket = gallery.sent()
    with gallery.objects.received(ticket.upload_id) as received:
        assert received is not None
        gallery.objects.discard(ticket.upload_id)
        with pytest.raises(InConflict):
            received.head(10)
        with pytest.raises(InConflict):
            received.keep("00000000-0000-0000-0000-000000000000.png", "image/png")


class Failing:
    """Every call fails."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        def call(**request: Any) -> Any:
            raise self._error

        return call


def test_an_unavailable_bucket(gallery: Gallery) -> None:
    name = gallery.media.put(png(), "image/png").name
    busy = ClientError({"Error": {"Code": "SlowDown", "Message": ""}}, "HeadObject")
    for error in (busy, EndpointConnectionError(endpoint_url="http://x")):
        media = gallery.other(objects=S3Objects(Failing(error), BUCKET, "gallery", clock=gallery.clock))
        with pytest.raises(Unavailable):
            media.find(name)
        with pytest.raises(Unavailable):
            media.delete(name)
    denied = ClientError({"Error": {"Code": "AccessDenied", "Message": ""}}, "HeadObject")
    media = gallery.other(objects=S3Objects(Failing(denied), BUCKET, "gallery", clock=gallery.clock))
    with pytest.raises(ClientError):  # an internal error, whose details the caller doesn't get
        media.find(name)


def test_the_settings_choose_the_store(gallery: Gallery, endpoint: str, tmp_path: Any) -> None:
    settings = Settings(
        media_bucket=BUCKET, media_endpoint_url=endpoint, base_url="https://club.example/", path=tmp_path / "data.db"
    )
    media = media_of("museum", settings, gallery.store)
    file = media.put(png(), "image/png")
    assert f"museum/{file.name}" in gallery.stored()
    assert media.url(file.name) == f"https://club.example/media/museum/{file.name}"
    assert media.bucket == BUCKET
    assert media.ask("image/png", owner="ada", purpose="x", max_bytes=10).url == f"{endpoint}/{BUCKET}"

    on_disk = media_of("museum", Settings(path=tmp_path / "data.db"), gallery.store)
    name = on_disk.put(png(), "image/png").name
    assert (tmp_path / "data.db.media" / "museum" / name).read_bytes() == png()
    assert on_disk.ask("image/png", owner="ada", purpose="x", max_bytes=10).url == "/media/upload"
    assert on_disk.url(name) == f"/media/museum/{name}"
