"""Editors: pages to list, add, change, publish and delete a kind of thing, made from what its service does.

    Editor(
        path="/shelves",
        noun="shelf",
        plural="Shelves",
        listed=Librarian.shelves,
        one=Librarian.shelf,
        create=Librarian.create_shelf,
        change=Librarian.rename_shelf,
        delete=Librarian.delete_shelf,
    ).add_to(pages)

The forms ask for the fields of the body that `create` takes, with their labels, help and limits; `fields` says for
which of them, and in which order, and `inputs` how (see `inputs`). Fields that are set on create only are not asked
for later. Who may call `create` may open the pages. What is said goes through the pages' language: the sentences below,
the noun, the plural, labels and help texts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Generic, Self, TypeAlias, TypeVar, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from starlette.responses import Response

from keyplan.design import label_of
from keyplan.web.models.bodies import In
from keyplan.web.models.paging import Listing, Paging
from keyplan.web.models.problems import FieldProblem, Problem
from keyplan.web.models.signatures import signature_of
from keyplan.web.models.versions import Versions
from keyplan.web.pages.bodies import EditorForm, assigned, body_of, form_with, problems_of_part, read_body
from keyplan.web.pages.forms import OfVersion
from keyplan.web.pages.inputs import Input, ShownInput, input_for
from keyplan.web.pages.views import View
from keyplan.web.system.confirm import Confirm
from keyplan.web.system.directions import filled_in
from keyplan.web.system.page_forms import names_in
from keyplan.web.system.page_routes import Pages
from keyplan.web.system.service import Service

S = TypeVar("S", bound=Service[Any])
New = TypeVar("New", bound=In)
Changed = TypeVar("Changed", bound=In)

Move: TypeAlias = Callable[[S, str, Versions], object]
"""Publishes a thing of this id and version, or makes it a draft again."""

SENTENCES = (
    "{Noun} created",
    "{Noun} saved",
    "{Noun} saved as a draft",
    "{Noun} published",
    "{Noun} unpublished",
    "{Noun} deleted",
    "Add {noun}",
    "Edit {name}",
    "Delete {noun} “{name}”?",
)
"""What is said beside the templates `editor.html` and `editor_list.html`, for languages to translate."""


@dataclass(frozen=True)
class Paths:
    """The last parts of the paths."""

    new: str = "new"
    delete: str = "delete"
    publish: str = "publish"
    unpublish: str = "unpublish"
    preview: str = "preview"


@dataclass(frozen=True, kw_only=True)
class Editor(Generic[S, New, Changed]):
    """The pages for a kind of thing."""

    path: str
    noun: str
    plural: str
    listed: Callable[[S, Paging], Listing[Any]]
    one: Callable[[S, str], object]
    create: Callable[[S, New], object]
    change: Callable[[S, str, Changed, Versions], object]
    delete: Callable[[S, str, Versions], None]
    name: str = "name"
    """The field that says what one of them is called."""
    order: str | None = None
    """How `listed` is sorted, such as "Newest first". Without it, the list is read whole and sorted by name."""
    note: Callable[[Any], object] | None = None
    """What a list shows beside the name."""
    fields: Sequence[str] = ()
    """The fields that the form asks for; all of the body without it."""
    inputs: Mapping[str, Input] = field(default_factory=dict)
    """How it asks for them, where that doesn't follow from their types."""
    page: str | None = None
    """The path of the page of one of them, with fields in braces; people get there after saving, else to the list."""
    publish: Move[S] | None = None
    unpublish: Move[S] | None = None
    preview: Callable[[View[S], In, object | None], str] | None = None
    """The HTML of what was typed. Nothing else in the form has to be valid then."""
    up: tuple[str, str] | None = None
    """The path and the title of the page above the list."""
    paths: Paths = Paths()
    template: str = "editor.html"
    sends_files: bool = False

    # What it asks for

    @cached_property
    def body(self) -> type[In]:
        """What `create` takes."""
        return body_of(self.create)

    @cached_property
    def for_changes(self) -> Self:
        """The editor whose form asks for what can be changed: without fields that are set on create only."""
        known = body_of(self.change).model_fields
        kept = [name for name in self.asked if name in known]
        return replace(self, fields=kept) if len(kept) < len(self.asked) else self

    @cached_property
    def asked(self) -> dict[str, Input]:
        """The inputs, by the fields of the body."""
        names = self.fields or [name for name in self.body.model_fields if name != "publish" or not self.publish]
        known = self.body.model_fields
        return {name: self.inputs.get(name) or input_for(name, known[name]) for name in names}

    @cached_property
    def form(self) -> type[EditorForm]:
        """What the form sends."""
        found: dict[str, FieldInfo] = {}
        for name, each in self.asked.items():
            found |= each.asked(name, self.body.model_fields[name])
        form = form_with(f"{self.body.__name__}Form", self.body, found)
        form.body_problems, form.texts = self._body_problems, self._texts
        return form

    def _texts(self, sent: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
        """What people read of what they entered."""
        found = dict(sent)
        for name, each in self.asked.items():
            parts = {part: self._sent_as(part) for part in each.asked(name, self.body.model_fields[name])}
            given = {part: found.pop(sent_as) for part, sent_as in parts.items() if sent_as in found}
            found |= {parts[part]: texts for part, texts in each.texts(name, given).items()}
        return found

    def _body_problems(self, sent: Mapping[str, object]) -> Iterator[FieldProblem]:
        """What is wrong with values of the body, of which each part that the form asks for is valid."""
        typed, known = assigned(self.form, sent)
        values: dict[str, object] = {}
        for name, each in self.asked.items():
            if known.issuperset(each.asked(name, self.body.model_fields[name])) and not each.needs_before:
                try:
                    values[self._of_body(name)] = each.value(name, typed, None)
                except Problem as problem:
                    yield from problem.errors
        yield from problems_of_part(self.body, values)

    @cached_property
    def unchecked(self) -> type[EditorForm]:
        """A form with the same fields, in which nothing has to be valid yet."""
        fields = {name: info for name, info in self.form.model_fields.items() if name != "publish"}
        several = {name for name, info in fields.items() if get_origin(info.annotation) is list}
        types: dict[str, Any] = {name: list[str] if name in several else str for name in fields}
        infos = {name: FieldInfo(annotation=types[name], default="") for name in fields.keys() - several}
        infos |= {name: FieldInfo(annotation=types[name], default_factory=list) for name in several}
        return form_with(f"Unchecked{self.form.__name__}", self.body, infos)

    @cached_property
    def key(self) -> str:
        """The field with the id."""
        return signature_of(self.one).parameters[0].name

    def values(self, typed: In, before: object | None) -> dict[str, object]:
        """What was typed, as bodies take it, by the names of the fields."""
        return {name: each.value(name, typed, before) for name, each in self.asked.items()}

    def shown_inputs(self, view: View[S]) -> list[ShownInput]:
        """The inputs as the template shows them."""
        found, say = [], view.site.language.say
        for name, each in self.asked.items():
            info = self.body.model_fields[name]
            first = next(iter(each.asked(name, info)))
            label = say(each.label or label_of(name, info))
            help = each.help or info.description
            options = [(value, say(text)) for value, text in each.options(view)]
            found.append(ShownInput(each, self._sent_as(first), label, say(help) if help else None, options))
        return found

    def _sent_as(self, name: str) -> str:
        return self.form.model_fields[name].alias or name

    # What it says and where it leads

    def say(self, view: View[S], sentence: str, **values: object) -> str:
        """A sentence about a thing, in the language of the pages."""
        noun = view.site.language.say(self.noun)
        known = {"noun": noun, "Noun": noun[:1].upper() + noun[1:], **values}
        return filled_in(view.site.language.say(sentence), known, view.site.language.day)

    def name_of(self, thing: object) -> str:
        """What a thing is called."""
        return str(getattr(thing, self.name))

    def page_of(self, view: View[S], thing: object) -> str | None:
        """The address of the page of a thing."""
        if self.page is None:
            return None
        return view.site.url(self.page, **{name: getattr(thing, name) for name in names_in(self.page)})

    def saved(self, view: View[S], thing: object, sentence: str) -> Response:
        """Go on to what was saved."""
        at = self.page_of(view, thing) or view.site.url(self.path)
        return view.redirect_to(at, notice=self.say(view, sentence))

    def show(self, view: View[S], thing: object | None, preview: str | None = None) -> Response:
        """The form, with what was typed or what there is."""
        before = self._defaults if thing is None else self._before(thing)
        version = None if thing is None else getattr(thing, "version", None)
        view.form.asking(self.form).starting_from({**before, "version": version}, together=self._together)
        inputs = self.shown_inputs(view)
        view.form.with_messages_at(self._places)
        id = None if thing is None else getattr(thing, self.key)
        known: dict[str, Any] = {
            "editor": self,
            "say": lambda sentence: self.say(view, sentence),
            "title": self.say(view, "Add {noun}") if thing is None else self._title(view, thing),
            "inputs": inputs,
            "labels": {self._of_body(name): each.label for name, each in zip(self.asked, inputs, strict=True)}
            | {each.name: each.label for each in inputs},
            "save_at": f"{self.path}/{self.paths.new}" if thing is None else f"{self.path}/{{id}}",
            "id": id,
            "version": version,
            "draft": self.publish is not None and getattr(thing, "status", None) == "draft",
            "published": self.publish is not None and getattr(thing, "status", None) == "published",
            "page": None if thing is None else self.page_of(view, thing),
            "preview": preview,
        }
        more: Any = self.more(view, thing)
        return view.render(self.template, sends_files=self.sends_files, **known, **more)

    def more(self, view: View[S], thing: object | None) -> Mapping[str, object]:
        """What the template of a system knows beside; for subclasses."""
        return {}

    def _title(self, view: View[S], thing: object) -> str:
        return self.say(view, "Edit {name}", name=self.name_of(thing))

    def _of_body(self, name: str) -> str:
        return self.body.model_fields[name].alias or name

    @cached_property
    def _places(self) -> dict[str, str]:
        """The fields of the body that one field of another name asks for, and that field."""
        asked = {name: [*each.asked(name, self.body.model_fields[name])] for name, each in self.asked.items()}
        return {self._of_body(name): self._sent_as(parts[0]) for name, parts in asked.items() if len(parts) == 1}

    @cached_property
    def _together(self) -> list[list[str]]:
        """The fields that ask for one field of the body."""
        parts = (each.asked(name, self.body.model_fields[name]) for name, each in self.asked.items())
        return [[self._sent_as(part) for part in each] for each in parts]

    @cached_property
    def _defaults(self) -> dict[str, object]:
        """What the form begins with where there is nothing yet: the declared defaults."""
        fields = self.body.model_fields
        defaults = {name: fields[name].get_default(call_default_factory=True) for name in self.asked}
        known = {name: value for name, value in defaults.items() if value not in (None, PydanticUndefined, "", [])}
        return self._shown(known, SimpleNamespace(**known))

    def _before(self, thing: object) -> dict[str, object]:
        return self._shown(self.asked, thing)

    def _shown(self, names: Iterable[str], thing: object) -> dict[str, object]:
        """What the inputs for these fields show of a thing."""
        shown = [self.asked[name].shown(name, thing) for name in names]
        return {self._sent_as(part): value for each in shown for part, value in each.items()}

    # The pages

    def add_to(self, pages: Pages) -> None:
        """Add the pages to those of a system. Raises a TypeError for a field that there isn't."""
        self._check_names()
        self._add_list(pages)
        self._add_new(pages)
        if self.preview is not None:
            self._add_preview(pages)
        self._add_one(pages)

    def _check_names(self) -> None:
        known = self.body.model_fields
        unknown = [name for name in [*self.fields, *self.inputs] if name not in known]
        if unknown:
            names = ", ".join(known)
            raise TypeError(
                f"Editor {self.path}: {self.body.__name__} has no field {unknown[0]}. Its fields are: {names}."
            )
        shown: object = signature_of(self.one).returns
        if isinstance(shown, type) and issubclass(shown, BaseModel) and not _has(shown, self.name):
            raise TypeError(
                f"Editor {self.path}: {shown.__name__} has no field {self.name}. "
                "Give name= the field that says what one of them is called."
            )

    def _add_list(self, pages: Pages) -> None:
        @pages.get(self.path)
        def all_of_them(view: View[S]) -> Response:
            view.service.require(self.create)
            place = None if self.order else self._place
            found = view.page(lambda page: self.listed(view.service, page), self.order or "Sorted by name", by=place)
            return view.render(
                "editor_list.html",
                editor=self,
                say=lambda sentence: self.say(view, sentence),
                things=found.items,
                turn=found.turn,
            )

    def _place(self, thing: object) -> str:
        return f"{self.name_of(thing).casefold()}\0{getattr(thing, self.key)}"

    def _add_new(self, pages: Pages) -> None:
        form: Any = self.form

        @pages.get(f"{self.path}/{self.paths.new}")
        def begin(view: View[S]) -> Response:
            view.service.require(self.create)
            return self.show(view, None)

        @pages.post(f"{self.path}/{self.paths.new}")
        def create(view: View[S], typed: form) -> Response:
            values = self.values(typed, None)
            if self.publish is None:
                return self.saved(view, self.create(view.service, read_body(self.create, values)), "{Noun} created")
            new = read_body(self.create, {**values, "publish": typed.publish})
            made = self.create(view.service, new)
            return self.saved(view, made, "{Noun} published" if typed.publish else "{Noun} saved as a draft")

    def _add_preview(self, pages: Pages) -> None:
        form: Any = self.unchecked

        def show(view: View[S], of: str | None = None) -> Response:
            view.service.require(self.create)
            return self.for_changes.show(view, self.one(view.service, of)) if of else self.show(view, None)

        @pages.post(f"{self.path}/{self.paths.preview}", again=show, once=False)
        def preview(view: View[S], typed: form, of: str | None = None) -> Response:
            view.service.require(self.create)
            before = self.one(view.service, of) if of else None
            assert self.preview is not None
            editor = self if before is None else self.for_changes
            return editor.show(view, before, self.preview(view, typed, before))

    def _add_one(self, pages: Pages) -> None:
        editor = self.for_changes
        form: Any = editor.form
        key: Any = signature_of(self.one).parameters[0].hint
        path = f"{self.path}/{{id}}"

        @pages.get(path)
        def edit(view: View[S], id: key) -> Response:
            view.service.require(self.create)
            return editor.show(view, self.one(view.service, id))

        @pages.post(path)
        def change(view: View[S], id: key, typed: form) -> Response:
            view.service.require(self.create)
            values = editor.values(typed, self.one(view.service, id))
            changed = self.change(view.service, id, read_body(self.change, values), typed.seen)
            if self.publish is not None and typed.publish:
                changed = self.publish(view.service, id, frozenset({_version(changed)}))
            return self.saved(view, changed, "{Noun} published" if typed.publish else "{Noun} saved")

        confirm = Confirm(
            question=lambda view, thing: self.say(view, "Delete {noun} “{name}”?", name=self.name_of(thing)),
            button=lambda view, thing: self.say(view, "Delete {noun}"),
            about=lambda service, id: self.one(service, id),
        )

        @pages.post(f"{path}/{self.paths.delete}", again=edit, confirm=confirm)
        def delete(view: View[S], id: key, which: OfVersion) -> Response:
            self.delete(view.service, id, which.seen)
            return view.redirect(self.path, notice=self.say(view, "{Noun} deleted"))

        for name, act, sentence in (
            (self.paths.publish, self.publish, "{Noun} published"),
            (self.paths.unpublish, self.unpublish, "{Noun} unpublished"),
        ):
            if act is not None:
                self._add_move(pages, f"{path}/{name}", act, sentence, edit)

    def _add_move(self, pages: Pages, path: str, act: Move[S], sentence: str, edit: Callable[..., Response]) -> None:
        key: Any = signature_of(self.one).parameters[0].hint

        @pages.post(path, again=edit)
        def move(view: View[S], id: key, which: OfVersion) -> Response:
            return self.saved(view, act(view.service, id, which.seen), sentence)


def _has(model: type[BaseModel], name: str) -> bool:
    return name in model.model_fields or hasattr(model, name)  # a field, or a property


def _version(thing: object) -> int:
    version: int = thing.version  # type: ignore[attr-defined]  # what is published has one
    return version
