"""All systems on one port: their APIs, their pages, files, health and metrics."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp, Lifespan

from keyplan.data import DataError, ItemChanged
from keyplan.design import Design, InvalidValue
from keyplan.web.identity.tokens import identity_of
from keyplan.web.media import media_of, media_routes
from keyplan.web.models.problems import (
    BadRequest,
    FieldProblem,
    Invalid,
    Missing,
    Problem,
    Unexpected,
)
from keyplan.web.models.refusals import changed_meanwhile, problem_for
from keyplan.web.pages.mounting import page_routes, pages_of_all
from keyplan.web.pages.ready import MakePage
from keyplan.web.pages.reference import add_reference
from keyplan.web.pages.rendering import problem_response
from keyplan.web.routes.document import document_of
from keyplan.web.routes.routing import HeadAsGet, Later, wrong_method
from keyplan.web.routes.serving import add_routes
from keyplan.web.server.connections import with_connections
from keyplan.web.server.edge import Edge
from keyplan.web.server.monitoring import health_route, monitoring_routes
from keyplan.web.settings import Settings
from keyplan.web.system.observe import ObservedClient
from keyplan.web.system.rates import Rates
from keyplan.web.system.running import Running, System
from keyplan.web.system.runs import ObservedStore

D = TypeVar("D", bound=Design)


def running(system: System[D], settings: Settings, client: object) -> Running[D]:
    """A running system on a DynamoDB client. Its tables must exist."""
    secret = settings.cursor_secret
    store = ObservedStore(
        system.design(settings.table_environment()),
        ObservedClient(client),
        secret=None if secret is None else secret.get_secret_value().encode(),
        timeout=settings.dynamodb_timeout,
    )
    rates = Rates(store, identity=settings.rate_identity, address=settings.rate_address)
    media = media_of(system.name, settings, store)
    return Running(system, settings, store, media, rates, system.identity or identity_of)


def application(
    systems: Sequence[Running[Any]],
    settings: Settings,
    lifespan: Lifespan[Any] | None = None,
    *,
    designs: Mapping[str, MakePage] = MappingProxyType({}),
) -> ASGIApp:
    """The whole application. With `monitor_port`, requests to that port get only health and metrics.

    `designs` makes the page of a system's design, by the system's name, when it is asked for the first time.
    """
    monitoring, apart = monitoring_routes(systems, settings), settings.monitor_port is not None
    pages = pages_of_all(systems)
    routes: list[BaseRoute] = [
        *(Mount(f"/api/{each.system.name}", app=HeadAsGet(Later(partial(api_of, each)))) for each in systems),
        health_route(),
        *([] if apart else monitoring),
        *media_routes(systems),
        *page_routes(systems, pages, settings, designs),
    ]
    app = Starlette(routes=routes, exception_handlers=_HANDLERS, lifespan=with_connections(settings, lifespan))
    alone = Starlette(routes=[health_route(), *monitoring], exception_handlers=_HANDLERS) if apart else None
    return Edge(app, settings, alone, pages)


def api_of(system: Running[Any]) -> FastAPI:
    """The HTTP API of a system, with its OpenAPI document."""
    app = FastAPI(
        title=system.system.title,
        description=system.system.summary,
        version="1",
        openapi_url="/openapi.json",
        docs_url=None,
        redoc_url=None,
        exception_handlers=_HANDLERS,
    )
    app.state.running = system
    add_routes(app, system.system.api)
    app.openapi = lambda: document_of(app)  # type: ignore[method-assign]  # FastAPI's documented way to change the document
    add_reference(app)
    return app


# Problems


async def _on_problem(request: Request, error: Exception) -> Response:
    running: Running[Any] | None = getattr(request.app.state, "running", None)
    if isinstance(error, ItemChanged) and "if-match" not in request.headers:
        return problem_response(request.scope, changed_meanwhile())
    return problem_response(request.scope, problem_for(error, None if running is None else running.design))


async def _on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    if any(each["type"] == "json_invalid" for each in error.errors()):
        return problem_response(request.scope, BadRequest("not-json", "The body isn't valid JSON."))
    return problem_response(request.scope, Invalid([_field_problem(each) for each in error.errors()]))


def _field_problem(error: dict[str, Any]) -> FieldProblem:
    where, *path = error["loc"]
    steps = [str(step).replace("~", "~0").replace("/", "~1") for step in path]
    pointer = "".join(f"/{step}" for step in steps)
    if where == "query":
        pointer = f"?{'.'.join(steps)}"
    elif where in ("path", "header"):
        pointer = ".".join(steps)
    message = error["msg"].removeprefix("Value error, ")
    return FieldProblem(pointer, f"{message[:1].upper()}{message[1:].rstrip('.')}.", error["type"].replace("_", "-"))


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    problem: Problem
    if error.status_code == 404:
        problem = Missing("no-such-path", "There is nothing at this address.")
    elif error.status_code == 405:
        problem = wrong_method(request)
    elif error.status_code == 400:
        problem = BadRequest("bad-request", "The request couldn't be read.")
    else:
        problem = Unexpected()
    return problem_response(request.scope, problem)


async def _on_fault(request: Request, error: Exception) -> Response:
    return problem_response(request.scope, Unexpected())  # Edge logs it


_HANDLERS: dict[Any, Callable[[Request, Exception], Any]] = {
    Problem: _on_problem,
    DataError: _on_problem,
    InvalidValue: _on_problem,
    RequestValidationError: _on_invalid,
    HTTPException: _on_http,
    Exception: _on_fault,
}
