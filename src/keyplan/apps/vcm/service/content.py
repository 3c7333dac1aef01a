"""News and events."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import JsonValue

from keyplan.apps.vcm.entities import Event, News
from keyplan.apps.vcm.html import html_of
from keyplan.apps.vcm.models.base import SlugText
from keyplan.apps.vcm.models.content import (
    EventChange,
    EventOut,
    EventSummary,
    ImageOut,
    NewEvent,
    NewNews,
    NewsChange,
    NewsOut,
    NewsSummary,
)
from keyplan.apps.vcm.richtext import BadDocument, Node, checked, excerpt, images_in, is_blank, with_sources
from keyplan.apps.vcm.service.shared import EDITORS, Shared, first
from keyplan.apps.vcm.values import LONGEST_EVENT, Address, Status
from keyplan.data import delete
from keyplan.design import Id, Merge, Query
from keyplan.web import ANYONE, IfMatch, Listing, MayMatch, Missing, Paging, Unprocessable, allow

_IN_CALENDAR = 500
"""Events in the calendar: more than a club has in years, and no more than a calendar program takes."""


class Content(Shared):
    """What the club writes about: news and events."""

    # News

    @allow(ANYONE)
    def published_news(self, page: Paging) -> Listing[NewsSummary]:
        """Published news whose date has come, the newest first."""
        return self._news_list(self.design.published_news(self.now), page)

    @allow(*EDITORS)
    def all_news(self, page: Paging, status: Status | None = None) -> Listing[NewsSummary]:
        """All news, drafts included, or those of one status; the newest first."""
        return self._news_list(self.design.news_by_status(status) if status else self.design.all_news(), page)

    @allow(ANYONE)
    def news(self, id: Id) -> NewsOut:
        """An article; a draft, or one whose date has not come, is there for editors only."""
        return self._news_out(self._visible(self.store.run(self.design.news(id))))

    @allow(ANYONE)
    def news_by_slug(self, slug: SlugText) -> NewsOut:
        """An article by its slug."""
        found = self.store.run(self.design.news_by_slug(slug).limit(1)).items
        return self._news_out(self._visible(found[0] if found else None))

    @allow(*EDITORS)
    def create_news(self, new: NewNews) -> NewsOut:
        """Write an article, as a draft or published at once."""
        content = self._rich_text(new.content, "/content")
        assert content is not None
        article = News(
            title=new.title,
            slug="-",
            content=content,
            excerpt=new.excerpt or excerpt(content),
            published_date=new.published_date or self.now,
            status="published" if new.publish else "draft",
            author_ids=self._authors(new.author_ids),
            image_ids=self._all_images(new.image_ids, content),
        )
        return self._news_out(self._created(article, new.title))

    @allow(*EDITORS)
    def change_news(self, id: Id, change: NewsChange, version: IfMatch) -> NewsOut:
        """Change an article."""
        article = self._article(id)
        self.current(article, version)
        changes = self._changes(change, "title", "content", "published_date", "author_ids", "image_ids")
        before, made = article.title, article.excerpt == excerpt(article.content)
        if "content" in changes:
            changes["content"] = self._rich_text(changes["content"], "/content")
        if made or "excerpt" in changes:
            changes["excerpt"] = changes.get("excerpt") or ""
        self._set(article, changes)
        article.excerpt = article.excerpt or excerpt(article.content)
        article.image_ids = self._all_images(article.image_ids, article.content)
        return self._news_out(self._saved(article, before, article.title))

    @allow(*EDITORS)
    def publish_news(self, id: Id, version: MayMatch) -> NewsOut:
        """Show an article to everybody, once its date has come."""
        return self._news_out(self._with_status(self._article(id), version, "published"))

    @allow(*EDITORS)
    def unpublish_news(self, id: Id, version: MayMatch) -> NewsOut:
        """Make an article a draft again."""
        return self._news_out(self._with_status(self._article(id), version, "draft"))

    @allow(*EDITORS)
    def delete_news(self, id: Id, version: IfMatch) -> None:
        """Delete an article. Images that nothing else uses go, too."""
        article = self._article(id)
        self.current(article, version)
        self.store.run(delete(article))

    def _article(self, id: str) -> News:
        article = self.store.run(self.design.news(id))
        if article is None:
            raise Missing(detail="There is no such article.")
        return article

    def _visible(self, article: News | None) -> News:
        if article is not None and not self.is_editor:
            public = article.status == "published" and article.published_date <= self.now
            article = article if public else None
        if article is None:
            raise Missing(detail="There is no such article.")
        return article

    def _news_list(self, op: Query[News] | Merge[News], page: Paging) -> Listing[NewsSummary]:
        return self._listed_with(op, page, lambda each: first(each.image_ids), _news_summary)

    def _news_out(self, article: News) -> NewsOut:
        images = self._images(article.image_ids)
        sources = {id: image.url for id, image in images.items()}
        return NewsOut(
            **_news_values(article, images.get(first(article.image_ids) or "")),
            content=with_sources(article.content, sources),
            html=html_of(article.content, sources),
            images=[images[id] for id in dict.fromkeys(article.image_ids) if id in images],
            author_ids=article.author_ids if self.is_editor else None,
            created_at=article.created_at,
            updated_at=article.updated_at,
        )

    @allow(*EDITORS)
    def begin_editing(self) -> None:
        """Nothing, for those who may edit; what only they are shown begins with it."""

    @allow(*EDITORS)
    def preview(self, document: dict[str, JsonValue]) -> str:
        """A text as it would be shown, as HTML; nothing is stored."""
        made = self._rich_text(document, "/content")
        return html_of(made, self._sources(made))

    @allow(*EDITORS)
    def to_edit(self, document: dict[str, JsonValue]) -> Node:
        """A text that is not stored yet, as an editor shows it: with the addresses of its images."""
        try:
            return with_sources(document, self._sources(checked(document)))
        except BadDocument:
            return document  # whoever saves it is told

    def _sources(self, document: Node | None) -> dict[str, str]:
        return {id: image.url for id, image in self._images(images_in(document)).items()}

    def _authors(self, given: Sequence[str] | None) -> list[str]:
        return list(dict.fromkeys(given)) if given is not None else [self.me.sub]

    # Events

    @allow(ANYONE)
    def upcoming_events(self, page: Paging) -> Listing[EventSummary]:
        """Published events that are still to come or not over, the next first."""
        return self._event_list(self.design.upcoming_events(self.now), page)

    @allow(ANYONE)
    def past_events(self, page: Paging) -> Listing[EventSummary]:
        """Published events that are over, the last first."""
        return self._event_list(self.design.past_events(self.now), page)

    @allow(*EDITORS)
    def all_events(self, page: Paging) -> Listing[EventSummary]:
        """All events, drafts included, the last first."""
        return self._event_list(self.design.all_events(), page)

    @allow(ANYONE)
    def calendar(self) -> list[Event]:
        """The published events for a calendar: those that come, and behind them the last of those that are over."""
        page = 100
        found: list[Event] = []
        for op in (self.design.upcoming_events(self.now), self.design.past_events(self.now)):
            for event in self.store.each(op.limit(page)):
                if len(found) == _IN_CALENDAR:
                    return found
                found.append(event)
        return found

    @allow(ANYONE)
    def event(self, id: Id) -> EventOut:
        """An event; a draft is there for editors only."""
        return self._event_out(self._visible_event(self.store.run(self.design.event(id))))

    @allow(ANYONE)
    def event_by_slug(self, slug: SlugText) -> EventOut:
        """An event by its slug."""
        return self._event_out(self._visible_event(self.store.run(self.design.event_by_slug(slug))))

    @allow(*EDITORS)
    def create_event(self, new: NewEvent) -> EventOut:
        """Announce an event, as a draft or published at once."""
        description = self._description(new.description)
        _check_dates(new.start_date, new.end_date)
        event = Event(
            title=new.title,
            slug="-",
            description=description,
            start_date=new.start_date,
            end_date=new.end_date,
            address=Address(**new.address.model_dump()) if new.address else None,
            image_ids=self._all_images(new.image_ids, description),
            author_ids=self._authors(new.author_ids),
            status="published" if new.publish else "draft",
        )
        return self._event_out(self._created(event, new.title))

    @allow(*EDITORS)
    def change_event(self, id: Id, change: EventChange, version: IfMatch) -> EventOut:
        """Change an event."""
        event = self._event(id)
        self.current(event, version)
        changes = self._changes(change, "title", "start_date", "author_ids", "image_ids")
        before = event.title
        if "description" in changes:
            changes["description"] = self._description(changes["description"])
        if changes.get("address") is not None:
            changes["address"] = Address(**changes["address"].model_dump())
        self._set(event, changes)
        _check_dates(event.start_date, event.end_date)
        event.image_ids = self._all_images(event.image_ids, event.description)
        return self._event_out(self._saved(event, before, event.title))

    @allow(*EDITORS)
    def publish_event(self, id: Id, version: MayMatch) -> EventOut:
        """Show an event to everybody."""
        return self._event_out(self._with_status(self._event(id), version, "published"))

    @allow(*EDITORS)
    def unpublish_event(self, id: Id, version: MayMatch) -> EventOut:
        """Make an event a draft again."""
        return self._event_out(self._with_status(self._event(id), version, "draft"))

    @allow(*EDITORS)
    def delete_event(self, id: Id, version: IfMatch) -> None:
        """Delete an event. Images that nothing else uses go, too."""
        event = self._event(id)
        self.current(event, version)
        self.store.run(delete(event))

    def _description(self, given: Mapping[str, JsonValue] | None) -> Node | None:
        """A description; one that says nothing is none."""
        description = self._rich_text(given, "/description")
        return None if description is None or is_blank(description) else description

    def _event(self, id: str) -> Event:
        event = self.store.run(self.design.event(id))
        if event is None:
            raise Missing(detail="There is no such event.")
        return event

    def _visible_event(self, event: Event | None) -> Event:
        if event is None or not (event.status == "published" or self.is_editor):
            raise Missing(detail="There is no such event.")
        return event

    def _event_list(self, op: Query[Event] | Merge[Event], page: Paging) -> Listing[EventSummary]:
        return self._listed_with(op, page, lambda each: first(each.image_ids), _event_summary)

    def _event_out(self, event: Event) -> EventOut:
        images = self._images(event.image_ids)
        sources = {id: image.url for id, image in images.items()}
        return EventOut(
            **_event_values(event, images.get(first(event.image_ids) or "")),
            description=with_sources(event.description, sources) if event.description else None,
            html=html_of(event.description, sources),
            images=[images[id] for id in dict.fromkeys(event.image_ids) if id in images],
            author_ids=event.author_ids if self.is_editor else None,
            created_at=event.created_at,
        )


def _check_dates(start: datetime, end: datetime | None) -> None:
    if end is not None and end < start:
        raise Unprocessable("ends-too-early", "An event does not end before it begins.", pointer="/endDate")
    if end is not None and end - start > LONGEST_EVENT:
        raise Unprocessable("too-long", "An event lasts 31 days at most.", pointer="/endDate")


def _news_values(article: News, image: ImageOut | None) -> dict[str, Any]:
    return {name: getattr(article, name) for name in NewsSummary.model_fields if name != "image"} | {"image": image}


def _news_summary(article: News, image: ImageOut | None) -> NewsSummary:
    return NewsSummary(**_news_values(article, image))


def _event_values(event: Event, image: ImageOut | None) -> dict[str, Any]:
    return {name: getattr(event, name) for name in EventSummary.model_fields if name != "image"} | {"image": image}


def _event_summary(event: Event, image: ImageOut | None) -> EventSummary:
    return EventSummary(**_event_values(event, image))
