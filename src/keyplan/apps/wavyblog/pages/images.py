"""An author's images. Without JavaScript, an upload takes two pages: one requests it, one sends and adds the file."""

from contextlib import suppress
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from keyplan.apps.wavyblog.fields import MOST_IMAGE, ImageId
from keyplan.apps.wavyblog.models import ImageOut, NewImage, SentImage
from keyplan.apps.wavyblog.pages.shared import BlogView, pages
from keyplan.web import Cursor, Missing, Paging, turn

_LISTED = 24


class ImageToUpload(NewImage):
    """An image to upload; without JavaScript its size isn't known yet."""

    size: Annotated[int, Field(ge=1, le=MOST_IMAGE)] = MOST_IMAGE


@pages.get("/images")
def images(view: BlogView, cursor: Cursor = None, added: ImageId | None = None) -> Response:
    found = view.service.images(Paging(limit=_LISTED, cursor=cursor))
    at = view.site.url("/images")
    return view.render(
        "images.html",
        sends_files=True,
        images=found.items,
        added=_added_image(view, added),
        turn=turn(at, cursor, found.next),
    )


def _added_image(view: BlogView, image_id: str | None) -> ImageOut | None:
    """The image that was just added, unless it was deleted since."""
    with suppress(Missing):
        return None if image_id is None else view.service.image(image_id)
    return None


@pages.post("/images/new", again=images)
def request_upload(view: BlogView, asked: ImageToUpload) -> Response:
    ticket = view.service.upload_image(asked)
    return view.render("send_image.html", sends_files=True, ticket=ticket, content_type=asked.content_type)


@pages.post("/images/add", again=images)
def add(view: BlogView, sent: SentImage) -> Response:
    image = view.service.add_image(sent)
    return view.redirect("/images", added=image.image_id, notice="Image added")


@pages.post("/images/{image_id}/delete", again=images)
def delete(view: BlogView, image_id: ImageId) -> Response:
    view.service.delete_image(image_id)
    return view.redirect("/images", notice="Image deleted")
