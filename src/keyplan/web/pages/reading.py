"""Reads what was entered in a form, as an `In`."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from starlette.datastructures import FormData

from keyplan.design import CHECKED_ON_WRITE
from keyplan.web.models.bodies import In
from keyplan.web.models.problems import FieldProblem, Invalid
from keyplan.web.pages.attributes import kinds_of
from keyplan.web.pages.forms import BEFORE, ZONE, Form, Typed, is_ours
from keyplan.web.pages.messages import message_for
from keyplan.web.pages.newer import SHOWN, changed_since
from keyplan.web.pages.zones import NoSuchTime, read_time

I = TypeVar("I", bound=In)  # noqa: E741 - an In


def typed_in(sent: FormData) -> dict[str, list[str]]:
    """The texts of a form. Files aren't sent with forms but to the store of files."""
    typed: dict[str, list[str]] = {}
    for name, value in sent.multi_items():
        if isinstance(value, str):
            # A browser sends each line break as two characters.
            typed.setdefault(name, []).append(value.replace("\r\n", "\n"))
    return typed


def read_form(model: type[I], typed: Typed) -> I:
    """What was entered, as a model. Raises `Invalid` with a message for each field that isn't valid.

    An empty field is None if the model allows it, is left out if it isn't a text field, and an unchecked box is false.
    A time is one of the zone that the form names. Fields that the model doesn't have are refused.
    """
    values: dict[str, object] = {name: texts[-1] for name, texts in typed.items() if texts and not is_ours(name)}
    skipped: list[FieldProblem] = []
    for name, field in model.model_fields.items():
        sent_as = field.alias or name
        value = _value(field, typed.get(sent_as, ()))
        values.pop(sent_as, None)
        if value is not _LEFT_OUT:
            try:
                values[sent_as] = _time(sent_as, value, typed) if _asks_for_time(field) else value
            except NoSuchTime as error:
                skipped.append(FieldProblem(f"/{sent_as}", str(error), "no-such-time"))
    changed = _changed(model, typed)
    try:
        read = model.model_validate(values, context=CHECKED_ON_WRITE)
    except ValidationError as error:
        known = {each.pointer for each in skipped}
        others = [each for each in invalid(error, model).errors if each.pointer not in known]
        raise _everything(model, values, [*skipped, *others], changed) from error
    if skipped or next(_hidden_in(model, values, changed), None) is not None:
        raise _everything(model, values, skipped, changed)
    return read


def _everything(
    model: type[In], values: Mapping[str, object], found: Sequence[FieldProblem], changed: Collection[str]
) -> Invalid:
    """All that is wrong with what was entered, at once: also what would be refused only when it is written."""
    hidden = _hidden_in(model, values, changed)
    wrong = {field_of(each) for each in found}
    problems = [*found, *(each for each in hidden if field_of(each) not in wrong)]
    known = {field_of(each) for each in problems}
    valid = {name: value for name, value in values.items() if name not in known}
    problems += (each for each in model.problems_beside(valid) if field_of(each) not in known)
    places = {info.alias or name: place for place, (name, info) in enumerate(model.model_fields.items())}
    return Invalid(sorted(problems, key=lambda each: places.get(field_of(each), -1)))


def field_of(problem: FieldProblem) -> str:
    """The field that a problem is about."""
    return problem.pointer.lstrip("/").partition("/")[0]


def _changed(model: type[In], typed: Typed) -> Collection[str]:
    """The fields whose values are new: of a form about a version those that it didn't show first."""
    names = [info.alias or name for name, info in model.model_fields.items()]
    if SHOWN in typed:
        return changed_since(typed[SHOWN][-1], {name: typed.get(name, ()) for name in names})
    return () if "version" in names and any(typed.get("version", ())) else names


def _hidden_in(model: type[In], values: Mapping[str, object], changed: Collection[str]) -> Iterator[FieldProblem]:
    """Hidden characters in new values; those of stored ones are corrected only when the field is changed."""
    try:
        model.model_validate(values)
    except ValidationError as error:
        yield from (each for each in invalid(error, model).errors if field_of(each) in changed)


def _asks_for_time(field: FieldInfo) -> bool:
    return datetime in kinds_of(field.annotation)


def _time(name: str, value: object, typed: Typed) -> object:
    zone, before = (next(reversed(typed.get(f"{name}{each}", ())), None) for each in (ZONE, BEFORE))
    return read_time(value, zone, before) if isinstance(value, str) else value


def invalid(error: ValidationError, model: type[In] | None = None) -> Invalid:
    """What pydantic refused, as a problem with messages for people. `model` knows the labels of its fields."""
    form = Form() if model is None else Form().asking(model)
    return Invalid([_field_problem(each, form) for each in error.errors(include_url=False)])


_LEFT_OUT = object()


def _value(field: FieldInfo, texts: Sequence[str]) -> object:
    kinds = set(kinds_of(field.annotation))
    if kinds & {list, set, frozenset, tuple}:
        return [text for text in texts if text]
    if bool in kinds:
        return texts[-1] if texts else False
    text = texts[-1] if texts else ""
    if text or (texts and str in kinds and NoneType not in kinds):
        return _choices(field.annotation).get(text, text)
    return None if NoneType in kinds and texts else _LEFT_OUT


def _choices(annotation: Any) -> dict[str, object]:  # noqa: ANN401 - a type
    """The values of a `Literal`, by the texts that browsers send for them: a choice of numbers is not parsed."""
    if get_origin(annotation) in (Union, UnionType):
        return {text: value for each in get_args(annotation) for text, value in _choices(each).items()}
    return {str(each): each for each in get_args(annotation)} if get_origin(annotation) is Literal else {}


def _field_problem(error: ErrorDetails, form: Form) -> FieldProblem:
    pointer = "".join(f"/{step}" for step in error["loc"])
    label = form.label(str(error["loc"][0])) if error["loc"] else "value"
    return FieldProblem(pointer, message_for(error, label), error["type"].replace("_", "-"))
