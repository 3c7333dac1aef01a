"""The rules of goals: logged, corrected and undone while a game is live."""

from keyplan.apps.threefc.entities import Game, Goal
from keyplan.apps.threefc.fields import GOALS, EventId, ItemId
from keyplan.apps.threefc.models import GoalChange, GoalOut, NewGoal
from keyplan.apps.threefc.service.access import READ, READERS, SCORE, SCOREKEEPERS, Access
from keyplan.data import Check, Create, ItemChanged, Move, NotFound, ParentMissing, check, create, delete, move
from keyplan.design import Refusal, ref
from keyplan.web import SIGNED_IN, IfMatch, InConflict, Listing, Missing, Paging, Unprocessable, Versions, allow

NOT_LIVE = Refusal("not-live", "Goals can only be entered and changed while the game is live.")
TOO_MANY = Refusal("too-many-goals", f"A game can have at most {GOALS} goals.")


class Goals(Access):
    """Goals."""

    @allow(SIGNED_IN, also=READ)
    def timeline(self, game_id: ItemId, page: Paging) -> Listing[GoalOut]:
        """The goals of a game by third and minute; those of one minute in the order of entry."""
        self._game(game_id, READERS)
        return self.listed(self.design.timeline(game_id), page, GoalOut.from_fields)

    @allow(SIGNED_IN, also=READ)
    def goal(self, game_id: ItemId, event_id: EventId) -> GoalOut:
        """A goal."""
        self._game(game_id, READERS)
        return GoalOut.from_fields(self._goal(game_id, event_id))

    def _goal(self, game_id: str, event_id: str, version: Versions = None) -> Goal:
        """A goal, found in the timeline: its key begins with what callers may change."""
        timeline = self.store.each(self.design.timeline(game_id))
        goal = next((each for each in timeline if each.event_id == event_id), None)
        if goal is None:
            raise Missing(detail="Goal not found.")
        self.current(goal, version)
        return goal

    @allow(SIGNED_IN, also=SCORE)
    def add_goal(self, game_id: ItemId, new: NewGoal) -> GoalOut:
        """Log a goal of a live game."""
        game, _ = self._game(game_id, SCOREKEEPERS)
        goal = Goal.from_fields(new, game_id=game_id)
        _check_teams(game, goal)
        room = check(ref(Game, game_id=game_id), lambda game: game.goal_count < GOALS, refusal=TOO_MANY)
        self._write(goal, create(goal), _while_live(game_id), room)
        return GoalOut.from_fields(goal)

    @allow(SIGNED_IN, also=SCORE, retry=(NotFound,))
    def change_goal(self, game_id: ItemId, event_id: EventId, change: GoalChange, version: IfMatch) -> GoalOut:
        """Correct a goal of a live game. It keeps its place among those of the same minute."""
        game, _ = self._game(game_id, SCOREKEEPERS)
        goal = self._goal(game_id, event_id, version)
        wanted = Goal.from_fields(goal, **change.values)
        _check_teams(game, wanted)
        self._write(wanted, move(goal, **change.values), _while_live(game_id))
        return GoalOut.from_fields(goal)

    def _write(self, goal: Goal, write: Create[Goal] | Move[Goal], *checks: Check[Game]) -> None:
        """Write a goal whose players are on the right team; which of them isn't depends on the goal."""
        try:
            self.store.transact(write, *checks)
        except ParentMissing as error:
            if error.constraint != "players":
                raise
            pointer = "/scorer_id" if error.values.get("player_id") == goal.scorer_id else "/assist_ids"
            team = "conceded" if goal.own_goal else "scored"
            raise Unprocessable(
                "not-on-the-team", f"This player isn't on the team that {team}.", pointer=pointer
            ) from error

    @allow(SIGNED_IN, also=SCORE)
    def undo_goal(self, game_id: ItemId, event_id: EventId | None = None) -> GoalOut:
        """Undo the goal that was entered last; with `event_id`, only if it is this one."""
        self._game(game_id, SCOREKEEPERS)
        goals = self.store.each(self.design.timeline(game_id))
        last = max(goals, key=lambda goal: goal.event_id, default=None)
        if last is None:
            raise InConflict("no-goal", "There is no goal to undo.")
        if event_id is not None and last.event_id != event_id:
            raise InConflict("not-the-last", "This isn't the last goal anymore. Reload the game.")
        shown = GoalOut.from_fields(last)
        try:
            self.store.transact(delete(last), _while_live(game_id))
        except (NotFound, ItemChanged) as error:
            raise InConflict("not-the-last", "Somebody else just changed or undid this goal.") from error
        return shown


def _check_teams(game: Game, goal: Goal) -> None:
    """The teams play in the game; whether the players are on the team is decided by the write."""
    for name in ("conceding_team_id", "scoring_team_id"):
        if getattr(goal, name) is not None and getattr(goal, name) not in game.team_ids:
            raise Unprocessable("no-such-team", "This team doesn't play in this game.", pointer=f"/{name}")


def _while_live(game_id: str) -> Check[Game]:
    """Part of every write of a goal, so that the status can't change at the same time."""
    return check(ref(Game, game_id=game_id), lambda game: game.status == "live", refusal=NOT_LIVE)
