"""Teams: a team's page, creating and editing one, its schedule and its statistics."""

from typing import Literal

from starlette.responses import Response

from keyplan.apps.hacktracker.fields import AnySeason, ItemId
from keyplan.apps.hacktracker.models import NewTeam
from keyplan.apps.hacktracker.pages.shared import OF_TEAM, HackView, Named, pages, show
from keyplan.apps.hacktracker.service import HackTracker
from keyplan.web import Confirm, Paging, isolated

_TEAM = "/teams/{team_id}"


class Founded(NewTeam, Named):
    """A new team, and the name of its owner."""


pages.show("/new-team", "new_team.html", asks=Founded, account=HackTracker.me_get)


@pages.post("/new-team")
def create(view: HackView, new: Founded) -> Response:
    new.save_name(view)
    made = view.service.create_team(NewTeam.from_fields(new))
    return view.redirect(_TEAM, team_id=made.team_id, notice=f"{isolated(made.name)} created")


@pages.get(_TEAM)
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


edit = pages.show(f"{_TEAM}/edit", "edit_team.html", asks=HackTracker.change_team, starts_from="team", **OF_TEAM)
pages.form(f"{_TEAM}/edit", HackTracker.change_team, to=_TEAM, notice="Team saved")
pages.form(
    f"{_TEAM}/delete",
    HackTracker.delete_team,
    to="/",
    notice="Team deleted. You can restore it within 30 days.",
    again=edit,
    confirm=Confirm(
        "Delete the team {name}?",
        "Delete team",
        "Nobody will see the team any more. You can restore it within 30 days.",
        about=HackTracker.team,
    ),
)
pages.form(f"{_TEAM}/restore", HackTracker.restore_team, to=_TEAM, notice="{name} restored")
pages.form(
    f"{_TEAM}/transfer",
    HackTracker.transfer_team,
    to=f"{_TEAM}/members",
    notice="Team transferred",
    again=edit,
    confirm=Confirm(
        "Transfer the team to {name}?",
        "Transfer team",
        "They own the team then. Only they can give it back.",
        about=HackTracker.member,
    ),
)


_ORDERS = {None: "Sorted by start", "coming": "Next first", "past": "Latest first"}


@pages.get(f"{_TEAM}/games")
def schedule(
    view: HackView, team_id: ItemId, when: Literal["coming", "past"] | None = None, season_id: AnySeason | None = None
) -> Response:
    found = view.service.team(team_id)
    games = view.page(lambda page: view.service.games(team_id, page, season_id, when), _ORDERS[when], 25)
    return show(view, "schedule.html", team=found, games=games.items, when=when, season=season_id, turn=games.turn)


@pages.get(f"{_TEAM}/statistics")
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
