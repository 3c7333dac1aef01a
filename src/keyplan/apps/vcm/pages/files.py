"""Editors: media items. Without JavaScript an upload takes two pages: one asks, the other sends and adds."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from keyplan.apps.vcm.fields import MediaFields
from keyplan.apps.vcm.models import MOST_IMAGE, MediaChange, NewMedia, NewUpload
from keyplan.apps.vcm.pages.shared import ClubView, pages
from keyplan.design import Id
from keyplan.web import Cursor, OfVersion, Paging, turn


class Asked(NewUpload):
    """An image to be uploaded; without a script its size isn't known yet."""

    size: Annotated[int, Field(ge=1, le=MOST_IMAGE)] = MOST_IMAGE


class Sent(NewMedia):
    """An image that was sent."""


class AltForm(MediaFields, OfVersion):
    """Another alternative text."""


@pages.get("/redaktion/medien")
def media(view: ClubView, cursor: Cursor = None, added: str | None = None) -> Response:
    found = view.service.all_media(Paging(limit=50, cursor=cursor))
    items = sorted(found.items, key=lambda each: each.id, reverse=True)
    fresh = view.service.media_item(added) if added else None
    around = turn(view.site.url("/redaktion/medien"), cursor, found.next)
    return view.render("media.html", sends_files=True, media=items, added=fresh, turn=around)


@pages.post("/redaktion/medien/neu", again=media)
def ask(view: ClubView, asked: Asked) -> Response:
    ticket = view.service.upload_media(asked)
    return view.render("send_image.html", sends_files=True, ticket=ticket, content_type=asked.content_type)


@pages.post("/redaktion/medien/hinzufuegen", again=media)
def add(view: ClubView, sent: Sent) -> Response:
    made = view.service.add_media(sent)
    return view.redirect("/redaktion/medien", added=made.id, notice="Bild hinzugefügt")


@pages.post("/redaktion/medien/{id}", again=media)
def change(view: ClubView, id: Id, typed: AltForm) -> Response:
    view.service.change_media(id, MediaChange.from_fields(typed), typed.seen)
    return view.redirect("/redaktion/medien", notice="Beschreibung gespeichert")


@pages.post("/redaktion/medien/{id}/loeschen", again=media)
def delete(view: ClubView, id: Id, which: OfVersion) -> Response:
    view.service.delete_media(id, which.seen)
    return view.redirect("/redaktion/medien", notice="Bild gelöscht")
