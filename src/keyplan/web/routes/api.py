"""Routes: one line for each thing that a service can do.

    api = Api(Blog)
    api.get("/posts/{slug}", Blog.post)
    api.post("/posts", Blog.create_post)

The method's signature says the rest: names in the path are path parameters, an `In` is the body, a `Paging` is `limit`
and `cursor`, an `IfMatch` is the header, anything else is a query parameter; what it returns is the answer. Nothing is
said twice, and the table of who may do what can be read off the routes.
"""

import inspect
from collections.abc import Callable, Coroutine, Iterator
from copy import copy
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

from fastapi import FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic_core import to_json
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from keyplan.web.identity.sessions import only_tls
from keyplan.web.models.bodies import In, LimitedRequest, as_sent
from keyplan.web.models.paging import Listing, Paging, link_to_next
from keyplan.web.models.problems import BadRequest, Problem, Unauthorized
from keyplan.web.models.versions import TAGS, FromIfMatch, etag, not_modified, versions_in
from keyplan.web.routes.arguments import quick_arguments
from keyplan.web.routes.document import has_version, responses_of
from keyplan.web.routes.handling import answered, handled
from keyplan.web.system.observe import Trace
from keyplan.web.system.rates import Limit, Rates
from keyplan.web.system.running import Running
from keyplan.web.system.service import ANYONE, SIGNED_IN, Caller, Permission, Service, permission_of

Method: TypeAlias = Callable[..., object]
_IF_MATCH = Header(
    description="The ETag of the version that is changed; `*`: whichever it is.",
    alias="If-Match",
    examples=["*"],
    json_schema_extra={"pattern": TAGS},
)
_IF_NONE_MATCH = Header(description="The ETag of what one has: 304 while it is still the same.", alias="If-None-Match")
_ONCE = Header(
    description="A key of the caller's choice: a request that is sent again with it has its effect once.",
    alias="Idempotency-Key",
    min_length=1,
    max_length=255,
)


@dataclass(frozen=True)
class SetCookie:
    """A cookie that a route's answers set: from a field of the result, or none where there is no result.

    No script sees it, no other site's page sends it, and it is sent to this system's API only.
    """

    name: str
    field: str
    lasts: timedelta


@dataclass(frozen=True)
class Route:
    """A path and method of HTTP, and what it calls."""

    verb: str
    path: str
    method: Method
    status: int
    once: bool
    permission: Permission
    rate: int | None = None
    """How many requests a minute one address may send, where that is less than elsewhere."""
    cookie: SetCookie | None = None
    behind: Method | None = None
    """Refuses those for whom the route is not there; asked before a caller is told what is wrong with a request."""


class Api:
    """The routes of a service."""

    def __init__(self, service: type[Service[Any]]) -> None:
        self.service = service
        self.routes: list[Route] = []
        self._behind: Method | None = None

    def behind(self, refuses: Method) -> "Api":
        """The same routes, for adding some that are not there for everybody: `refuses` is the method that says so."""
        section = copy(self)
        section._behind = refuses
        return section

    def get(self, path: str, method: Method, *, rate: int | None = None) -> None:
        """Read something."""
        self._add("GET", path, method, 200, rate=rate)

    def post(
        self,
        path: str,
        method: Method,
        *,
        status: int = 201,
        once: bool = True,
        rate: int | None = None,
        cookie: SetCookie | None = None,
    ) -> None:
        """Do something. With `once`, an `Idempotency-Key` makes sending it again safe."""
        self._add("POST", path, method, status, once=once, rate=rate, cookie=cookie)

    def put(self, path: str, method: Method) -> None:
        """Make something be as it is sent."""
        self._add("PUT", path, method, 200)

    def patch(self, path: str, method: Method) -> None:
        """Change a part of something."""
        self._add("PATCH", path, method, 200)

    def delete(self, path: str, method: Method) -> None:
        """Remove something."""
        self._add("DELETE", path, method, 204)

    def _add(
        self,
        verb: str,
        path: str,
        method: Method,
        status: int,
        *,
        once: bool = False,
        rate: int | None = None,
        cookie: SetCookie | None = None,
    ) -> None:
        permission = permission_of(method)
        if permission is None:
            raise TypeError(f"{verb} {path}: {method.__qualname__} does not say who may call it")
        if get_type_hints(method).get("return") is type(None):
            status = 204
        self.routes.append(Route(verb, path, method, status, once, permission, rate, cookie, self._behind))

    def who_may_do_what(self) -> Iterator[tuple[str, str, dict[str, str]]]:
        """For each route what each role may: "yes", "no", or "if ..."."""
        for route in self.routes:
            allowed = f"if {route.permission.also}" if route.permission.also else "yes"
            roles = {role: self._may(role, route.permission) for role in self.service.all_roles}
            yield route.verb, route.path, {role: allowed if may else "no" for role, may in roles.items()}

    def _may(self, role: str, permission: Permission) -> bool:
        """Whether a role is one of those that are allowed, or comes with one: whoever has a role is signed in."""
        known = () if role == ANYONE else (SIGNED_IN, *self.service.comes_with.get(role, ()))
        return not {ANYONE, role, *known}.isdisjoint(permission.roles)

    def add_to(self, app: FastAPI) -> None:
        """Put the routes into an application whose `state.running` is the system."""
        for route in self.routes:
            app.router.add_api_route(
                route.path,
                _endpoint(route),
                methods=[route.verb],
                status_code=route.status,
                response_model=None if route.status == 204 else _returned(route.method),
                responses=responses_of(route),
                summary=route.method.__name__.replace("_", " ").capitalize(),
                description=inspect.getdoc(route.method) or "",
                operation_id=route.method.__name__,
                openapi_extra=None if ANYONE in route.permission.roles else {"security": [{"bearer": []}]},
                route_class_override=_KitRoute,
            )


class _KitRoute(APIRoute):
    """A route that knows the caller, and has read the body, before anything else is looked at."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        route: Route = self.endpoint.route  # type: ignore[attr-defined]  # set by _endpoint
        quick = quick_arguments(self.dependant) if route.verb == "GET" else None

        async def known(request: Request) -> Response:
            request = LimitedRequest(request.scope, request.receive)
            running: Running[Any] = request.app.state.running
            trace: Trace = request.scope["keyplan"]
            trace.route = f"/api/{running.system.name}{route.path}"
            of_address = running.rates.of_address(trace.address)
            if route.rate is None:
                await _count(running.rates, of_address)
            else:
                await _count(running.rates, of_address, Limit(f"{route.path} {of_address.subject}", route.rate))
            request.state.caller = caller = await _caller(route, running, request)
            if caller is None and ANYONE not in route.permission.roles:
                raise Unauthorized
            if caller is not None:
                await _count(running.rates, running.rates.of_identity(caller.sub))
            try:
                if self.body_field is not None:
                    await _read_json(request)
                arguments = None if quick is None else quick(request)
                return await handle(request) if arguments is None else await self.endpoint(request=request, **arguments)
            except (Problem, RequestValidationError):
                if route.behind is not None:
                    await run_in_threadpool(route.behind, running.service(caller, trace.address))
                raise

        return known


async def _caller(route: Route, running: Running[Any], request: Request) -> Caller | None:
    try:
        return await running.identity.caller(request)
    except Unauthorized:
        if route.cookie is None:
            raise
        return None  # who comes for new tokens, or to end them, may well bring one that is over


async def _count(rates: Rates, *limits: Limit) -> None:
    """Count a request. Only where the table has to be asked, another thread waits for it."""
    for limit in limits:
        if not rates.at_hand(limit):
            await run_in_threadpool(rates.take, *limit)


async def _read_json(request: LimitedRequest) -> None:
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise BadRequest("not-json", "Send JSON: Content-Type: application/json.")
    await request.json()


def _returned(method: Method) -> Any:  # noqa: ANN401 - a type
    return get_type_hints(method, include_extras=True)["return"]


def _endpoint(route: Route) -> Callable[..., Coroutine[Any, Any, Response]]:
    """The function that FastAPI calls, with the parameters that it is to find in a request."""
    takes = list(_parameters(route))
    paging, versions, bodies = _special(route.method)

    async def endpoint(request: Request, **values: Any) -> Response:  # noqa: ANN401 - by the signature below
        key = values.pop("idempotency_key", None)
        if_match = values.pop("if_match", None)
        values.pop("if_none_match", None)  # the answer is compared with it
        for name, required in versions.items():
            values[name] = versions_in(if_match, required=required)
        if paging:
            values[paging] = Paging(limit=values.pop("limit"), cursor=values.pop("cursor"))
        payload = values[bodies[0]] if bodies else None
        work = partial(
            handled,
            request,
            f"{route.verb} {route.path}",
            key,
            payload,
            lambda service: _answer(request, route, service, values),
        )
        # A read of an embedded file waits for nobody, and going to another thread takes longer than most of them.
        running: Running[Any] = request.app.state.running
        return await answered(work, at_once=route.verb == "GET" and running.settings.embedded)

    endpoint.__signature__ = inspect.Signature(takes)  # type: ignore[attr-defined]  # FastAPI reads it
    endpoint.__name__ = route.method.__name__
    endpoint.route = route  # type: ignore[attr-defined]  # _KitRoute reads it
    return endpoint


def _special(method: Method) -> tuple[str | None, dict[str, bool], list[str]]:
    """The names of the parameters that are not taken from the request as they are."""
    paging, versions, bodies = None, {}, []
    for name, hint in get_type_hints(method, include_extras=True).items():
        marks = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, FromIfMatch)]
        if name == "return":
            continue
        if hint is Paging:
            paging = name
        elif marks:
            versions[name] = marks[0].required
        elif _is_body(hint):
            bodies.append(name)
    return paging, versions, bodies


def _is_body(hint: object) -> bool:
    bare = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return isinstance(bare, type) and issubclass(bare, In)


def _parameters(route: Route) -> Iterator[inspect.Parameter]:
    def taken(name: str, hint: object, default: object = inspect.Parameter.empty) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=default)

    paging, versions, bodies = _special(route.method)
    hints = get_type_hints(route.method, include_extras=True)
    yield taken("request", Request)
    for name, parameter in list(inspect.signature(route.method).parameters.items())[1:]:
        if name == paging:
            for field, info in Paging.model_fields.items():
                yield taken(field, Annotated[info.annotation, info], info.default)
        elif name not in versions:
            yield taken(name, as_sent(hints[name]) if name in bodies else hints[name], parameter.default)
    if versions:
        yield taken("if_match", Annotated[str | None, _IF_MATCH], None)
    if route.verb == "GET" and has_version(route):
        yield taken("if_none_match", Annotated[str | None, _IF_NONE_MATCH], None)
    if route.once:
        yield taken("idempotency_key", Annotated[str | None, _ONCE], None)


def _answer(request: Request, route: Route, service: Service[Any], values: dict[str, Any]) -> Response:
    result = route.method(service, **values)
    response = result if isinstance(result, Response) else _response(request, route, result)
    if route.cookie is not None:
        _set_cookie(request, response, route.cookie, result)
    return response


def _set_cookie(request: Request, response: Response, cookie: SetCookie, result: object) -> None:
    running: Running[Any] = request.app.state.running
    value = getattr(result, cookie.field, None)
    response.headers["Cache-Control"] = "no-store"  # what comes with it is a secret as well
    response.set_cookie(
        cookie.name,
        value or "",
        max_age=int(cookie.lasts.total_seconds()) if value else 0,
        path=f"/api/{running.system.name}/",
        secure=only_tls(request, running.settings.base_url),
        httponly=True,
        samesite="strict",
    )


def _response(request: Request, route: Route, result: object) -> Response:
    if route.status == 204:
        return Response(status_code=204)
    headers = {}
    body = to_json(result, by_alias=True)
    version = getattr(result, "version", None)
    if isinstance(version, int):
        headers["ETag"] = etag(version, body)
        if route.verb == "GET" and not_modified(request.headers.get("if-none-match"), headers["ETag"]):
            return Response(status_code=304, headers=headers)
    if isinstance(result, Listing) and (link := link_to_next(request.scope, result)):
        headers["Link"] = link
    return Response(body, route.status, headers, media_type="application/json")
