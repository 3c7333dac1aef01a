"""Goals, logged with two taps, undone with one, and corrected later."""

from starlette.responses import Response

from keyplan.apps.threefc.fields import EventId, GoalDetails, ItemId
from keyplan.apps.threefc.models import GoalChange
from keyplan.apps.threefc.pages.games import GAME, Tapped, game
from keyplan.apps.threefc.pages.shared import FootballView, board_of, only, pages, place_of
from keyplan.apps.threefc.service import Football
from keyplan.web import OfVersion


class EditedGoal(GoalDetails, OfVersion):
    """A goal as it should be; without a scoring team, an own goal."""

    def change(self) -> GoalChange:
        """The body that the service takes."""
        return GoalChange.from_fields(self, own_goal=self.scoring_team_id is None)


@pages.post(f"{GAME}/goals", again=game)
def add(view: FootballView, game_id: ItemId, tapped: Tapped) -> Response:
    view.service.add_goal(game_id, tapped.goal())
    return view.redirect(GAME, game_id=game_id)


pages.form(f"{GAME}/undo", Football.undo_goal, to=GAME, again=game)


@pages.get(f"{GAME}/goals/{{event_id}}")
def edit(view: FootballView, game_id: ItemId, event_id: EventId) -> Response:
    goal = view.service.goal(game_id, event_id)
    board = board_of(view.service, game_id)
    place = place_of(view, board.sheet.game.season_id)
    only(place.scores)
    view.form.asking(EditedGoal).starting_from(goal)
    return view.render("edit_goal.html", **vars(board), place=place, goal=goal)


@pages.post(f"{GAME}/goals/{{event_id}}")
def change(view: FootballView, game_id: ItemId, event_id: EventId, edited: EditedGoal) -> Response:
    view.service.change_goal(game_id, event_id, edited.change(), edited.seen)
    return view.redirect(GAME, game_id=game_id, notice="Goal saved")
