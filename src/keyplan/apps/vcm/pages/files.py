"""Editors: media items. Without JavaScript an upload takes two pages: one asks, the other sends and adds."""

from contextlib import suppress
from textwrap import shorten
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from keyplan.apps.vcm.models import MOST_IMAGE, MediaOut, NewUpload
from keyplan.apps.vcm.pages.shared import ClubView, by_age, pages
from keyplan.apps.vcm.service import Club
from keyplan.web import Confirm, Missing, isolated


class Asked(NewUpload):
    """An image to be uploaded; without a script its size isn't known yet."""

    size: Annotated[int, Field(ge=1, le=MOST_IMAGE)] = MOST_IMAGE


_MEDIA = "/redaktion/medien"


@pages.get(_MEDIA)
def media(view: ClubView, added: str | None = None) -> Response:
    found = view.page(view.service.all_media, "Newest first", by=by_age, newest_first=True)
    return view.render("media.html", sends_files=True, media=found.items, added=_added(view, added), turn=found.turn)


def _added(view: ClubView, id: str | None) -> MediaOut | None:
    """The image that was just added, unless it was deleted since."""
    with suppress(Missing):
        return view.service.media_item(id) if id else None
    return None


@pages.post(f"{_MEDIA}/neu", again=media)
def ask(view: ClubView, asked: Asked) -> Response:
    ticket = view.service.upload_media(asked)
    return view.render("send_image.html", sends_files=True, ticket=ticket, content_type=asked.content_type)


pages.form(f"{_MEDIA}/hinzufuegen", Club.add_media, to=f"{_MEDIA}?added={{id}}", notice="Bild hinzugefügt", again=media)
pages.form(f"{_MEDIA}/{{id}}", Club.change_media, to=_MEDIA, notice="Beschreibung gespeichert", again=media)
pages.form(
    f"{_MEDIA}/{{id}}/loeschen",
    Club.delete_media,
    to=_MEDIA,
    notice="Bild gelöscht",
    again=media,
    confirm=Confirm(
        lambda view, image: f"Bild „{isolated(shorten(image.alt or image.filename, 80, placeholder=' …'))}“ löschen?",
        "Bild löschen",
        about=Club.media_item,
        shows="image_now.html",
    ),
)
