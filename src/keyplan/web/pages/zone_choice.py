"""The page on which people choose the time zone of a system's pages, if the system has none of its own."""

from datetime import timedelta
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import StringConstraints
from starlette.responses import Response

from keyplan.design import about
from keyplan.web.models.bodies import In
from keyplan.web.models.problems import FieldProblem, Invalid
from keyplan.web.pages.rendering import Site
from keyplan.web.pages.views import View
from keyplan.web.pages.zones import CHOSEN, clock, zone_named, zone_names
from keyplan.web.system.page_routes import PageRoute

_PATH = "/time-zone"
_LASTS = timedelta(days=365)


class ZoneChoice(In):
    """A time zone, and the page to continue with. Without a zone, it is the device's again."""

    zone: Annotated[str, StringConstraints(max_length=64), about("Time zone")] = ""
    to: Annotated[str, StringConstraints(max_length=4096), about("")] = ""


def zone_pages(site: Site) -> list[PageRoute]:
    """The page and its form; none if all times of the system are in one zone."""
    if site.zone is not None:
        return []
    # Without a key: only a cookie keeps the choice, and the answer with the cookie may be the one that was lost.
    return [PageRoute("GET", _PATH, _show), PageRoute("POST", _PATH, _choose, again=_show, again_at=_PATH, once=False)]


def _show(view: View[Any], to: str = "") -> Response:
    chosen = clock().zone.key if view.visitor.cookies.get(CHOSEN) else ""
    view.form.asking(ZoneChoice).starting_from({"zone": chosen, "to": to})
    options = [("", view.site.language.say("That of my device")), *((each, each) for each in zone_names())]
    return view.render("time_zone.html", options=options)


def _choose(view: View[Any], choice: ZoneChoice) -> Response:
    if not choice.zone:
        view.visitor.cookies.drop(CHOSEN)
        return view.redirect_to(view.site.local(choice.to), notice="Times are in the time zone of your device")
    if zone_named(choice.zone) is None:
        raise Invalid([FieldProblem("/zone", "Choose a time zone from the list.")])
    view.visitor.cookies.set(CHOSEN, quote(choice.zone, safe=""), _LASTS)
    return view.redirect_to(view.site.local(choice.to), notice=f"Times are in {choice.zone}")
