"""WavyBlog's images over HTTP: requested, uploaded, added, listed, served and deleted."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.apps.blog_images import added, sent
from tests.apps.blog_site import ANY, blog
from tests.web.answers import pointers, problem
from tests.web.media_support import GIF, HTML, JPEG, SVG, WEBP, png
from tests.web.site import Site

MOST = 10 * 1024 * 1024


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with blog(tmp_path) as served:
        yield served


@pytest.mark.parametrize(
    ("content_type", "data"), [("image/png", png()), ("image/jpeg", JPEG), ("image/gif", GIF), ("image/webp", WEBP)]
)
def test_an_image_is_there_for_everybody(site: Site, content_type: str, data: bytes) -> None:
    image = added(site.as_("ada"), data, content_type)
    assert image.keys() == {"image_id", "url", "content_type", "size", "created_at"}
    assert (image["content_type"], image["size"]) == (content_type, len(data))
    served = httpx.get(site.url + image["url"])
    assert served.content == data
    assert served.headers["content-type"] == content_type
    assert served.headers["x-content-type-options"] == "nosniff"
    assert served.headers["content-security-policy"].startswith("sandbox")
    assert "immutable" in served.headers["cache-control"]


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ({"content_type": "image/svg+xml", "size": 100}, "/content_type"),
        ({"content_type": "text/html", "size": 100}, "/content_type"),
        ({"content_type": "image/png", "size": MOST + 1}, "/size"),
        ({"content_type": "image/png", "size": 0}, "/size"),
        ({"content_type": "image/png"}, "/size"),
    ],
)
def test_files_that_are_refused(site: Site, asked: dict[str, object], where: str) -> None:
    assert pointers(problem(site.as_("ada").post("/images/upload", json=asked), 422, "invalid")) == [where]


def test_ten_megabytes_are_accepted_and_no_byte_more(site: Site) -> None:
    ada = site.as_("ada")
    largest = png(MOST - len(png(1)) + 1)
    assert len(largest) == MOST
    assert added(ada, largest)["size"] == MOST
    ticket = ada.post("/images/upload", json={"content_type": "image/png", "size": MOST}).json()
    more = httpx.post(ada.base_url.join(ticket["url"]), data=ticket["fields"], files={"file": largest + b"x"})
    problem(more, 413, "entity-too-large")
    problem(ada.post("/images", json={"upload_id": ticket["upload_id"]}), 409, "not-sent")


@pytest.mark.parametrize("data", [SVG, HTML, JPEG, b"\x89PNG", b"GIF89a"])
def test_the_bytes_say_what_it_is(site: Site, data: bytes) -> None:
    """A file that isn't a PNG is neither added nor served as one, whatever the caller says."""
    ada = site.as_("ada")
    upload_id, _ = sent(ada, data)
    problem(ada.post("/images", json={"upload_id": upload_id}), 422, "wrong-type")
    assert ada.get("/me/images").json()["items"] == []


def test_an_upload_is_added_once_and_by_its_owner(site: Site) -> None:
    ada = site.as_("ada")
    upload_id, _ = sent(ada, png())
    problem(site.as_("bob").post("/images", json={"upload_id": upload_id}), 404, "no-such-upload")
    assert ada.post("/images", json={"upload_id": upload_id}).status_code == 201
    problem(ada.post("/images", json={"upload_id": upload_id}), 409, "added-already")
    assert len(ada.get("/me/images").json()["items"]) == 1
    problem(ada.post("/images", json={"upload_id": "nothing"}), 404, "no-such-upload")


def test_the_newest_come_first_and_page_by_page(site: Site) -> None:
    ada = site.as_("ada")
    made = [added(ada, png(number))["image_id"] for number in range(3)]
    first = ada.get("/me/images?limit=2").json()
    second = ada.get("/me/images", params={"limit": 2, "cursor": first["next"]}).json()
    assert [each["image_id"] for each in (*first["items"], *second["items"])] == made[::-1]
    assert second["next"] is None


def test_a_deleted_image_is_deleted_with_its_file(site: Site) -> None:
    ada = site.as_("ada")
    image, other = added(ada, png()), added(ada, png(5))
    problem(site.as_("bob").delete(f"/images/{image['image_id']}"), 404, "not-found")
    assert ada.delete(f"/images/{image['image_id']}").status_code == 204
    assert httpx.get(site.url + image["url"]).status_code == 404
    assert httpx.get(site.url + other["url"]).status_code == 200
    problem(ada.delete(f"/images/{image['image_id']}"), 404, "not-found")
    assert site.running.store.verify() == []


def test_the_images_of_a_deleted_user_are_deleted_with_their_files(site: Site) -> None:
    images = [added(site.as_("bob"), png(number)) for number in range(3)]
    kept = added(site.as_("ada"), png())
    assert site.as_("root").delete("/users/bob", headers=ANY).status_code == 204
    assert {httpx.get(site.url + image["url"]).status_code for image in images} == {404}
    assert httpx.get(site.url + kept["url"]).status_code == 200
    items = site.engine.scan(TableName="WavyBlog")["Items"]
    assert not [item for item in items if "bob" in str(item)]
    assert site.running.store.verify() == []
