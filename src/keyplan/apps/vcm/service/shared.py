"""What the parts of the club's service have in common."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import JsonValue

from keyplan.apps.vcm.design import VcmDesign
from keyplan.apps.vcm.entities import Event, News, Team
from keyplan.apps.vcm.models.content import ImageOut
from keyplan.apps.vcm.richtext import BadDocument, Node, checked, images_in
from keyplan.apps.vcm.slugs import numbered, slug_of
from keyplan.apps.vcm.values import Status
from keyplan.data import ParentMissing, UniqueViolation, create, update
from keyplan.design import Entity, Merge, Query, Scan, taken
from keyplan.web import ANYONE, SIGNED_IN, In, InConflict, Listing, Paging, Service, Unprocessable, Versions

EDITORS = ("Moderator", "Admin")
MOST_IMAGES = 20

Sluggish = TypeVar("Sluggish", News, Event, Team)
E = TypeVar("E", bound=Entity)
T = TypeVar("T")

_PARENTS = {
    "shown": ("no-such-media", "There is no such media item.", "/imageIds"),
    "avatar": ("no-such-media", "There is no such media item.", "/avatarId"),
    "logo": ("no-such-media", "There is no such media item.", "/logoId"),
    "roles": ("no-such-role", "There is no such role.", "/roleIds"),
    "places": ("no-such-location", "There is no such location.", "/schedules"),
}
"""What is refused where something points at nothing, by the rule of the design."""


class Shared(Service[VcmDesign]):
    """Base of the parts of the service."""

    all_roles = (ANYONE, SIGNED_IN, *EDITORS)

    @property
    def is_editor(self) -> bool:
        """Whether the caller edits the site, and so may see what is not public."""
        return not self.my_roles.isdisjoint(EDITORS)

    # Slugs

    def _created(self, entity: Sluggish, text: str) -> Sluggish:
        """The entity, stored under the first free slug for a text."""
        return self._with_slug(entity, text, lambda: self.store.run(create(entity)))

    def _saved(self, entity: Sluggish, before: str, text: str) -> Sluggish:
        """The changed entity, stored; under another slug where its text gives another one than before."""
        if slug_of(before) == slug_of(text):
            return self._written(lambda: self.store.run(update(entity)))
        return self._with_slug(entity, text, lambda: self.store.run(update(entity)))

    def _with_slug(self, entity: Sluggish, text: str, write: Callable[[], Sluggish]) -> Sluggish:
        for slug in self._slugs(type(entity), text):
            entity.slug = slug
            try:
                return self._written(write)
            except UniqueViolation:
                continue
        raise AssertionError("there is always another slug")

    def _slugs(self, kind: type[Sluggish], text: str) -> Iterator[str]:
        """Slugs that may be free: the plain one, then with -2, -3 ..."""
        plain = slug_of(text) or kind.__name__.lower()
        for slug in numbered(plain):
            # The plain one is free nearly always; only after it, looking first saves a transaction.
            if slug == plain or not self.store.run(taken(kind.slug_guard, slug=slug)):
                yield slug

    def _written(self, write: Callable[[], T]) -> T:
        """What a write gives; where it points at nothing, the field that does is named."""
        try:
            return write()
        except ParentMissing as error:
            code, detail, pointer = _PARENTS[error.constraint]
            raise Unprocessable(code, detail, pointer=pointer) from error

    # Changes

    def _changes(self, change: In, *required: str) -> dict[str, Any]:
        """What is named in a change; what has to be there can not be changed to nothing."""
        changes = {name: getattr(change, name) for name in change.model_fields_set}
        for name in required:
            if name in changes and changes[name] is None:
                pointer = type(change).model_fields[name].alias or name
                raise Unprocessable("required", "It can not be without.", pointer=f"/{pointer}")
        return changes

    def _set(self, entity: Entity, changes: Mapping[str, object]) -> None:
        for name, value in changes.items():
            setattr(entity, name, value)

    def _with_status(self, entity: Sluggish, versions: Versions, status: Status) -> Sluggish:
        self.current(entity, versions)
        entity.status = status
        return self.store.run(update(entity))

    # Rich text and images

    def _rich_text(self, document: Mapping[str, JsonValue] | None, pointer: str) -> Node | None:
        if document is None:
            return None
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
                f"There are {MOST_IMAGES} images at most, in the text and beside it.",
                pointer="/imageIds",
            )
        return ids

    def _images(self, ids: Iterable[str | None]) -> dict[str, ImageOut]:
        """The media items of these ids that are there."""
        wanted = list(dict.fromkeys(each for each in ids if each))
        found = self.store.run(self.design.media_by_ids(wanted)) if wanted else []
        return {each.id: ImageOut.of(each) for each in found if each is not None}

    def _listed_with(
        self,
        op: Query[E] | Merge[E] | Scan[E],
        page: Paging,
        image_of: Callable[[E], str | None],
        shown: Callable[[E, ImageOut | None], T],
    ) -> Listing[T]:
        """A page of a list, each entity with one image."""
        found = self.listed(op, page, lambda entity: entity)
        images = self._images(image_of(each) for each in found.items)
        items = [shown(each, images.get(image_of(each) or "")) for each in found.items]
        return Listing[T](items=items, next=found.next)


def first(ids: Sequence[str]) -> str | None:
    """The first of some ids."""
    return ids[0] if ids else None


def in_use(what: str) -> InConflict:
    """What is refused while something is used."""
    return InConflict("in-use", f"This {what} is in use.")
