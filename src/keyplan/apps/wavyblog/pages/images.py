"""An author's images. Without JavaScript, an upload takes two pages: one requests it, one sends and adds the file."""

from contextlib import suppress
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from keyplan.apps.wavyblog.fields import MOST_IMAGE, ImageId
from keyplan.apps.wavyblog.models import ImageOut, NewImage
from keyplan.apps.wavyblog.pages.shared import BlogView, pages
from keyplan.apps.wavyblog.service import Blog
from keyplan.web import Confirm, Missing, local_time


class ImageToUpload(NewImage):
    """An image to upload; without JavaScript its size isn't known yet."""

    size: Annotated[int, Field(ge=1, le=MOST_IMAGE)] = MOST_IMAGE


@pages.get("/images")
def images(view: BlogView, added: ImageId | None = None) -> Response:
    found = view.page(view.service.images, "Newest first", 24)
    shown = _added_image(view, added)
    return view.render("images.html", sends_files=True, images=found.items, added=shown, turn=found.turn)


def _added_image(view: BlogView, image_id: str | None) -> ImageOut | None:
    """The image that was just added, unless it was deleted since."""
    with suppress(Missing):
        return None if image_id is None else view.service.image(image_id)
    return None


@pages.post("/images/new", again=images)
def request_upload(view: BlogView, asked: ImageToUpload) -> Response:
    ticket = view.service.upload_image(asked)
    return view.render("send_image.html", sends_files=True, ticket=ticket, content_type=asked.content_type)


pages.form("/images/add", Blog.add_image, to="/images?added={image_id}", notice="Image added", again=images)
pages.form(
    "/images/{image_id}/delete",
    Blog.delete_image,
    to="/images",
    notice="Image deleted",
    again=images,
    confirm=Confirm(
        lambda view, image: f"Delete the image of {local_time(image.created_at):%-d %B %Y, %H:%M}?",
        "Delete image",
        "Posts that use it will show a broken image.",
        about=Blog.image,
        shows="image_now.html",
    ),
)
