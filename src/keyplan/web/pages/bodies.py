"""Bodies that are made from what was entered in a form of other fields, and all that is wrong with them at once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from pydantic import ValidationError, create_model
from pydantic.fields import FieldInfo

from keyplan.design import CHECKED_ON_WRITE
from keyplan.web.models.bodies import In, assign, broken_limits
from keyplan.web.models.problems import FieldProblem, Invalid
from keyplan.web.models.signatures import signature_of
from keyplan.web.models.versions import Versions
from keyplan.web.pages.reading import field_of, invalid

I = TypeVar("I", bound=In)  # noqa: E741 - an In


def body_of(method: Callable[..., object]) -> type[In]:
    """The body that a method of a service takes."""
    found = signature_of(method).body
    if found is None:
        raise TypeError(f"{method.__qualname__} takes no body, so that there is nothing to ask for.")
    return found[1]


def read_body(method: Callable[..., object], values: Mapping[str, object]) -> Any:  # noqa: ANN401 - the body that it takes
    """The body of a method, from values by the names of its fields. What is not valid goes back to the form."""
    model = body_of(method)
    known = {name: value for name, value in values.items() if name in model.model_fields}
    try:
        return model.model_validate(known, context=CHECKED_ON_WRITE, by_name=True)
    except ValidationError as error:
        sent = {model.model_fields[name].alias or name: value for name, value in known.items()}
        raise Invalid([*invalid(error, model).errors, *_beside(model, sent, invalid(error, model))]) from error


def problems_of_part(model: type[In], values: Mapping[str, object]) -> Iterator[FieldProblem]:
    """What is wrong with these values of a body, by the names that callers use. Others may be missing."""
    found = Invalid([])
    try:
        model.model_validate(values, context=CHECKED_ON_WRITE)
    except ValidationError as error:
        found = Invalid([each for each in invalid(error, model).errors if field_of(each) in values])
    yield from found.errors
    yield from _beside(model, values, found)


def _beside(model: type[In], values: Mapping[str, object], found: Invalid) -> Iterator[FieldProblem]:
    failed = {field_of(each) for each in found.errors}
    return broken_limits(model, {name: value for name, value in values.items() if name not in failed})


def assigned(model: type[I], sent: Mapping[str, object]) -> tuple[I, set[str]]:
    """A form with some of its values, each valid on its own, and the names of the fields that it has."""
    made, known = model.model_construct(), set[str]()
    for name, info in model.model_fields.items():
        if (sent_as := info.alias or name) in sent:
            assign(made, name, sent[sent_as])
            known.add(name)
    return made, known


class EditorForm(In):
    """Base of the forms: what was typed, and the version of the thing that it is about."""

    version: int | None = None
    publish: bool = False

    body_problems: ClassVar[Callable[[Mapping[str, object]], Iterator[FieldProblem]]] = lambda sent: iter(())
    """What is wrong with the body that valid fields make."""
    texts: ClassVar[Callable[[Mapping[str, Sequence[str]]], dict[str, Sequence[str]]]] = dict
    """What people read of what they entered, where they can copy it."""

    @classmethod
    def problems_beside(cls, values: Mapping[str, object]) -> Iterator[FieldProblem]:
        """What is wrong with the values of the body."""
        yield from cls.__dict__["body_problems"](values) if "body_problems" in cls.__dict__ else ()

    @property
    def seen(self) -> Versions:
        """The version that was seen."""
        return frozenset() if self.version is None else frozenset({self.version})


def form_with(name: str, body: type[In], fields: Mapping[str, FieldInfo]) -> type[EditorForm]:
    """A form with these fields, under the names that the body gives to its own."""
    base = type(name, (EditorForm,), {"model_config": body.model_config, "__module__": __name__})
    given: dict[str, Any] = {each: (info.annotation, info) for each, info in fields.items()}
    form: type[EditorForm] = create_model(name, __base__=base, **given)
    return form
