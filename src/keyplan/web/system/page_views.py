"""Pages that are declared: a template, and what it shows.

    pages.show(
        "/shelves/{shelf_id}",
        "shelf.html",
        shelf=Librarian.shelf,
        books=Listed(Librarian.books, "In the order added"),
    )

A value is a method of the service, or another function that takes the service first. It gets, by the names of its
parameters, parts of the path and other values of the page. A `Listed` is a page of a list, and `turn` has the links to
the other ones. What isn't a function is shown as it is. The template knows the parts of the path, too.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from starlette.responses import Response

from keyplan.web.models.bodies import In
from keyplan.web.models.paging import Listing
from keyplan.web.models.signatures import REQUIRED, names_in_path, signature_of
from keyplan.web.system.access import permission_of
from keyplan.web.system.page_forms import form_of

Reads: TypeAlias = Callable[..., object]
"""A method of the service, or a function that takes the service first."""


@dataclass(frozen=True)
class Listed:
    """A page of a list: what lists it, how it is sorted, and how many are shown. The rest is as for `view.page`."""

    method: Callable[..., Listing[Any]]
    order: str
    limit: int = 50
    by: Callable[[Any], str] | None = None
    newest_first: bool = False


@dataclass(frozen=True)
class Asked:
    """The form of a page: what it is for, and what it starts from, which may be a value of the page."""

    what: Reads | type[In]
    starts_from: str | Mapping[str, object] | None = None

    @property
    def model(self) -> type[In]:
        """The fields of the form."""
        return self.what if isinstance(self.what, type) else form_of(self.what)


def showing(
    path: str, template: str, asked: Asked | None, requires: Reads | None, values: Mapping[str, object]
) -> Callable[..., Response]:
    """The function of a page that shows these values."""
    in_path = names_in_path(path)
    _check_names(path, values, requires)

    def show(view: Any, **given: object) -> Response:  # noqa: ANN401 - a View, which knows pages
        known = _Values(view, values, given)
        if requires is not None and permission_of(requires) is not None:
            view.service.require(requires)
        elif requires is not None:
            known.call(requires)
        shown = {name: known[name] for name in values}
        if asked is not None:
            first = asked.starts_from or {}
            view.form.asking(asked.model).starting_from(shown[first] if isinstance(first, str) else first)
        response: Response = view.render(template, **{**given, **shown, **known.turn})
        return response

    hints = {name: _hint(name, values) for name in in_path}
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    call: Any = show
    call.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in ("view", *in_path)])
    call.__annotations__ = {"view": Any, **hints, "return": Response}
    call.__name__ = template.partition(".")[0]
    return show


class _Values:
    """The values of a page, each read when it is first needed."""

    def __init__(self, view: Any, values: Mapping[str, object], given: Mapping[str, object]) -> None:  # noqa: ANN401 - a View
        self._view, self._values = view, values
        self._known = dict(given)
        self.turn: dict[str, object] = {}
        """The links to the other pages of the list, if there is one."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - whatever it is
        if name not in self._known:
            self._known[name] = self._read(self._values[name])
        return self._known[name]

    def call(self, function: Reads) -> object:
        """What a function returns, with what it takes by name."""
        return function(self._view.service, **{name: self[name] for name in _taken(function)})

    def _read(self, value: object) -> object:
        if isinstance(value, Listed):
            return self._listed(value)
        return self.call(value) if callable(value) else value

    def _listed(self, listed: Listed) -> list[object]:
        given, service = {name: self[name] for name in _taken(listed.method)}, self._view.service
        paging = signature_of(listed.method).paging or "page"
        page = self._view.page(
            lambda page: listed.method(service, **given, **{paging: page}),
            listed.order,
            listed.limit,
            by=listed.by,
            newest_first=listed.newest_first,
        )
        self.turn = {"turn": page.turn}
        items: list[object] = page.items
        return items


def _taken(function: Reads) -> list[str]:
    """The names of what a function needs: its parameters without defaults, but not the service and the page."""
    parameters = signature_of(function).parameters
    return [each.name for each in parameters if each.default is REQUIRED and not each.is_paging]


def _functions(values: Mapping[str, object]) -> list[Reads]:
    found = [value.method if isinstance(value, Listed) else value for value in values.values()]
    return [each for each in found if callable(each)]


def _hint(name: str, values: Mapping[str, object]) -> object:
    """The type of a part of the path, as the functions have it that take it."""
    taken = (each for function in _functions(values) for each in signature_of(function).parameters)
    return next((each.hint for each in taken if each.name == name), str)


def _check_names(path: str, values: Mapping[str, object], requires: Reads | None) -> None:
    """Raise a TypeError if a function takes something that is neither in the path nor a value of the page."""
    known = {*names_in_path(path), *values}
    for each in [*_functions(values), *([requires] if requires is not None and not permission_of(requires) else [])]:
        unknown = [name for name in _taken(each) if name not in known]
        if unknown:
            raise TypeError(
                f"GET {path}: {each.__qualname__} takes {', '.join(unknown)}, which is neither in the path nor a value "
                "of the page."
            )
