"""The access patterns of hacktracker, in the order and words of its document."""

from collections.abc import Sequence
from datetime import datetime

from keyplan.apps.hacktracker.departures import ACCEPTED, DEPARTURES
from keyplan.apps.hacktracker.entities import (
    AtBat,
    FormerPlayer,
    Game,
    Invitation,
    Member,
    Membership,
    Player,
    Team,
    User,
    hacktracker,
)
from keyplan.apps.hacktracker.fields import ROSTER
from keyplan.design import (
    BatchGet,
    Design,
    Follow,
    Get,
    Lookup,
    Query,
    Rewrite,
    absent,
    accept,
    at_least,
    batch_get,
    follow,
    get,
    job,
    less_than,
    lookup,
    pattern,
    query,
    ref,
    rewrite,
)

OPERATION = "whoever runs the system decides how it is backed up; on one file, `keyplan backup` copies everything"
"""Why the tables don't say how they are protected."""


class HackTrackerDesign(Design):
    """Softball teams, their rosters and games, and the statistics of their players.

    A team has members with roles and a roster of players. A player is a ghost until a user is linked to it. A team is
    `MANAGED`, with a full roster, or `PERSONAL`, with its owner as the only player, for their own statistics. A game's
    at-bats are scored while it is in progress, and a user's statistics survive the team.

    The access patterns are in the document's order: by the table's key, by index, then those that the API also needs.
    """

    tables = (hacktracker,)
    entities = (User, Membership, Member, Team, Player, FormerPlayer, Game, AtBat, Invitation)
    accepted = (
        accept("not-protected", "HackTrackerDesign", because=OPERATION),
        accept("no-recovery", "HackTrackerDesign", because=OPERATION),
        *ACCEPTED,
    )

    # Primary keys

    @pattern("User Profile")
    def user(self, user_id: str) -> Get[User]:
        return get(User, user_id=user_id)

    @pattern("Team Membership", decides="what the user may do in the team")
    def membership(self, user_id: str, team_id: str) -> Get[Membership]:
        """Read consistently: it decides what the user may do."""
        return get(Membership, user_id=user_id, team_id=team_id, consistent=True)

    @pattern("Team Profile", decides="whether anything of the team is shown")
    def team(self, team_id: str) -> Get[Team]:
        """Read consistently: a deleted team hides everything that belongs to it."""
        return get(Team, team_id=team_id, consistent=True)

    @pattern("Player Roster Record", decides="whether the player can be linked or removed")
    def player(self, team_id: str, player_id: str) -> Get[Player]:
        """Read consistently: whether it is linked decides what can be done."""
        return get(Player, team_id=team_id, player_id=player_id, consistent=True)

    @pattern("Game Info", decides="what can be done in the game")
    def game(self, game_id: str) -> Get[Game]:
        """Read consistently: its status and line-up decide what can be done."""
        return get(Game, game_id=game_id, consistent=True)

    # GSI1: User Lookup by Cognito Sub

    @pattern("Find user by Cognito authentication sub")
    def user_by_cognito_sub(self, cognito_sub: str) -> Query[User]:
        return query(User.by_cognito_sub, cognito_sub=cognito_sub)

    # GSI2: Entity Listing

    @pattern("List all users")
    def users(self) -> Query[User]:
        return query(User.all)

    @pattern("List all teams")
    def teams(self) -> Query[Team]:
        return query(Team.all, filter=lambda team: absent(team.deleted_at))

    @pattern("List all games")
    def games(self) -> Query[Game]:
        return query(Game.all)

    # GSI3: Games by Team

    @pattern("Team games")
    def team_games(self, team_id: str) -> Query[Game]:
        return query(Game.by_team, team_id=team_id)

    @pattern("Team games of a season")
    def season_games(self, team_id: str, season_id: str) -> Query[Game]:
        return query(Game.by_team, team_id=team_id, filter=lambda game: game.season_id == season_id)

    @pattern("Team games to come")
    def coming_games(self, team_id: str, now: datetime) -> Query[Game]:
        """Games without a date come last."""
        return query(Game.by_team, team_id=team_id, scheduled_start=at_least(now))

    @pattern("Team games of the past")
    def past_games(self, team_id: str, now: datetime) -> Query[Game]:
        """The latest game comes first."""
        return query(Game.by_team, team_id=team_id, scheduled_start=less_than(now), newest_first=True)

    # GSI4: User's Players

    @pattern("Find all players linked to a user across all teams")
    def user_players(self, user_id: str) -> Query[Player]:
        return query(Player.by_user, user_id=user_id)

    @pattern("Find all players that a user was linked to")
    def former_players(self, user_id: str) -> Query[FormerPlayer]:
        return query(FormerPlayer.by_user, user_id=user_id)

    # GSI5: Player Stats

    @pattern("Query all at-bats for a player")
    def player_at_bats(self, player_id: str) -> Query[AtBat]:
        return query(AtBat.by_player, player_id=player_id)

    @pattern("At-bats of a user as a player")
    def user_at_bats(self, player_id: str, user_id: str) -> Query[AtBat]:
        return query(AtBat.by_player, player_id=player_id, filter=lambda at_bat: at_bat.user_id == user_id)

    # Direct PK/SK Queries (No GSI Needed)

    @pattern("Team roster")
    def roster(self, team_id: str) -> Query[Player]:
        """All players in one page. Whoever reads them sorts them."""
        return query(Player.primary, team_id=team_id).limit(ROSTER)

    @pattern("User's teams")
    def memberships(self, user_id: str) -> Query[Membership]:
        return query(Membership.primary, user_id=user_id)

    @pattern("User's teams, as teams")
    def user_teams(self, user_id: str) -> Follow[Team]:
        """Including deleted teams."""
        source = query(Membership.primary, user_id=user_id)
        return follow(source, lambda membership: ref(Team, team_id=membership.team_id), Team)

    @pattern("Members of a team")
    def members(self, team_id: str) -> Query[Member]:
        return query(Member.primary, team_id=team_id)

    @pattern("Player by number")
    def player_by_number(self, team_id: str, player_number: int) -> Lookup[Player]:
        return lookup(Player.number_guard, team_id=team_id, player_number=player_number)

    @pattern("At-bats of a game, in order")
    def game_at_bats(self, game_id: str) -> Query[AtBat]:
        return query(AtBat.primary, game_id=game_id)

    @pattern("At-bats of a game, the last one first", decides="which at-bat is undone")
    def last_at_bats(self, game_id: str) -> Query[AtBat]:
        """Read consistently: undo removes the at-bat that was scored a moment ago, and all of them carry the game's
        date."""
        return query(AtBat.primary, game_id=game_id, newest_first=True, consistent=True)

    @pattern("Get at-bat")
    def at_bat(self, game_id: str, at_bat_id: str) -> Get[AtBat]:
        return get(AtBat, game_id=game_id, at_bat_id=at_bat_id)

    @pattern("Users by their ids")
    def users_by_ids(self, user_ids: Sequence[str]) -> BatchGet[User]:
        """The names of a team's members."""
        return batch_get(User, user_ids)

    @pattern("Teams by their ids")
    def teams_by_ids(self, team_ids: Sequence[str]) -> BatchGet[Team]:
        """Tells which of them are deleted, so that lists leave out their games."""
        return batch_get(Team, team_ids)

    @pattern("Games by their ids")
    def games_by_ids(self, game_ids: Sequence[str]) -> BatchGet[Game]:
        return batch_get(Game, game_ids)

    @pattern("Invitation by its secret", decides="whether the invitation can be accepted")
    def invitation(self, secret_hash: str) -> Get[Invitation]:
        return get(Invitation, secret_hash=secret_hash, consistent=True)

    @job
    def keep_at_bats(self, game_id: str, removed_at: str) -> Rewrite[AtBat]:
        """Keep the at-bats of a game whose team was removed when the game is deleted."""
        moment = datetime.fromisoformat(removed_at)
        source = query(AtBat.primary, game_id=game_id, filter=lambda at_bat: absent(at_bat.removed_at), consistent=True)
        return rewrite(source, lambda at_bat: setattr(at_bat, "removed_at", moment))

    departures = DEPARTURES


DESIGN = HackTrackerDesign
