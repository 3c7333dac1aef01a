"""Pages that were made elsewhere, such as the documents of designs: they are sent as they are."""

import hashlib
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from keyplan.web.pages.rendering import page_headers

DESIGNS = "/designs"


@dataclass(frozen=True)
class ReadyPage:
    """A page, the style sheet that is in it, and what it says as JSON. It has no scripts."""

    html: str
    style: str
    """The text of its style element, which the content security policy allows."""
    json: str


MakePage = Callable[[], ReadyPage]


class _Once:
    """Makes a page when it is asked for the first time."""

    def __init__(self, make: MakePage) -> None:
        self._make = make
        self._made: ReadyPage | None = None
        self._lock = Lock()

    def __call__(self) -> ReadyPage:
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made


def ready_routes(designs: Mapping[str, MakePage]) -> Iterator[BaseRoute]:
    """The pages of designs by their names, at /designs/NAME, and as JSON at /designs/NAME.json."""
    for name, make in designs.items():
        made = _Once(make)
        yield Route(f"{DESIGNS}/{name}", _shown_by(made))
        yield Route(f"{DESIGNS}/{name}.json", _told_by(made))


def _shown_by(made: _Once) -> Callable[[Request], Response]:
    def show(request: Request) -> Response:  # not async, so that it is made beside the event loop
        page = made()
        digest = b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
        headers = page_headers(styles=[f"'sha256-{digest}'"])
        return HTMLResponse(page.html, headers={**headers, "Cache-Control": "no-cache"})

    return show


def _told_by(made: _Once) -> Callable[[Request], Response]:
    def tell(request: Request) -> Response:
        return Response(made().json, media_type="application/json", headers={"Cache-Control": "no-cache"})

    return tell
