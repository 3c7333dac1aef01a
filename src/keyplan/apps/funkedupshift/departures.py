"""Where funkedupshift's design departs from its document, and why."""

from keyplan.design import departure

DEPARTURES = (
    departure(
        "The table's name is fus-main, or the value of var.dynamoTableName.",
        "It is fus-main unless the environment gives dynamo_table_name.",
        "A design has no Terraform variables; the name stays configurable.",
    ),
    departure(
        "List all sites: sort by entitySk (or add createdAt to entitySk for ordering).",
        "entitySk stays SITE#<id>, and the list is read backwards: newest first.",
        "Ids are UUIDs of version 7, so that the id alone is the order of creation.",
    ),
    departure(
        "A site has url, title, description, scrapedContent, tags, createdAt and updatedAt.",
        "It also has ratingCount and ratingSum, which every write of a rating keeps, and searchText, its title, "
        "url and description in lower case.",
        "A rating summary must not read all ratings, and a filter in DynamoDB tells capitals from small letters.",
    ),
    departure(
        "My ratings: Query PK=USER#<userId> (all my SITE#... items).",
        "The same query, of which only items whose sort key is SITE#<siteId> and nothing more count.",
        "A user's comments begin with SITE# too.",
    ),
    departure(
        "All 5-star ratings: byStars with starRating=5; the document has no list of a site's ratings.",
        "The ratings of a site and the histogram of its stars ask byStars once for each number of stars, with the "
        "site as the sort key.",
        "The index can answer it; a further index or item is not needed.",
    ),
    departure(
        "A comment is stored under its user; comments for a site may come later with an index bySite, a scan, or a "
        "second item under the site.",
        "Each comment is two items that change together: the user's, as the document has it, and one under "
        "SITE#<siteId> / COMMENT#<commentId>, which carries the user's id and the display name that they had when "
        "they wrote it, and is the one that is changed.",
        "Everyone reads a site's comments, and one of them must be found by its id; a scan reads the whole table.",
    ),
    departure(
        "A squash player's userId is optional.",
        "The attribute is left out where there is none, never null.",
        "It is the sort key of byGroup: DynamoDB rejects an item with a null in it.",
    ),
    departure(
        "The document has no rule for deleting a player who is named by a match.",
        "A player keeps matchCount, which every write of a match keeps, and is only deleted at 0.",
        "A query before the delete would let a match be added in between.",
    ),
    departure(
        "A match has an entitySk whose form is left open.",
        "It is <date>#<matchId>.",
        "Matches are then in order of their dates in byEntity, which answers ranges of dates.",
    ),
    departure(
        "List by date range: bySquashDate with squashDate BETWEEN dateFrom AND dateTo.",
        "Query byEntity with entityType=SQUASH_MATCH and entitySk from dateFrom to dateTo.",
        "squashDate is the hash key of bySquashDate, and DynamoDB takes only equality on a hash key.",
    ),
    departure(
        "List by date: bySquashDate with squashDate=YYYY-MM-DD.",
        "The same query with a filter entityType=SQUASH_MATCH, read on until the page is full.",
        "Participations carry squashDate and matchId, so the index holds five items for each match.",
    ),
    departure(
        "Matches for a player: MATCH#<matchId>, with no order given.",
        "They come in order of entry and are sorted by squashDate after all of the player's participations were "
        "read, of which there are at most 2,000.",
        "The sort key has no date in it.",
    ),
    departure(
        "A profile has avatarKey, description, updatedAt, lastLoginAt and lastLoginIp.",
        "It also has displayName, which comments carry.",
        "Public answers show a name, never the subject of a token.",
    ),
    departure(
        "Avatar stored at profile/avatars/{userId}/{uuid}.{ext}.",
        "The same; of a user's id that can not stand in a path as it is, a hash stands in its place.",
        "The subject of a token may hold slashes and dots, which would lead elsewhere.",
    ),
    departure(
        "Admins create and update sites; squash is visible to the group Squash and SuperAdmin, and changed by "
        "SuperAdmin and managers in that group. What a group's permissions do is left open.",
        "The members of a group with the permission sites:write, groups:write, squash:read or squash:write may do "
        "that as well.",
        "Permissions without an effect would be promises that nobody keeps.",
    ),
    departure(
        "The document has no rule for who may hand on what.",
        "Only admins touch the group Squash, and groups with squash:read or squash:write. Others let people into "
        "groups, and give groups permissions, that allow no more than they may do themselves.",
        "A manager could else let themselves in.",
    ),
    departure(
        "Items have no version.",
        "Sites, ratings, comments, groups, profiles, players and matches have one, raised by each change.",
        "Two people who change the same item at once must not overwrite each other unseen.",
    ),
)
