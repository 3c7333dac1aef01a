"""The rules of hacktracker. Each part of it has a module; here they are one service, with what admins may list."""

from collections.abc import Iterator, Sequence

from keyplan.apps.hacktracker.accounts import Accounts
from keyplan.apps.hacktracker.entities import Game
from keyplan.apps.hacktracker.figures import Figures
from keyplan.apps.hacktracker.games import Games
from keyplan.apps.hacktracker.members import Members
from keyplan.apps.hacktracker.models import Account, GameOut, TeamHead
from keyplan.apps.hacktracker.roster import Roster
from keyplan.apps.hacktracker.scoring import Scoring
from keyplan.apps.hacktracker.teams import Teams
from keyplan.web import Listing, Paging, allow


class HackTracker(Accounts, Teams, Members, Roster, Games, Scoring, Figures):
    """Everything that can be done with hacktracker."""

    @allow("admin")
    def all_users(self, page: Paging) -> Listing[Account]:
        """All accounts."""
        return self.listed(self.design.users(), page, Account.of)

    @allow("admin")
    def all_teams(self, page: Paging) -> Listing[TeamHead]:
        """All teams."""
        return self.listed(self.design.teams(), page, TeamHead.of)

    @allow("admin")
    def all_games(self, page: Paging) -> Listing[GameOut]:
        """All games, but those of deleted teams."""

        def shown(games: Sequence[Game]) -> Iterator[GameOut]:
            ids = list(dict.fromkeys(game.team_id for game in games))
            teams = dict(zip(ids, self.store.run(self.design.teams_by_ids(ids)), strict=True))
            for game in games:
                team = teams[game.team_id]
                if team is not None and team.deleted_at is None:
                    yield GameOut.of(game)

        return self.chosen(self.design.games(), page, shown)
