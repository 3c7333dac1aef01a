"""What a function takes and returns, read from its signature once, for methods of routes and functions of pages.

After the first parameter (the service, or the view), an `In` is the body or the form, a `Paging` is `limit` and
`cursor`, an `IfMatch` is the header; anything else is in the path or in the query.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from starlette.requests import Request

from keyplan.web.models.bodies import In
from keyplan.web.models.paging import Paging
from keyplan.web.models.versions import FromIfMatch

REQUIRED = inspect.Parameter.empty
"""The default of a parameter that has none."""
_IN_PATH = re.compile(r"{(\w+)")


@dataclass(frozen=True)
class Parameter:
    """A parameter, with its type as it is written, including annotations."""

    name: str
    hint: object
    default: object = REQUIRED

    @property
    def is_paging(self) -> bool:
        """Whether it is made of `limit` and `cursor`."""
        return self.hint is Paging

    @property
    def body(self) -> type[In] | None:
        """The model, if it is the body or the form."""
        bare = get_args(self.hint)[0] if get_origin(self.hint) is Annotated else self.hint
        return bare if isinstance(bare, type) and issubclass(bare, In) else None

    @property
    def if_match(self) -> FromIfMatch | None:
        """The mark, if it is read from `If-Match`."""
        marks = getattr(self.hint, "__metadata__", ())
        return next((each for each in marks if isinstance(each, FromIfMatch)), None)


@dataclass(frozen=True)
class Signature:
    """What a function takes after its first parameter, and what it returns."""

    parameters: tuple[Parameter, ...]
    returns: object
    """The type without annotations; None without a return type."""
    answer: Any
    """The type with annotations, as FastAPI reads it."""
    body: tuple[str, type[In]] | None
    paging: str | None
    versions: Mapping[str, FromIfMatch]

    def in_request(self) -> Iterator[inspect.Parameter]:
        """The parameters that FastAPI finds in the path and query of a request, and the request itself."""
        yield found("request", Request)
        for each in self.parameters:
            if each.is_paging:
                for field, info in Paging.model_fields.items():
                    yield found(field, Annotated[info.annotation, info], info.default)
            elif each.body is None and each.if_match is None:
                yield found(each.name, each.hint, each.default)

    def arguments(self, values: dict[str, Any]) -> dict[str, Any]:
        """The arguments from what FastAPI found: `limit` and `cursor` become a `Paging`."""
        if self.paging is None:
            return values
        given = {name: value for name, value in values.items() if name not in Paging.model_fields}
        paging = Paging(limit=values["limit"], cursor=values["cursor"])
        return {**given, self.paging: paging}


def found(name: str, hint: object, default: object = REQUIRED) -> inspect.Parameter:
    """A parameter that FastAPI finds."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=default)


@cache
def signature_of(function: Callable[..., object]) -> Signature:
    """The signature of a function. Raises a TypeError if it takes more than one body."""
    hints = get_type_hints(function, include_extras=True)
    taken = list(inspect.signature(function).parameters.values())[1:]
    parameters = tuple(Parameter(each.name, hints[each.name], each.default) for each in taken)
    bodies = [(each.name, each.body) for each in parameters if each.body is not None]
    if len(bodies) > 1:
        raise TypeError(
            f"{function.__qualname__} takes {' and '.join(name for name, _ in bodies)}, but only one body is possible."
        )
    return Signature(
        parameters,
        returns=get_type_hints(function).get("return"),
        answer=hints.get("return"),
        body=bodies[0] if bodies else None,
        paging=next((each.name for each in parameters if each.is_paging), None),
        versions={each.name: each.if_match for each in parameters if each.if_match is not None},
    )


def names_in_path(path: str) -> list[str]:
    """The names in a path: those of the parameters that are found there."""
    return _IN_PATH.findall(path)


def check_path(route: str, function: Callable[..., object]) -> None:
    """Raise a TypeError if a path has a name that the function doesn't take."""
    taken = [each.name for each in signature_of(function).parameters]
    unknown = [name for name in names_in_path(route) if name not in taken]
    if unknown:
        raise TypeError(
            f"{route}: {function.__qualname__} doesn't take {', '.join(unknown)}. "
            f"Names in a path are parameters of the method; it takes: {', '.join(taken) or 'none'}."
        )
