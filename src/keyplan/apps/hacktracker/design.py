"""The access patterns of hacktracker, in the order and words of its document, and where it departs from it."""

from collections.abc import Sequence
from datetime import datetime

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
from keyplan.design import (
    BatchGet,
    Design,
    Follow,
    Get,
    Lookup,
    Query,
    Rewrite,
    absent,
    at_least,
    batch_get,
    departure,
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

ROSTER = 60
"""Players of a team at most: they are put in order after reading all of them."""


class HackTrackerDesign(Design):
    """Primary keys, indexes and query patterns, in the document's order."""

    tables = (hacktracker,)
    entities = (User, Membership, Member, Team, Player, FormerPlayer, Game, AtBat, Invitation)

    # Primary keys

    @pattern("User Profile")
    def user(self, user_id: str) -> Get[User]:
        return get(User, user_id=user_id)

    @pattern("Team Membership")
    def membership(self, user_id: str, team_id: str) -> Get[Membership]:
        """Read strongly: decisions are made on it."""
        return get(Membership, user_id=user_id, team_id=team_id, consistent=True)

    @pattern("Team Profile")
    def team(self, team_id: str) -> Get[Team]:
        """Read strongly: whether it is deleted decides over all that belongs to it."""
        return get(Team, team_id=team_id, consistent=True)

    @pattern("Player Roster Record")
    def player(self, team_id: str, player_id: str) -> Get[Player]:
        """Read strongly: whether it is linked decides what may be done."""
        return get(Player, team_id=team_id, player_id=player_id, consistent=True)

    @pattern("Game Info")
    def game(self, game_id: str) -> Get[Game]:
        """Read strongly: its status and line-up decide what may be done."""
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
        """Those without a date last."""
        return query(Game.by_team, team_id=team_id, scheduled_start=at_least(now))

    @pattern("Team games of the past")
    def past_games(self, team_id: str, now: datetime) -> Query[Game]:
        """The latest first."""
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
        """All players in one page; their order is made by the reader."""
        return query(Player.primary, team_id=team_id).limit(ROSTER)

    @pattern("User's teams")
    def memberships(self, user_id: str) -> Query[Membership]:
        return query(Membership.primary, user_id=user_id)

    @pattern("User's teams, as teams")
    def user_teams(self, user_id: str) -> Follow[Team]:
        """Deleted ones too."""
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

    @pattern("At-bats of a game, the last one first")
    def last_at_bats(self, game_id: str) -> Query[AtBat]:
        """Read strongly: undo takes back the one that was entered last, a moment ago; and all of them carry the
        game's date."""
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
        """Which of them are deleted, so that a list of games leaves theirs out."""
        return batch_get(Team, team_ids)

    @pattern("Games by their ids")
    def games_by_ids(self, game_ids: Sequence[str]) -> BatchGet[Game]:
        return batch_get(Game, game_ids)

    @pattern("Invitation by its secret")
    def invitation(self, secret_hash: str) -> Get[Invitation]:
        return get(Invitation, secret_hash=secret_hash, consistent=True)

    @job
    def keep_at_bats(self, game_id: str, removed_at: str) -> Rewrite[AtBat]:
        """The team was removed: its at-bats stay when the game is deleted."""
        moment = datetime.fromisoformat(removed_at)
        source = query(AtBat.primary, game_id=game_id, filter=lambda at_bat: absent(at_bat.removed_at), consistent=True)
        return rewrite(source, lambda at_bat: setattr(at_bat, "removed_at", moment))

    departures = (
        departure(
            "GSI3SK is GAME#<gameId>.",
            "It is GAME#<scheduledStart>#<gameId>, with 9999 for a game that has no start.",
            "A schedule is read in order of time, page by page; begins_with GAME# still finds all games of a team, and "
            "those without a date come last.",
        ),
        departure(
            "A team's members can not be listed: memberships are found by user only.",
            "Each membership has a second item, TEAM#<teamId> / MEMBER#<userId>, that changes with it.",
            "Roles are shown and managed by team.",
        ),
        departure(
            "playerNumber has no rule.",
            "It is unique in a team: an item TEAM#<teamId> / NUMBER#<nn> guards it.",
            "Two players at once must not take one number, which no query can prevent.",
        ),
        departure(
            "Nothing says how many games of a team may be IN_PROGRESS.",
            "One: the team's METADATA has activeGameId, which is set under a condition.",
            "At-bats are scored in the game that is being played.",
        ),
        departure(
            "GSI4 and GSI5 are reserved for the future.",
            "Both are built: linked players are in GSI4, at-bats in GSI5.",
            "Statistics of a player and of a user are in scope.",
        ),
        departure(
            "An at-bat has keys in GSI5 only.",
            "It is GAME#<gameId> / ATBAT#<atBatId> and carries playerId, userId, teamId, the team's name and the "
            "game's date. A game's teamScore and a player's atBatCount follow from the at-bats.",
            "It belongs to a game, and a user's statistics are to survive the team. A player with at-bats must not "
            "disappear, which is decided on the count.",
        ),
        departure(
            "GSI4 leads from a user to the players that are linked to them.",
            "It also holds an item TEAM#<teamId> / FORMER#<userId>#<playerId> for each player that the user was linked "
            "to, and the records of linked players of removed teams.",
            "Past at-bats stay with the user who batted them, so that there must be a way to them after unlinking.",
        ),
        departure(
            "Nothing is said of invitations but invitedBy and, elsewhere, the status invited.",
            "INVITE#<hash of a secret> / METADATA, with expiresAt as its time to live, is an offer of a membership or "
            "of a ghost to be linked.",
            "The secret itself is not stored, and an offer that nobody took goes by itself.",
        ),
        departure(
            "Teams have no state of deletion.",
            "A deleted team has deletedAt and expiresAt, 30 days later, on its METADATA; every read hides it at once. "
            "The table has a stream, whose reader removes what belonged to the team.",
            "It can be restored until DynamoDB's time to live has removed it.",
        ),
        departure(
            "Cross-team statistics of a user survive the deletion of a team.",
            "Of a removed team the records of linked players and the at-bats stay, with removedAt, and nothing else: "
            "neither belongs to the team, to a game or to a player any more.",
            "An at-bat goes with a deleted game and keeps its player from being removed, which must not hold here.",
        ),
        departure(
            "Nothing says what becomes of a user's teams when the user goes.",
            "A user keeps ownedTeamCount, the number of teams owned that are not deleted; a user goes only at 0. The "
            "players of who goes are ghosts again, under no name of theirs.",
            "A team without an owner could not be managed, and a query could miss a team that is being made. What was "
            "batted stays with the team, what is personal does not.",
        ),
        departure(
            "Absent values are null: userId of a ghost, invitedBy of an owner.",
            "Attributes without a value are left out.",
            "DynamoDB rejects null in a key of an index, and conditions on an absent value have one form.",
        ),
        departure(
            "All entities include createdAt and updatedAt, yet the membership in the example does not.",
            "Memberships have both; copies and guards do not.",
            "The rule stands over the example.",
        ),
        departure(
            "updatedAt is made by datetime.now(timezone.utc).isoformat().",
            "Times have milliseconds and Z, as in the examples.",
            "isoformat() gives another width, with or without microseconds, and texts of different widths do not sort.",
        ),
        departure(
            "Items have no version.",
            "Users, teams, memberships, players, games and at-bats have one, raised by each change.",
            "Two people who change the same item at once must not overwrite each other unseen.",
        ),
        departure(
            "Ids in the examples look like UUIDs but hold letters beyond f.",
            "An id is any text of up to 128 characters without #; new ones are UUIDs of version 7.",
            "Ids that come from outside are kept as they are; ATBAT#<atBatId> is in order of creation.",
        ),
        departure(
            "The fields of an item are ordered, from PK to the keys of the indexes.",
            "No order is kept.",
            "The attributes of a DynamoDB item have none.",
        ),
        departure(
            "Transactions are given as a reason for one table, as if they ended at its border.",
            "The reason is not relied on.",
            "Transactions span tables of one account and region.",
        ),
        departure(
            "One set of provisioned capacity is given as a reason for one table.",
            "The table is billed by request.",
            "The document itself chooses PAY_PER_REQUEST, which has no provisioned capacity.",
        ),
        departure(
            "An index doubles the cost of storage.",
            "Only items that have both keys of an index are in it.",
            "An index holds, and bills, what is projected of the items in it: GSI1 users only, GSI3 games only.",
        ),
        departure(
            "Get all players on a team, all games for a team: one query each.",
            f"A roster is read whole and ordered in memory: it has at most {ROSTER} players, and a team keeps "
            "playerCount. Games come in pages.",
            "No key gives the roster's order; a query answers with at most 1 MB, which may not be all games.",
        ),
        departure(
            "There is no alternative to GSI1 for finding the user behind a token.",
            "GSI1 is kept; where the user's id is known it is read by key.",
            "The example has the token's subject as the user's id too, and a read by key is consistent and costs no "
            "index.",
        ),
    )


DESIGN = HackTrackerDesign
