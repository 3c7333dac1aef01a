"""Editors: where everything begins, and what admins import from SAMS."""

from typing import Annotated

import orjson
from pydantic import ValidationError
from starlette.responses import Response

from keyplan.apps.vcm.models import SamsFile
from keyplan.apps.vcm.pages.editing import EDITORS
from keyplan.apps.vcm.pages.shared import ClubView, FormIn, pages
from keyplan.design import about
from keyplan.web import Paging, Unprocessable, all_of, invalid


class SamsForm(FormIn):
    """A file of clubs and teams, as its text."""

    file: Annotated[str, about("File with clubs and teams, as JSON", "What isn't in it is removed.")] = ""
    remove_many: Annotated[bool, about("Remove more than a fifth, too")] = False


@pages.get("/redaktion")
def desk(view: ClubView) -> Response:
    drafts = view.service.all_news(Paging(limit=10), "draft").items
    return view.render("desk.html", drafts=drafts, editors=EDITORS)


@pages.get("/redaktion/sams")
def sams(view: ClubView) -> Response:
    view.service.require(view.service.import_sams)
    clubs, teams = all_of(view.service.sams_clubs), all_of(view.service.sams_teams)
    view.form.asking(SamsForm)
    return view.render("sams.html", clubs=len(clubs), teams=len(teams))


@pages.post("/redaktion/sams")
def import_sams(view: ClubView, typed: SamsForm) -> Response:
    done = view.service.import_sams(_read(typed))
    said = [
        f"{name}: {each.inserted} neu, {each.updated} geändert, {each.removed} entfernt"
        for name, each in (("Vereine", done.clubs), ("Teams", done.teams))
    ]
    return view.redirect("/redaktion/sams", notice="; ".join(said))


def _read(typed: SamsForm) -> SamsFile:
    try:
        found = orjson.loads(typed.file)
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise Unprocessable("not-json", "The file isn't valid JSON.", pointer="/file")
    try:
        return SamsFile.model_validate({**found, "remove_many": typed.remove_many}, by_name=True)
    except ValidationError as error:
        raise invalid(error, SamsFile) from error
