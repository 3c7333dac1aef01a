"""The reference of a system's API: a page made from its OpenAPI document, where readers can try each operation.

Only trying needs JavaScript. The page loads nothing from other sites.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from typing import Annotated, Any, TypeAlias

from fastapi import FastAPI, Request
from pydantic import StringConstraints, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from keyplan.addresses import is_loopback
from keyplan.design import Id
from keyplan.web.identity.issuer import dev_issuer
from keyplan.web.identity.sessions import check_origin
from keyplan.web.models.bodies import In
from keyplan.web.models.problems import Forbidden
from keyplan.web.pages.reading import invalid
from keyplan.web.pages.rendering import kit_page
from keyplan.web.system.observe import Trace
from keyplan.web.system.running import Running

DOCS = "/docs"
TOKEN = "/docs/token"
_METHODS = ("get", "post", "put", "patch", "delete")
_DEEPEST = 5

Schema: TypeAlias = Mapping[str, Any]
"""A JSON schema, or another part of an OpenAPI document."""


def add_reference(app: FastAPI) -> None:
    """Add the reference of an API to it, at `/docs`. Its `state.running` is the system."""
    running: Running[Any] = app.state.running
    reference = cache(lambda: Reference.of(app.openapi()))
    gives_tokens = running.settings.dev and running.system.identity is None

    def docs(request: Request) -> Response:
        _note(request, DOCS)
        return kit_page(
            "reference.html",
            system=running.system,
            reference=reference(),
            base=f"/api/{running.system.name}",
            token_address=f"/api/{running.system.name}{TOKEN}" if gives_tokens else None,
        )

    async def token(request: Request) -> Response:
        _note(request, TOKEN)
        check_origin(request, None)
        if not is_loopback(request.url.hostname):  # another host name may be an attacker's that points to this machine
            raise Forbidden("not-local", "Development tokens are available on this machine only.")
        try:
            wanted = TokenRequest.model_validate_json(await request.body())
        except ValidationError as error:
            raise invalid(error) from error
        issuer = await run_in_threadpool(dev_issuer, running.settings)
        return JSONResponse({"token": issuer.token(running.system.name, wanted.sub, groups=wanted.groups.split())})

    app.add_route(DOCS, docs, include_in_schema=False)
    if gives_tokens:
        app.add_route(TOKEN, token, methods=["POST"], include_in_schema=False)


def _note(request: Request, path: str) -> None:
    trace: Trace = request.scope["keyplan"]
    trace.route = f"{request.scope.get('root_path', '')}{path}"


class TokenRequest(In):
    """The user to make a token for."""

    sub: Id
    groups: Annotated[str, StringConstraints(max_length=1000)] = ""


# A schema in words


@dataclass(frozen=True)
class Words:
    """A piece of a type's description; `link` is the schema it stands for."""

    text: str
    link: str | None = None


def words(schema: Schema, schemas: Mapping[str, Schema]) -> list[Words]:
    """A type in words: `list of`, then a link to its items' schema."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return [Words(str(schemas.get(name, {}).get("title", name)), name)]
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    if alternatives:
        return _joined([words(each, schemas) for each in alternatives], " or ")
    if "allOf" in schema:
        return _joined([words(each, schemas) for each in schema["allOf"]], " and ")
    if "const" in schema:
        return [Words(json.dumps(schema["const"]))]
    if "enum" in schema:
        return [Words(" or ".join(json.dumps(each) for each in schema["enum"]))]
    match schema.get("type"):
        case "array":
            return [Words("list of "), *words(schema.get("items", {}), schemas), *_limits(schema)]
        case "object" if isinstance(schema.get("additionalProperties"), Mapping):
            return [Words("object with values of type "), *words(schema["additionalProperties"], schemas)]
        case None:
            return [Words("any value")]
        case kind:
            return [Words(schema.get("format", kind)), *_limits(schema)]


def _joined(parts: list[list[Words]], between: str) -> list[Words]:
    joined = parts[0]
    for part in parts[1:]:
        joined = [*joined, Words(between), *part]
    return joined


def _limits(schema: Schema) -> list[Words]:
    names = {
        "minimum": "at least {:g}",
        "exclusiveMinimum": "more than {:g}",
        "maximum": "at most {:g}",
        "exclusiveMaximum": "less than {:g}",
        "minLength": "at least {} characters",
        "maxLength": "at most {} characters",
        "minItems": "at least {} items",
        "maxItems": "at most {} items",
        "pattern": "matches {}",
    }
    said = [form.format(schema[name]) for name, form in names.items() if name in schema]
    said = [re.sub(r"\b(1 \w+)s$", r"\1", each) for each in said]
    return [Words(f", {', '.join(said)}")] if said else []


def example(schema: Schema, schemas: Mapping[str, Schema], depth: int = 0) -> object:
    """An example that fits a schema."""
    if "$ref" in schema:
        return example(schemas.get(schema["$ref"].rpartition("/")[2], {}), schemas, depth)
    for name in ("example", "default", "const"):
        if name in schema:
            return schema[name]
    several = schema.get("examples") or schema.get("enum")
    if several:
        return several[0]
    alternatives = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if alternatives:
        return example(alternatives[0], schemas, depth)
    return _example_of_type(schema, schemas, depth)


_TEXTS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00.000Z",
    "time": "12:00:00",
    "email": "somebody@example.org",
    "uri": "https://example.org/",
    "uuid": "01890a5d-ac96-774b-bcce-b302099a8057",
}


def _example_of_type(schema: Schema, schemas: Mapping[str, Schema], depth: int) -> object:
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {}) if depth < _DEEPEST else {}
            return {name: example(each, schemas, depth + 1) for name, each in fields.items()}
        case "array":
            return [example(schema["items"], schemas, depth + 1)] if "items" in schema and depth < _DEEPEST else []
        case "integer":
            return int(schema.get("minimum", 1))
        case "number":
            return schema.get("minimum", 1.5)
        case "boolean":
            return False
        case "null" | None:
            return None
    return _TEXTS.get(schema.get("format", ""), "text")


# What the page shows


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of a schema."""

    name: str
    place: str
    required: bool
    type: list[Words]
    about: str
    default: str | None = None
    choices: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, schema: Schema, schemas: Mapping[str, Schema], **more: Any) -> Field:  # noqa: ANN401 - fields
        default = schema.get("default")
        return cls(
            name,
            type=words(schema, schemas),
            default=None if default is None else _text(default),
            choices=tuple(_text(each) for each in schema.get("enum", ())),
            **more,
        )


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True)
class Answer:
    """A possible response of an operation."""

    status: str
    about: str
    type: list[Words]

    @property
    def is_problem(self) -> bool:
        """Whether it is an error."""
        return self.status >= "4"


@dataclass(frozen=True)
class Operation:
    """An operation of the API."""

    id: str
    method: str
    path: str
    title: str
    about: str
    signed_in: bool
    parameters: list[Field]
    body: list[Words] | None
    example: str
    answers: list[Answer]


@dataclass(frozen=True)
class Shape:
    """A schema that others refer to."""

    id: str
    title: str
    about: str
    fields: list[Field]
    type: list[Words]


@dataclass(frozen=True)
class Reference:
    """The content of the page."""

    title: str
    about: str
    groups: dict[str, list[Operation]] = field(default_factory=dict)
    shapes: list[Shape] = field(default_factory=list)

    @classmethod
    def of(cls, document: Schema) -> Reference:
        """The reference for an OpenAPI document."""
        schemas = document.get("components", {}).get("schemas", {})
        groups: dict[str, list[Operation]] = {}
        for group, operation in _operations(document, schemas):
            groups.setdefault(group, []).append(operation)
        shapes = [_shape(name, schema, schemas) for name, schema in sorted(schemas.items())]
        return cls(document["info"]["title"], document["info"].get("description", ""), groups, shapes)


def _operations(document: Schema, schemas: Mapping[str, Schema]) -> Iterator[tuple[str, Operation]]:
    """The operations, each with its group: its tag, or the beginning of its path."""
    for path, item in document.get("paths", {}).items():
        for method in _METHODS:
            if method in item:
                operation = item[method]
                first = path.strip("/").partition("/")[0].replace("-", " ").replace("_", " ")
                group = next(iter(operation.get("tags", ())), first.capitalize() or document["info"]["title"])
                yield group, _operation(method, path, operation, schemas)


def _operation(method: str, path: str, operation: Schema, schemas: Mapping[str, Schema]) -> Operation:
    sent = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return Operation(
        id=operation.get("operationId", f"{method}{path}"),
        method=method.upper(),
        path=path,
        title=operation.get("summary", path),
        about=operation.get("description", ""),
        signed_in=bool(operation.get("security")),
        parameters=[
            Field.of(
                each["name"],
                _unless_null(each.get("schema", {})),
                schemas,
                place=each["in"],
                required=each.get("required", False),
                about=each.get("description", ""),
            )
            for each in operation.get("parameters", ())
        ],
        body=None if sent is None else words(sent, schemas),
        example="" if sent is None else json.dumps(example(sent, schemas), indent=2, ensure_ascii=False),
        answers=[_answer(status, each, schemas) for status, each in operation.get("responses", {}).items()],
    )


def _unless_null(schema: Schema) -> Schema:
    """A parameter's schema without null, which means that it can be left out."""
    kinds = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    return {**schema, **kinds[0], "anyOf": None} if len(kinds) == 1 else schema


def _answer(status: str, answer: Schema, schemas: Mapping[str, Schema]) -> Answer:
    schema = next((each["schema"] for each in answer.get("content", {}).values() if "schema" in each), None)
    about = answer.get("description", "")
    if about in ("", "Successful Response") and status.isdigit():
        about = HTTPStatus(int(status)).phrase
    return Answer(status, about, [] if schema is None else words(schema, schemas))


def _shape(name: str, schema: Schema, schemas: Mapping[str, Schema]) -> Shape:
    required = schema.get("required", ())
    fields = [
        Field.of(each, inner, schemas, place="body", required=each in required, about=inner.get("description", ""))
        for each, inner in schema.get("properties", {}).items()
    ]
    title, about = schema.get("title", name), schema.get("description", "")
    return Shape(name, title, about, fields, [] if fields else words(schema, schemas))
