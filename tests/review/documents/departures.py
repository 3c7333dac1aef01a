"""What a review finds of each departure of the five systems in the design that its document wrote, or why it can't.

For each system, by how the departure begins (`Departure.document`): the findings, by code and place, or the reason why
no rule can know it. `BESIDES` is what else the rules find in the documents' designs.
"""

from collections.abc import Mapping

Known = Mapping[str, tuple[str, ...] | str]

_NO_PATTERN = "the document asks no question that needs it, and a rule can't know which questions are missing"
_NOT_KEYS = "it is about content, rights or files, of which a design says nothing"
_NO_CLAIM = "the document doesn't say that it is unique; KP301 finds it once the design claims it (see below)"
_NO_RULE = "the document has no such rule, and whether something may be deleted can't be seen in keys"
_OURS = "the document says nothing of it, and nothing in its design needs it"
_PRICES = "prices and limits of AWS's are no part of a design"

FUNKEDUPSHIFT: Known = {
    "The table's name is fus-main": "a name can be anything; environments are declared in the table's name",
    "List all sites": "the document leaves the order open; an id that Keyplan makes sorts by time",
    "A site has url": "that a summary of ratings is asked for isn't in the document",
    "My ratings": ("KP302 FunkedUpShift.my_ratings",),
    "All 5-star ratings": _NO_PATTERN,
    "A comment is stored under its user": ("KP130 Comment.primary",),
    "A tag is part of the keys": ("KP305 SiteTag.by_tag", "KP409 Site.tags"),
    "A squash player's userId": ("KP312 SquashPlayer.user_id",),
    "The document has no rule for deleting a player": _NO_RULE,
    "A match has an entitySk": ("KP040 SquashMatch.by_entity",),
    "List by date range": ("KP131 SquashMatch.by_squash_date.squash_date",),
    "List by date: bySquashDate": ("KP303 FunkedUpShift.matches_by_date", "KP323 Participation"),
    "Matches for a player": "the document asks for no order, so each order is right",
    "A profile has avatarKey": _NOT_KEYS,
    "Avatar stored at": _NOT_KEYS,
    "Admins create and update sites": _NOT_KEYS,
    "The document has no rule for who may grant": _NOT_KEYS,
    "Items have no version": (
        "KP315 Group",
        "KP315 Profile",
        "KP315 Rating",
        "KP315 SquashMatch",
        "KP315 SquashPlayer",
    ),
}
THREEFC: Known = {
    "Seasons, rosters and timelines have no bounds": "lists come page by page; that a whole season is needed at once "
    "isn't in the document",
    "Item envelope": "no pattern of the document filters; a filter on a field in the envelope is refused at import",
    "The envelope allows payload evolution": "Keyplan changes the string only if it is as it was read",
    "Create league, season": "a create of Keyplan's never overwrites, so it can't be declared otherwise",
    "Season lookup mirror": (
        "KP311 ThreeFC.season_lookup",
        "KP311 ThreeFC.session_lookup",
    ),
    "League ACL grants": ("KP311 ThreeFC.grants",),
    "Player profile": _NO_PATTERN,
    "Roster assignment": _NO_CLAIM,
    "Goal events and roster": "the document doesn't say that a goal names players of the roster",
    "Session -> game index": "that a list needs more of a game than its id isn't in the document",
    "Goal event: sk=": "the key has a width and ends with the event's id, so that it sorts; the form of ids is open",
    "List sessions for a season": "the document asks for no order, so each order is right",
    "no counters": _NO_RULE,
    "Implementation in": "it is about the program",
}
VCM: Known = {
    "Every table has `id` as PK and again as SK": (
        "KP003 vcm-events",
        "KP003 vcm-media",
        "KP003 vcm-members",
        "KP003 vcm-news",
        "KP003 vcm-roles",
        "KP003 vcm-sponsors",
        "KP003 vcm-teams",
    ),
    "GSI-Slug and GSI-SamsTeam": (
        "KP003 vcm-news.GSI-Slug",
        "KP003 vcm-teams.GSI-SamsTeam",
        "KP003 vcm-teams.GSI-Slug",
    ),
    "Slugs are generated": ("KP301 Team.slug", "KP322 Vcm.news_by_slug", "KP322 Vcm.team_by_slug"),
    "Events have a slug": _NO_PATTERN,
    "`publishedDate` is set": "the document doesn't list it among the optional attributes; KP312 finds it once it is "
    "one (see below)",
    "List published news": "that dates can be in the future isn't in the document",
    "List all news (admin)": ("KP406 Vcm.all_news",),
    "List upcoming events": "when an event counts as upcoming is a matter of opinion",
    "List past events": "when an event counts as past is a matter of opinion",
    "GSI-Status sorts teams": ("KP305 Team.by_status", "KP310 Team.by_status"),
    "A team's name is the range key": ("KP305 Team.by_status",),
    "Find team by SAMS ID": "that drafts aren't for everybody isn't in a key",
    "Members have an e-mail": _NOT_KEYS,
    "A media item does not know": _OURS,
    "A media item, role or location": _NO_RULE,
    "When a sponsor is removed": "what a stream's reader does isn't in a design",
    "The streams of": "what a stream's reader does isn't in a design",
    "List all sponsors": ("KP026 Sponsor.expiry_date",),
    "Expired sponsors are deleted": "Keyplan's reads leave out what has expired, so it can't be declared otherwise",
    "`schedules` have a `locationId`": "an id in an item needn't lead to a table of this design",
    "`schedules[].day`": _NOT_KEYS,
    "`imageIds` are": (
        "KP409 Event.image_ids",
        "KP409 News.image_ids",
        "KP409 Team.image_ids",
    ),
    "The SAMS tables": "a table without attributes and patterns can't be declared",
    "Items have createdAt": (
        "KP315 Event",
        "KP315 Media",
        "KP315 Member",
        "KP315 News",
        "KP315 Sponsor",
        "KP315 Team",
    ),
    "Content is a Map": "how deep a map is isn't in its type",
    "The migration exports": "it is about a program",
    "On-demand": _PRICES,
    "Provisioned": _PRICES,
    "Seven tables": "it is about the document's numbering",
}
WAVYBLOG: Known = {
    "Get User by Username": "a get of Keyplan's makes the whole key of the field, so it can't be declared otherwise",
    "UserEmail": ("KP305 User.email_guard",),
    "Slug Uniqueness Entity": ("KP311 WavyBlog.slug_taken", "KP319 Post.slug_guard"),
    "GSI1SK and GSI2SK": ("KP310 Post.by_category", "KP310 Post.by_user"),
    "Posts sorted by creation date": ("KP309 WavyBlog.posts",),
    "Get Posts by User": "that drafts aren't for everybody isn't in a key",
    "GSI projection": ("KP321 User.by_type",),
    "GSI3 eliminates": ("KP402 Category.by_type", "KP402 Post.by_type", "KP402 User.by_type"),
    "CreatedAt and UpdatedAt": "a datetime of Keyplan's has a fixed width, so it can't be declared otherwise",
    "User and Category entities": _NO_RULE,
    "Category: PK": "that a slug can change isn't in the document",
    "User, Post and Category entities": ("KP315 Category",),
    "no images": _OURS,
    "no login sessions": _OURS,
    "Endpoint": "it is about where the program runs",
}
HACKTRACKER: Known = {
    "GSI3SK is": "the document asks for no order; KP309 finds it once the list is to be the newest first (see below)",
    "A team's members": _NO_PATTERN,
    "playerNumber has no rule": _NO_CLAIM,
    "Nothing says how many games": "the document has no such rule",
    "GSI4 and GSI5": (
        "KP401 hacktracker-{environment=dev}.GSI4",
        "KP401 hacktracker-{environment=dev}.GSI5",
    ),
    "An at-bat has keys": "the document has no at-bats yet",
    "GSI4 leads": "the document has nothing in GSI4 yet",
    "Invitations are mentioned": _OURS,
    "Teams have no state": _OURS,
    "Cross-team statistics": "the document has no at-bats yet",
    "Nothing says what happens": _NO_RULE,
    "Absent values are null": "Keyplan leaves out attributes without a value, so it can't be declared otherwise",
    "All entities include": "both forms can be stored",
    "updatedAt is made": "a datetime of Keyplan's has a fixed width, so it can't be declared otherwise",
    "Items have no version": ("KP315 Game", "KP315 Player", "KP315 Team", "KP315 User"),
    "Ids in the examples": "an Id can be any text without the separator",
    "The fields of an item": "the attributes of an item have no order",
    "Transactions are given": "it is a reason for the design, not a part of it",
    "One set of provisioned": "it is a reason for the design, not a part of it",
    "An index doubles": _PRICES,
    "Get all players": ("KP409 Game.lineup", "KP409 Player.positions"),
    "There is no alternative": (
        "KP311 HackTracker.user_by_cognito_sub",
        "KP322 HackTracker.user_by_cognito_sub",
    ),
}
SYSTEMS: Mapping[str, Known] = {
    "funkedupshift": FUNKEDUPSHIFT,
    "threefc": THREEFC,
    "vcm": VCM,
    "wavyblog": WAVYBLOG,
    "hacktracker": HACKTRACKER,
}

BESIDES: Mapping[str, tuple[str, ...]] = {
    "funkedupshift": (
        "KP402 Group.by_entity",
        "KP402 Site.by_entity",
        "KP402 SquashPlayer.by_entity",
        "KP403 Rating.by_stars",
        "KP405 SquashMatch.by_squash_date",
        "KP409 Group.permissions",
    ),
    "threefc": (),
    "vcm": (
        "KP310 Event.by_start_date",
        "KP310 News.by_published_date",
        "KP403 Event.by_start_date",
        "KP403 News.by_published_date",
        "KP403 Team.by_status",
        "KP406 Vcm.all_media",
        "KP406 Vcm.all_roles",
        "KP409 Event.author_ids",
        "KP409 Member.role_ids",
        "KP409 News.author_ids",
        "KP409 Team.coach_ids",
        "KP409 Team.contact_person_ids",
        "KP409 Team.schedules",
    ),
    "wavyblog": (),
    "hacktracker": (
        "KP402 Game.listed",
        "KP402 Team.listed",
        "KP402 User.listed",
    ),
}
"""What the rules find in the documents' designs that the systems have, too, or solved in another way."""
