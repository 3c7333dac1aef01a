"""Serves the pages of a system: sessions, forms, and pages for problems."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Concatenate, ParamSpec, cast
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from keyplan.web.identity.admission import Admission
from keyplan.web.identity.sessions import NOTICE, OTHER_USER, SESSION_ENDED, Sessions, Visitor, check_origin
from keyplan.web.models.paging import Paging
from keyplan.web.models.problems import (
    BadRequest,
    FieldProblem,
    InConflict,
    Invalid,
    Missing,
    Problem,
    Stale,
    TooManyRequests,
    Unauthorized,
    Unexpected,
    WrongMethod,
)
from keyplan.web.models.refusals import problem_for
from keyplan.web.models.signatures import signature_of
from keyplan.web.pages.asking import page_that_asks
from keyplan.web.pages.forms import TOKEN, Sent, Typed, values_of
from keyplan.web.pages.messages import message_for
from keyplan.web.pages.reading import read_form
from keyplan.web.pages.rendering import Site
from keyplan.web.pages.sent_forms import SEND_AGAIN, KeptForms, fields_to_send_again, key_of, sent_with, texts_to_copy
from keyplan.web.pages.views import View
from keyplan.web.pages.zones import at_clock
from keyplan.web.routes.once import REPLAYED, Keyed, Result, carried_out_once
from keyplan.web.routes.routing import wrong_method
from keyplan.web.system.confirm import CONFIRMED
from keyplan.web.system.observe import Trace, logger
from keyplan.web.system.page_routes import Everywhere, PageFunction, PageRoute
from keyplan.web.system.service import Service
from keyplan.web.system.turns import answered

_SHOWN_IN_THE_FORM = {400, 401, 409, 412, 422, 503}
"""After these, people can correct what they entered and send it again."""
_LATER = {429, 503}
"""After these, people can send the same again later."""
_NO_WAY_BACK = {401, 404}
"""After these, the page with the form can't be shown either."""
_PATIENCE = 5.0
"""Seconds that a form which is sent again waits for the first one."""
_NOTICE = "notice"


P = ParamSpec("P")


def _at_clock_of_visitor(
    make: Callable[Concatenate["Serving", PageRoute, Request, Visitor, P], Response],
) -> Callable[Concatenate["Serving", PageRoute, Request, Visitor, P], Response]:
    """Make a page in the time zone of its system or its visitor."""

    def made(
        self: "Serving", page: PageRoute, request: Request, visitor: Visitor, /, *args: P.args, **kwargs: P.kwargs
    ) -> Response:
        with at_clock(self._site.zone_for(visitor.cookies), self._site.language):
            return make(self, page, request, visitor, *args, **kwargs)

    return made


class Serving:
    """Makes the pages of a system, and pages for problems."""

    def __init__(self, site: Site, everywhere: Everywhere | None, routes: Sequence[PageRoute]) -> None:
        self._site = site
        self._kept = KeptForms(site, routes)
        self._everywhere = everywhere
        self._running = site.running
        self._sessions = Sessions(site.running.store)

    def endpoint(self, page: PageRoute) -> Callable[..., Any]:
        """The function that FastAPI calls: in a thread, or for a page that hashes passwords on the event loop."""
        signature = signature_of(page.function)

        def served(request: Request, **values: Any) -> Response:  # noqa: ANN401 - by the signature below
            values = signature.arguments(values)
            visitor = self._visitor(request)
            try:
                self._admit(request, visitor, page)
                response = self._made(page, request, visitor, values)
            except Exception as error:  # noqa: BLE001 - whatever it is, a person gets a page; faults are logged
                response = self._refused(page, request, visitor, values, error)
            return self._finished(response, visitor)

        async def queued(request: Request, **values: Any) -> Response:  # noqa: ANN401 - as above
            values = signature.arguments(values)
            visitor = self._visitor(request)
            address: str = request.scope["keyplan"].address
            try:
                await run_in_threadpool(self._admit, request, visitor, page)
                made = partial(self._made, page, request, visitor, values)
                response = await self._running.hashing.run(address, made)
            except Exception as error:  # noqa: BLE001 - as above
                response = await run_in_threadpool(self._refused, page, request, visitor, values, error)
            return self._finished(response, visitor)

        async def answer(request: Request, **values: Any) -> Response:  # noqa: ANN401 - as above
            work, address = partial(served, request, **values), request.scope["keyplan"].address
            return await answered(work, subject=address, reads=page.verb == "GET")

        endpoint: Any = queued if page.hashes else answer
        endpoint.__signature__ = inspect.Signature(list(signature.in_request()))  # FastAPI reads it
        endpoint.__name__ = page.function.__name__
        return cast("Callable[..., Any]", endpoint)

    def _visitor(self, request: Request) -> Visitor:
        return Visitor(request, self._sessions, f"{self._site.prefix}/", self._running.settings.base_url)

    def _admit(self, request: Request, visitor: Visitor, page: PageRoute | None = None) -> None:
        if request.scope.get("keyplan.admitted"):  # it has started again
            visitor.recognize()
            return
        address, own = request.scope["keyplan"].address, None
        if page is not None and page.rate is not None:
            own = self._running.rates.of_route(f"{page.verb} page {page.path}", address, page.rate)
        Admission.of(self._running).admit(address, visitor.proof, visitor.recognize, own)
        request.scope["keyplan.admitted"] = True

    @_at_clock_of_visitor
    def _made(self, page: PageRoute, request: Request, visitor: Visitor, values: dict[str, Any]) -> Response:
        typed: Typed | None = request.scope.get("keyplan.typed")
        sent = sent_with(page, request) if typed is not None else self._kept.kept_for(request, visitor)
        request.scope["keyplan.sent"] = sent
        if typed is not None:
            visitor.check_form(next(iter(typed.get(TOKEN, ())), ""))
            read = None
            if (form := signature_of(page.function).body) is not None:
                read = read_form(form[1], typed)
                values = {**values, form[0]: read}
            if page.confirm is not None and CONFIRMED not in typed and page.confirm.when(read):
                return page_that_asks(page, self._view(request, visitor, path=page.path), values)
        return self._carried_out(page, request, visitor, values, sent)

    def _carried_out(
        self, page: PageRoute, request: Request, visitor: Visitor, values: dict[str, Any], sent: Sent | None
    ) -> Response:
        """What a page's function returns; for a form that was sent before, the first redirect."""
        view = self._view(request, visitor, sent, page.path)
        typed: Typed | None = request.scope.get("keyplan.typed")
        key = None if typed is None or not page.takes_key else key_of(request, typed)
        if typed is None or key is None:
            response = page.function(view, **values)
            if sent is not None and sent.restored and not view.forms.has_shown_sent:
                raise InConflict("form-gone", "This form is no longer available. Nothing was saved.")
            return response

        def act(service: Service[Any]) -> Response:
            view.act_with(service)
            return page.function(view, **values)

        trace: Trace = request.scope["keyplan"]
        route, path = f"{page.verb} page {page.path}", f"{request.url.path}?{request.url.query}"
        entered = values_of(typed)
        keyed = Keyed(visitor.caller, trace.address, route, path, key, entered, visitor.anonymous, by_values=True)
        response = carried_out_once(self._running, keyed, act, kept=partial(_redirect_of, view), patience=_PATIENCE)
        self._kept.was_saved(visitor, key)
        if REPLAYED in response.headers:
            return view.redirect_again(response.headers["location"], response.headers[_NOTICE])
        return response

    def _view(self, request: Request, visitor: Visitor, sent: Sent | None = None, path: str = "") -> View[Any]:
        return View(self._site, request, visitor, sent, self._known_everywhere, path)

    def _known_everywhere(self, view: View[Any]) -> Mapping[str, object]:
        own = {} if self._everywhere is None else self._everywhere(view)
        return {"unsent": self._kept.unsent(view.visitor), **own}

    @_at_clock_of_visitor
    def _refused(
        self, page: PageRoute, request: Request, visitor: Visitor, values: dict[str, Any], error: Exception
    ) -> Response:
        problem = _problem_of(error, request)
        first = isinstance(problem, Unauthorized) and visitor.caller is None and problem.code == "no-token"
        if first and self._site.sign_in and page.verb == "GET":
            view = self._view(request, visitor)
            return view.redirect(self._site.sign_in, to=view.here)
        if problem.code in (SESSION_ENDED, OTHER_USER):
            to, is_kept = self._kept.keep(page, request, visitor, values)
            return self._problem_page(request, visitor, problem, to=to, is_kept=is_kept)
        try:
            if isinstance(problem, Unauthorized) and visitor.caller is not None and problem.code == "bad-token":
                visitor.sign_out()  # pages accept no tokens, so the session has expired
            elif isinstance(problem, Stale) and page.confirm is not None and page.confirm.shows is not None:
                # Something else was shown when it was confirmed.
                return page_that_asks(page, self._view(request, visitor, path=page.path), values, problem)
            elif page.again is not None and self._is_shown_in_the_form(problem, request, visitor) and not first:
                return self._again(page, page.again, request, visitor, values, problem)
        except Exception as another:  # noqa: BLE001 - as above
            # What is sent again later, or with a new token, is no other problem before that.
            if problem.status not in _LATER and problem.code != "old-form":
                problem = _problem_of(another, request)
        has_page = page.verb == "POST" and problem.status not in _NO_WAY_BACK
        back = self._kept.page_with(page, request, values) if has_page else None
        if page.verb == "GET" and problem.status in _LATER:
            back = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
        return self._problem_page(request, visitor, problem, back=back)

    def _again(
        self,
        page: PageRoute,
        shows: PageFunction,
        request: Request,
        visitor: Visitor,
        values: dict[str, Any],
        problem: Problem,
    ) -> Response:
        signature = signature_of(shows)
        taken = {each.name: values[each.name] for each in signature.parameters if each.name in values}
        if signature.paging is not None:
            taken.setdefault(signature.paging, Paging())
        view = self._view(request, visitor, sent_with(page, request, problem), page.again_at)
        response = shows(view, **taken)
        if not view.forms.has_shown_sent and response.status_code == 200:
            back = self._kept.page_with(page, request, values)
            return self._problem_page(request, visitor, problem, back=back)  # with what was entered
        if response.status_code == 200:
            response.status_code = problem.status
            response.headers.update(problem.headers)
        return response

    def _problem_page(
        self,
        request: Request,
        visitor: Visitor,
        problem: Problem,
        *,
        to: str | None = None,
        is_kept: bool = False,
        reads: bool = True,
        back: str | None = None,
    ) -> Response:
        trace: Trace = request.scope["keyplan"]

        def shown(view: View[Any]) -> Response:
            return view.render(
                "problem.html",
                status=problem.status,
                problem=problem,
                request_id=trace.request_id,
                typed=texts_to_copy(request, problem, self._site.language),
                sent=fields_to_send_again(request, problem),
                to=to,
                is_kept=is_kept,
                reads=reads,
                back=back,
            )

        plain = View[Any](self._site, request, visitor)
        try:
            # The page for those who send too much, or who waited too long, must not cost a read.
            reads = reads and not isinstance(problem, SEND_AGAIN)
            response = shown(self._view(request, visitor) if reads else plain)
        except Exception:  # noqa: BLE001 - the values of every page can't be made, which may be the problem itself
            response = shown(plain)
        response.headers.update(problem.headers)
        return response

    def unanswered(self, request: Request, problem: Problem) -> Response:
        """The page for a problem with a request that no page answered, such as one that took too long.

        It has what was entered, to be sent again with the same key. Nothing is read for it.
        """
        visitor = self._visitor(request)
        try:
            if "keyplan.typed" in request.scope:
                check_origin(request, self._running.settings.base_url)
        except Problem as foreign:  # what another site sent must not be sent again as ours
            problem = foreign
            del request.scope["keyplan.typed"]
        with at_clock(self._site.zone_for(visitor.cookies), self._site.language):
            page = self._problem_page(request, visitor, problem, reads=False, back=self._back(request))
            return self._finished(page, visitor)

    def _back(self, request: Request) -> str | None:
        """The page that a file was sent from, to an address outside of the system's pages."""
        came_from = urlsplit(request.headers.get("referer", ""))
        is_outside = not request.url.path.startswith(self._site.url("/"))
        return self._site.local(came_from._replace(scheme="", netloc="").geturl()) if is_outside else None

    def _is_shown_in_the_form(self, problem: Problem, request: Request, visitor: Visitor) -> bool:
        if isinstance(problem, TooManyRequests):
            return Admission.of(self._running).shows_again(request.scope["keyplan"].address, visitor.caller)
        # A form with an old token is shown again with a new one: no other site could have sent it.
        return problem.code == "old-form" or problem.status in _SHOWN_IN_THE_FORM

    def _finished(self, response: Response, visitor: Visitor) -> Response:
        for name, value in self._site.headers().items():
            response.headers.setdefault(name, value)
        # A page for one person may be cached by that person only, and is revalidated each time.
        response.headers.setdefault("Cache-Control", "private, no-cache" if visitor.caller else "no-cache")
        response.headers.setdefault("Vary", "Cookie")
        visitor.cookies.send(response)
        return response

    # Problems before a page is found

    def handlers(self) -> dict[Any, Callable[[Request, Exception], Any]]:
        """Exception handlers for FastAPI, for requests that match no page."""

        def shown(request: Request, problem: Problem) -> Response:
            visitor = self._visitor(request)
            try:
                self._admit(request, visitor)
            except Exception as error:  # noqa: BLE001 - as above
                problem = _problem_of(error, request)
            # The browser shows the address of a form while it asks or is refused, and opens it again later.
            instead = self._kept.page_instead_of(request.scope["path"]) if request.method == "GET" else None
            if isinstance(problem, WrongMethod) and instead is not None:
                return self._finished(RedirectResponse(instead, 303), visitor)
            with at_clock(self._site.zone_for(visitor.cookies), self._site.language):
                return self._finished(self._problem_page(request, visitor, problem), visitor)

        async def handle(request: Request, error: Exception) -> Response:
            return await run_in_threadpool(shown, request, _from_routing(error, request))

        return {RequestValidationError: handle, HTTPException: handle, Problem: handle}


def _redirect_of(view: View[Any], response: Response) -> Result:
    """What is kept of a response to a form: where it leads to and the notice there, never a page or a cookie."""
    if "location" not in response.headers:
        return Result(response.status_code)
    notice = view.visitor.cookies.new(NOTICE) or ""
    return Result(response.status_code, {"location": response.headers["location"], _NOTICE: notice})


def _problem_of(error: Exception, request: Request) -> Problem:
    problem = problem_for(error, request.app.state.running.design)
    if isinstance(problem, Unexpected):
        trace: Trace = request.scope["keyplan"]
        logger.error("unexpected", exc_info=error, extra={"fields": {"request_id": trace.request_id}})
    return problem


def _from_routing(error: Exception, request: Request) -> Problem:
    if isinstance(error, RequestValidationError):
        return _from_parameters(error)
    if isinstance(error, HTTPException) and error.status_code == 404:
        return Missing("no-such-page", "Page not found.")
    if isinstance(error, HTTPException) and error.status_code == 405:
        return wrong_method(request)
    if isinstance(error, HTTPException) and error.status_code == 400:
        return BadRequest("bad-request", "The request couldn't be read.")
    return problem_for(error)


def _from_parameters(error: RequestValidationError) -> Problem:
    found = error.errors()
    if any(each["loc"][0] == "path" for each in found):
        return Missing()  # nothing can have such a name
    return Invalid([FieldProblem(f"?{each['loc'][-1]}", message_for(each)) for each in found])
