"""The only module that uses private interfaces of other libraries. For each there is a public way.

A fast path is used only with a release that it was tested with. With any other release, or if the environment variable
`KEYPLAN_NO_FAST_PATHS` is set, the public interface does the same work.

| fast path | private interface | public interface | gain, of all CPU time of a request |
| --- | --- | --- | --- |
| `quick_arguments` | the fields of FastAPI's dependants | FastAPI's route handler | 35 of 168 µs (get-post) |
| `http_protocol` | uvicorn's protocol on httptools | uvicorn's protocol on h11 | 50 of 71 µs (the protocol) |

The gain was measured on WavyBlog with `python -m bench.api.fast_paths`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol, get_args, get_origin

import uvicorn
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import Request

if TYPE_CHECKING:
    from fastapi._compat import ModelField
    from fastapi.dependencies.models import Dependant

TESTED_FASTAPI = ((0, 120), (0, 162))
"""`quick_arguments` was tested with these two minor releases of FastAPI and with all between them."""
TESTED_UVICORN = ((0, 50), (0, 54))
"""As above, for `http_protocol`."""

Found = Callable[[Request], dict[str, Any] | None]
_LASTING = (type(None), bool, int, float, str)
"""Types of defaults that need no copy for each request, because nobody can change them."""


def is_tested(installed: str, tested: tuple[tuple[int, int], tuple[int, int]] = TESTED_FASTAPI) -> bool:
    """Whether a fast path was tested with a version; never with one that is not a plain release."""
    release = re.fullmatch(r"(\d+)\.(\d+)(\.\d+)*", installed)
    first, last = tested
    return release is not None and first <= (int(release[1]), int(release[2])) <= last


_wanted = not os.environ.get("KEYPLAN_NO_FAST_PATHS")
fast_paths = _wanted and is_tested(version("fastapi"))
fast_http = _wanted and is_tested(version("uvicorn"), TESTED_UVICORN)
"""Whether private interfaces are used. Tests change these."""


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


class Refusing(Protocol):
    """A connection that can send an answer outside of any request, and close."""

    def refuse(self, status: int, text: str) -> None: ...


def http_protocol(connection: Refusing, header_limit: int, **options: Any) -> Any:  # noqa: ANN401 - uvicorn's own
    """uvicorn's protocol for a connection, with a limit on the size of headers.

    uvicorn has such a limit only with the parser h11 (`h11_max_incomplete_event_size`), which is slower.
    """
    if not fast_http:
        return _h11_protocol()(**options)
    return _httptools_protocol()(connection, header_limit, **options)


@cache
def _h11_protocol() -> type[Any]:
    async def app(scope: object, receive: object, send: object) -> None: ...

    config = uvicorn.Config(app, http="h11", log_config=None)
    config.load()
    return config.http_protocol_class


@cache
def _httptools_protocol() -> type[Any]:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class LimitedProtocol(HttpToolsProtocol):
        """The parser's callbacks say whether headers are being read; bytes are counted as they arrive."""

        def __init__(self, connection: Refusing, header_limit: int, **options: Any) -> None:  # noqa: ANN401
            super().__init__(**options)
            self._connection = connection
            self._header_limit = header_limit
            self._in_headers = self._just_began = self._are_too_large = False
            self._counted = self._packet = 0

        def on_message_begin(self) -> None:
            self._in_headers = self._just_began = True
            self._counted = 0
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._in_headers = False
            if self._counted + self._packet > self._header_limit:  # maybe; the packet may contain more than headers
                self._check(len(self.url) + sum(len(name) + len(value) for name, value in self.headers))
            super().on_headers_complete()

        def data_received(self, data: bytes) -> None:
            self._packet, self._just_began = len(data), False
            super().data_received(data)
            # The first packet may contain the end of another message.
            if self._in_headers and not self._just_began and not self._are_too_large:
                self._counted += len(data)
                if self._counted > self._header_limit:
                    self._are_too_large = True
                    self.send_400_response("")

        def _check(self, size: int) -> None:
            if size > self._header_limit:
                self._are_too_large = True
                raise ValueError("The headers are too large")  # the parser stops, and `send_400_response` is called

        def send_400_response(self, msg: str) -> None:
            if self._are_too_large:
                self._connection.refuse(431, "The headers of the request are too large.")
            else:
                self._connection.refuse(400, msg)

    return LimitedProtocol
