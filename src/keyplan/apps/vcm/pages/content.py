"""Editors: news and events."""

from typing import Annotated, Any

from pydantic import Field as Limits
from pydantic import JsonValue
from starlette.responses import Response

from keyplan.apps.vcm.markdown import to_markdown
from keyplan.apps.vcm.models.content import EventChange, EventOut, NewEvent, NewNews, NewsChange, NewsOut
from keyplan.apps.vcm.pages.forms import Field, Sheet, document_in, filled_in, newest_page, taken
from keyplan.apps.vcm.pages.shared import ClubView, FormIn, WallTime, pages, show, wall_time
from keyplan.apps.vcm.richtext import excerpt, images_in
from keyplan.design import Id
from keyplan.web import Cursor, OfVersion, turn

_MARKDOWN = "In Markdown: ## Überschrift, **fett**, *kursiv*, [Link](https://…), - Liste, ![Bild](media:ID)."


class NewsForm(FormIn):
    """An article, as it was typed."""

    title: str = ""
    content: str = ""
    content_json: str = ""
    excerpt: str = ""
    published_date: WallTime | None = None
    image_ids: Annotated[list[Id], Limits(max_length=20)]
    publish: bool = False
    version: int | None = None

    def values(self, before: NewsOut | None) -> dict[str, Any]:
        """As the service takes it."""
        values: dict[str, Any] = {
            "title": self.title,
            "content": document_in(self.content, self.content_json, before.content if before else None),
            "excerpt": self.excerpt,
            "image_ids": self.image_ids,
        }
        if self.published_date is not None:
            values["published_date"] = self.published_date
        return values

    @property
    def seen(self) -> frozenset[int]:
        return frozenset() if self.version is None else frozenset({self.version})


def _news_sheet(article: NewsOut | None) -> Sheet:
    content = article.content if article else None
    beside = [id for id in article.image_ids if id not in images_in(content)] if article else []
    return Sheet(
        title="News bearbeiten" if article else "News schreiben",
        back="/redaktion/news",
        save_at=f"/redaktion/news/{article.id}" if article else "/redaktion/news/neu",
        preview_at="/redaktion/news/vorschau",
        fields=[
            Field("line", "title", "Titel", attrs={"required": True, "maxlength": 200, "autocomplete": "off"}),
            Field("rich", "content", "Text", hint=_MARKDOWN),
            Field(
                "area", "excerpt", "Anriss", hint="Leer: der Anfang des Textes.", attrs={"maxlength": 1000, "rows": 3}
            ),
            Field("line", "publishedDate", "Lesbar ab", hint="Leer: ab jetzt.", attrs={"type": "datetime-local"}),
            Field("images", "imageIds", "Bilder neben dem Text"),
        ],
        before={
            "title": article.title if article else "",
            "content": to_markdown(content),
            "excerpt": article.excerpt if article and article.excerpt != excerpt(article.content) else "",
            "publishedDate": wall_time(article.published_date) if article else "",
            "imageIds": beside,
        },
        id=article.id if article else None,
        version=article.version if article else None,
        status=article.status if article else None,
        public=f"/news/{article.slug}" if article else None,
        document=content,
    )


@pages.get("/redaktion/news")
def news_desk(view: ClubView, cursor: Cursor = None) -> Response:
    found = view.service.all_news(newest_page(cursor))
    at = view.site.url("/redaktion/news")
    rows = [(each.id, each.title, each.status, each.published_date) for each in found.items]
    return show(view, "desk_list.html", kind="news", title="News", rows=rows, turn=turn(at, cursor, found.next))


@pages.get("/redaktion/news/neu")
def write_news(view: ClubView) -> Response:
    view.service.begin_editing()
    return filled_in(view, _news_sheet(None))


@pages.post("/redaktion/news/neu")
def create_news(view: ClubView, typed: NewsForm) -> Response:
    new = taken(NewNews, {**typed.values(None), "publish": typed.publish})
    made = view.service.create_news(new)
    notice = "Veröffentlicht." if typed.publish else "Als Entwurf gespeichert."
    return view.redirect("/news/{slug}", slug=made.slug, notice=notice)


class Look(FormIn):
    """What is written so far; nothing has to be right yet but the text."""

    title: str = ""
    content: str = ""
    content_json: str = ""
    excerpt: str = ""
    published_date: str = ""
    image_ids: list[str]
    publish: bool = False
    version: str = ""


def _looking(view: ClubView, of: str | None = None) -> Response:
    return filled_in(view, _news_sheet(view.service.news(of) if of else None))


@pages.post("/redaktion/news/vorschau", again=_looking)
def preview_news(view: ClubView, look: Look, of: str | None = None) -> Response:
    before = view.service.news(of) if of else None
    document: dict[str, JsonValue] = document_in(look.content, look.content_json, before.content if before else None)
    return filled_in(view, _news_sheet(before), view.service.preview(document))


@pages.get("/redaktion/news/{id}")
def edit_news(view: ClubView, id: Id) -> Response:
    view.service.begin_editing()
    return filled_in(view, _news_sheet(view.service.news(id)))


@pages.post("/redaktion/news/{id}")
def change_news(view: ClubView, id: Id, typed: NewsForm) -> Response:
    before = view.service.news(id)
    change = taken(NewsChange, typed.values(before))
    changed = view.service.change_news(id, change, typed.seen)
    if typed.publish:
        changed = view.service.publish_news(id, frozenset({changed.version}))
    return view.redirect("/news/{slug}", slug=changed.slug, notice="Gespeichert.")


@pages.post("/redaktion/news/{id}/veroeffentlichen", again=edit_news)
def publish_news(view: ClubView, id: Id, which: OfVersion) -> Response:
    made = view.service.publish_news(id, which.seen)
    return view.redirect("/news/{slug}", slug=made.slug, notice="Veröffentlicht.")


@pages.post("/redaktion/news/{id}/zurueckziehen", again=edit_news)
def unpublish_news(view: ClubView, id: Id, which: OfVersion) -> Response:
    made = view.service.unpublish_news(id, which.seen)
    return view.redirect("/news/{slug}", slug=made.slug, notice="Wieder ein Entwurf.")


@pages.post("/redaktion/news/{id}/loeschen", again=edit_news)
def delete_news(view: ClubView, id: Id, which: OfVersion) -> Response:
    view.service.delete_news(id, which.seen)
    return view.redirect("/redaktion/news", notice="Gelöscht.")


# Events


class EventForm(FormIn):
    """An event, as it was typed."""

    title: str = ""
    description: str = ""
    description_json: str = ""
    start_date: WallTime
    end_date: WallTime | None = None
    place: str = ""
    street: str = ""
    postal_code: str = ""
    city: str = ""
    image_ids: Annotated[list[Id], Limits(max_length=20)]
    publish: bool = False
    version: int | None = None

    def values(self, before: EventOut | None) -> dict[str, Any]:
        """As the service takes it."""
        address = {"name": self.place, "street": self.street, "postalCode": self.postal_code, "city": self.city}
        given = {name: value for name, value in address.items() if value}
        written = self.description or self.description_json
        shown = before.description if before else None
        return {
            "title": self.title,
            "description": document_in(self.description, self.description_json, shown) if written else None,
            "start_date": self.start_date,
            "end_date": self.end_date,
            "address": given or None,
            "image_ids": self.image_ids,
        }

    @property
    def seen(self) -> frozenset[int]:
        return frozenset() if self.version is None else frozenset({self.version})


def _event_sheet(event: EventOut | None) -> Sheet:
    shown = event.description if event else None
    address = event.address if event else None
    return Sheet(
        title="Termin bearbeiten" if event else "Neuer Termin",
        back="/redaktion/termine",
        save_at=f"/redaktion/termine/{event.id}" if event else "/redaktion/termine/neu",
        fields=[
            Field("line", "title", "Titel", attrs={"required": True, "maxlength": 200, "autocomplete": "off"}),
            Field("line", "startDate", "Beginn", attrs={"type": "datetime-local", "required": True}),
            Field("line", "endDate", "Ende", hint="Höchstens 31 Tage danach.", attrs={"type": "datetime-local"}),
            Field("rich", "description", "Beschreibung", hint=_MARKDOWN),
            Field("line", "place", "Ort", attrs={"maxlength": 200}),
            Field("line", "street", "Straße", attrs={"maxlength": 200}),
            Field("line", "postalCode", "Postleitzahl", attrs={"maxlength": 200}),
            Field("line", "city", "Stadt", attrs={"maxlength": 200}),
            Field("images", "imageIds", "Bilder neben dem Text"),
        ],
        before={
            "title": event.title if event else "",
            "description": to_markdown(shown),
            "startDate": wall_time(event.start_date if event else None),
            "endDate": wall_time(event.end_date if event else None),
            "place": (address.name if address else None) or "",
            "street": (address.street if address else None) or "",
            "postalCode": (address.postalCode if address else None) or "",
            "city": (address.city if address else None) or "",
            "imageIds": [id for id in event.image_ids if id not in images_in(shown)] if event else [],
        },
        id=event.id if event else None,
        version=event.version if event else None,
        status=event.status if event else None,
        public=f"/termine/{event.slug}" if event else None,
        document=shown,
    )


@pages.get("/redaktion/termine")
def event_desk(view: ClubView, cursor: Cursor = None) -> Response:
    found = view.service.all_events(newest_page(cursor))
    at = view.site.url("/redaktion/termine")
    rows = [(each.id, each.title, each.status, each.start_date) for each in found.items]
    return show(view, "desk_list.html", kind="termine", title="Termine", rows=rows, turn=turn(at, cursor, found.next))


@pages.get("/redaktion/termine/neu")
def announce(view: ClubView) -> Response:
    view.service.begin_editing()
    return filled_in(view, _event_sheet(None))


@pages.post("/redaktion/termine/neu")
def create_event(view: ClubView, typed: EventForm) -> Response:
    new = taken(NewEvent, {**typed.values(None), "publish": typed.publish})
    made = view.service.create_event(new)
    notice = "Veröffentlicht." if typed.publish else "Als Entwurf gespeichert."
    return view.redirect("/termine/{slug}", slug=made.slug, notice=notice)


@pages.get("/redaktion/termine/{id}")
def edit_event(view: ClubView, id: Id) -> Response:
    view.service.begin_editing()
    return filled_in(view, _event_sheet(view.service.event(id)))


@pages.post("/redaktion/termine/{id}")
def change_event(view: ClubView, id: Id, typed: EventForm) -> Response:
    before = view.service.event(id)
    change = taken(EventChange, typed.values(before))
    changed = view.service.change_event(id, change, typed.seen)
    if typed.publish:
        changed = view.service.publish_event(id, frozenset({changed.version}))
    return view.redirect("/termine/{slug}", slug=changed.slug, notice="Gespeichert.")


@pages.post("/redaktion/termine/{id}/veroeffentlichen", again=edit_event)
def publish_event(view: ClubView, id: Id, which: OfVersion) -> Response:
    made = view.service.publish_event(id, which.seen)
    return view.redirect("/termine/{slug}", slug=made.slug, notice="Veröffentlicht.")


@pages.post("/redaktion/termine/{id}/zurueckziehen", again=edit_event)
def unpublish_event(view: ClubView, id: Id, which: OfVersion) -> Response:
    made = view.service.unpublish_event(id, which.seen)
    return view.redirect("/termine/{slug}", slug=made.slug, notice="Wieder ein Entwurf.")


@pages.post("/redaktion/termine/{id}/loeschen", again=edit_event)
def delete_event(view: ClubView, id: Id, which: OfVersion) -> Response:
    view.service.delete_event(id, which.seen)
    return view.redirect("/redaktion/termine", notice="Gelöscht.")
