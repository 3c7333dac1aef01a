"""Editors: the pages for all kinds of things that they look after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import orjson
from pydantic import JsonValue

from keyplan.apps.vcm.models import EventSummary, MediaOut, NewsSummary
from keyplan.apps.vcm.pages.inputs import (
    AddressInput,
    ExcerptInput,
    ImageInput,
    ImagesInput,
    LastDayInput,
    RichTextInput,
    TrainingsInput,
    document_in,
)
from keyplan.apps.vcm.pages.shared import EMPTY, GENDERS, ClubView, by_age, day, pages
from keyplan.apps.vcm.service import Club
from keyplan.web import Choice, Choices, Editor, In, Line, LongText, Paths, WallTime, all_of, folder_of

New = TypeVar("New", bound=In)
Changed = TypeVar("Changed", bound=In)

_AT_HAND = 48
"""Images that are offered to choose from, beside those that are chosen."""
_GERMAN = Paths("neu", "loeschen", "veroeffentlichen", "zurueckziehen", "vorschau")


@dataclass(frozen=True, kw_only=True)
class ClubEditor(Editor[Club, New, Changed]):
    """The pages for a kind of thing, with the images that its form offers and the text that it is written in."""

    rich: str | None = None
    """The field with rich text, of which there is a preview."""
    up: tuple[str, str] | None = ("/redaktion", "Editing")
    paths: Paths = _GERMAN
    template: str = "edit.html"
    sends_files: bool = True

    def more(self, view: ClubView, thing: object | None) -> Mapping[str, object]:
        """The images to choose from, and what the editor of rich text begins with."""
        images = {name for name, each in self.asked.items() if isinstance(each, ImageInput)}
        uses_images = bool(images) or self.rich is not None
        names = [self.form.model_fields[name].alias or name for name in images]
        chosen = [id for name in names for id in view.form.values(name)]
        return {
            "images": _images(view, chosen) if uses_images else [],
            "uses_images": uses_images,
            "rich_text": orjson.dumps(self._document(view, thing)).decode(),
            "rich_editor": self.rich is not None and _has_editor(),
        }

    def _document(self, view: ClubView, thing: object | None) -> Mapping[str, JsonValue]:
        """What the editor begins with: the same as the field for Markdown, of which it takes the place."""
        if self.rich is None:
            return EMPTY
        known: dict[str, JsonValue] | None = getattr(thing, self.rich, None)
        found = document_in(view.form.value(self.rich), "", known)
        return found if found == known else view.service.to_edit(found)


def _images(view: ClubView, chosen: Sequence[str]) -> list[MediaOut]:
    """Images to choose from: those that are chosen first, then the newest."""
    found = {each.id: each for each in sorted(all_of(view.service.all_media), key=by_age, reverse=True)}
    newest = [id for id in found if id not in chosen][:_AT_HAND]
    return [found[id] for id in [*dict.fromkeys(chosen), *newest] if id in found]


def _has_editor() -> bool:
    """Whether the editor was built; where not, people write Markdown."""
    return (folder_of("keyplan.apps.vcm") / "static" / "editor.js").is_file()


# What can be chosen


def _members(view: ClubView) -> Sequence[tuple[str, str]]:
    return [(each.id, each.name) for each in sorted(all_of(view.service.members), key=lambda each: each.name)]


def _roles(view: ClubView) -> Sequence[tuple[str, str]]:
    return [(each.id, each.name) for each in sorted(all_of(view.service.roles_of_members), key=lambda each: each.name)]


def _places(view: ClubView) -> Sequence[tuple[str, str]]:
    found = sorted(all_of(view.service.locations), key=lambda each: each.name)
    return [("", "No training"), *((each.id, each.name) for each in found)]


# Kinds of things

_RICH = RichTextInput(help="Markdown: ## heading, **bold**, *italic*, [link](https://…), - list, ![image](media:ID).")


def _published_on(article: NewsSummary) -> object:
    return day(article.published_date)


def _starts_on(event: EventSummary) -> object:
    return day(event.start_date)


NEWS = ClubEditor(
    path="/redaktion/news",
    noun="article",
    plural="News",
    listed=Club.all_news,
    order="Newest first",
    one=Club.news,
    create=Club.create_news,
    change=Club.change_news,
    delete=Club.delete_news,
    name="title",
    note=_published_on,
    fields=("title", "content", "excerpt", "published_date", "image_ids"),
    inputs={
        "content": _RICH,
        "excerpt": ExcerptInput(rows=3),
        "published_date": WallTime(),
        "image_ids": ImagesInput("content", label="Images beside the text"),
    },
    page="/news/{slug}",
    publish=Club.publish_news,
    unpublish=Club.unpublish_news,
    rich="content",
)
EVENTS = ClubEditor(
    path="/redaktion/termine",
    noun="event",
    plural="Events",
    listed=Club.all_events,
    order="Latest first",
    one=Club.event,
    create=Club.create_event,
    change=Club.change_event,
    delete=Club.delete_event,
    name="title",
    note=_starts_on,
    fields=("title", "start_date", "end_date", "description", "address", "image_ids"),
    inputs={
        "start_date": WallTime(),
        "end_date": WallTime(),
        "description": _RICH,
        "address": AddressInput(),
        "image_ids": ImagesInput("description", label="Images beside the text"),
    },
    page="/termine/{slug}",
    publish=Club.publish_event,
    unpublish=Club.unpublish_event,
    rich="description",
)
TEAMS = ClubEditor(
    path="/redaktion/teams",
    noun="team",
    plural="Teams",
    listed=Club.all_teams,
    order="Sorted by name",
    one=Club.team,
    create=Club.create_team,
    change=Club.change_team,
    delete=Club.delete_team,
    fields=(
        *("name", "gender", "age", "league", "sbvv_team_id", "description", "instagram"),
        *("coach_ids", "contact_person_ids", "schedules", "image_ids"),
    ),
    inputs={
        "gender": Choice(options=list(GENDERS.items())),
        "description": LongText(rows=5),
        "coach_ids": Choices(options=_members),
        "contact_person_ids": Choices(options=_members),
        "schedules": TrainingsInput(options=_places),
        "image_ids": ImagesInput(),
    },
    page="/teams/{slug}",
    publish=Club.publish_team,
    unpublish=Club.unpublish_team,
)
MEMBERS = ClubEditor(
    path="/redaktion/mitglieder",
    noun="member",
    plural="Members",
    listed=Club.members,
    one=Club.member,
    create=Club.create_member,
    change=Club.change_member,
    delete=Club.delete_member,
    fields=("name", "email", "phone", "show_contact", "role_ids", "avatar_id"),
    inputs={
        "email": Line(type="email"),
        "phone": Line(type="tel"),
        "role_ids": Choices(options=_roles),
        "avatar_id": ImageInput(),
    },
)
SPONSORS = ClubEditor(
    path="/redaktion/sponsoren",
    noun="sponsor",
    plural="Sponsors",
    listed=Club.sponsors,
    one=Club.sponsor,
    create=Club.create_sponsor,
    change=Club.change_sponsor,
    delete=Club.delete_sponsor,
    fields=("name", "website", "expiry_timestamp", "logo_id"),
    inputs={
        "website": Line(type="url", placeholder="https://"),
        "expiry_timestamp": LastDayInput(label="Last day", help="If empty, the sponsor stays.", type="date"),
        "logo_id": ImageInput(),
    },
)
ROLES = ClubEditor(
    path="/redaktion/rollen",
    noun="role",
    plural="Roles",
    listed=Club.roles_of_members,
    one=Club.role,
    create=Club.create_role,
    change=Club.change_role,
    delete=Club.delete_role,
)
LOCATIONS = ClubEditor(
    path="/redaktion/orte",
    noun="location",
    plural="Locations",
    listed=Club.locations,
    one=Club.location,
    create=Club.create_location,
    change=Club.change_location,
    delete=Club.delete_location,
)


def _with_preview(editor: ClubEditor[Any, Any]) -> ClubEditor[Any, Any]:
    """The editor, with a page that shows a text before it is saved."""
    field = editor.rich

    def preview(view: ClubView, typed: In, before: object | None) -> str:
        assert field is not None
        return view.service.preview(_RICH.value(field, typed, before))

    return editor if field is None else replace(editor, preview=preview)


EDITORS: tuple[ClubEditor[Any, Any], ...] = tuple(
    _with_preview(each) for each in (NEWS, EVENTS, TEAMS, MEMBERS, SPONSORS, ROLES, LOCATIONS)
)
for _editor in EDITORS:
    _editor.add_to(pages)
