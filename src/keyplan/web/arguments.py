"""The arguments of a read, found in its request without a detour.

FastAPI finds them too, but asks of every request again what is known of the route: which parameters there are, where
each stands, what it is checked by. What is not just right is left to FastAPI, which says what is wrong with it.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, get_args, get_origin

from fastapi.params import Header
from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request

Found = Callable[[Request], dict[str, Any] | None]


def quick_arguments(parameters: Sequence[inspect.Parameter], in_path: frozenset[str]) -> Found | None:
    """A function that finds all arguments, or None where FastAPI has to look; none where a parameter may repeat."""
    plans: list[tuple[str, str, str, Callable[[object], object], object]] = []
    for parameter in parameters:
        if parameter.annotation is Request:
            continue
        if _may_repeat(parameter.annotation):
            return None
        markers = getattr(parameter.annotation, "__metadata__", ())
        header = next((marker for marker in markers if isinstance(marker, Header)), None)
        place = "path" if parameter.name in in_path else "query" if header is None else "header"
        alias = parameter.name if header is None else header.alias or parameter.name.replace("_", "-")
        adapter: TypeAdapter[Any] = TypeAdapter(parameter.annotation)
        plans.append((parameter.name, place, alias, adapter.validator.validate_python, parameter.default))

    def found(request: Request) -> dict[str, Any] | None:
        places = {
            "path": request.path_params,
            "query": request.query_params if request.scope["query_string"] else {},
            "header": request.headers,
        }
        values: dict[str, Any] = {}
        try:
            for name, place, alias, check, default in plans:
                given = places[place].get(alias)
                if given is not None:
                    values[name] = check(given)
                elif default is inspect.Parameter.empty:
                    return None
                else:
                    values[name] = default
        except ValidationError:
            return None
        return values

    return found


def _may_repeat(annotation: object) -> bool:
    """Whether a query may name the parameter several times."""
    return get_origin(annotation) in (list, tuple, set, frozenset) or any(map(_may_repeat, get_args(annotation)))
