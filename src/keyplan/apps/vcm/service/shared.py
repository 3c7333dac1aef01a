"""What the parts of the club's service have in common."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from pydantic import JsonValue

from keyplan.apps.vcm.design import VcmDesign
from keyplan.apps.vcm.entities import Event, News, Team
from keyplan.apps.vcm.fields import MOST_IMAGES, Status
from keyplan.apps.vcm.models import ImageOut, WithImage
from keyplan.apps.vcm.richtext import BadDocument, Node, checked, images_in
from keyplan.apps.vcm.slugs import slug_of
from keyplan.data import create
from keyplan.design import Get, Lookup, Merge, Op, Query, taken
from keyplan.web import ANYONE, SIGNED_IN, Listing, Paging, Service, Unprocessable, Versions

EDITORS = ("Moderator", "Admin")

P = TypeVar("P", News, Event, Team)
"""What is published, and has a slug."""
Summary = TypeVar("Summary", bound=WithImage)


class Shared(Service[VcmDesign]):
    """Base of the parts of the service."""

    all_roles = (ANYONE, SIGNED_IN, *EDITORS)

    @property
    def is_editor(self) -> bool:
        """Whether the caller edits the site, and so may see what is not public."""
        return not self.my_roles.isdisjoint(EDITORS)

    # What is published

    def _visible(self, op: Get[P] | Lookup[P] | Query[P]) -> P:
        """What an access pattern leads to, if the caller may see it: drafts are for editors only."""
        return self.find(op, allowed=self._may_see, hidden=True)

    def _may_see(self, thing: News | Event | Team) -> bool:
        if self.is_editor:
            return True
        return thing.status == "published" and (not isinstance(thing, News) or thing.published_date <= self.now)

    def _with_status(self, op: Op[P | None], versions: Versions, status: Status) -> P:
        thing = self.find(op, versions)
        thing.status = status
        return self.save(thing)

    # Slugs

    def _created(self, thing: P, text: str) -> P:
        """The thing, stored under the first free slug for a text."""
        return self._with_slug(thing, text, lambda: self.store.run(create(thing)))

    def _saved(self, thing: P, before: str, text: str) -> P:
        """The changed thing, stored; under another slug where its text gives another one than before."""
        if slug_of(before) == slug_of(text):
            return self.save(thing)
        return self._with_slug(thing, text, lambda: self.save(thing))

    def _with_slug(self, thing: P, text: str, write: Callable[[], P]) -> P:
        def written(slug: str) -> P:
            thing.slug = slug
            return write()

        kind = type(thing)
        return self.with_free_slug(
            slug_of(text) or kind.__name__.lower(), written, lambda slug: taken(kind.slug_guard, slug=slug)
        )

    # Rich text and images

    def _rich_text(self, document: Mapping[str, JsonValue], pointer: str) -> Node:
        try:
            return checked(document)
        except BadDocument as error:
            raise Unprocessable(error.code, error.problem, pointer=f"{pointer}{error.pointer}") from error

    def _all_images(self, image_ids: Sequence[str], document: Mapping[str, JsonValue] | None) -> list[str]:
        """The images of something: those that are named, and those that its text shows."""
        ids = list(dict.fromkeys([*image_ids, *images_in(document)]))
        if len(ids) > MOST_IMAGES:
            raise Unprocessable(
                "too-many-images",
                f"Use at most {MOST_IMAGES} images, in the text and beside it.",
                pointer="/imageIds",
            )
        return ids

    def _images(self, ids: Iterable[str | None]) -> dict[str, ImageOut]:
        """The media items of these ids that exist."""
        wanted = list(dict.fromkeys(each for each in ids if each))
        found = self.store.run(self.design.media_by_ids(wanted)) if wanted else []
        return {each.id: ImageOut.from_fields(each) for each in found if each is not None}

    def _summaries(self, op: Query[P] | Merge[P], page: Paging, answer: type[Summary]) -> Listing[Summary]:
        """A page of a list, each thing with the first of its images."""
        found = self.listed(op, page, lambda thing: thing)
        images = self._images(first(each.image_ids) for each in found.items)
        items = [answer.from_fields(each, image=images.get(first(each.image_ids) or "")) for each in found.items]
        return Listing[Summary](items=items, next=found.next)


def first(ids: Sequence[str]) -> str | None:
    """The first of some ids."""
    return ids[0] if ids else None
