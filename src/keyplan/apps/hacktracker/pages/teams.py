"""Teams: a team's page, creating and editing one, its schedule and its statistics."""

from typing import Literal

from starlette.responses import Response

from keyplan.apps.hacktracker.fields import AnySeason, ItemId
from keyplan.apps.hacktracker.models import NewOwner, NewTeam, TeamChange
from keyplan.apps.hacktracker.pages.shared import HackView, Named, pages, show
from keyplan.web import Cursor, Nothing, OfVersion, Paging, turn

_LISTED = 25


class EditedTeam(TeamChange, OfVersion):
    """A team, as it is typed."""


class Transfer(NewOwner, OfVersion):
    """The new owner of a team."""


class Founded(NewTeam, Named):
    """A new team, and the name of its owner."""


@pages.get("/new-team")
def new_team(view: HackView) -> Response:
    view.form.asking(Founded)
    return show(view, "new_team.html", account=view.service.me_get())


@pages.post("/new-team")
def create(view: HackView, new: Founded) -> Response:
    new.save_name(view)
    made = view.service.create_team(NewTeam.from_fields(new))
    return view.redirect("/teams/{team_id}", team_id=made.team_id, notice=f"{made.name} created")


@pages.get("/teams/{team_id}")
def team(view: HackView, team_id: ItemId) -> Response:
    found = view.service.team(team_id)
    active = found.active_game_id
    return show(
        view,
        "team.html",
        team=found,
        playing=view.service.game(active) if active else None,
        coming=view.service.games(team_id, Paging(limit=5), when="coming").items,
        past=view.service.games(team_id, Paging(limit=5), when="past").items,
    )


@pages.get("/teams/{team_id}/edit")
def edit(view: HackView, team_id: ItemId) -> Response:
    found = view.service.team(team_id)
    view.form.asking(NewTeam).starting_from(found)
    return show(view, "edit_team.html", team=found)


@pages.post("/teams/{team_id}/edit")
def change(view: HackView, team_id: ItemId, edited: EditedTeam) -> Response:
    view.service.change_team(team_id, edited, edited.seen)
    return view.redirect("/teams/{team_id}", team_id=team_id, notice="Team saved")


@pages.post("/teams/{team_id}/delete", again=edit)
def delete(view: HackView, team_id: ItemId, which: OfVersion) -> Response:
    view.service.delete_team(team_id, which.seen)
    return view.redirect("/", notice="Team deleted. You can restore it within 30 days.")


@pages.post("/teams/{team_id}/restore")
def restore(view: HackView, team_id: ItemId, which: Nothing) -> Response:
    restored = view.service.restore_team(team_id)
    return view.redirect("/teams/{team_id}", team_id=team_id, notice=f"{restored.name} restored")


@pages.post("/teams/{team_id}/transfer", again=edit)
def transfer(view: HackView, team_id: ItemId, new: Transfer) -> Response:
    view.service.transfer_team(team_id, new, new.seen)
    return view.redirect("/teams/{team_id}/members", team_id=team_id, notice="Team transferred")


@pages.get("/teams/{team_id}/games")
def schedule(
    view: HackView,
    team_id: ItemId,
    cursor: Cursor = None,
    when: Literal["coming", "past"] | None = None,
    season_id: AnySeason | None = None,
) -> Response:
    found = view.service.team(team_id)
    games = view.service.games(team_id, Paging(limit=_LISTED, cursor=cursor), season_id, when)
    at = view.site.url("/teams/{team_id}/games", team_id=team_id, when=when, season_id=season_id)
    turned = turn(at, cursor, games.next)
    return show(view, "schedule.html", team=found, games=games.items, when=when, season=season_id, turn=turned)


@pages.get("/teams/{team_id}/statistics")
def statistics(view: HackView, team_id: ItemId, season_id: str | None = None) -> Response:
    found = view.service.team(team_id)
    season = season_id or None
    return show(
        view,
        "statistics.html",
        team=found,
        season=season,
        seasons=view.service.seasons(team_id).seasons,
        numbers=view.service.team_statistics(team_id, season),
        chart=view.service.team_spray_chart(team_id, season),
    )
