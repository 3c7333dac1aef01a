"""Goals, logged with two taps, undone with one, and corrected later."""

from starlette.responses import Response

from keyplan.apps.threefc.fields import EventId, GoalDetails, ItemId
from keyplan.apps.threefc.models import GoalChange
from keyplan.apps.threefc.pages.games import Tapped, game
from keyplan.apps.threefc.pages.shared import FootballView, by_name, only, pages, place_of
from keyplan.web import In, OfVersion


class Undone(In):
    """The goal that the caller saw as the last one."""

    event_id: EventId


class EditedGoal(GoalDetails, OfVersion):
    """A goal as it should be; without a scoring team, an own goal."""

    def change(self) -> GoalChange:
        """The body that the service takes."""
        return GoalChange.from_fields(self, own_goal=self.scoring_team_id is None)


@pages.post("/games/{game_id}/goals", again=game)
def add(view: FootballView, game_id: ItemId, tapped: Tapped) -> Response:
    view.service.add_goal(game_id, tapped.goal())
    return view.redirect("/games/{game_id}", game_id=game_id)


@pages.post("/games/{game_id}/undo", again=game)
def undo(view: FootballView, game_id: ItemId, undone: Undone) -> Response:
    view.service.undo_goal(game_id, undone.event_id)
    return view.redirect("/games/{game_id}", game_id=game_id)


@pages.get("/games/{game_id}/goals/{event_id}")
def edit(view: FootballView, game_id: ItemId, event_id: EventId) -> Response:
    goal = view.service.goal(game_id, event_id)
    sheet, line_up = view.service.sheet(game_id), view.service.line_up(game_id)
    place = place_of(view, sheet.game.season_id)
    only(place.scores)
    view.form.asking(EditedGoal).starting_from(goal)
    return view.render(
        "edit_goal.html",
        place=place,
        sheet=sheet,
        goal=goal,
        teams={team.team_id: team for team in line_up.teams},
        players=line_up.players,
        roster=by_name(sheet, line_up),
    )


@pages.post("/games/{game_id}/goals/{event_id}")
def change(view: FootballView, game_id: ItemId, event_id: EventId, edited: EditedGoal) -> Response:
    view.service.change_goal(game_id, event_id, edited.change(), edited.seen)
    return view.redirect("/games/{game_id}", game_id=game_id, notice="Goal saved")
