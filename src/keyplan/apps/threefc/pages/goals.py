"""Goals, logged with two taps, taken back with one, and corrected later."""

from typing import Annotated, cast

from pydantic import Field
from starlette.responses import Response

from keyplan.apps.threefc.entities import Third
from keyplan.apps.threefc.models import EventId, GoalChange, ItemId, Minute, NewGoal
from keyplan.apps.threefc.pages.games import game
from keyplan.apps.threefc.pages.shared import FootballView, by_name, only, pages, place_of
from keyplan.web import In, Missing, OfVersion

_Third = Annotated[int, Field(ge=1, le=3)]


class Tapped(In):
    """A goal as it is tapped: who conceded it, and who scored it. The same team twice is an own goal."""

    third: _Third
    minute: Minute
    conceding_team_id: ItemId
    scored_by: ItemId
    scorer_id: ItemId | None = None

    def goal(self) -> NewGoal:
        """As the service takes it."""
        own = self.scored_by == self.conceding_team_id
        return NewGoal(
            third=cast("Third", self.third),
            minute=self.minute,
            conceding_team_id=self.conceding_team_id,
            scoring_team_id=None if own else self.scored_by,
            scorer_id=self.scorer_id,
            own_goal=own,
        )


class TakenBack(In):
    """The goal that is to be taken back, as somebody saw it last."""

    event_id: EventId


class EditedGoal(OfVersion):
    """A goal as it is to be; without a scoring team, an own goal."""

    third: _Third
    minute: Minute
    conceding_team_id: ItemId
    scoring_team_id: ItemId | None = None
    scorer_id: ItemId | None = None
    assist_ids: Annotated[list[ItemId], Field(max_length=3)]

    def change(self) -> GoalChange:
        """As the service takes it."""
        return GoalChange(
            third=cast("Third", self.third),
            minute=self.minute,
            conceding_team_id=self.conceding_team_id,
            scoring_team_id=self.scoring_team_id,
            scorer_id=self.scorer_id,
            assist_ids=tuple(self.assist_ids),
            own_goal=self.scoring_team_id is None,
        )


@pages.post("/games/{game_id}/goals", again=game)
def add(view: FootballView, game_id: ItemId, tapped: Tapped) -> Response:
    view.service.add_goal(game_id, tapped.goal())
    return view.redirect("/games/{game_id}", game_id=game_id)


@pages.post("/games/{game_id}/undo", again=game)
def undo(view: FootballView, game_id: ItemId, taken_back: TakenBack) -> Response:
    view.service.undo_goal(game_id, taken_back.event_id)
    return view.redirect("/games/{game_id}", game_id=game_id)


@pages.get("/games/{game_id}/goals/{event_id}")
def edit(view: FootballView, game_id: ItemId, event_id: EventId) -> Response:
    sheet, line_up = view.service.sheet(game_id), view.service.line_up(game_id)
    goal = next((each for each in sheet.timeline if each.event_id == event_id), None)
    if goal is None:
        raise Missing(detail="There is no such goal.")
    place = place_of(view, sheet.game.season_id)
    only(place.scores)
    view.form.starting_from(goal)
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
    return view.redirect("/games/{game_id}", game_id=game_id, notice="The goal is saved.")
