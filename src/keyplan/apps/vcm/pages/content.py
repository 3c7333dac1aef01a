"""Editors: news and events."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field as Limits

from keyplan.apps.vcm.markdown import to_markdown
from keyplan.apps.vcm.models import EventChange, EventOut, NewEvent, NewNews, NewsChange, NewsOut
from keyplan.apps.vcm.pages.forms import Field, document_in
from keyplan.apps.vcm.pages.shared import ClubView, WallTime, exact, wall_time
from keyplan.apps.vcm.pages.things import Public, PublishedForm, Thing, add_pages
from keyplan.apps.vcm.richtext import excerpt, images_in
from keyplan.apps.vcm.service import Club
from keyplan.design import Id

_MARKDOWN = "In Markdown: ## Überschrift, **fett**, *kursiv*, [Link](https://…), - Liste, ![Bild](media:ID)."


def _title_field() -> Field:
    return Field("line", "title", "Titel", attrs={"required": True, "maxlength": 200, "autocomplete": "off"})


# News


class NewsForm(PublishedForm):
    """An article, as it was typed."""

    title: str = ""
    content: str = ""
    content_json: str = ""
    excerpt: str = ""
    published_date: WallTime | None = None
    image_ids: Annotated[list[Id], Limits(max_length=20)]

    def values(self, before: NewsOut | None) -> dict[str, Any]:
        """As the service takes it."""
        values: dict[str, Any] = {
            "title": self.title,
            "content": document_in(self.content, self.content_json, before.content if before else None),
            "excerpt": self.excerpt,
            "image_ids": self.image_ids,
        }
        if self.published_date is not None:
            values["published_date"] = exact(self.published_date, before.published_date if before else None)
        return values


def _news_fields(view: ClubView) -> Sequence[Field]:
    return [
        _title_field(),
        Field("rich", "content", "Text", hint=_MARKDOWN),
        Field("area", "excerpt", "Anriss", hint="Leer: der Anfang des Textes.", attrs={"maxlength": 1000, "rows": 3}),
        Field("line", "publishedDate", "Lesbar ab", hint="Leer: ab jetzt.", attrs={"type": "datetime-local"}),
        Field("images", "imageIds", "Bilder neben dem Text"),
    ]


def _news_before(article: NewsOut) -> dict[str, object]:
    shown = images_in(article.content)
    return {
        "title": article.title,
        "content": to_markdown(article.content),
        "excerpt": article.excerpt if article.excerpt != excerpt(article.content) else "",
        "publishedDate": wall_time(article.published_date),
        "imageIds": [id for id in article.image_ids if id not in shown],
    }


# Events


class EventForm(PublishedForm):
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

    def values(self, before: EventOut | None) -> dict[str, Any]:
        """As the service takes it."""
        address = {"name": self.place, "street": self.street, "postalCode": self.postal_code, "city": self.city}
        given = {name: value for name, value in address.items() if value}
        return {
            "title": self.title,
            "description": document_in(self.description, self.description_json, before.description if before else None),
            "start_date": exact(self.start_date, before.start_date if before else None),
            "end_date": exact(self.end_date, before.end_date if before else None),
            "address": given or None,
            "image_ids": self.image_ids,
        }


def _event_fields(view: ClubView) -> Sequence[Field]:
    return [
        _title_field(),
        Field("line", "startDate", "Beginn", attrs={"type": "datetime-local", "required": True}),
        Field("line", "endDate", "Ende", hint="Höchstens 31 Tage danach.", attrs={"type": "datetime-local"}),
        Field("rich", "description", "Beschreibung", hint=_MARKDOWN),
        Field("line", "place", "Ort", attrs={"maxlength": 200}),
        Field("line", "street", "Straße", attrs={"maxlength": 200}),
        Field("line", "postalCode", "Postleitzahl", attrs={"maxlength": 200}),
        Field("line", "city", "Stadt", attrs={"maxlength": 200}),
        Field("images", "imageIds", "Bilder neben dem Text"),
    ]


def _event_before(event: EventOut) -> dict[str, object]:
    address, shown = event.address, images_in(event.description)
    return {
        "title": event.title,
        "description": to_markdown(event.description),
        "startDate": wall_time(event.start_date),
        "endDate": wall_time(event.end_date),
        "place": address.name if address else None,
        "street": address.street if address else None,
        "postalCode": address.postalCode if address else None,
        "city": address.city if address else None,
        "imageIds": [id for id in event.image_ids if id not in shown],
    }


add_pages(
    Thing(
        "news", "News", "News schreiben", NewsForm, _news_fields, _news_before,
        Club.all_news, Club.news, (NewNews, Club.create_news), (NewsChange, Club.change_news), Club.delete_news,
        called="title", dated="published_date", rich="content",
        public=Public("/news/{slug}", Club.publish_news, Club.unpublish_news),
    )
)  # fmt: skip
add_pages(
    Thing(
        "termine", "Termine", "Neuer Termin", EventForm, _event_fields, _event_before,
        Club.all_events, Club.event, (NewEvent, Club.create_event), (EventChange, Club.change_event),
        Club.delete_event,
        called="title", dated="start_date", rich="description",
        public=Public("/termine/{slug}", Club.publish_event, Club.unpublish_event),
    )
)  # fmt: skip
