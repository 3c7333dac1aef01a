"""Editors: teams, with their training times."""

from typing import Annotated, Any

from pydantic import Field as Limits
from pydantic import create_model
from starlette.responses import Response

from keyplan.apps.vcm.models.club import NewTeam, TeamChange, TeamOut
from keyplan.apps.vcm.pages.club import ThingForm, name_field
from keyplan.apps.vcm.pages.forms import Field, Sheet, filled_in, newest_page, taken
from keyplan.apps.vcm.pages.shared import GENDERS, ClubView, pages, show
from keyplan.design import Id
from keyplan.web import Cursor, OfVersion, all_of, turn

TRAININGS = 7

_ROWS: dict[str, Any] = {}
for _number in range(TRAININGS):
    _ROWS |= {
        f"day{_number}": (list[int], ...),
        f"start{_number}": (str, ""),
        f"end{_number}": (str, ""),
        f"place{_number}": (str, ""),
    }
Trainings: Any = create_model("Trainings", __base__=ThingForm, **_ROWS)
"""Fields for seven training times: a form is flat."""


class TeamForm(Trainings):  # type: ignore[misc]  # made above
    """A team, as it was typed."""

    name: str = ""
    gender: str = ""
    age: int | None = None
    league: str | None = None
    sbvv_team_id: Id | None = None
    description: str = ""
    instagram: str | None = None
    coach_ids: list[Id]
    contact_person_ids: list[Id]
    image_ids: Annotated[list[Id], Limits(max_length=20)]
    publish: bool = False

    def values(self) -> dict[str, Any]:
        """As the service takes it. A row without a place is none."""
        values: dict[str, Any] = self.model_dump(exclude={"version", "publish", *_ROWS})
        given = self.model_dump()
        values["schedules"] = [
            {
                "day": given[f"day{number}"],
                "startTime": given[f"start{number}"],
                "endTime": given[f"end{number}"],
                "locationId": given[f"place{number}"],
            }
            for number in range(TRAININGS)
            if given[f"place{number}"]
        ]
        return values


def _team_sheet(view: ClubView, team: TeamOut | None) -> Sheet:
    people = sorted((each.name, each.id) for each in all_of(view.service.members))
    halls = sorted((each.name, each.id) for each in all_of(view.service.locations))
    places = [(id, name) for name, id in halls]
    members = [(id, name) for name, id in people]
    before: dict[str, object] = team.model_dump(by_alias=True) if team else {}
    for number, each in enumerate(team.schedules if team else ()):
        before |= {
            f"day{number}": each.day,
            f"start{number}": each.startTime,
            f"end{number}": each.endTime,
            f"place{number}": each.locationId,
        }
    return Sheet(
        title="Team bearbeiten" if team else "Neues Team",
        back="/redaktion/teams",
        save_at=f"/redaktion/teams/{team.id}" if team else "/redaktion/teams/neu",
        fields=[
            name_field(),
            Field("choice", "gender", "Wer spielt", options=list(GENDERS.items())),
            Field("line", "age", "Mindestalter", attrs={"type": "number", "min": 0, "max": 120}),
            Field("line", "league", "Liga", attrs={"maxlength": 200}),
            Field("line", "sbvvTeamId", "SAMS-Kennung", attrs={"maxlength": 128, "autocomplete": "off"}),
            Field("area", "description", "Beschreibung", attrs={"rows": 5, "maxlength": 20_000}),
            Field("line", "instagram", "Instagram", hint="Ohne @.", attrs={"maxlength": 30, "autocomplete": "off"}),
            Field("many", "coachIds", "Trainerinnen und Trainer", options=members),
            Field("many", "contactPersonIds", "Ansprechpersonen", options=members),
            Field("trainings", "schedules", "Trainingszeiten", options=[("", "kein Training"), *places]),
            Field("images", "imageIds", "Bilder"),
        ],
        before=before,
        id=team.id if team else None,
        version=team.version if team else None,
        status=team.status if team else None,
        public=f"/teams/{team.slug}" if team else None,
    )


@pages.get("/redaktion/teams")
def team_desk(view: ClubView, cursor: Cursor = None) -> Response:
    found = view.service.all_teams(newest_page(cursor))
    at = view.site.url("/redaktion/teams")
    rows = [(each.id, each.name, each.status, None) for each in found.items]
    return show(view, "desk_list.html", kind="teams", title="Teams", rows=rows, turn=turn(at, cursor, found.next))


@pages.get("/redaktion/teams/neu")
def new_team(view: ClubView) -> Response:
    view.service.begin_editing()
    return filled_in(view, _team_sheet(view, None))


@pages.post("/redaktion/teams/neu")
def create_team(view: ClubView, typed: TeamForm) -> Response:
    made = view.service.create_team(taken(NewTeam, {**typed.values(), "publish": typed.publish}))
    return view.redirect("/teams/{slug}", slug=made.slug, notice="Gespeichert.")


@pages.get("/redaktion/teams/{id}")
def edit_team(view: ClubView, id: Id) -> Response:
    view.service.begin_editing()
    return filled_in(view, _team_sheet(view, view.service.team(id)))


@pages.post("/redaktion/teams/{id}")
def change_team(view: ClubView, id: Id, typed: TeamForm) -> Response:
    changed = view.service.change_team(id, taken(TeamChange, typed.values()), typed.seen)
    if typed.publish:
        changed = view.service.publish_team(id, frozenset({changed.version}))
    return view.redirect("/teams/{slug}", slug=changed.slug, notice="Gespeichert.")


@pages.post("/redaktion/teams/{id}/veroeffentlichen", again=edit_team)
def publish_team(view: ClubView, id: Id, which: OfVersion) -> Response:
    made = view.service.publish_team(id, which.seen)
    return view.redirect("/teams/{slug}", slug=made.slug, notice="Veröffentlicht.")


@pages.post("/redaktion/teams/{id}/zurueckziehen", again=edit_team)
def unpublish_team(view: ClubView, id: Id, which: OfVersion) -> Response:
    made = view.service.unpublish_team(id, which.seen)
    return view.redirect("/teams/{slug}", slug=made.slug, notice="Wieder ein Entwurf.")


@pages.post("/redaktion/teams/{id}/loeschen", again=edit_team)
def delete_team(view: ClubView, id: Id, which: OfVersion) -> Response:
    view.service.delete_team(id, which.seen)
    return view.redirect("/redaktion/teams", notice="Gelöscht.")
