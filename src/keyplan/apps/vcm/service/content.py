"""News and events."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from keyplan.apps.vcm.entities import Event, News
from keyplan.apps.vcm.fields import SlugText, Status
from keyplan.apps.vcm.html import html_of
from keyplan.apps.vcm.models import (
    EventChange,
    EventOut,
    EventSummary,
    NewEvent,
    NewNews,
    NewsChange,
    NewsOut,
    NewsSummary,
)
from keyplan.apps.vcm.richtext import BadDocument, Node, checked, excerpt, images_in, is_blank, with_sources
from keyplan.apps.vcm.service.shared import EDITORS, Shared, first
from keyplan.data import delete
from keyplan.design import Id
from keyplan.web import ANYONE, IfMatch, Listing, MayMatch, Paging, allow

_IN_CALENDAR = 500
"""Events in the calendar: more than a club has in years, and no more than a calendar program takes."""


class Content(Shared):
    """What the club writes about: news and events."""

    # News

    @allow(ANYONE)
    def published_news(self, page: Paging) -> Listing[NewsSummary]:
        """Published news whose date has come, the newest first."""
        return self._summaries(self.design.published_news(self.now), page, NewsSummary)

    @allow(*EDITORS)
    def all_news(self, page: Paging, status: Status | None = None) -> Listing[NewsSummary]:
        """All news, drafts included, or those of one status; the newest first."""
        op = self.design.news_by_status(status) if status else self.design.all_news()
        return self._summaries(op, page, NewsSummary)

    @allow(ANYONE)
    def news(self, id: Id) -> NewsOut:
        """An article; only editors see drafts, and articles whose date has not come."""
        return self._news_out(self._visible(self.design.news(id)))

    @allow(ANYONE)
    def news_by_slug(self, slug: SlugText) -> NewsOut:
        """An article by its slug."""
        return self._news_out(self._visible(self.design.news_by_slug(slug)))

    @allow(*EDITORS)
    def create_news(self, new: NewNews) -> NewsOut:
        """Write an article, as a draft or published at once."""
        content = self._rich_text(new.content, "/content")
        article = News.from_fields(
            new,
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
        article = self.find(self.design.news(id), version)
        before, own_excerpt = article.title, article.excerpt != excerpt(article.content)
        if change.gives(lambda each: each.content):
            content = self._rich_text(change.get(lambda each: each.content, {}), "/content")
            change = change.model_copy(update={"content": content})
        kept = article.excerpt if own_excerpt else ""
        given = change.get(lambda each: each.excerpt, kept) or ""
        change.model_copy(update={"excerpt": given}).apply_to(article)
        article.excerpt = article.excerpt or excerpt(article.content)
        article.image_ids = self._all_images(article.image_ids, article.content)
        return self._news_out(self._saved(article, before, article.title))

    @allow(*EDITORS)
    def publish_news(self, id: Id, version: MayMatch) -> NewsOut:
        """Show an article to everybody, once its date has come."""
        return self._news_out(self._with_status(self.design.news(id), version, "published"))

    @allow(*EDITORS)
    def unpublish_news(self, id: Id, version: MayMatch) -> NewsOut:
        """Make an article a draft again."""
        return self._news_out(self._with_status(self.design.news(id), version, "draft"))

    @allow(*EDITORS, one_way=True)
    def delete_news(self, id: Id, version: IfMatch) -> None:
        """Delete an article, and the images that nothing else uses."""
        self.store.run(delete(self.find(self.design.news(id), version)))

    def _news_out(self, article: News) -> NewsOut:
        images = self._images(article.image_ids)
        sources = {id: image.url for id, image in images.items()}
        return NewsOut.from_fields(
            article,
            content=with_sources(article.content, sources),
            html=html_of(article.content, sources, self.media.hosts),
            image=images.get(first(article.image_ids) or ""),
            images=[images[id] for id in dict.fromkeys(article.image_ids) if id in images],
            author_ids=article.author_ids if self.is_editor else None,
        )

    @allow(*EDITORS)
    def preview(self, document: dict[str, JsonValue]) -> str:
        """A text as it would be shown, as HTML; nothing is stored."""
        checked_text = self._rich_text(document, "/content")
        return html_of(checked_text, self._sources(checked_text), self.media.hosts)

    @allow(*EDITORS)
    def to_edit(self, document: dict[str, JsonValue]) -> Node:
        """A text that is not stored yet, as an editor shows it: with the addresses of its images."""
        try:
            return with_sources(document, self._sources(checked(document)))
        except BadDocument:
            return document  # saving it is refused, with the reason

    def _sources(self, document: Node) -> dict[str, str]:
        return {id: image.url for id, image in self._images(images_in(document)).items()}

    def _authors(self, given: Sequence[str] | None) -> list[str]:
        return list(dict.fromkeys(given)) if given is not None else [self.me.sub]

    # Events

    @allow(ANYONE)
    def upcoming_events(self, page: Paging) -> Listing[EventSummary]:
        """Published events that are still to come or not over, the next first."""
        return self._summaries(self.design.upcoming_events(self.now), page, EventSummary)

    @allow(ANYONE)
    def past_events(self, page: Paging) -> Listing[EventSummary]:
        """Published events that are over, the last first."""
        return self._summaries(self.design.past_events(self.now), page, EventSummary)

    @allow(*EDITORS)
    def all_events(self, page: Paging) -> Listing[EventSummary]:
        """All events, drafts included, the last first."""
        return self._summaries(self.design.all_events(), page, EventSummary)

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
        """An event; only editors see drafts."""
        return self._event_out(self._visible(self.design.event(id)))

    @allow(ANYONE)
    def event_by_slug(self, slug: SlugText) -> EventOut:
        """An event by its slug."""
        return self._event_out(self._visible(self.design.event_by_slug(slug)))

    @allow(*EDITORS)
    def create_event(self, new: NewEvent) -> EventOut:
        """Announce an event, as a draft or published at once."""
        description = self._description(new.description)
        event = Event.from_fields(
            new,
            slug="-",
            description=description,
            image_ids=self._all_images(new.image_ids, description),
            author_ids=self._authors(new.author_ids),
            status="published" if new.publish else "draft",
        )
        return self._event_out(self._created(event, new.title))

    @allow(*EDITORS)
    def change_event(self, id: Id, change: EventChange, version: IfMatch) -> EventOut:
        """Change an event."""
        event = self.find(self.design.event(id), version)
        before = event.title
        if change.gives(lambda each: each.description):
            description = self._description(change.get(lambda each: each.description, None))
            change = change.model_copy(update={"description": description})
        change.apply_to(event)
        event.image_ids = self._all_images(event.image_ids, event.description)
        return self._event_out(self._saved(event, before, event.title))

    @allow(*EDITORS)
    def publish_event(self, id: Id, version: MayMatch) -> EventOut:
        """Show an event to everybody."""
        return self._event_out(self._with_status(self.design.event(id), version, "published"))

    @allow(*EDITORS)
    def unpublish_event(self, id: Id, version: MayMatch) -> EventOut:
        """Make an event a draft again."""
        return self._event_out(self._with_status(self.design.event(id), version, "draft"))

    @allow(*EDITORS, one_way=True)
    def delete_event(self, id: Id, version: IfMatch) -> None:
        """Delete an event, and the images that nothing else uses."""
        self.store.run(delete(self.find(self.design.event(id), version)))

    def _description(self, given: Mapping[str, JsonValue] | None) -> Node | None:
        """A description; None for one without words and images."""
        if given is None:
            return None
        description = self._rich_text(given, "/description")
        return None if is_blank(description) else description

    def _event_out(self, event: Event) -> EventOut:
        images = self._images(event.image_ids)
        sources = {id: image.url for id, image in images.items()}
        return EventOut.from_fields(
            event,
            description=with_sources(event.description, sources) if event.description else None,
            html=html_of(event.description, sources, self.media.hosts),
            image=images.get(first(event.image_ids) or ""),
            images=[images[id] for id in dict.fromkeys(event.image_ids) if id in images],
            author_ids=event.author_ids if self.is_editor else None,
        )
