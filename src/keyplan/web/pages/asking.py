"""The page that asks before something that can't be undone."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import Response

from keyplan.web.models.bodies import In
from keyplan.web.models.signatures import names_in_path
from keyplan.web.pages.forms import FORM, Typed, values_of
from keyplan.web.pages.views import View
from keyplan.web.system.page_routes import PageRoute


def page_that_asks(page: PageRoute, view: View[Any], read: In | None, values: Mapping[str, Any]) -> Response:
    """The question of a form, which sends everything again, with the confirmation."""
    assert page.confirm is not None
    if page.method is not None:
        view.service.require(page.method)
    typed: Typed = view.request.scope["keyplan.typed"]
    name = {FORM: typed[FORM]} if FORM in typed else {}  # if it is refused, that form shows it
    asked: dict[str, Any] = {**page.confirm.asked(view, read, values)}
    return view.render(
        "confirm.html", **asked, sent={**values_of(typed), **name}, back=_page_before(page, view, values)
    )


def _page_before(page: PageRoute, view: View[Any], values: Mapping[str, Any]) -> str:
    """The URL of the page that had the form."""
    came_from = urlsplit(view.request.headers.get("referer", ""))
    if came_from.path and came_from.path != view.request.url.path:
        return view.site.local(came_from._replace(scheme="", netloc="").geturl())
    named = {name: values[name] for name in names_in_path(page.again_at)}
    return view.site.url(page.again_at, **named) if page.again is not None else view.site.url("/")
