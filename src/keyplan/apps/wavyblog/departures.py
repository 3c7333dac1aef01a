"""Where WavyBlog's design departs from its document, and why."""

from keyplan.design import accept, departure

DEPARTURES = (
    departure(
        document='Get User by Username: PK = "USER#<username>"; Get Post by Slug: PK = "POST#<slug>"',
        here="GetItem with the sort key METADATA#<the same>",
        because="the table has a sort key, so the partition key alone needs a Query, which would read a user's images "
        "too",
    ),
    departure(
        document='UserEmail: PK = "USEREMAIL#<email>"',
        here="the key of the guard has the address in lower case, NFKC, with its domain in IDNA form; the user item "
        "keeps it as it was entered. Guards of addresses that aren't ASCII were once in lower case only: "
        "`keyplan verify --repair` moves them, and reports two users with the same address. After one of the two has "
        "another address or is deleted, run it again: it gives the other one the guard",
        because="addresses that differ only in case belong to one mailbox almost everywhere, and a domain is the same "
        "in both of its forms",
    ),
    departure(
        document='Slug Uniqueness Entity: PK = "SLUG#<slug>"',
        here="only posts have one; a category's slug is unique by the category's own key",
        because="a post and a category may have the same slug",
    ),
    departure(
        document='GSI1SK and GSI2SK: "POST#<CreatedAt_RFC3339>"',
        here='"POST#<CreatedAt>#<slug>", which begins with the document\'s form',
        because="posts of the same second would have no defined order",
    ),
    departure(
        document="Posts sorted by creation date; Get All Posts through GSI3",
        here="GSI3 returns posts by slug, which is its sort key; one more index, GSI4, has published posts by time: "
        'GSI4PK = "PUBLISHED_POSTS", GSI4SK = "POST#<CreatedAt>#<slug>", drafts lack both attributes',
        because="no index of the document has all posts by time, and the front page shows the latest",
    ),
    departure(
        document="Get Posts by User, Get Posts by Category, Get All Posts",
        here="these return drafts too; they are for admins, and for authors reading their own posts. Others get the "
        "same queries with a filter that leaves out other people's drafts, and pages are refilled",
        because="IsPublished is not part of a key of GSI1 to GSI3",
    ),
    departure(
        document="GSI projection: all attributes",
        here="kept; GSI3 thus copies PasswordHash, which is a secret that no response, log or error shows",
        because="lists of users don't need it, but with another projection it would not be the document's index",
    ),
    departure(
        document="GSI3 eliminates expensive Scan operations",
        here="kept, but always read page by page",
        because="a Query on EntityType reads all items of the type, as a Scan would, and each type is one partition of "
        "the index, with the throughput of one partition",
    ),
    departure(
        document="CreatedAt and UpdatedAt of type Timestamp",
        here="strings: RFC 3339 in UTC, whole seconds, Z",
        because="DynamoDB has no such type, and strings of equal length sort by time",
    ),
    departure(
        document="User and Category entities",
        here="both have a PostCount, which is updated with every post; an item ADMINS / ADMINS has the AdminCount",
        because="whether a user or category has posts, and whether an admin is the last one, can't be decided by a "
        "query while others write",
    ),
    departure(
        document='Category: PK = "CATEGORY#<slug>"',
        here="a new slug is a new category: it is created, the old one gets RenamedTo, its posts move, and the old one "
        "is deleted when no posts are left; until then the new one has an AwaitedCount of 1 and can't be deleted",
        because="a category may have more posts than fit into a transaction, and with RenamedTo any process can finish "
        "the rename",
    ),
    departure(
        document="User, Post and Category entities",
        here="each has a Version, which every update checks and increases",
        because="two people who edit a post must not overwrite each other's changes unnoticed",
    ),
    departure(
        document="no images",
        here='an item per image under its owner: PK = "USER#<username>", SK = "IMAGE#<ImageID>"',
        because="a user's images are listed, and deleted with the user",
    ),
    departure(
        document="no login sessions",
        here="refresh tokens (by hash, through a guard, listed under their user) and their families in the table "
        "WavyBlog-keyplan, with a time to live",
        because="rotating, revoking and detecting reuse need the tokens to be stored; the document's table has no time "
        "to live, and should only hold what the document describes",
    ),
    departure(
        document="Endpoint: LocalStack, http://localhost:4566",
        here="any DynamoDB: the embedded engine, an endpoint or AWS",
        because="the design does not depend on where it runs",
    ),
)

ACCEPTED = (
    accept(
        "redundant-guard",
        "Post.slug_guard",
        because="the document has it, and its pattern Check Slug Uniqueness reads it",
    ),
    accept(
        "secret-in-index",
        "User.by_type",
        because="GSI3 is the document's, with all attributes; the hash never leaves the data layer",
    ),
    accept(
        "needless-strong-read",
        "WavyBlog.admins",
        because="the number is read by hand, right after somebody was made an admin, and must not be outdated then",
    ),
    accept("one-partition", "User", because="the document lists users through GSI3, which only admins do"),
    accept("one-partition", "Post", because="the document lists posts through GSI3, which only admins do"),
    accept("one-partition", "Category", because="admins add categories by hand: there are some dozens"),
    accept("growing-end", "Post", because="all authors together publish far less than a thousand posts a second"),
)
"""What a review finds and is accepted, and why."""
