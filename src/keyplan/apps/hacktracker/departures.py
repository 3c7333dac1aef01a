"""Where hacktracker departs from its document, and why."""

from keyplan.apps.hacktracker.fields import ROSTER
from keyplan.design import departure

DEPARTURES = (
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
        "The example has the token's subject as the user's id too, and a read by key is consistent and costs no index.",
    ),
)
