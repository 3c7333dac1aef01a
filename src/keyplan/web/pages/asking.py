"""The page that asks before something that can't be undone."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import Response

from keyplan.web.models.problems import Problem
from keyplan.web.models.signatures import names_in_path, signature_of
from keyplan.web.pages.forms import FORM, Typed, beside, values_of
from keyplan.web.pages.reading import read_form
from keyplan.web.pages.views import View
from keyplan.web.system.page_routes import PageRoute
from keyplan.web.system.running import WouldWriteError


def page_that_asks(
    page: PageRoute, view: View[Any], values: Mapping[str, Any], problem: Problem | None = None
) -> Response:
    """The question of a form, which sends everything again, with the confirmation.

    What a rule refuses is refused before it is asked. If there is nothing to write, it is the page's own response.
    `problem` is what a confirmed form was refused for.
    """
    confirm = page.confirm
    assert confirm is not None
    typed: Typed = view.request.scope["keyplan.typed"]
    thing = confirm.thing(view, values)
    if confirm.shows is not None and "version" in typed:
        version: int = thing.version  # type: ignore[attr-defined]  # the form has its version
        typed = {**typed, "version": [str(version)]}
    form = signature_of(page.function).body
    read = None if form is None else read_form(form[1], typed)
    sent = values if form is None else {**values, form[0]: read}
    view.service.visit.rehearses = True
    try:
        return page.function(view, **sent)
    except WouldWriteError:
        view.service.visit.rehearses = False
        view.act_with(view.service.fresh())  # this one has changed what it read
    asked: dict[str, Any] = {**confirm.asked(view, read, thing, values)}
    name = {FORM: typed[FORM]} if FORM in typed else {}  # if it is refused, that form shows it
    return view.render(
        "confirm.html",
        status=200 if problem is None else problem.status,
        problem=problem,
        **asked,
        shows=confirm.shows,
        thing=thing,
        sent={**values_of(typed), **beside(typed), **name},
        back=_page_before(page, view, values),
        unsent=None,  # one question at a time
    )


def _page_before(page: PageRoute, view: View[Any], values: Mapping[str, Any]) -> str:
    """The URL of the page that had the form."""
    came_from = urlsplit(view.request.headers.get("referer", ""))
    if came_from.path and came_from.path != view.request.url.path:
        return view.site.local(came_from._replace(scheme="", netloc="").geturl())
    named = {name: values[name] for name in names_in_path(page.again_at)}
    return view.site.url(page.again_at, **named) if page.again is not None else view.site.url("/")
