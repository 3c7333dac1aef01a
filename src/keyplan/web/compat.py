"""The only module that uses private interfaces of other libraries. For each there is a public way.

A fast path is used only with a release that it was tested with. With any other release, or if the environment variable
`KEYPLAN_NO_FAST_PATHS` is set, the public interface does the same work.

| fast path | private interface | public interface | gain, of all CPU time of a request |
| --- | --- | --- | --- |
| `quick_arguments` | the fields of FastAPI's dependants | FastAPI's route handler | 35 of 168 µs (get-post) |

The gain was measured on WavyBlog with `python -m bench.api.fast_paths`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, get_args, get_origin

from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import Request

if TYPE_CHECKING:
    from fastapi._compat import ModelField
    from fastapi.dependencies.models import Dependant

TESTED_FASTAPI = ((0, 120), (0, 162))
"""`quick_arguments` was tested with these two minor releases of FastAPI and with all between them."""

Found = Callable[[Request], dict[str, Any] | None]
_LASTING = (type(None), bool, int, float, str)
"""Types of defaults that need no copy for each request, because nobody can change them."""


def is_tested(fastapi: str) -> bool:
    """Whether the fast path was tested with a version of FastAPI; never with one that is not a plain release."""
    release = re.fullmatch(r"(\d+)\.(\d+)(\.\d+)*", fastapi)
    first, last = TESTED_FASTAPI
    return release is not None and first <= (int(release[1]), int(release[2])) <= last


fast_paths = not os.environ.get("KEYPLAN_NO_FAST_PATHS") and is_tested(version("fastapi"))
"""Whether private interfaces are used. Tests change it."""


def quick_arguments(route: APIRoute) -> Found | None:
    """A function that finds the arguments of a read; None if FastAPI has to find them.

    FastAPI works out for every request what is known about its route: the parameters, where each one is, and whether it
    may repeat. Here, that is done once per route; FastAPI's fields still check each value. The function
    returns None for a request that is not valid, and FastAPI then says what is wrong with it.
    """
    return quick_arguments_of(route.dependant) if fast_paths else None


def quick_arguments_of(needs: Dependant) -> Found | None:
    """As `quick_arguments`, for what FastAPI read from a function's signature."""
    fields = [*needs.path_params, *needs.query_params, *needs.header_params]
    if needs.cookie_params or needs.body_params or needs.dependencies or not all(map(_is_plain, fields)):
        return None
    in_path, in_query, in_headers = (
        [(field.name, field.alias, field.validate) for field in each]
        for each in (needs.path_params, needs.query_params, needs.header_params)
    )
    defaults = {field.name: field.default for field in fields if not field.field_info.is_required()}

    def found(request: Request) -> dict[str, Any] | None:
        values = defaults.copy()
        query = request.query_params if request.scope["query_string"] else {}
        for wanted, given in ((in_path, request.path_params), (in_query, query), (in_headers, request.headers)):
            for name, alias, checked in wanted:
                text = given.get(alias)
                if text is not None:
                    values[name], wrong = checked(text)
                    if wrong:
                        return None
        return values if len(values) == len(fields) else None  # else a required one is missing

    return found


def _is_plain(field: ModelField) -> bool:
    """Whether a parameter is one text under one name: not a model, which has several, and nothing that repeats."""
    info = field.field_info
    if info.validate_default or info.validation_alias not in (None, info.alias):
        return False
    lasting = info.is_required() or (info.default_factory is None and isinstance(info.default, _LASTING))
    return lasting and _is_single(info.annotation)


def _is_single(annotation: object) -> bool:
    several = (list, tuple, set, frozenset)
    if get_origin(annotation) in several or annotation in several:
        return False
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return False
    return all(map(_is_single, get_args(annotation)))
