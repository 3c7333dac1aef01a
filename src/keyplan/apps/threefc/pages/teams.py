"""The teams of a season, and who plays for which of them in a game."""

from starlette.responses import Response

from keyplan.apps.threefc.demo import COLOURS
from keyplan.apps.threefc.fields import ItemId, TeamFields, TeamRef
from keyplan.apps.threefc.models import Assignment, NewTeam, TeamChange, TeamChoice
from keyplan.apps.threefc.pages.shared import LISTED, FootballView, by_name, only, pages, place_of
from keyplan.web import Cursor, OfVersion, Paging, all_of, turn

_COLOURS = tuple(COLOURS.values())
"""The colors that the form for a new team suggests in turn."""


class EditedTeam(TeamFields, OfVersion):
    """A team as it should be."""


class Moved(TeamRef, OfVersion):
    """The team that a player is moved to."""


@pages.get("/seasons/{season_id}/teams")
def teams(view: FootballView, season_id: ItemId, cursor: Cursor = None) -> Response:
    found = view.service.teams(season_id, Paging(limit=LISTED, cursor=cursor))
    at = view.site.url("/seasons/{season_id}/teams", season_id=season_id)
    place = place_of(view, season_id)
    number = place.season.team_count if place.season else 0
    view.form.asking(NewTeam).starting_from({"colour": _COLOURS[number % len(_COLOURS)]})
    return view.render("teams.html", place=place, teams=found.items, turn=turn(at, cursor, found.next))


@pages.post("/seasons/{season_id}/teams")
def create_team(view: FootballView, season_id: ItemId, new: NewTeam) -> Response:
    made = view.service.create_team(season_id, new)
    return view.redirect("/seasons/{season_id}/teams", season_id=season_id, notice=f"{made.name} added")


@pages.get("/seasons/{season_id}/teams/{team_id}")
def team(view: FootballView, season_id: ItemId, team_id: ItemId) -> Response:
    found = view.service.team(season_id, team_id)
    place = place_of(view, season_id)
    only(place.admin)
    view.form.asking(EditedTeam).starting_from(found)
    return view.render("team.html", place=place, team=found)


@pages.post("/seasons/{season_id}/teams/{team_id}")
def change_team(view: FootballView, season_id: ItemId, team_id: ItemId, edited: EditedTeam) -> Response:
    view.service.change_team(season_id, team_id, TeamChange.from_fields(edited), edited.seen)
    return view.redirect("/seasons/{season_id}/teams", season_id=season_id, notice="Team saved")


@pages.post("/seasons/{season_id}/teams/{team_id}/delete", again=team)
def delete_team(view: FootballView, season_id: ItemId, team_id: ItemId, which: OfVersion) -> Response:
    view.service.delete_team(season_id, team_id, which.seen)
    return view.redirect("/seasons/{season_id}/teams", season_id=season_id, notice="Team deleted")


# Rosters


@pages.get("/games/{game_id}/roster")
def roster(view: FootballView, game_id: ItemId) -> Response:
    sheet, line_up = view.service.sheet(game_id), view.service.line_up(game_id)
    place = place_of(view, sheet.game.season_id)
    others = all_of(lambda page: view.service.players(place.league.league_id, page))
    return view.render(
        "roster.html",
        place=place,
        sheet=sheet,
        roster=by_name(sheet, line_up),
        players=line_up.players,
        teams={team.team_id: team for team in line_up.teams},
        others=sorted(
            (player for player in others if player.player_id not in line_up.players),
            key=lambda player: player.display_name.casefold(),
        ),
    )


@pages.post("/games/{game_id}/roster")
def assign(view: FootballView, game_id: ItemId, new: Assignment) -> Response:
    view.service.assign(game_id, new)
    return view.redirect("/games/{game_id}/roster", game_id=game_id, notice="Player added")


@pages.post("/games/{game_id}/roster/{player_id}/move", again=roster)
def move(view: FootballView, game_id: ItemId, player_id: ItemId, moved: Moved) -> Response:
    view.service.move_player(game_id, player_id, TeamChoice.from_fields(moved), moved.seen)
    return view.redirect("/games/{game_id}/roster", game_id=game_id, notice="Player moved")


@pages.post("/games/{game_id}/roster/{player_id}/remove", again=roster)
def remove(view: FootballView, game_id: ItemId, player_id: ItemId, which: OfVersion) -> Response:
    view.service.remove_player(game_id, player_id, which.seen)
    return view.redirect("/games/{game_id}/roster", game_id=game_id, notice="Player removed")
