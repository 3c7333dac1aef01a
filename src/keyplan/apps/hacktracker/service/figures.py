"""The statistics of a player, a game, a team, a season, and of the caller across all their teams."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TypeVar

from keyplan.apps.hacktracker.entities import AtBat, Game, Player
from keyplan.apps.hacktracker.fields import AnySeason, ItemId
from keyplan.apps.hacktracker.models import (
    BoxScore,
    PlayerLine,
    PlayerStatistics,
    SeasonLine,
    Seasons,
    SprayChart,
    TeamLine,
    TeamStatistics,
    UserStatistics,
)
from keyplan.apps.hacktracker.service.access import A_MEMBER, Access
from keyplan.apps.hacktracker.service.roster import in_roster_order
from keyplan.apps.hacktracker.service.statistics import by_inning, spray_chart_of, statistics_of
from keyplan.web import SIGNED_IN, allow, takes_long

K = TypeVar("K", str, str | None)


class Figures(Access):
    """What is counted from at-bats."""

    @allow(SIGNED_IN, also=A_MEMBER)
    def player_statistics(
        self, team_id: ItemId, player_id: ItemId, season_id: AnySeason | None = None
    ) -> PlayerStatistics:
        """Get the statistics of a player, for all games or for a season."""
        self._seat(team_id)
        self._player(team_id, player_id)
        counted = statistics_of(self._of_season(self._of_player(player_id), season_id))
        return PlayerStatistics(team_id=team_id, player_id=player_id, season_id=season_id, statistics=counted)

    @allow(SIGNED_IN, also=A_MEMBER)
    def player_spray_chart(self, team_id: ItemId, player_id: ItemId, season_id: AnySeason | None = None) -> SprayChart:
        """Get where a player's balls went."""
        self._seat(team_id)
        self._player(team_id, player_id)
        return spray_chart_of(self._of_season(self._of_player(player_id), season_id))

    @allow(SIGNED_IN, also=A_MEMBER)
    def team_statistics(self, team_id: ItemId, season_id: AnySeason | None = None) -> TeamStatistics:
        """Get the statistics of a team and its players, for all games or for a season."""
        self._seat(team_id)
        batted = self._of_season(self._of_team(team_id), season_id)
        players = self.store.run(self.design.roster(team_id)).items
        return TeamStatistics(
            team_id=team_id,
            season_id=season_id,
            total=statistics_of(batted),
            players=list(_lines(sorted(players, key=in_roster_order), batted)),
        )

    @allow(SIGNED_IN, also=A_MEMBER)
    def team_spray_chart(self, team_id: ItemId, season_id: AnySeason | None = None) -> SprayChart:
        """Get where a team's balls went."""
        self._seat(team_id)
        return spray_chart_of(self._of_season(self._of_team(team_id), season_id))

    @allow(SIGNED_IN, also=A_MEMBER)
    def seasons(self, team_id: ItemId) -> Seasons:
        """Get the statistics of a team by season, in order of time; games without a season come last."""
        self._seat(team_id)
        label = {game.game_id: game.season_id for game in self.store.each(self.design.team_games(team_id).limit(100))}
        grouped = _grouped(self._of_team(team_id), lambda at_bat: label.get(at_bat.game_id))
        found = sorted(dict.fromkeys(label.values()), key=lambda season: season is None)
        lines = [SeasonLine(season_id=each, statistics=statistics_of(grouped.get(each, []))) for each in found]
        return Seasons(team_id=team_id, seasons=lines)

    @allow(SIGNED_IN, also=A_MEMBER)
    def box_score(self, game_id: ItemId) -> BoxScore:
        """Get the box score of a game: its batters in order, and the runs of each inning."""
        game, _ = self._game(game_id)
        batted = list(self.store.each(self.design.game_at_bats(game_id).limit(100)))
        known = {player.player_id: player for player in self.store.run(self.design.roster(game.team_id)).items}
        order = dict.fromkeys([*game.lineup, *(each.player_id for each in batted)])
        return BoxScore.from_fields(
            game,
            innings=by_inning(batted),
            total=statistics_of(batted),
            players=list(_lines([known[each] for each in order if each in known], batted, everybody=True)),
        )

    @allow(SIGNED_IN, also=A_MEMBER)
    def game_spray_chart(self, game_id: ItemId) -> SprayChart:
        """Get where the balls of a game went."""
        self._game(game_id)
        return spray_chart_of(self.store.each(self.design.game_at_bats(game_id).limit(100)))

    @allow(SIGNED_IN)
    def my_statistics(self, season_id: AnySeason | None = None) -> UserStatistics:
        """Get your statistics across all your teams, including removed ones, whose games have no season."""
        batted = self._mine(season_id)
        teams = _grouped(batted, lambda at_bat: at_bat.team_id)
        lines = [
            # A team may have been renamed: the name is the one at the last at-bat.
            TeamLine(team_id=team_id, team_name=group[-1].team_name, statistics=statistics_of(group))
            for team_id, group in teams.items()
        ]
        lines.sort(key=lambda line: (line.team_name.casefold(), line.team_id))
        return UserStatistics(season_id=season_id, total=statistics_of(batted), teams=lines)

    @allow(SIGNED_IN)
    def my_spray_chart(self, season_id: AnySeason | None = None) -> SprayChart:
        """Get where your balls went, for all your teams."""
        return spray_chart_of(self._mine(season_id))

    # Reading at-bats

    @cached_property
    def _batted(self) -> dict[str, list[AtBat]]:
        """At-bats by player, read once: a page shows several statistics of the same at-bats."""
        return {}

    @cached_property
    def _games(self) -> dict[str, Game | None]:
        """The games of these at-bats, read once too."""
        return {}

    def _of_player(self, player_id: str) -> list[AtBat]:
        if player_id not in self._batted:
            found = self.store.each(self.design.player_at_bats(player_id).limit(100))
            self._batted[player_id] = self._of_existing_games(list(found))
        return self._batted[player_id]

    def _of_existing_games(self, batted: list[AtBat]) -> list[AtBat]:
        """The at-bats without those of deleted games, which are removed later. Those of removed teams have no game."""
        wanted = dict.fromkeys(each.game_id for each in batted if each.game_id not in self._games)
        self._games.update(zip(wanted, self.store.run(self.design.games_by_ids(list(wanted))), strict=True))
        return [each for each in batted if each.removed_at is not None or self._games[each.game_id] is not None]

    def _of_team(self, team_id: str) -> list[AtBat]:
        """All at-bats of a team, by its players: a player who batted stays on the roster."""
        takes_long()  # some queries for each player
        players = self.store.run(self.design.roster(team_id)).items
        return [at_bat for player in players if player.at_bat_count for at_bat in self._of_player(player.player_id)]

    def _of_season(self, batted: list[AtBat], season_id: str | None) -> list[AtBat]:
        if season_id is None:
            return batted
        wanted = {game.game_id for game in self._games.values() if game is not None and game.season_id == season_id}
        return [each for each in batted if each.game_id in wanted]

    def _mine(self, season_id: str | None) -> list[AtBat]:
        """The caller's at-bats, as the players that they are or were linked to."""
        takes_long()  # some queries for each team
        me = self.me.sub
        players = dict.fromkeys(
            [
                *(player.player_id for player in self.store.each(self.design.user_players(me))),
                *(player.player_id for player in self.store.each(self.design.former_players(me))),
            ]
        )
        batted = [
            at_bat
            for player_id in players
            for at_bat in self.store.each(self.design.user_at_bats(player_id, me).limit(100))
        ]
        batted.sort(key=lambda each: each.at_bat_id)
        return self._of_season(self._of_existing_games(batted), season_id)


def _grouped(batted: Iterable[AtBat], by: Callable[[AtBat], K]) -> dict[K, list[AtBat]]:
    groups: dict[K, list[AtBat]] = {}
    for each in batted:
        groups.setdefault(by(each), []).append(each)
    return groups


def _lines(players: Iterable[Player], batted: Iterable[AtBat], *, everybody: bool = False) -> Iterator[PlayerLine]:
    """A line for each player who batted, or for everybody."""
    groups = _grouped(batted, lambda at_bat: at_bat.player_id)
    for player in players:
        if everybody or player.player_id in groups:
            statistics = statistics_of(groups.get(player.player_id, []))
            yield PlayerLine.from_fields(player, name=f"{player.first_name} {player.last_name}", statistics=statistics)
