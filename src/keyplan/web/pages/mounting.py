"""The pages of all systems in one application, and the pages for problems outside of them."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cached_property
from typing import Any

from fastapi import FastAPI, Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Scope

from keyplan.web.models.problems import Problem
from keyplan.web.pages.reading import typed_in
from keyplan.web.pages.ready import MakePage, ready_routes
from keyplan.web.pages.rendering import Site, Static, kit_page
from keyplan.web.pages.sent_forms import kept_form_pages
from keyplan.web.pages.serving import Serving
from keyplan.web.pages.signin import SIGN_IN, SIGN_OUT_PAGE, can_sign_in, sign_in_pages
from keyplan.web.pages.uploading import upload_pages
from keyplan.web.pages.zone_choice import zone_pages
from keyplan.web.routes.routing import Later
from keyplan.web.settings import Settings
from keyplan.web.system.observe import Trace
from keyplan.web.system.page_routes import PageRoute, Pages
from keyplan.web.system.running import Running


class SystemPages:
    """The pages of a system."""

    def __init__(self, running: Running[Any], pages: Pages) -> None:
        self._running = running
        self._pages = pages
        self.name = running.system.name

    def problem(self, scope: Scope, problem: Problem) -> Response:
        """The page for a problem that none of its pages answered, such as a body that is too large."""
        return self._made[0].unanswered(Request(scope), problem)

    def app(self) -> FastAPI:
        """The pages as an application, to be mounted at the system's name."""
        serving, routes = self._made
        app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, exception_handlers=serving.handlers())
        app.state.running = self._running
        for page in routes:
            app.router.add_api_route(
                page.path,
                serving.endpoint(page),
                methods=["GET", "HEAD"] if page.verb == "GET" else [page.verb],
                response_model=None,
                route_class_override=_PageRoute,
            )
        app.mount("/static", Static(self._pages.package))
        return app

    @cached_property
    def _made(self) -> tuple[Serving, Sequence[PageRoute]]:
        pages = self._pages
        site = Site(
            self._running,
            pages.package,
            title=pages.title,
            sign_in=pages.sign_in,
            language=pages.language,
            zone=pages.zone,
        )
        kit = [SIGN_OUT_PAGE] if pages.sign_in else sign_in_pages(site, pages.people)
        if pages.sign_in is None and can_sign_in(site):
            site.sign_in = SIGN_IN
        routes = (*pages.routes, *kit, *zone_pages(site), *kept_form_pages(site), *upload_pages(site))
        return Serving(site, pages.everywhere, routes), routes


def pages_of_all(systems: Sequence[Running[Any]]) -> list[SystemPages]:
    """The pages of the systems that have some."""
    return [SystemPages(each, each.system.pages) for each in systems if each.system.pages is not None]


def page_routes(
    systems: Sequence[Running[Any]],
    pages: Sequence[SystemPages],
    settings: Settings,
    designs: Mapping[str, MakePage],
) -> list[BaseRoute]:
    """The index of the systems at /, the kit's static files at /static, each system's pages at its name, and the pages
    of the designs at /designs."""

    def index(request: Request) -> Response:
        shown = [each.system for each in systems]
        return kit_page("index.html", systems=shown, settings=settings, designs=designs.keys())

    return [
        Route("/", index),
        Mount("/static", app=Static()),
        *ready_routes(designs),
        *(Mount(f"/{each.name}", Later(each.app)) for each in pages),
    ]


class _PageRoute(APIRoute):
    """A route that reads the form before FastAPI checks anything."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def read(request: Request) -> Response:
            trace: Trace = request.scope["keyplan"]
            trace.route = f"{request.scope.get('root_path', '')}{self.path}"
            if request.method == "POST":
                longest = request.app.state.running.settings.body_limit  # one field can be nearly all of the body
                async with request.form(max_files=0, max_part_size=longest) as sent:
                    request.scope["keyplan.typed"] = typed_in(sent)
            return await handle(request)

        return read
