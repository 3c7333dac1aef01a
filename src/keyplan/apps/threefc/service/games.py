"""The rules of games: status, roster, and the sheet that shows all of it."""

import hashlib
from collections.abc import Sequence
from itertools import accumulate

from keyplan.apps.threefc.entities import Game, Goal, Player, Roster, Team
from keyplan.apps.threefc.fields import GAMES, PLAYERS, ItemId, Role, Status
from keyplan.apps.threefc.models import (
    Assignment,
    GameChange,
    GameOut,
    GameResult,
    GoalOut,
    LineUp,
    NewGame,
    Result,
    RosterOut,
    Sheet,
    StatusChange,
    TeamChoice,
    TeamOut,
    TeamScore,
)
from keyplan.apps.threefc.service.access import ADMIN, ADMINS, READ, READERS, SCORE, SCOREKEEPERS, Access, season_of
from keyplan.apps.threefc.service.scores import outcome
from keyplan.data import AlreadyExists, NotFound, UniqueViolation, delete, move
from keyplan.design import Refusal, batch_get, ref
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
"""Which status may follow which, and who may change it."""


class Games(Access):
    """Games and rosters."""

    @allow(SIGNED_IN, also=READ)
    def games(self, session_id: ItemId, page: Paging) -> Listing[GameOut]:
        """The games of a session by start time."""
        self._in_session(session_id, READERS)
        return self._listed_games(session_id, page)

    @allow(SIGNED_IN, also=READ)
    def results(self, session_id: ItemId, page: Paging) -> Listing[GameResult]:
        """The games of a session by start time, each with its score."""
        takes_long()  # a query for each game
        self._in_session(session_id, READERS)
        games = self._listed_games(session_id, page)
        fit = sum(goals <= READ_AT_ONCE for goals in accumulate(game.goal_count for game in games.items))
        if fit < len(games.items):
            games = self._listed_games(session_id, Paging(limit=fit, cursor=page.cursor))
        found = [GameResult(game=game, result=_result(game, self._goals(game))) for game in games.items]
        return Listing[GameResult](items=found, next=games.next)

    def _listed_games(self, session_id: str, page: Paging) -> Listing[GameOut]:
        games = self.design.games(session_id)
        return self.chosen(games, page, lambda found: map(GameOut.from_fields, self._existing_games(found)))

    @allow(SIGNED_IN, also=ADMIN)
    def create_game(self, session_id: ItemId, new: NewGame) -> GameOut:
        """Schedule a game of three teams."""
        scope = self._in_session(session_id, ADMINS)
        place = {"session_id": session_id, "season_id": scope.season_id, "league_id": scope.league_id}
        game = Game.from_fields(new, status="scheduled", **place)
        full = Refusal("season-full", f"A season can have at most {GAMES} games.")
        self._create_in(season_of(scope), lambda season: season.game_count < GAMES, game, full=full)
        return GameOut.from_fields(game)

    @allow(SIGNED_IN, also=READ)
    def game(self, game_id: ItemId) -> GameOut:
        """A game."""
        return GameOut.from_fields(self._game(game_id, READERS)[0])

    @allow(SIGNED_IN, also=ADMIN)
    def change_game(self, game_id: ItemId, change: GameChange, version: IfMatch) -> GameOut:
        """Change a game's start."""
        game, _ = self._game(game_id, ADMINS, version)
        game.game_start_ts = change.game_start_ts
        return GameOut.from_fields(self.save(game))

    @allow(SIGNED_IN, also=f"{SCORE}; to reopen a game, an admin", one_way=True)
    def change_status(self, game_id: ItemId, change: StatusChange, version: MayMatch) -> GameOut:
        """Start a game, finish it, or reopen it."""
        game, role = self._game(game_id, SCOREKEEPERS, version)
        if change.status == game.status:
            return GameOut.from_fields(game)
        allowed = MOVES.get((game.status, change.status))
        if allowed is None:
            raise InConflict("wrong-status", f"A {game.status} game can't become {change.status}.")
        self.permit(role in allowed, detail="Only an admin can reopen a game.")
        game.status = change.status
        return GameOut.from_fields(self.save(game))

    @allow(SIGNED_IN, also=ADMIN, one_way=True)
    def delete_game(self, game_id: ItemId, version: IfMatch) -> None:
        """Delete a game with its roster and goals."""
        self.store.run(delete(self._game(game_id, ADMINS, version)[0]))

    # The sheet

    @allow(SIGNED_IN, also=READ)
    def sheet(self, game_id: ItemId) -> Sheet:
        """A game with its roster, timeline and result, read with one query."""
        return self._sheet(game_id)

    @allow(SIGNED_IN, also=READ)
    def result(self, game_id: ItemId) -> Result:
        """The score of a game: fewest conceded wins, then most scored."""
        return self._sheet(game_id).result

    def _sheet(self, game_id: str) -> Sheet:
        found = self.store.run(self.design.game_sheet(game_id)).items
        game = next((each for each in found if isinstance(each, Game)), None)
        if game is None:
            raise Missing(detail="Game not found.")
        self._in_league(game.league_id, READERS, Game)
        roster = [RosterOut.from_fields(each) for each in found if isinstance(each, Roster)]
        timeline = [GoalOut.from_fields(each) for each in found if isinstance(each, Goal)]
        return Sheet(
            game=GameOut.from_fields(game),
            roster=roster,
            timeline=timeline,
            result=_result(game, timeline),
            changed_at=game.updated_at,
            version=_version(game, roster, timeline),
        )

    @allow(SIGNED_IN, also=READ)
    def line_up(self, game_id: ItemId) -> LineUp:
        """The names on a game's sheet."""
        game, _ = self._game(game_id, READERS)
        keys = [{"season_id": game.season_id, "team_id": team_id} for team_id in game.team_ids]
        teams = self.store.run(batch_get(Team, keys))
        roster = self.store.run(self.design.roster(game_id).limit(PLAYERS)).items
        keys = [{"league_id": game.league_id, "player_id": entry.player_id} for entry in roster]
        players = self.store.run(batch_get(Player, keys))
        return LineUp(
            teams=[TeamOut.from_fields(team) for team in teams if team],
            players={player.player_id: player.display_name for player in players if player},
        )

    # The roster

    @allow(SIGNED_IN, also=READ)
    def roster(self, game_id: ItemId, page: Paging) -> Listing[RosterOut]:
        """Who plays for which team in a game, by team."""
        self._game(game_id, READERS)
        return self.listed(self.design.roster(game_id), page, RosterOut.from_fields)

    @allow(SIGNED_IN, also=ADMIN)
    def assign(self, game_id: ItemId, new: Assignment) -> RosterOut:
        """Add a player to a team of a game. To change a player's team, move the player."""
        game, _ = self._game(game_id, ADMINS)
        _check_team(game, new.team_id)
        if self.store.run(self.design.player(game.league_id, new.player_id)) is None:
            raise Unprocessable("no-such-player", "Choose a player of this league.", pointer="/player_id")
        entry = Roster.from_fields(new, game_id=game_id)
        full = Refusal("roster-full", f"A game can have at most {PLAYERS} players.")
        self._create_in(ref(Game, game_id=game_id), lambda game: game.player_count < PLAYERS, entry, full=full)
        return RosterOut.from_fields(entry)

    @allow(SIGNED_IN, also=ADMIN, retry=(NotFound, AlreadyExists, UniqueViolation))
    def move_player(self, game_id: ItemId, player_id: ItemId, choice: TeamChoice, version: MayMatch) -> RosterOut:
        """Move a player to another team of a game. A player whom a goal names can't be moved."""
        game, _ = self._game(game_id, ADMINS)
        _check_team(game, choice.team_id)
        entry = self.find(self.design.roster_entry(game_id, player_id), version)
        return RosterOut.from_fields(self.store.run(move(entry, team_id=choice.team_id)))

    @allow(SIGNED_IN, also=ADMIN, retry=(NotFound,))
    def remove_player(self, game_id: ItemId, player_id: ItemId, version: IfMatch) -> None:
        """Remove a player from the roster. A player whom a goal names can't be removed."""
        self._game(game_id, ADMINS)
        self.store.run(delete(self.find(self.design.roster_entry(game_id, player_id), version)))


def _check_team(game: Game, team_id: str) -> None:
    if team_id not in game.team_ids:
        raise Unprocessable("no-such-team", "This team doesn't play in this game.", pointer="/team_id")


def _result(game: Game | GameOut, timeline: Sequence[Goal | GoalOut]) -> Result:
    found = outcome(game.team_ids, timeline)
    return Result.from_fields(
        game,
        scores=[TeamScore.model_validate(score) for score in found.scores],
        winner_id=found.winner,
        drawn_ids=[] if found.winner else found.top,
    )


def _version(game: Game, roster: list[RosterOut], timeline: list[GoalOut]) -> int:
    """A number for the state of a sheet, made from all versions on it."""
    parts = [f"{game.version}", *(f"{each.team_id}#{each.player_id}#{each.version}" for each in roster)]
    parts += [f"{each.event_id}#{each.version}" for each in timeline]
    digest = hashlib.blake2b("\0".join([game.created_at.isoformat(), *parts]).encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big")
