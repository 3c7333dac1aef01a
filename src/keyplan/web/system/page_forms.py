"""Forms that call a method of a service: what they ask for, and what they do, read from the method's signature.

    pages.form(
        "/shelves/{shelf_id}/rename", Librarian.rename_shelf, to="/shelves/{shelf_id}", notice="Renamed to {name}"
    )

A form asks for the fields of the body that the method takes, for the version that the caller has seen, and for each
parameter that isn't in the path. `form_of` is the form as a model, for the page that shows it.
"""

import inspect
from collections.abc import Callable, Iterator
from copy import copy
from functools import cache
from string import Formatter
from types import SimpleNamespace
from typing import Any, TypeAlias

from pydantic import create_model
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from starlette.responses import Response

from keyplan.design import CHECKED_ON_WRITE
from keyplan.web.models.bodies import Change, In
from keyplan.web.models.signatures import REQUIRED, Parameter, names_in_path, signature_of
from keyplan.web.system.directions import filled_in

Notice: TypeAlias = str | Callable[[Any], str]
"""What people are told afterwards: a text with names in braces, or a function of what the method returned."""


@cache
def form_of(method: Callable[..., object], *beside: str) -> type[In]:
    """The form for what a method takes: the fields of its body, its version, and `beside`, other parameters.

    A partial change is asked for as a whole: its required fields are required in the form too.
    """
    signature = signature_of(method)
    body = In if signature.body is None else signature.body[1]
    fields: dict[str, Any] = {name: (info.annotation, info) for name, info in _as_typed(body)}
    for mark in signature.versions.values():
        fields["version"] = (int, ...) if mark.required else (int | None, None)
    others = (each for each in signature.parameters if each.name in beside)
    fields |= {each.name: (each.hint, ... if each.default is REQUIRED else each.default) for each in others}
    if not fields and signature.body is not None:
        return body
    form: type[In] = create_model(f"{method.__name__}_form", __base__=body, __module__=__name__, **fields)
    return form


def _as_typed(body: type[In]) -> Iterator[tuple[str, FieldInfo]]:
    """The fields of a body that a form requires, and a partial change doesn't."""
    declared = body.declaration.model_fields if issubclass(body, Change) else {}
    for name, info in body.model_fields.items():
        if name in declared and declared[name].is_required():
            asked = copy(info)
            asked.default, asked.default_factory = PydanticUndefined, None
            yield name, asked


def names_in(text: str) -> list[str]:
    """The names in braces in a text."""
    return [name for _, name, _, _ in Formatter().parse(text) if name]


def calling(
    method: Callable[..., object], path: str, to: str, notice: Notice | None, before: Callable[..., object] | None
) -> Callable[..., Response]:
    """The function of a page that calls a method with what a form sent, and then redirects."""
    signature = signature_of(method)
    in_path = [each for each in signature.parameters if each.name in names_in_path(path)]
    beside = [each.name for each in signature.parameters if each not in in_path and _is_plain(each)]
    form = form_of(method, *beside)
    names = [*names_in(to), *(names_in(notice) if isinstance(notice, str) else ())]
    check_names(path, names, form, *(signature_of(each).returns for each in (method, before) if each is not None))

    def call(view: Any, typed: In, **given: object) -> Response:  # noqa: ANN401 - a View, which knows pages
        sent: dict[str, object] = {name: getattr(typed, name) for name in beside}
        if signature.body is not None:
            sent[signature.body[0]] = _body(signature.body[1], typed)
        for name in signature.versions:
            version: int | None = typed.version  # type: ignore[attr-defined]  # the form was made with it
            sent[name] = None if version is None else frozenset({version})
        read = before(view.service, **given) if before is not None else None
        made = method(view.service, **given, **sent)
        # What the method returned comes first: it may have another address now.
        known = {name: _value(name, made, typed, read, SimpleNamespace(**given)) for name in names}
        said = notice(made) if callable(notice) else notice and filled_in(notice, known, view.site.language.day)
        response: Response = view.redirect(to, notice=said, **{name: known[name] for name in names_in(to)})
        return response

    taken = [Parameter("view", Any), *in_path, Parameter("typed", form)]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    call.__signature__ = inspect.Signature([inspect.Parameter(each.name, kind) for each in taken])  # type: ignore[attr-defined]  # read by signature_of
    call.__annotations__ = {**{each.name: each.hint for each in taken}, "return": Response}
    call.__name__ = method.__name__
    return call


def _value(name: str, *sources: object) -> object:
    return next(getattr(each, name) for each in sources if hasattr(each, name))


def _is_plain(parameter: Parameter) -> bool:
    return parameter.body is None and parameter.if_match is None


def _body(model: type[In], typed: In) -> In:
    """The body that a method takes, with what was sent for it and nothing else."""
    sent = {name: getattr(typed, name) for name in typed.model_fields_set if name in model.model_fields}
    if type(typed) is model:
        return typed
    # As the form was read: limits of changed fields are checked when they are written.
    return model.model_validate(sent, by_name=True, by_alias=False, context=CHECKED_ON_WRITE)


def check_names(path: str, names: list[str], form: type[In] | None, *returned: object) -> None:
    """Raise a TypeError if a text about a form has a name in braces that nothing has."""
    known = {*names_in_path(path), *(dir(form) if form else ()), *(form.model_fields if form else ())}
    for each in returned:
        known |= {*dir(each), *getattr(each, "model_fields", ())}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise TypeError(
            f"POST {path}: there is no {', '.join(unknown)} in the path, in the form, or in what the method returns."
        )
