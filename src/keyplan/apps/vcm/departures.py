"""Where the design does not do what its document says, and why."""

from keyplan.design import departure

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
        "A slug is there to be found; a scan would be the only other way.",
    ),
    departure(
        "`publishedDate` is set when an article is published.",
        "It is always there, also on drafts.",
        "An item without it would not be in GSI-PublishedDate, and no list would show it.",
    ),
    departure(
        "List published news: all with status `published`.",
        "Only those whose publishedDate has come.",
        "An article may be published ahead of its date.",
    ),
    departure(
        "List all news (admin): Scan, or Query by status.",
        "Query by status: both statuses side by side, merged, newest first. Events and teams have such a list too.",
        "A scan has no order, and its pages cost what the table holds.",
    ),
    departure(
        "List upcoming events: startDate > now.",
        "startDate >= now, and before them the events that are still running: an event lasts 31 days at most, so these "
        "began in the 31 days before now.",
        "An event is not over once it has begun, and one that begins now is not past.",
    ),
    departure(
        "List past events: startDate < now.",
        "Those of them that are not still running.",
        "An event is upcoming or past, never both.",
    ),
    departure(
        "GSI-Status sorts teams by name, alphabetically.",
        "They come in the order of the names' UTF-8 bytes.",
        "DynamoDB knows no other order of texts: capitals stand before small letters, umlauts behind z.",
    ),
    departure(
        "Find team by SAMS ID: all that have it.",
        "Visitors find the published ones only: their Query filters by status.",
        "A draft is there for editors only, and pages without drafts have to be full ones.",
    ),
    departure(
        "Members have an e-mail address and a phone number.",
        "`showContact` says whether a coach's or contact person's are public.",
        "They are personal data; without a yes they are for editors only.",
    ),
    departure(
        "A media item does not know what uses it.",
        "Each use is an item in `vcm-media-refs`, `mediaId` and `<kind>#<id>`, written in the same transaction; news, "
        "events and teams have 20 images at most.",
        "Whether a media item is still used must be known when a sponsor or an image goes, without reading everything.",
    ),
    departure(
        "A media item, role or location in use can be deleted.",
        "`references`, `members` and `teams` on them are counted by what uses them, and a delete is refused unless "
        "they are 0. A team has 7 training times at most, a member 20 roles.",
        "Only a number that the same transactions keep can decide this when two requests come at once, and a "
        "transaction holds 100 items.",
    ),
    departure(
        "A sponsor that was removed takes its logo's media item along.",
        "Unless something else uses it, which `vcm-media-refs` tells.",
        "Two sponsors, or a sponsor and an article, may show the same image.",
    ),
    departure(
        "The streams of `vcm-media` and `vcm-sponsors` clean up behind a media item and a sponsor.",
        "`vcm-media-refs` has a stream of its keys too, which tells that a media item is no longer used.",
        "An image that was replaced in an article or a team has to go as well, whatever becomes of the process that "
        "replaced it.",
    ),
    departure(
        "List all sponsors: filter `expiryDate > now` client-side.",
        "The attribute is `expiryTimestamp`, in seconds; the Scan filters by it, and sponsors without it stay.",
        "There is no `expiryDate` in the table. A filter in the request costs the same and sends less.",
    ),
    departure(
        "Expired sponsors are deleted automatically, with no manual cleanup.",
        "They are, and reads leave out what has expired but is still there.",
        "Time to live deletes within days, not at the moment.",
    ),
    departure(
        "`schedules` name a `locationId`, for which there is no table.",
        "`vcm-locations`: name, street, postalCode, city.",
        "An id of nothing can not be shown.",
    ),
    departure(
        "`schedules[].day` is a list; which number is which day is not said.",
        "0 is Sunday, 6 Saturday; the times are those of clocks in Berlin.",
        "JavaScript counts so, and that is where the data comes from.",
    ),
    departure(
        "`imageIds` are the images of an article or event; images in its text are not mentioned.",
        "An image in the text names a media item, `mediaId`, which is one of `imageIds`.",
        "A picture in a text is used as well, and must not go while it is shown.",
    ),
    departure(
        "The SAMS tables exist already; neither attributes nor access patterns are given.",
        "Clubs: samsClubId, name, nameSlug, logoUrl, updatedAt. Teams: samsTeamId, name, leagueName, leagueId, clubId, "
        "season, updatedAt. Each is read by id, or as a whole by Scan; locations too.",
        "They are small sets that an import fills and that are shown as a whole, like roles.",
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
        "The migration exports, transforms, writes batches and validates; nothing is said of one that is stopped.",
        "An item in `vcm-news-keyplan`, `IMPORT#<export>` and the collection, counts the records that are dealt with.",
        "A run that is started again goes on where the last one stopped. The document's tables hold content only.",
    ),
    departure(
        "On-demand: $1.25 per million writes, $0.25 per million reads.",
        "Half of it: $0.625 and $0.125.",
        "The prices of on-demand requests were halved in November 2024 (us-east-1).",
    ),
    departure(
        "Provisioned: about $0.47 a month per RCU and WCU.",
        "That is a WCU; an RCU is about $0.09.",
        "A read unit costs a fifth of a write unit (us-east-1).",
    ),
    departure(
        "Seven tables are listed, and Roles is number 10 in the text behind them.",
        "`vcm-roles` is one of the seven; with SAMS and the three of ours there are twelve.",
        "The document counts it twice.",
    ),
]
