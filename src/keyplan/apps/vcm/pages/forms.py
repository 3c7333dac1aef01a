"""Forms of the editors' pages: what is asked for, and how one page shows them all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

import orjson
from pydantic import JsonValue, ValidationError
from starlette.responses import Response

from keyplan.apps.vcm.markdown import from_markdown, to_markdown
from keyplan.apps.vcm.models import MediaOut
from keyplan.apps.vcm.pages.shared import EMPTY, ClubView
from keyplan.web import In, Paging, Unprocessable, all_of, folder_of, invalid

I = TypeVar("I", bound=In)  # noqa: E741 - an In

FieldKind: TypeAlias = Literal["line", "area", "rich", "choice", "many", "tick", "images", "image", "trainings"]
_AT_HAND = 48
"""Images that are offered to choose from, beside those that are chosen."""


@dataclass(frozen=True)
class Field:
    """Something that a form asks for."""

    kind: FieldKind
    name: str
    label: str
    hint: str | None = None
    options: Sequence[tuple[str, str]] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)
    """Attributes of the element: type, maxlength, required ..."""


@dataclass(frozen=True)
class Sheet:
    """A page to fill in."""

    title: str
    back: str
    """The path of the list that it belongs to."""
    save_at: str
    fields: Sequence[Field]
    before: Mapping[str, object]
    id: str | None = None
    version: int | None = None
    status: str | None = None
    may_publish: bool = False
    public: str | None = None
    """The address of the page that everybody sees."""
    rich: str | None = None
    """The field with rich text."""
    document: Mapping[str, JsonValue] | None = None
    preview_at: str | None = None

    @property
    def labels(self) -> dict[str, str]:
        """What the fields are called."""
        return {each.name: each.label for each in self.fields}


def filled_in(view: ClubView, sheet: Sheet, preview: str | None = None) -> Response:
    """The page to fill in, with what was typed or what is there."""
    view.form.starting_from({**sheet.before, "version": sheet.version})
    chosen = [id for each in sheet.fields if each.kind in ("images", "image") for id in view.form.values(each.name)]
    uses_images = any(each.kind in ("images", "image", "rich") for each in sheet.fields)
    return view.render(
        "edit.html",
        sends_files=True,
        sheet=sheet,
        stale=sheet.version is not None and view.form.value("version") != str(sheet.version),
        preview=preview,
        images=_images(view, chosen) if uses_images else [],
        uses_images=uses_images,
        rich_text=orjson.dumps(_document(view, sheet)).decode(),
        rich_editor=sheet.rich is not None and _has_editor(),
    )


def _document(view: ClubView, sheet: Sheet) -> Mapping[str, JsonValue]:
    """What the editor begins with: the same as the field for Markdown, of which it takes the place."""
    if sheet.rich is None:
        return EMPTY
    found = document_in(view.form.value(sheet.rich), "", sheet.document)
    return found if found == sheet.document else view.service.to_edit(found)


def _images(view: ClubView, chosen: Sequence[str]) -> list[MediaOut]:
    """Images to choose from: those that are chosen first, then the newest; ids are in order of creation."""
    found = {each.id: each for each in all_of(view.service.all_media)}
    newest = [id for id in sorted(found, reverse=True) if id not in chosen][:_AT_HAND]
    return [found[id] for id in [*dict.fromkeys(chosen), *newest] if id in found]


def _has_editor() -> bool:
    """Whether the editor was built; where not, people write Markdown."""
    return (folder_of("keyplan.apps.vcm") / "static" / "editor.js").is_file()


def document_in(markdown: str, json: str, before: Mapping[str, JsonValue] | None) -> dict[str, JsonValue]:
    """What was written: with Tiptap, or in Markdown. A text that was not touched stays just as it is."""
    if json:
        try:
            found = orjson.loads(json)
        except orjson.JSONDecodeError:
            found = None
        if not isinstance(found, dict):
            raise Unprocessable("bad-rich-text", "The text can't be read.", pointer="/content")
        return found
    if before is not None and markdown.strip() == to_markdown(before).strip():
        return dict(before)
    return from_markdown(markdown)


def taken(model: type[I], values: Mapping[str, object]) -> I:
    """What a form says, as the service takes it; what is not right goes back to the form."""
    try:
        return model.model_validate(values, by_name=True)
    except ValidationError as error:
        raise invalid(error) from error


def newest_page(cursor: str | None) -> Paging:
    """A page of a list that editors work on."""
    return Paging(limit=50, cursor=cursor)
