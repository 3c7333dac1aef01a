"""Editors: teams, with their training times."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field as Limits
from pydantic import create_model

from keyplan.apps.vcm.fields import MOST_SCHEDULES
from keyplan.apps.vcm.models import NewTeam, TeamChange, TeamOut
from keyplan.apps.vcm.pages.club import name_field
from keyplan.apps.vcm.pages.forms import Field
from keyplan.apps.vcm.pages.shared import GENDERS, ClubView
from keyplan.apps.vcm.pages.things import Public, PublishedForm, Thing, add_pages
from keyplan.apps.vcm.service import Club
from keyplan.design import Id
from keyplan.web import all_of

_ROWS: dict[str, Any] = {}
for _number in range(MOST_SCHEDULES):
    _ROWS |= {
        f"day{_number}": (list[int], ...),
        f"start{_number}": (str, ""),
        f"end{_number}": (str, ""),
        f"place{_number}": (str, ""),
    }
Trainings: Any = create_model("Trainings", __base__=PublishedForm, **_ROWS)
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

    def values(self, before: object) -> dict[str, Any]:
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
            for number in range(MOST_SCHEDULES)
            if given[f"place{number}"]
        ]
        return values


def _fields(view: ClubView) -> Sequence[Field]:
    people = sorted((each.name, each.id) for each in all_of(view.service.members))
    halls = sorted((each.name, each.id) for each in all_of(view.service.locations))
    places = [(id, name) for name, id in halls]
    members = [(id, name) for name, id in people]
    return [
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
    ]


def _before(team: TeamOut) -> dict[str, object]:
    before: dict[str, object] = team.model_dump(by_alias=True)
    for number, each in enumerate(team.schedules):
        before |= {
            f"day{number}": each.day,
            f"start{number}": each.startTime,
            f"end{number}": each.endTime,
            f"place{number}": each.locationId,
        }
    return before


add_pages(
    Thing(
        "teams", "Teams", "Neues Team", TeamForm, _fields, _before,
        Club.all_teams, Club.team, (NewTeam, Club.create_team), (TeamChange, Club.change_team), Club.delete_team,
        public=Public("/teams/{slug}", Club.publish_team, Club.unpublish_team),
    )
)  # fmt: skip
