"""The arguments of a read, found in its request without a detour.

FastAPI finds them too, but asks of every request again what is known of the route: which parameters there are, where
each stands, whether one may repeat. Here its own fields are asked, for what they say once, and they check each value.
What is not just right is left to FastAPI, which says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args, get_origin

from fastapi.dependencies.models import Dependant
from pydantic import BaseModel
from starlette.requests import Request

if TYPE_CHECKING:
    from fastapi._compat import ModelField

Found = Callable[[Request], dict[str, Any] | None]
_LASTING = (type(None), bool, int, float, str)
"""Defaults that need no copy for each request: nobody can change them."""


def quick_arguments(needs: Dependant) -> Found | None:
    """A function that finds all arguments, or None where FastAPI has to look; none for what takes more than a look."""
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
        return values if len(values) == len(fields) else None  # else one is missing

    return found


def _is_plain(field: ModelField) -> bool:
    """Whether a parameter is one text under one name: no model, which is made of several, and nothing that repeats."""
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
