"""The OpenAPI document of a system: the responses of its routes, their headers, and the parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any, TypeAlias

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from keyplan.web.models.bodies import ProblemOut
from keyplan.web.models.paging import Listing
from keyplan.web.models.problems import MEDIA_TYPE
from keyplan.web.models.signatures import signature_of
from keyplan.web.system.access import ANYONE
from keyplan.web.system.api_routes import Route

Part: TypeAlias = dict[str, Any]
"""A part of an OpenAPI document."""


def _header(description: str, *, always: bool = True) -> Part:
    return {"description": description, "required": always, "schema": {"type": "string"}}


_HEADERS: dict[str, Part] = {
    "X-Request-Id": _header("Identifies the request, also in errors and in the log."),
    "ETag": _header("The version, to send as If-Match with a change."),
    "Link": _header("The next page, if there is one.", always=False),
    "Idempotent-Replayed": _header(
        "`true` if this is the response to an earlier request with the same key.", always=False
    ),
    "WWW-Authenticate": _header("How to authenticate."),
    "Retry-After": _header("The number of seconds to wait before trying again."),
}
_OF_PROBLEMS = {401: ["WWW-Authenticate"], 429: ["Retry-After"], 503: ["Retry-After"]}


def responses_of(route: Route) -> dict[int | str, Part]:
    """The responses of a route, with their headers. The content of a success follows from the method's return type."""
    problem = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    found: dict[int | str, Part] = {route.status: _described(route.status, _headers_of(route))}
    if route.verb == "GET" and has_version(route):
        found[304] = _described(304, ["ETag"])
    for status in sorted(_problems(route)):
        found[status] = {**_described(status, _OF_PROBLEMS.get(status, ())), **problem}
    return found


def _described(status: int, headers: Iterable[str]) -> Part:
    refs = {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *headers)}
    return {"description": HTTPStatus(status).phrase, "headers": refs}


def _headers_of(route: Route) -> Iterator[str]:
    if has_version(route):
        yield "ETag"
    if _is_listing(route):
        yield "Link"
    if route.once:
        yield "Idempotent-Replayed"


def has_version(route: Route) -> bool:
    """Whether a route returns an item with a version, so that the response has an entity tag."""
    returned = signature_of(route.method).returns
    return (
        isinstance(returned, type)
        and issubclass(returned, BaseModel)
        and getattr(returned.model_fields.get("version"), "annotation", None) is int
    )


def _is_listing(route: Route) -> bool:
    returned = signature_of(route.method).returns
    return isinstance(returned, type) and issubclass(returned, Listing)


def _problems(route: Route) -> set[int]:
    statuses = {400, 401, 404, 413, 422, 429, 500, 503}
    if ANYONE not in route.permission.roles or route.permission.also:
        statuses.add(403)
    if route.verb != "GET":
        statuses.add(409)
    for each in signature_of(route.method).versions.values():
        statuses |= {412, 428} if each.required else {412}
    statuses |= {each.status for each in route.permission.raises}
    return statuses


def document_of(app: FastAPI) -> Part:
    """The document of an API; `state.running` is the system."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
            servers=[{"url": f"/api/{app.state.running.system.name}"}],
        )
        parts = document.setdefault("components", {})
        schema = ProblemOut.model_json_schema(ref_template="#/components/schemas/{model}")
        parts.setdefault("schemas", {}).update({**schema.pop("$defs"), "Problem": schema})
        parts["headers"] = _HEADERS
        parts["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
        for operation in (each for path in document.get("paths", {}).values() for each in path.values()):
            for parameter in operation.get("parameters", ()):
                _correct(parameter, operation)
        app.openapi_schema = document
    return app.openapi_schema


def _correct(parameter: Part, operation: Part) -> None:
    """A parameter as it is sent: it can be left out, but it can't be null."""
    schema = parameter["schema"]
    kinds = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if len(kinds) == 1:
        del schema["anyOf"]
        schema.update(kinds[0])
    if "description" in parameter:
        schema.pop("description", None)  # the parameter itself has the description
    if parameter["name"] == "If-Match" and "428" in operation["responses"]:
        parameter["required"] = True  # we check it ourselves, because FastAPI would answer 422 if it is missing
