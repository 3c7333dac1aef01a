"""The rules of hacktracker. Each theme has a module; here they become one service, with the lists for admins."""

from collections.abc import Iterator, Sequence

from keyplan.apps.hacktracker.entities import Game
from keyplan.apps.hacktracker.models import Account, GameOut, TeamHead
from keyplan.apps.hacktracker.service.accounts import Accounts
from keyplan.apps.hacktracker.service.figures import Figures
from keyplan.apps.hacktracker.service.games import Games
from keyplan.apps.hacktracker.service.members import Members
from keyplan.apps.hacktracker.service.roster import Roster
from keyplan.apps.hacktracker.service.scoring import Scoring
from keyplan.apps.hacktracker.service.teams import Teams
from keyplan.web import Listing, Paging, allow


class HackTracker(Accounts, Teams, Members, Roster, Games, Scoring, Figures):
    """Everything that can be done with hacktracker."""

    @allow("admin")
    def all_users(self, page: Paging) -> Listing[Account]:
        """List all accounts."""
        return self.listed(self.design.users(), page, Account.from_fields)

    @allow("admin")
    def all_teams(self, page: Paging) -> Listing[TeamHead]:
        """List all teams."""
        return self.listed(self.design.teams(), page, TeamHead.from_fields)

    @allow("admin")
    def all_games(self, page: Paging) -> Listing[GameOut]:
        """List all games, except those of deleted teams."""

        def shown(games: Sequence[Game]) -> Iterator[GameOut]:
            ids = list(dict.fromkeys(game.team_id for game in games))
            teams = dict(zip(ids, self.store.run(self.design.teams_by_ids(ids)), strict=True))
            for game in games:
                team = teams[game.team_id]
                if team is not None and team.deleted_at is None:
                    yield GameOut.from_fields(game)

        return self.chosen(self.design.games(), page, shown)
