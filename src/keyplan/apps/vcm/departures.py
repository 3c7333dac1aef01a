"""Where the design departs from its document, and why."""

from keyplan.design import accept, departure

DEPARTURES = [
    departure(
        "Every table has `id` as PK and again as SK, for consistency.",
        "`id` is the hash key; there is no range key.",
        "DynamoDB rejects the same attribute twice in one key.",
    ),
    departure(
        "GSI-Slug and GSI-SamsTeam have `slug` and `sbvvTeamId` as PK and again as SK.",
        "The attribute is the hash key of the index; there is no range key.",
        "DynamoDB rejects the same attribute twice in one key.",
    ),
    departure(
        "Slugs are generated from the title or name; a team's is unique.",
        "A slug is unique among news, events and teams each: the item `<kind>#<slug>` in `vcm-slugs` carries the id "
        "and is written in the same transaction.",
        "An index does not keep two items from having the same slug.",
    ),
    departure(
        "Events have a slug, and nothing that finds an event by it.",
        "Get event by slug reads the slug's item in `vcm-slugs`, then the event.",
        "A slug is made to be looked up; the only other way would be a scan.",
    ),
    departure(
        "`publishedDate` is set when an article is published.",
        "It is always set, on drafts too.",
        "An item without it would not be in GSI-PublishedDate, and no list would show it.",
    ),
    departure(
        "List published news: all with status `published`.",
        "Only those whose publishedDate is not in the future.",
        "An article may be published ahead of its date.",
    ),
    departure(
        "List all news (admin): Scan, or Query by status.",
        "Query by status: both statuses side by side, merged, newest first. Events and teams have such a list too.",
        "A scan has no order, and costs as much as the table holds.",
    ),
    departure(
        "List upcoming events: startDate > now.",
        "startDate >= now, preceded by the events that are still running: an event lasts 31 days at most, so these "
        "started in the 31 days before now.",
        "An event that has started is not over, and one that starts now is not past.",
    ),
    departure(
        "List past events: startDate < now.",
        "Those of them that are not still running.",
        "An event is upcoming or past, never both.",
    ),
    departure(
        "GSI-Status sorts teams by name, alphabetically.",
        "They come in the order of the names' UTF-8 bytes.",
        "DynamoDB has no other order for texts: capital letters come before small ones, umlauts after z.",
    ),
    departure(
        "A team's name is the range key of GSI-Status; nothing says how it is written.",
        "It is in NFC, and without control characters, line breaks and invisible characters.",
        "The same text can be written with different characters, and DynamoDB sorts bytes: equal names would be apart.",
    ),
    departure(
        "Find team by SAMS ID: all that have it.",
        "Visitors find the published ones only: their Query filters by status.",
        "Only editors see drafts, and a page without drafts should still be full.",
    ),
    departure(
        "Members have an e-mail address and a phone number.",
        "`showContact` says whether a coach's or contact person's are public.",
        "They are personal data; without consent only editors see them.",
    ),
    departure(
        "A media item does not know what uses it.",
        "Each use is an item in `vcm-media-refs`, `mediaId` and `<kind>#<id>`, written in the same transaction; news, "
        "events and teams have 20 images at most.",
        "When a sponsor or an image is removed, it must be known whether a media item is still used, without reading "
        "everything.",
    ),
    departure(
        "A media item, role or location in use can be deleted.",
        "`references`, `members` and `teams` on them are counted by what uses them, and a delete is refused unless "
        "they are 0. A team has 7 training times at most, a member 20 roles.",
        "Only a count that the same transactions keep can decide this when two requests arrive at once, and a "
        "transaction holds 100 items.",
    ),
    departure(
        "When a sponsor is removed, its logo's media item is removed too.",
        "Unless something else uses it, as `vcm-media-refs` shows.",
        "Two sponsors, or a sponsor and an article, may show the same image.",
    ),
    departure(
        "The streams of `vcm-media` and `vcm-sponsors` clean up after a media item and a sponsor.",
        "`vcm-media-refs` has a stream of its keys too, which shows when a media item is no longer used.",
        "An image that was replaced in an article or a team must be removed as well, even if the process that replaced "
        "it stops.",
    ),
    departure(
        "List all sponsors: filter `expiryDate > now` client-side.",
        "The attribute is `expiryTimestamp`, in seconds; the Scan filters by it, and sponsors without it stay.",
        "The table has no `expiryDate`. A filter in the request costs the same and sends less.",
    ),
    departure(
        "Expired sponsors are deleted automatically, with no manual cleanup.",
        "They are, and reads leave out sponsors that have expired but are still stored.",
        "Time to live deletes items within days, not at once.",
    ),
    departure(
        "`schedules` have a `locationId`, but there is no table of locations.",
        "`vcm-locations`: name, street, postalCode, city.",
        "An id alone can't be shown to anybody.",
    ),
    departure(
        "`schedules[].day` is a list; the document doesn't say which number is which day.",
        "0 is Sunday, 6 Saturday; the times are those of clocks in Berlin.",
        "The data comes from JavaScript, which counts that way.",
    ),
    departure(
        "`imageIds` are the images of an article or event; images in its text are not mentioned.",
        "An image in the text names a media item, `mediaId`, which is one of `imageIds`.",
        "An image in a text is in use as well, and must not be deleted while it is shown.",
    ),
    departure(
        "The SAMS tables exist already; neither attributes nor access patterns are given.",
        "Clubs: samsClubId, name, nameSlug, logoUrl, updatedAt. Teams: samsTeamId, name, leagueName, leagueId, clubId, "
        "season, updatedAt. Each is read by id, or as a whole by Scan; locations too.",
        "They are small, an import fills them, and they are shown as a whole, like roles.",
    ),
    departure(
        "Items have createdAt and updatedAt.",
        "Those that editors change have a `version` too.",
        "Two editors at once must not overwrite each other.",
    ),
    departure(
        "Content is a Map of Tiptap JSON.",
        "One that nests more than 31 levels, or makes the item larger than 400 KB, is refused. `lexical` keeps the "
        "original beside it during the migration.",
        "DynamoDB allows 32 levels, the text in the innermost map included, and items of 400 KB.",
    ),
    departure(
        "The migration exports, transforms, writes batches and validates. What happens if it is stopped, the document "
        "doesn't say.",
        "An item in `vcm-news-keyplan`, `IMPORT#<export>` and the collection, counts the records that are done.",
        "A run that is started again continues where the last one stopped. The document's tables hold content only.",
    ),
    departure(
        "On-demand: $1.25 per million writes, $0.25 per million reads.",
        "Half of that: $0.625 and $0.125.",
        "The prices of on-demand requests were halved in November 2024 (us-east-1).",
    ),
    departure(
        "Provisioned: about $0.47 a month per RCU and WCU.",
        "That is a WCU; an RCU is about $0.09.",
        "A read unit costs a fifth of a write unit (us-east-1).",
    ),
    departure(
        "Seven tables are listed, and Roles is number 10 in the text after them.",
        "`vcm-roles` is one of the seven; with SAMS and the three of ours there are twelve.",
        "The document counts it twice.",
    ),
]

ACCEPTED = (
    accept(
        "mixed-case",
        "Team.by_status",
        because="the document sorts by name; a club has some dozens of teams, whose names begin with a capital letter",
    ),
    accept(
        "ties",
        "VcmDesign",
        because="two articles or events of the same moment, and two teams of one name, are rare, and their order "
        "doesn't matter",
    ),
    accept("no-version", "SamsClub", because="only the import writes clubs, as a whole"),
    accept("no-version", "SamsTeam", because="only the import writes the teams of SAMS, as a whole"),
    accept(
        "few-partitions",
        "VcmDesign",
        because="the document lists by status; editors write a few articles, events and teams a day",
    ),
    accept(
        "scan",
        "VcmDesign",
        because="the document scans these tables: a club has some dozens of members, sponsors and roles, and some "
        "hundred images",
    ),
    accept(
        "near-transaction-limit",
        "VcmDesign",
        because="images, training times and places are limited so that every change fits, and no change is made "
        "together with another one",
    ),
)
"""What a review finds and is accepted, and why."""
