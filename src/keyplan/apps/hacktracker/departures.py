"""Where hacktracker departs from its document, and why."""

from keyplan.apps.hacktracker.fields import ROSTER
from keyplan.design import accept, departure

DEPARTURES = (
    departure(
        "GSI3SK is GAME#<gameId>.",
        "It is GAME#<scheduledStart>#<gameId>, with 9999 for a game that has no start.",
        "A schedule is read by start, page by page. begins_with GAME# still finds all games of a team, and games "
        "without a date come last.",
    ),
    departure(
        "A team's members can't be listed: memberships are found by user only.",
        "Each membership has a second item, TEAM#<teamId> / MEMBER#<userId>, that changes with it.",
        "Roles are shown and managed by team.",
    ),
    departure(
        "playerNumber has no rule.",
        "It is unique in a team: an item TEAM#<teamId> / NUMBER#<nn> guards it.",
        "No query can keep two players from taking the same number at the same moment.",
    ),
    departure(
        "Nothing says how many games of a team may be IN_PROGRESS.",
        "One: the team's METADATA has activeGameId, which is set under a condition.",
        "At-bats are scored in the game that is in progress.",
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
        "It belongs to a game, and a user's statistics have to survive the team. A player with at-bats can't be "
        "removed, which the count decides.",
    ),
    departure(
        "GSI4 leads from a user to the players that are linked to them.",
        "It also has an item TEAM#<teamId> / FORMER#<userId>#<playerId> for each player that the user was linked "
        "to, and the records of linked players of removed teams.",
        "Past at-bats stay with the user who batted, so they have to be found after unlinking.",
    ),
    departure(
        "Invitations are mentioned only as invitedBy and, elsewhere, as the status invited.",
        "INVITE#<hash of a secret> / METADATA, with expiresAt as its time to live, offers a membership or a ghost to "
        "be linked to.",
        "The secret itself is not stored, and an invitation that nobody accepts expires.",
    ),
    departure(
        "Teams have no state of deletion.",
        "A deleted team has deletedAt and expiresAt, 30 days later, on its METADATA; every read hides it at once. "
        "The table has a stream, and its handler removes what belonged to the team.",
        "The team can be restored until DynamoDB's time to live removes it.",
    ),
    departure(
        "Cross-team statistics of a user survive the deletion of a team.",
        "Only the at-bats and the records of linked players of a removed team are kept, with removedAt. They no longer "
        "belong to a team, a game or a player.",
        "An at-bat is deleted with its game and keeps its player from being removed. Neither may happen here.",
    ),
    departure(
        "Nothing says what happens to a user's teams when the account is deleted.",
        "A user has ownedTeamCount, the number of teams owned that are not deleted; an account can be deleted only at "
        "0. The user's players become ghosts again, without the user's name.",
        "A team without an owner can't be managed, and a query could miss a team that is just being created. At-bats "
        "stay with the team, personal data doesn't.",
    ),
    departure(
        "Absent values are null: userId of a ghost, invitedBy of an owner.",
        "Attributes without a value are left out.",
        "DynamoDB rejects null in a key of an index, and conditions on an absent value have one form.",
    ),
    departure(
        "All entities include createdAt and updatedAt, but the membership in the example doesn't.",
        "Memberships have both; copies and guards don't.",
        "The rule takes precedence over the example.",
    ),
    departure(
        "updatedAt is made by datetime.now(timezone.utc).isoformat().",
        "Times have milliseconds and Z, as in the examples.",
        "isoformat() has a different width with and without microseconds, and texts of different widths don't sort.",
    ),
    departure(
        "Items have no version.",
        "Users, teams, memberships, players, games and at-bats have one, raised by each change.",
        "Two people who change the same item at once must not overwrite each other's changes unnoticed.",
    ),
    departure(
        "Ids in the examples look like UUIDs but contain letters beyond f.",
        "An id is any text of up to 128 characters without #; new ones are UUIDs of version 7.",
        "Imported ids are kept as they are; ATBAT#<atBatId> is in order of creation.",
    ),
    departure(
        "The fields of an item are ordered, from PK to the keys of the indexes.",
        "No order is kept.",
        "The attributes of a DynamoDB item have none.",
    ),
    departure(
        "Transactions are given as a reason for one table, as if they worked only within a table.",
        "The design doesn't rely on this reason.",
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
        "An index stores, and bills, what it projects of the items in it: GSI1 only users, GSI3 only games.",
    ),
    departure(
        "Get all players on a team, all games for a team: one query each.",
        f"A roster is read whole and sorted in memory: it has at most {ROSTER} players, and a team keeps playerCount. "
        "Games come in pages.",
        "No key gives the roster's order; a query returns at most 1 MB, which may not be all games.",
    ),
    departure(
        "There is no alternative to GSI1 for finding the user behind a token.",
        "GSI1 is kept; where the user's id is known, the user is read by key.",
        "In the example the token's subject is also the user's id, and a read by key is consistent and needs no index.",
    ),
)

ACCEPTED = (
    accept(
        "prefix-of-others",
        "HackTrackerDesign.user_players",
        because="former players are in GSI4 by the same key on purpose: both lead to at-bats, and both are few",
    ),
    accept(
        "prefix-of-others",
        "HackTrackerDesign.former_players",
        because="the players that a user is linked to are few",
    ),
    accept(
        "one-partition",
        "User",
        because="the document lists all users through GSI2, which only admins do; sign-ups are far below a thousand a "
        "second",
    ),
    accept("growing-end", "Team", because="teams are entered by hand, and only admins list all of them"),
    accept("growing-end", "Game", because="games are entered by hand, and only admins list all of them"),
)
"""What a review finds and is accepted, and why."""
