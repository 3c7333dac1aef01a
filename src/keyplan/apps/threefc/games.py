"""The rules of games: status, roster, goals, and the sheet that shows all of it."""

import hashlib
from collections.abc import Sequence
from itertools import accumulate

from keyplan.apps.threefc.access import ADMIN, ADMINS, READ, READERS, SCORE, SCOREKEEPERS, Access, season_of
from keyplan.apps.threefc.design import GAMES, GOALS, PLAYERS
from keyplan.apps.threefc.entities import Game, Goal, Player, Role, Roster, Status, Team
from keyplan.apps.threefc.models import (
    Assignment,
    EventId,
    GameChange,
    GameOut,
    GoalChange,
    GoalOut,
    ItemId,
    NewGame,
    NewGoal,
    RosterOut,
    StatusChange,
    TeamChoice,
    TeamOut,
)
from keyplan.apps.threefc.results import GameResult, LineUp, Result, Sheet, TeamScore
from keyplan.apps.threefc.scores import outcome
from keyplan.data import (
    AlreadyExists,
    Check,
    ConditionFailed,
    InUse,
    NotFound,
    ParentMissing,
    StaleVersion,
    UniqueViolation,
    check,
    create,
    delete,
    move,
    update,
)
from keyplan.design import batch_get, ref
from keyplan.web import (
    SIGNED_IN,
    IfMatch,
    InConflict,
    Listing,
    MayMatch,
    Missing,
    Paging,
    Unprocessable,
    allow,
    takes_long,
)

READ_AT_ONCE = 1000
"""Goals that are read for one page of results."""

MOVES: dict[tuple[Status, Status], tuple[Role, ...]] = {
    ("scheduled", "live"): SCOREKEEPERS,
    ("live", "finished"): SCOREKEEPERS,
    ("finished", "live"): ADMINS,
}
"""Which status follows which, and who says so."""


class Games(Access):
    """Games, rosters and goals."""

    @allow(SIGNED_IN, also=READ)
    def games(self, session_id: ItemId, page: Paging) -> Listing[GameOut]:
        """The games of a session by their start."""
        self._in_session(session_id, READERS)
        return self._listed_games(session_id, page)

    @allow(SIGNED_IN, also=READ)
    def results(self, session_id: ItemId, page: Paging) -> Listing[GameResult]:
        """The games of a session by their start, and how each stands or ended."""
        takes_long()  # a query for each game
        self._in_session(session_id, READERS)
        games = self._listed_games(session_id, page)
        fit = sum(goals <= READ_AT_ONCE for goals in accumulate(game.goal_count for game in games.items))
        if fit < len(games.items):
            games = self._listed_games(session_id, Paging(limit=fit, cursor=page.cursor))
        found = [GameResult(game=game, result=_result(game, self._goals(game))) for game in games.items]
        return Listing[GameResult](items=found, next=games.next)

    def _listed_games(self, session_id: str, page: Paging) -> Listing[GameOut]:
        return self.chosen(self.design.games(session_id), page, lambda found: map(GameOut.of, self._still_there(found)))

    @allow(SIGNED_IN, also=ADMIN)
    def create_game(self, session_id: ItemId, new: NewGame) -> GameOut:
        """Schedule a game of three teams."""
        scope = self._in_session(session_id, ADMINS)
        place = {"session_id": session_id, "season_id": scope.season_id, "league_id": scope.league_id}
        game = Game.model_validate({**place, **new.model_dump(exclude_none=True)})
        full = InConflict("season-full", f"A season has {GAMES} games at most.")
        try:
            return GameOut.of(self._create_in(season_of(scope), lambda each: each.game_count < GAMES, game, full=full))
        except ParentMissing as error:
            if error.constraint == "teams":
                raise Unprocessable(
                    "no-such-team", "Teams of a game are teams of its season.", pointer="/team_ids"
                ) from error
            raise Missing from error

    @allow(SIGNED_IN, also=READ)
    def game(self, game_id: ItemId) -> GameOut:
        """A game."""
        return GameOut.of(self._in_game(game_id, READERS)[0])

    @allow(SIGNED_IN, also=ADMIN)
    def change_game(self, game_id: ItemId, change: GameChange, version: IfMatch) -> GameOut:
        """Change a game's start."""
        game, _ = self._in_game(game_id, ADMINS)
        self.current(game, version)
        game.game_start_ts = change.game_start_ts
        return GameOut.of(self.store.run(update(game)))

    @allow(SIGNED_IN, also=f"{SCORE}; to reopen a game, an admin")
    def change_status(self, game_id: ItemId, change: StatusChange, version: MayMatch) -> GameOut:
        """Start a game, finish it, or reopen it."""

        def put() -> Game:
            game, role = self._in_game(game_id, SCOREKEEPERS)
            self.current(game, version)
            if change.status == game.status:
                return game
            who = MOVES.get((game.status, change.status))
            if who is None:
                raise InConflict("wrong-status", f"A game that is {game.status} can not become {change.status}.")
            self.permit(role in who, detail="Only an admin may reopen a game.")
            game.status = change.status
            return self.store.run(update(game))

        return GameOut.of(self.persist(put, StaleVersion))

    @allow(SIGNED_IN, also=ADMIN)
    def delete_game(self, game_id: ItemId, version: IfMatch) -> None:
        """Delete a game with its roster and goals."""
        game, _ = self._in_game(game_id, ADMINS)
        self.current(game, version)
        self.store.run(delete(game))

    # The sheet

    @allow(SIGNED_IN, also=READ)
    def sheet(self, game_id: ItemId) -> Sheet:
        """A game with its roster, timeline and result: one query."""
        return self._sheet(game_id)

    @allow(SIGNED_IN, also=READ)
    def result(self, game_id: ItemId) -> Result:
        """How a game stands, or ended: fewest conceded wins, then most scored."""
        return self._sheet(game_id).result

    def _sheet(self, game_id: str) -> Sheet:
        found = self.store.run(self.design.game_sheet(game_id)).items
        game = next((each for each in found if isinstance(each, Game)), None)
        if game is None:
            raise Missing
        self._in_league(game.league_id, READERS)
        roster = [RosterOut.of(each) for each in found if isinstance(each, Roster)]
        timeline = [GoalOut.of(each) for each in found if isinstance(each, Goal)]
        return Sheet(
            game=GameOut.of(game),
            roster=roster,
            timeline=timeline,
            result=_result(game, timeline),
            changed_at=game.updated_at,
            version=_version(game, roster, timeline),
        )

    @allow(SIGNED_IN, also=READ)
    def line_up(self, game_id: ItemId) -> LineUp:
        """The names on a game's sheet."""
        game, _ = self._in_game(game_id, READERS)
        keys = [{"season_id": game.season_id, "team_id": team_id} for team_id in game.team_ids]
        teams = self.store.run(batch_get(Team, keys))
        roster = self.store.run(self.design.roster(game_id).limit(PLAYERS)).items
        keys = [{"league_id": game.league_id, "player_id": entry.player_id} for entry in roster]
        players = self.store.run(batch_get(Player, keys))
        return LineUp(
            teams=[TeamOut.of(team) for team in teams if team],
            players={player.player_id: player.display_name for player in players if player},
        )

    # The roster

    @allow(SIGNED_IN, also=READ)
    def roster(self, game_id: ItemId, page: Paging) -> Listing[RosterOut]:
        """Who plays for which team in a game, by team."""
        self._in_game(game_id, READERS)
        return self.listed(self.design.roster(game_id), page, RosterOut.of)

    @allow(SIGNED_IN, also=ADMIN)
    def assign(self, game_id: ItemId, new: Assignment) -> RosterOut:
        """Put a player on a team of a game. One who is on another team is moved, not assigned."""
        game, _ = self._in_game(game_id, ADMINS)
        _check_team(game, new.team_id)
        if self.store.run(self.design.player(game.league_id, new.player_id)) is None:
            raise Unprocessable("no-such-player", "There is no such player in the league.", pointer="/player_id")
        entry = Roster(game_id=game_id, team_id=new.team_id, player_id=new.player_id)
        full = InConflict("roster-full", f"A game has {PLAYERS} players at most.")
        try:
            made = self._create_in(
                ref(Game, game_id=game_id), lambda each: each.player_count < PLAYERS, entry, full=full
            )
            return RosterOut.of(made)
        except (AlreadyExists, UniqueViolation) as error:
            raise InConflict("on-a-team", "This player is on a team of this game already.") from error

    @allow(SIGNED_IN, also=ADMIN)
    def move_player(self, game_id: ItemId, player_id: ItemId, choice: TeamChoice, version: MayMatch) -> RosterOut:
        """Move a player to another team of a game. One who is named by a goal stays."""
        game, _ = self._in_game(game_id, ADMINS)
        _check_team(game, choice.team_id)

        def put() -> Roster:
            entry = self._entry(game_id, player_id)
            self.current(entry, version)
            return self.store.run(move(entry, team_id=choice.team_id))

        try:
            return RosterOut.of(self.persist(put, StaleVersion, NotFound, AlreadyExists, UniqueViolation))
        except InUse as error:
            raise _has_goals() from error

    @allow(SIGNED_IN, also=ADMIN)
    def remove_player(self, game_id: ItemId, player_id: ItemId, version: IfMatch) -> None:
        """Take a player off the roster. One who is named by a goal stays."""
        self._in_game(game_id, ADMINS)

        def remove() -> None:
            entry = self._entry(game_id, player_id)
            self.current(entry, version)
            self.store.run(delete(entry))

        try:
            self.persist(remove, StaleVersion, NotFound)
        except InUse as error:
            raise _has_goals() from error

    def _entry(self, game_id: str, player_id: str) -> Roster:
        entry = self.store.run(self.design.roster_entry(game_id, player_id))
        if entry is None:
            raise Missing(detail="This player is not on the roster.")
        return entry

    # Goals

    @allow(SIGNED_IN, also=READ)
    def timeline(self, game_id: ItemId, page: Paging) -> Listing[GoalOut]:
        """The goals of a game by third and minute; of one minute, as they were entered."""
        self._in_game(game_id, READERS)
        return self.listed(self.design.timeline(game_id), page, GoalOut.of)

    @allow(SIGNED_IN, also=SCORE)
    def add_goal(self, game_id: ItemId, new: NewGoal) -> GoalOut:
        """Log a goal of a live game."""
        game, _ = self._in_game(game_id, SCOREKEEPERS)
        goal = Goal.model_validate({"game_id": game_id, **new.model_dump()})
        check_goal(game, goal)
        room = check(ref(Game, game_id=game_id), lambda game: (game.status == "live") & (game.goal_count < GOALS))
        try:
            self.store.transact(create(goal), room)
        except (ConditionFailed, ParentMissing) as error:
            raise _goal_refused(goal, error) from error
        return GoalOut.of(goal)

    @allow(SIGNED_IN, also=SCORE)
    def change_goal(self, game_id: ItemId, event_id: EventId, change: GoalChange, version: IfMatch) -> GoalOut:
        """Correct a goal of a live game. It keeps its place among those of the same minute."""
        game, _ = self._in_game(game_id, SCOREKEEPERS)
        changes = {name: getattr(change, name) for name in change.model_fields_set}
        for name in ("third", "minute", "conceding_team_id", "assist_ids", "own_goal"):
            if changes.get(name, ...) is None:
                raise Unprocessable("required", "A goal has this.", pointer=f"/{name}")

        def put() -> Goal:
            timeline = self.store.each(self.design.timeline(game_id))
            goal = next((each for each in timeline if each.event_id == event_id), None)
            if goal is None:
                raise Missing(detail="There is no such goal.")
            self.current(goal, version)
            wanted = Goal.model_validate({**goal.model_dump(), **changes})
            check_goal(game, wanted)
            try:
                self.store.transact(move(goal, **changes), _while_live(game_id))
            except (ConditionFailed, ParentMissing) as error:
                raise _goal_refused(wanted, error) from error
            return goal

        return GoalOut.of(self.persist(put, NotFound, StaleVersion))

    @allow(SIGNED_IN, also=SCORE)
    def undo_goal(self, game_id: ItemId, event_id: EventId | None = None) -> GoalOut:
        """Take back the goal that was entered last; with `event_id`, only if that is this one."""
        self._in_game(game_id, SCOREKEEPERS)
        goals = self.store.each(self.design.timeline(game_id))
        last = max(goals, key=lambda goal: goal.event_id, default=None)
        if last is None:
            raise InConflict("no-goal", "There is no goal to take back.")
        if event_id is not None and last.event_id != event_id:
            raise InConflict("not-the-last", "Another goal was entered since, or this one was taken back already.")
        shown = GoalOut.of(last)
        try:
            self.store.transact(delete(last), _while_live(game_id))
        except ConditionFailed as error:
            raise _not_live() from error
        except (NotFound, StaleVersion) as error:
            raise InConflict("not-the-last", "Somebody else changed this goal or took it back just now.") from error
        return shown


def check_goal(game: Game, goal: Goal) -> None:
    """The rules of a goal; whether the players are on the team is decided by the write."""
    for name in ("conceding_team_id", "scoring_team_id"):
        if getattr(goal, name) is not None and getattr(goal, name) not in game.team_ids:
            raise Unprocessable("no-such-team", "This team does not play in this game.", pointer=f"/{name}")
    if goal.own_goal and goal.scoring_team_id is not None:
        raise Unprocessable("own-goal", "An own goal has no scoring team.", pointer="/scoring_team_id")
    if goal.own_goal and goal.assist_ids:
        raise Unprocessable("own-goal", "An own goal has no assists.", pointer="/assist_ids")
    if not goal.own_goal and goal.scoring_team_id is None:
        raise Unprocessable("no-scoring-team", "A team scored it, or it is an own goal.", pointer="/scoring_team_id")
    if goal.scoring_team_id == goal.conceding_team_id:
        raise Unprocessable("same-team", "A team does not score against itself.", pointer="/scoring_team_id")
    if len(set(goal.assist_ids)) < len(goal.assist_ids):
        raise Unprocessable("same-player", "Assists are of different players.", pointer="/assist_ids")
    if goal.scorer_id in goal.assist_ids:
        raise Unprocessable("same-player", "The scorer has no assist.", pointer="/assist_ids")


def _while_live(game_id: str) -> Check[Game]:
    """Part of every write of a goal: it is not written beside a change of the status."""
    return check(ref(Game, game_id=game_id), lambda game: game.status == "live")


def _goal_refused(goal: Goal, error: ConditionFailed | ParentMissing) -> InConflict | Unprocessable | Missing:
    if isinstance(error, ConditionFailed):
        full = isinstance(error.stored, Game) and error.stored.status == "live"
        return InConflict("too-many-goals", f"A game has {GOALS} goals at most.") if full else _not_live()
    if error.constraint != "players":
        return Missing()  # the game is being deleted
    pointer = "/scorer_id" if error.values.get("player_id") == goal.scorer_id else "/assist_ids"
    team = "conceded" if goal.own_goal else "scored"
    return Unprocessable("not-on-the-team", f"This player is not on the team that {team}.", pointer=pointer)


def _not_live() -> InConflict:
    return InConflict("not-live", "Goals are entered and changed while the game is live.")


def _has_goals() -> InConflict:
    return InConflict("has-goals", "A goal names this player, who stays on the team.")


def _check_team(game: Game, team_id: str) -> None:
    if team_id not in game.team_ids:
        raise Unprocessable("no-such-team", "This team does not play in this game.", pointer="/team_id")


def _result(game: Game | GameOut, timeline: Sequence[Goal | GoalOut]) -> Result:
    found = outcome(game.team_ids, timeline)
    return Result(
        game_id=game.game_id,
        status=game.status,
        scores=[TeamScore.model_validate(score) for score in found.scores],
        winner_id=found.winner,
        drawn_ids=[] if found.winner else found.top,
    )


def _version(game: Game, roster: list[RosterOut], timeline: list[GoalOut]) -> int:
    """A number for the state of a sheet, made of all versions on it."""
    parts = [f"{game.version}", *(f"{each.team_id}#{each.player_id}#{each.version}" for each in roster)]
    parts += [f"{each.event_id}#{each.version}" for each in timeline]
    digest = hashlib.blake2b("\0".join([game.created_at.isoformat(), *parts]).encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big")
