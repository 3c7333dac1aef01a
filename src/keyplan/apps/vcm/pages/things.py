"""Editors: the same set of pages for each kind of things, to list, add, change, publish and delete them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, get_origin

from pydantic import create_model
from starlette.responses import Response

from keyplan.apps.vcm.pages.forms import Field, Sheet, document_in, filled_in, newest_page, taken
from keyplan.apps.vcm.pages.shared import ClubView, FormIn, pages
from keyplan.apps.vcm.service import Club
from keyplan.design import Id
from keyplan.web import Cursor, In, Listing, OfVersion, Paging, turn

Move: TypeAlias = Callable[[Club, str, frozenset[int]], Any]
"""Publishes a thing of this id and version, or makes it a draft again."""


class ThingForm(FormIn):
    """Base of these forms."""

    version: int | None = None

    def values(self, before: Any) -> dict[str, Any]:  # noqa: ANN401 - the thing as it was, or none
        """As the service takes it."""
        return self.model_dump(exclude={"version", "publish"})

    @property
    def seen(self) -> frozenset[int]:
        """The version that was seen."""
        return frozenset() if self.version is None else frozenset({self.version})


class PublishedForm(ThingForm):
    """Base of forms whose things are published."""

    publish: bool = False


@dataclass(frozen=True)
class Public:
    """How a kind of things is published."""

    page: str
    """The path of the page that everybody sees."""
    publish: Move
    unpublish: Move


@dataclass(frozen=True)
class Thing:
    """A kind of things that editors look after."""

    path: str
    title: str
    new: str
    form: type[ThingForm]
    fields: Callable[[ClubView], Sequence[Field]]
    before: Callable[[Any], Mapping[str, object]]
    listed: Callable[[Club, Paging], Listing[Any]]
    one: Callable[[Club, str], Any]
    create: tuple[type[In], Callable[[Club, Any], Any]]
    change: tuple[type[In], Callable[[Club, str, Any, frozenset[int]], Any]]
    delete: Callable[[Club, str, frozenset[int]], None]
    called: str = "name"
    """The attribute that says what one of them is called."""
    dated: str | None = None
    """The attribute with the time that a list shows."""
    rich: str | None = None
    """The attribute with rich text, of which there is a preview."""
    public: Public | None = None

    @property
    def base(self) -> str:
        """Where their pages are."""
        return f"/redaktion/{self.path}"

    def sheet(self, view: ClubView, thing: Any) -> Sheet:  # noqa: ANN401 - one of its kind, or none
        """The page to fill in."""
        return Sheet(
            title=f"{getattr(thing, self.called)} bearbeiten" if thing else self.new,
            back=self.base,
            save_at=f"{self.base}/{thing.id}" if thing else f"{self.base}/neu",
            fields=self.fields(view),
            before=self.before(thing) if thing else {},
            id=thing.id if thing else None,
            version=thing.version if thing else None,
            status=thing.status if thing and self.public else None,
            may_publish=self.public is not None,
            public=view.site.url(self.public.page, slug=thing.slug) if thing and self.public else None,
            rich=self.rich,
            document=getattr(thing, self.rich) if thing and self.rich else None,
            preview_at=f"{self.base}/vorschau" if self.rich else None,
        )

    def saved(self, view: ClubView, thing: Any, notice: str) -> Response:  # noqa: ANN401 - one of its kind
        """Go on to what was saved."""
        if self.public:
            return view.redirect(self.public.page, slug=thing.slug, notice=notice)
        return view.redirect(self.base, notice=notice)

    def row(self, each: Any) -> tuple[str, str, str | None, object]:  # noqa: ANN401 - one of its kind
        """What a list shows."""
        status = each.status if self.public else None
        return each.id, getattr(each, self.called), status, getattr(each, self.dated) if self.dated else None


def add_pages(thing: Thing) -> None:
    """Add the pages of a kind of things."""
    _add_list(thing)
    _add_new(thing)
    if thing.rich:
        _add_preview(thing, thing.rich)
    _add_one(thing)


def _add_list(thing: Thing) -> None:
    @pages.get(thing.base)
    def desk(view: ClubView, cursor: Cursor = None) -> Response:
        view.service.begin_editing()
        found = thing.listed(view.service, newest_page(cursor))
        rows = [thing.row(each) for each in found.items]
        around = turn(view.site.url(thing.base), cursor, found.next)
        return view.render("desk_list.html", kind=thing.path, title=thing.title, rows=rows, turn=around)


def _add_new(thing: Thing) -> None:
    form: Any = thing.form

    @pages.get(f"{thing.base}/neu")
    def begin(view: ClubView) -> Response:
        view.service.begin_editing()
        return filled_in(view, thing.sheet(view, None))

    @pages.post(f"{thing.base}/neu")
    def create(view: ClubView, typed: form) -> Response:
        model, act = thing.create
        values = typed.values(None)
        if thing.public is None:
            made = act(view.service, taken(model, values))
            return thing.saved(view, made, f"{getattr(made, thing.called)} ist angelegt.")
        made = act(view.service, taken(model, {**values, "publish": typed.publish}))
        return thing.saved(view, made, "Veröffentlicht." if typed.publish else "Als Entwurf gespeichert.")


def _add_preview(thing: Thing, rich: str) -> None:
    def looking(view: ClubView, of: str | None = None) -> Response:
        view.service.begin_editing()
        return filled_in(view, thing.sheet(view, thing.one(view.service, of) if of else None))

    look: Any = _unchecked(thing.form)

    @pages.post(f"{thing.base}/vorschau", again=looking)
    def preview(view: ClubView, typed: look, of: str | None = None) -> Response:
        view.service.begin_editing()
        before = thing.one(view.service, of) if of else None
        document = document_in(
            getattr(typed, rich), getattr(typed, f"{rich}_json"), getattr(before, rich) if before else None
        )
        return filled_in(view, thing.sheet(view, before), view.service.preview(document))


def _unchecked(form: type[ThingForm]) -> type[FormIn]:
    """A form with the same fields, in which nothing has to be right yet."""
    several = {name for name, field in form.model_fields.items() if get_origin(field.annotation) is list}
    fields: dict[str, Any] = {name: (list[str], ...) if name in several else (str, "") for name in form.model_fields}
    return create_model(f"Unchecked{form.__name__}", __base__=FormIn, **fields)


def _add_one(thing: Thing) -> None:
    form: Any = thing.form
    path = f"{thing.base}/{{id}}"

    @pages.get(path)
    def edit(view: ClubView, id: Id) -> Response:
        view.service.begin_editing()
        return filled_in(view, thing.sheet(view, thing.one(view.service, id)))

    @pages.post(path)
    def change(view: ClubView, id: Id, typed: form) -> Response:
        view.service.begin_editing()
        model, act = thing.change
        changed = act(view.service, id, taken(model, typed.values(thing.one(view.service, id))), typed.seen)
        if thing.public and typed.publish:
            changed = thing.public.publish(view.service, id, frozenset({changed.version}))
        return thing.saved(view, changed, f"{getattr(changed, thing.called)} ist gespeichert.")

    @pages.post(f"{path}/loeschen", again=edit)
    def delete(view: ClubView, id: Id, which: OfVersion) -> Response:
        thing.delete(view.service, id, which.seen)
        return view.redirect(thing.base, notice="Gelöscht.")

    if thing.public:
        _add_move(thing, "veroeffentlichen", thing.public.publish, "Veröffentlicht.", edit)
        _add_move(thing, "zurueckziehen", thing.public.unpublish, "Wieder ein Entwurf.", edit)


def _add_move(thing: Thing, name: str, act: Move, notice: str, edit: Callable[..., Response]) -> None:
    @pages.post(f"{thing.base}/{{id}}/{name}", again=edit)
    def move(view: ClubView, id: Id, which: OfVersion) -> Response:
        return thing.saved(view, act(view.service, id, which.seen), notice)
