"""Editors: where everything begins, and what admins import from SAMS."""

import orjson
from starlette.responses import Response

from keyplan.apps.vcm.models import SamsFile
from keyplan.apps.vcm.pages.forms import taken
from keyplan.apps.vcm.pages.shared import ClubView, FormIn, pages
from keyplan.web import Forbidden, Paging, Unauthorized, Unprocessable, all_of


class SamsForm(FormIn):
    """A file of clubs and teams, as its text."""

    file: str = ""
    remove_many: bool = False


@pages.get("/redaktion")
def desk(view: ClubView) -> Response:
    drafts = view.service.all_news(Paging(limit=10), "draft").items
    return view.render("desk.html", drafts=drafts)


@pages.get("/redaktion/sams")
def sams(view: ClubView) -> Response:
    if view.caller is None:
        raise Unauthorized
    if "Admin" not in view.service.my_roles:
        raise Forbidden
    clubs, teams = all_of(view.service.sams_clubs), all_of(view.service.sams_teams)
    return view.render("sams.html", clubs=len(clubs), teams=len(teams))


@pages.post("/redaktion/sams")
def import_sams(view: ClubView, typed: SamsForm) -> Response:
    try:
        found = orjson.loads(typed.file)
    except orjson.JSONDecodeError as error:
        raise Unprocessable("not-json", "The file isn't valid JSON.", pointer="/file") from error
    if not isinstance(found, dict):
        raise Unprocessable("not-json", "The file isn't valid JSON.", pointer="/file")
    done = view.service.import_sams(taken(SamsFile, {**found, "remove_many": typed.remove_many}))
    said = [
        f"{name}: {each.inserted} neu, {each.updated} geändert, {each.removed} entfernt"
        for name, each in (("Vereine", done.clubs), ("Teams", done.teams))
    ]
    return view.redirect("/redaktion/sams", notice="; ".join(said))
