"""The rules of seasons: their teams and sessions, and the standings after their finished games."""

from collections.abc import Iterator
from datetime import timedelta

from keyplan.apps.threefc.entities import Game, Goal, Player, Season, Session, Team
from keyplan.apps.threefc.fields import SESSIONS, TEAMS, ItemId
from keyplan.apps.threefc.models import (
    NewSeason,
    NewSession,
    NewTeam,
    Row,
    ScorerOut,
    SeasonChange,
    SeasonOut,
    SeasonTable,
    SessionOut,
    TeamChange,
    TeamOut,
)
from keyplan.apps.threefc.service.access import ADMIN, ADMINS, READ, READERS, Access, season_of
from keyplan.apps.threefc.service.scores import outcome, season_table, tallies
from keyplan.data import create, delete
from keyplan.design import Refusal, batch_get
from keyplan.web import SIGNED_IN, IfMatch, Listing, Paging, allow, page_of, takes_long


class Seasons(Access):
    """Seasons, teams and sessions."""

    @allow(SIGNED_IN, also=READ)
    def seasons(self, league_id: ItemId, page: Paging) -> Listing[SeasonOut]:
        """The seasons of a league."""
        self._in_league(league_id, READERS)
        return self.listed(self.design.seasons(league_id), page, SeasonOut.from_fields)

    @allow(SIGNED_IN, also=ADMIN)
    def create_season(self, league_id: ItemId, new: NewSeason) -> SeasonOut:
        """Add a season to a league."""
        self._in_league(league_id, ADMINS)
        return SeasonOut.from_fields(self.store.run(create(Season.from_fields(new, league_id=league_id))))

    @allow(SIGNED_IN, also=READ)
    def season(self, season_id: ItemId) -> SeasonOut:
        """A season."""
        return SeasonOut.from_fields(self._season(season_id, READERS))

    @allow(SIGNED_IN, also=ADMIN)
    def change_season(self, season_id: ItemId, change: SeasonChange, version: IfMatch) -> SeasonOut:
        """Change a season's name or dates."""
        return SeasonOut.from_fields(self.save(self._season(season_id, ADMINS, version), change))

    @allow(SIGNED_IN, also=ADMIN, one_way=True)
    def delete_season(self, season_id: ItemId, version: IfMatch) -> None:
        """Delete a season that has no sessions, with its teams."""
        self.store.run(delete(self._season(season_id, ADMINS, version)))

    # Teams

    @allow(SIGNED_IN, also=READ)
    def teams(self, season_id: ItemId, page: Paging) -> Listing[TeamOut]:
        """The teams of a season."""
        self._season(season_id, READERS)
        return self.listed(self.design.teams(season_id), page, TeamOut.from_fields)

    @allow(SIGNED_IN, also=ADMIN)
    def create_team(self, season_id: ItemId, new: NewTeam) -> TeamOut:
        """Add a team to a season."""
        scope = self._in_season(season_id, ADMINS)
        team = Team.from_fields(new, season_id=season_id, league_id=scope.league_id)
        full = Refusal("season-full", f"A season can have at most {TEAMS} teams.")
        self._create_in(season_of(scope), lambda season: season.team_count < TEAMS, team, full=full)
        return TeamOut.from_fields(team)

    @allow(SIGNED_IN, also=READ)
    def team(self, season_id: ItemId, team_id: ItemId) -> TeamOut:
        """A team."""
        self._season(season_id, READERS)
        return TeamOut.from_fields(self.find(self.design.team(season_id, team_id)))

    @allow(SIGNED_IN, also=ADMIN)
    def change_team(self, season_id: ItemId, team_id: ItemId, change: TeamChange, version: IfMatch) -> TeamOut:
        """Change a team's name or color."""
        self._in_season(season_id, ADMINS)
        team = self.find(self.design.team(season_id, team_id), version)
        return TeamOut.from_fields(self.save(team, change))

    @allow(SIGNED_IN, also=ADMIN, one_way=True)
    def delete_team(self, season_id: ItemId, team_id: ItemId, version: IfMatch) -> None:
        """Delete a team that has no games."""
        self._in_season(season_id, ADMINS)
        self.store.run(delete(self.find(self.design.team(season_id, team_id), version)))

    # Sessions

    @allow(SIGNED_IN, also=READ)
    def sessions(self, season_id: ItemId, page: Paging) -> Listing[SessionOut]:
        """The sessions of a season by date."""
        self._in_season(season_id, READERS)
        found = [SessionOut.from_fields(each) for each in self._sessions(season_id)]
        return page_of(
            self.store, f"sessions of {season_id}", found, page, lambda each: f"{each.session_date}#{each.session_id}"
        )

    @allow(SIGNED_IN, also=ADMIN)
    def create_session(self, season_id: ItemId, new: NewSession) -> SessionOut:
        """Add a session to a season."""
        scope = self._in_season(season_id, ADMINS)
        session = Session.from_fields(new, season_id=season_id, league_id=scope.league_id)
        full = Refusal("season-full", f"A season can have at most {SESSIONS} sessions.")
        self._create_in(season_of(scope), lambda season: season.session_count < SESSIONS, session, full=full)
        return SessionOut.from_fields(session)

    @allow(SIGNED_IN, also=READ)
    def session(self, session_id: ItemId) -> SessionOut:
        """A session."""
        return SessionOut.from_fields(self._session(session_id, READERS))

    @allow(SIGNED_IN, also=READ)
    def next_session(self, season_id: ItemId) -> SessionOut | None:
        """Today's session, or else the next one."""
        self._in_season(season_id, READERS)
        today = (self.now - timedelta(hours=12)).date()  # until it is over in all time zones
        coming = [each for each in self._sessions(season_id) if each.session_date >= today]
        found = min(coming, key=lambda each: (each.session_date, each.session_id), default=None)
        return None if found is None else SessionOut.from_fields(found)

    @allow(SIGNED_IN, also=ADMIN, one_way=True)
    def delete_session(self, session_id: ItemId, version: IfMatch) -> None:
        """Delete a session that has no games."""
        self.store.run(delete(self._session(session_id, ADMINS, version)))

    def _sessions(self, season_id: str) -> list[Session]:
        return list(self.store.run(self.design.sessions(season_id)).items)

    # The standings after the finished games

    @allow(SIGNED_IN, also=READ)
    def season_table(self, season_id: ItemId) -> SeasonTable:
        """The season table: 3 points for a win, 1 for a draw; then fewest conceded, most scored, name."""
        takes_long()  # a query for each game
        self._season(season_id, READERS)
        games = [outcome(game.team_ids, goals) for game, goals in self._finished(season_id)]
        # Read after the games, so that no team that played is missing.
        names = {team.team_id: team.name for team in self.store.each(self.design.teams(season_id))}
        rows = [Row.model_validate(standing) for standing in season_table(names, games)]
        return SeasonTable(season_id=season_id, game_count=len(games), rows=rows)

    @allow(SIGNED_IN, also=READ)
    def scorers(self, season_id: ItemId, page: Paging) -> Listing[ScorerOut]:
        """The scorers of a season by goals, assists and name."""
        takes_long()
        scope = self._in_season(season_id, READERS)
        found = tallies(goal for _, goals in self._finished(season_id) for goal in goals)
        keys = [{"league_id": scope.league_id, "player_id": player_id} for player_id in found]
        players = self.store.run(batch_get(Player, keys))
        names = {player.player_id: player.display_name for player in players if player}
        scorers = [
            ScorerOut(
                player_id=player_id,
                display_name=names.get(player_id, player_id),
                goals=tally.goals,
                assists=tally.assists,
                own_goals=tally.own_goals,
            )
            for player_id, tally in found.items()
        ]
        return page_of(self.store, f"scorers of {season_id}", scorers, page, _place)

    def _finished(self, season_id: str) -> Iterator[tuple[Game, list[Goal]]]:
        """The finished games of a season, with their goals: a query for each session and each game that has any."""
        for session in self._sessions(season_id):
            listed = self.store.each(self.design.games(session.session_id)) if session.game_count else ()
            for game in self._existing_games([each for each in listed if each.status == "finished"]):
                yield game, self._goals(game)


def _place(scorer: ScorerOut) -> str:
    """Most goals first, then most assists, then the name."""
    return f"{9999999 - scorer.goals}#{9999999 - scorer.assists}#{scorer.display_name.casefold()}#{scorer.player_id}"
