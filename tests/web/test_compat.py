"""Fast paths do the same as the public interfaces, for every read of every system, and only with tested releases."""

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from enum import Enum
from importlib.metadata import version
from typing import Annotated, Any, Literal, get_args, get_origin
from urllib.parse import urlencode

import pytest
from fastapi import Cookie, Depends, FastAPI, Header, Query, Request
from fastapi.dependencies.utils import get_dependant, solve_dependencies
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field, StringConstraints

from keyplan.cli.opening import served_systems
from keyplan.web import Api, compat
from keyplan.web.compat import is_tested, quick_arguments, quick_arguments_of
from keyplan.web.routes.serving import add_routes
from tests.web.library import SYSTEM as LIBRARY

TEXTS = [
    *("", " ", "0", "1", "7", "50", "100", "101", "-1", "1.0", "1e1", " 7 ", "٣", "9" * 30, "null", "None", "nan"),
    *("true", "false", "True", "on", "off", "yes", "no", "t", "2", "all", "any", "*", '"1"', 'W/"1", "2"'),
    *("2024-05-06", "2024-02-30", "2024-05-06T10:00:00Z", "2024-05-06T10:00", "1715000000", "10:00", "2024-13"),
    *("a-slug", "some_name", "Über", "a#b", "a b", "a%b", "a+b", "x" * 129, "x" * 5000, "\x00", "[1]", "{}", "é"),
    *("018f3c6e-7d2a-7c3b-9d4e-5f6a7b8c9d0e", "post_1", "woman", "draft", "published", "a,b"),
]


def requests_for(path: str, fields: dict[str, list[Any]], number: int) -> Iterator[Request]:
    """Requests with all kinds of values for a read's parameters: each alone, and random combinations, some repeated."""
    choose = random.Random(f"{path} {sorted(fields)}")
    texts = {each.alias: [*_choices(each.field_info.annotation), *TEXTS] for place in fields.values() for each in place}

    def one(alias: str) -> list[str]:
        return choose.choices(texts[alias], k=choose.choice([1, 1, 1, 2]))

    def made(chosen: dict[str, list[str]]) -> Request:
        return _request({place: _pairs(chosen, each) for place, each in fields.items()})

    yield made({})
    for alias, each in texts.items():
        for text in each:
            yield made({**{other: one(other)[:1] for other in texts if choose.random() < 0.5}, alias: [text]})
    for _ in range(number):
        yield made({alias: one(alias) for alias in texts if choose.random() < 0.8})


def _choices(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return [str(each) for each in get_args(annotation)]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [str(each.value) for each in annotation]
    return [text for each in get_args(annotation) for text in _choices(each)]


def _pairs(chosen: dict[str, list[str]], fields: list[Any]) -> list[tuple[str, str]]:
    return [(each.alias, text) for each in fields for text in chosen.get(each.alias, ())]


def _request(places: dict[str, list[tuple[str, str]]]) -> Request:
    headers = [(name.lower().encode(), text.encode("utf-8")) for name, text in places["header"]]
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "path_params": {"slug": "a-slug", **dict(places["path"])},
        "query_string": urlencode(places["query"]).encode(),
        "headers": headers,
    }
    return Request(scope)


def as_fastapi(needs: Any, requests: list[Request]) -> list[dict[str, Any] | None]:
    """The arguments of requests as FastAPI finds them, or None if it finds an error."""

    async def solved() -> list[dict[str, Any] | None]:
        async with AsyncExitStack() as stack:
            return [await _solved(needs, request, stack) for request in requests]

    return asyncio.run(solved())


async def _solved(needs: Any, request: Request, stack: AsyncExitStack) -> dict[str, Any] | None:
    request.scope["fastapi_inner_astack"] = request.scope["fastapi_function_astack"] = stack
    found = await solve_dependencies(request=request, dependant=needs, async_exit_stack=stack, embed_body_fields=False)
    return None if found.errors else {name: each for name, each in found.values.items() if name != "request"}


def reads() -> Iterator[tuple[str, APIRoute]]:
    for system in (LIBRARY, *served_systems(None)):
        api: Api = system.api
        app = FastAPI()
        add_routes(app, api)
        for route in app.routes:
            if isinstance(route, APIRoute) and "GET" in (route.methods or ()):
                yield f"{system.name} {route.path}", route


READS = dict(reads())


def test_every_system_has_reads() -> None:
    assert {name.split()[0] for name in READS} == {
        *("library", "funkedupshift", "threefc", "vcm", "wavyblog", "hacktracker")
    }


@pytest.mark.parametrize("name", READS)
def test_it_finds_the_same_arguments_as_fastapi(name: str) -> None:
    route = READS[name]
    needs = route.dependant
    quick = quick_arguments_of(needs)
    if quick is None:
        assert any("list[" in str(each.field_info.annotation) for each in needs.query_params), (
            "only repeated parameters are left to FastAPI"
        )
        return
    fields = {"path": needs.path_params, "query": needs.query_params, "header": needs.header_params}
    sent = list(requests_for(name, fields, 40))
    good = 0
    for request, theirs in zip(sent, as_fastapi(needs, sent), strict=True):
        ours = quick(request)
        assert ours == theirs, (request.path_params, request.query_params, request.headers)
        assert {key: type(each) for key, each in (ours or {}).items()} == {
            key: type(each) for key, each in (theirs or {}).items()
        }
        good += ours is not None
    assert good


class Several(BaseModel):
    first: str = ""


class Color(Enum):
    RED = "red"


def _named(slug: str, q: Annotated[str, Query(alias="search")] = "") -> None: ...
def _renamed(slug: str, q: Annotated[str, Field(alias="from")] = "") -> None: ...
def _strict(slug: str, n: Annotated[int, Query(ge=3)], at: bool = False, colour: Color | None = None) -> None: ...
def _header(slug: str, if_range: Annotated[str | None, Header()] = None, x: Annotated[int, Header()] = 3) -> None: ...
def _text(slug: Annotated[str, StringConstraints(to_upper=True)], q: int | str | None = None) -> None: ...


@pytest.mark.parametrize("takes", [_named, _renamed, _strict, _header, _text])
def test_names_and_types_are_the_same_as_fastapis(takes: Callable[..., None]) -> None:
    needs = get_dependant(path="/{slug}", call=takes)
    quick = quick_arguments_of(needs)
    fields = {"path": needs.path_params, "query": needs.query_params, "header": needs.header_params}
    assert quick is not None
    sent = list(requests_for(takes.__name__, fields, 200))
    assert [quick(request) for request in sent] == as_fastapi(needs, sent)


def _cookie(token: Annotated[str | None, Cookie()] = None) -> None: ...
def _list(tags: Annotated[list[str], Query()] = []) -> None: ...  # noqa: B006
def _model(query: Annotated[Several, Query()]) -> None: ...
def _depends(it: Annotated[str, Depends(lambda: "it")]) -> None: ...
def _bodied(body: Several) -> None: ...
def _else_changing(colour: Color = Color.RED) -> None: ...
def _else_checked(n: Annotated[int, Query(validate_default=True)] = 3) -> None: ...


@pytest.mark.parametrize("takes", [_cookie, _list, _model, _depends, _bodied, _else_changing, _else_checked])
def test_signatures_that_are_not_simple_are_left_to_fastapi(takes: Callable[..., None]) -> None:
    assert quick_arguments_of(get_dependant(path="/", call=takes)) is None


@pytest.mark.parametrize("release", ["0.120.0", "0.130.4", "0.162.4", "0.162.0.1"])
def test_releases_that_were_tested(release: str) -> None:
    assert is_tested(release)


@pytest.mark.parametrize("release", ["0.119.1", "0.163.0", "1.130.0", "0.130.0rc1", "0.162.4.dev3", "", "unknown"])
def test_untested_releases_use_the_public_interface(release: str) -> None:
    assert not is_tested(release)


def test_the_installed_release_was_tested() -> None:
    assert is_tested(version("fastapi"))
    assert is_tested(version("uvicorn"), compat.TESTED_UVICORN)


@pytest.mark.parametrize("release", ["0.49.0", "1.0.0", "0.54.0rc1", ""])
def test_untested_releases_of_uvicorn_use_the_public_interface(release: str) -> None:
    assert not is_tested(release, compat.TESTED_UVICORN)


def test_fast_paths_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    route = READS["library /shelves"]
    monkeypatch.setattr(compat, "fast_paths", True)
    assert quick_arguments(route) is not None
    monkeypatch.setattr(compat, "fast_paths", False)
    assert quick_arguments(route) is None


@pytest.mark.parametrize(("value", "fast"), [("1", False), ("", True)])
def test_an_environment_variable_turns_fast_paths_off(value: str, fast: bool) -> None:
    show = [sys.executable, "-c", "from keyplan.web import compat; print(compat.fast_paths, compat.fast_http)"]
    environment = {**os.environ, "KEYPLAN_NO_FAST_PATHS": value}
    shown = subprocess.run(show, env=environment, capture_output=True, text=True, check=True)
    assert shown.stdout == f"{fast} {fast}\n"
