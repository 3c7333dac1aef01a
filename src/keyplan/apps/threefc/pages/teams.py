"""The teams of a season, and who plays for which of them in a game."""

from starlette.responses import Response

from keyplan.apps.threefc.demo import COLOURS
from keyplan.apps.threefc.fields import ItemId
from keyplan.apps.threefc.models import NewTeam
from keyplan.apps.threefc.pages.shared import OF_SEASON, FootballView, admins, board_of, pages, place_of
from keyplan.apps.threefc.service import Football
from keyplan.web import all_of

_COLOURS = tuple(COLOURS.values())
"""The colors that the form for a new team suggests in turn."""


_TEAMS, _ROSTER = "/seasons/{season_id}/teams", "/games/{game_id}/roster"


@pages.get(_TEAMS)
def teams(view: FootballView, season_id: ItemId) -> Response:
    found = view.page(lambda page: view.service.teams(season_id, page), "In the order added")
    place = place_of(view, season_id)
    number = place.season.team_count if place.season else 0
    view.form.asking(NewTeam).starting_from({"colour": _COLOURS[number % len(_COLOURS)]})
    return view.render("teams.html", place=place, teams=found.items, turn=found.turn)


pages.form(_TEAMS, Football.create_team, to=_TEAMS, notice="{name} added")


team = pages.show(
    f"{_TEAMS}/{{team_id}}",
    "team.html",
    asks=Football.change_team,
    starts_from="team",
    requires=admins,
    team=Football.team,
    **OF_SEASON,
)
pages.form(f"{_TEAMS}/{{team_id}}", Football.change_team, to=_TEAMS, notice="Team saved")
pages.delete(
    f"{_TEAMS}/{{team_id}}/delete",
    Football.delete_team,
    "team",
    "A team that has games can't be deleted.",
    one=Football.team,
    to=_TEAMS,
    again=team,
)


# Rosters


@pages.get(_ROSTER)
def roster(view: FootballView, game_id: ItemId) -> Response:
    board = board_of(view.service, game_id)
    place = place_of(view, board.sheet.game.season_id)
    players = all_of(lambda page: view.service.players(place.league.league_id, page))
    others = [player for player in players if player.player_id not in board.players]
    others.sort(key=lambda player: player.display_name.casefold())
    return view.render("roster.html", **vars(board), place=place, others=others)


pages.form(_ROSTER, Football.assign, to=_ROSTER, notice="Player added")
pages.form(f"{_ROSTER}/{{player_id}}/move", Football.move_player, to=_ROSTER, notice="Player moved", again=roster)
pages.form(f"{_ROSTER}/{{player_id}}/remove", Football.remove_player, to=_ROSTER, notice="Player removed", again=roster)
