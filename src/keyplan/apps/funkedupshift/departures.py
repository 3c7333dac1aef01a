"""Where funkedupshift's design departs from its document, and why."""

from keyplan.design import accept, departure

DEPARTURES = (
    departure(
        "The table's name is fus-main, or the value of var.dynamoTableName.",
        "It is fus-main unless the environment gives dynamo_table_name.",
        "A design has no Terraform variables. The name is still configurable.",
    ),
    departure(
        "List all sites: sort by entitySk (or add createdAt to entitySk for ordering).",
        "entitySk stays SITE#<id>, and the list is read in reverse: newest first.",
        "Ids are version 7 UUIDs, which sort by time of creation.",
    ),
    departure(
        "A site has url, title, description, scrapedContent, tags, createdAt and updatedAt.",
        "It also has ratingCount and ratingSum, which every write of a rating updates, and searchText: title, url "
        "and description in lower case.",
        "A rating summary must not read all ratings, and filters in DynamoDB are case-sensitive.",
    ),
    departure(
        "My ratings: Query PK=USER#<userId> (all my SITE#... items).",
        "The same query; only items whose sort key is exactly SITE#<siteId> count.",
        "The sort keys of a user's comments begin with SITE# too.",
    ),
    departure(
        "All 5-star ratings: byStars with starRating=5; the document has no list of a site's ratings.",
        "The ratings of a site and the histogram of its stars query byStars once for each number of stars, with the "
        "site as the sort key.",
        "The index can answer both; no other index or item is needed.",
    ),
    departure(
        "A comment is stored under its user; comments for a site may come later with an index bySite, a scan, or a "
        "second item under the site.",
        "Each comment is two items that change together: the user's, as the document has it, and one under "
        "SITE#<siteId> / COMMENT#<commentId>, which has the user's id and the display name that they had when "
        "they wrote it. Changes are made to that one.",
        "Everyone reads a site's comments, and a comment must be found by its id; a scan reads the whole table.",
    ),
    departure(
        "A tag is part of the keys TAG#<tag> and tag of byTag; nothing says how it is written.",
        "It is in NFC, in lower case, and without control characters, line breaks and invisible characters.",
        "The same text can be written with different characters, and DynamoDB compares bytes: one tag would be two.",
    ),
    departure(
        "A squash player's userId is optional.",
        "Without a user the attribute is absent, never null.",
        "It is the sort key of byGroup, and DynamoDB rejects an item with null in a key.",
    ),
    departure(
        "The document has no rule for deleting a player who has matches.",
        "A player has matchCount, which every write of a match updates, and can be deleted only when it is 0.",
        "With a query before the delete, a match could be added in between.",
    ),
    departure(
        "A match has an entitySk whose form is left open.",
        "It is <date>#<matchId>.",
        "byEntity then has matches in order of date, and can answer ranges of dates.",
    ),
    departure(
        "List by date range: bySquashDate with squashDate BETWEEN dateFrom AND dateTo.",
        "Query byEntity with entityType=SQUASH_MATCH and entitySk from dateFrom to dateTo.",
        "squashDate is the hash key of bySquashDate, and a hash key can only be tested for equality.",
    ),
    departure(
        "List by date: bySquashDate with squashDate=YYYY-MM-DD.",
        "The same query with the filter entityType=SQUASH_MATCH, repeated until the page is full.",
        "Participations have squashDate and matchId too, so the index has five items for each match.",
    ),
    departure(
        "Matches for a player: MATCH#<matchId>, with no order given.",
        "They are stored in order of entry, and sorted by squashDate after all of the player's participations (at "
        "most 2,000) are read.",
        "The sort key has no date in it.",
    ),
    departure(
        "A profile has avatarKey, description, updatedAt, lastLoginAt and lastLoginIp.",
        "It also has displayName, which is copied to comments.",
        "Public answers show a name, never the subject of a token.",
    ),
    departure(
        "Avatar stored at profile/avatars/{userId}/{uuid}.{ext}.",
        "The same; a user's id that is not safe in a path is replaced by its hash.",
        "The subject of a token may contain slashes and dots, which would lead to another folder.",
    ),
    departure(
        "Admins create and update sites; squash is visible to the group Squash and SuperAdmin, and changed by "
        "SuperAdmin and managers in that group. What a group's permissions do is left open.",
        "The members of a group with the permission sites:write, groups:write, squash:read or squash:write may do "
        "that as well.",
        "A permission that is listed must have an effect.",
    ),
    departure(
        "The document has no rule for who may grant what.",
        "Only admins change the group Squash and groups with squash:read or squash:write. Others can add members "
        "only to groups that allow no more than they may do themselves, and give groups only such permissions.",
        "Otherwise managers could let themselves into the squash section.",
    ),
    departure(
        "Items have no version.",
        "Sites, ratings, comments, groups, profiles, players and matches have one, raised by each change.",
        "Two people who change the same item at once must not overwrite each other unnoticed.",
    ),
)

ACCEPTED = (
    accept(
        "prefix-of-others",
        "FunkedUpShiftDesign.my_ratings",
        because="the document gives both kinds of items keys that begin with SITE#; the comments that are read and "
        "left out are those of one user",
    ),
    accept("ties", "Rating.by_stars", because="ratings of one site with the same stars need no order"),
    accept(
        "nullable-index-key",
        "SquashPlayer.user_id",
        because="the document calls the attribute userId, and a player without a user doesn't have it",
    ),
    accept(
        "filter-discards",
        "FunkedUpShiftDesign.matches_by_date",
        because="the document lists matches through bySquashDate, in which each has four participations; a day has "
        "some dozens of matches at most",
    ),
    accept("one-partition", "Group", because="groups are made by hand: there are some dozens"),
    accept("one-partition", "SquashMatch", because="one circle of players has some thousand matches in all its years"),
    accept("few-partitions", "Rating", because="the document finds ratings by their stars, and there are five"),
    accept("growing-end", "Site", because="admins add sites by hand, a few a day"),
    accept("growing-end", "SquashPlayer", because="managers add players by hand: there are some dozens"),
    accept("time-partition", "FunkedUpShiftDesign", because="a day has some dozens of matches at most"),
    accept(
        "write-amplification",
        "SquashMatch",
        because="four players follow from every match, and there are a few matches a day",
    ),
    accept(
        "unused-placement",
        "Participation.by_squash_date",
        because="the document gives participations the attributes squashDate and matchId, which put them into the "
        "index; four for each match are few",
    ),
)
"""What a review finds and is accepted, and why."""
