"""Where WavyBlog's design does not do what its document says."""

from keyplan.design import departure

DEPARTURES = (
    departure(
        document='Get User by Username: PK = "USER#<username>"; Get Post by Slug: PK = "POST#<slug>"',
        here="GetItem with the sort key METADATA#<the same>",
        because="the table has a sort key, so the partition key alone is a Query, which for a user "
        "would read the images too",
    ),
    departure(
        document='UserEmail: PK = "USEREMAIL#<email>"',
        here="the address is in lower case in the guard's key; the user keeps it as it was written",
        because="addresses that differ in case only are one mailbox nearly everywhere",
    ),
    departure(
        document='Slug Uniqueness Entity: PK = "SLUG#<slug>"',
        here="only posts have it; the slug of a category is unique by the category's own key",
        because="posts and categories would otherwise take slugs from each other",
    ),
    departure(
        document='GSI1SK and GSI2SK: "POST#<CreatedAt_RFC3339>"',
        here='"POST#<CreatedAt>#<slug>", which begins with the document\'s form',
        because="posts of the same second would have no order of their own",
    ),
    departure(
        document="Posts sorted by creation date; Get All Posts through GSI3",
        here="GSI3 gives posts by slug, as its sort key says; one more index, GSI4, holds published posts by time: "
        'GSI4PK = "PUBLISHED_POSTS", GSI4SK = "POST#<CreatedAt>#<slug>", no attributes on drafts',
        because="no index of the document has all posts in order of time, and a front page needs the latest",
    ),
    departure(
        document="Get Posts by User, Get Posts by Category, Get All Posts",
        here="these give drafts too and are for admins, and for authors where all posts are their own; everybody else "
        "gets the same queries with a filter on IsPublished, which lets drafts of one's own through, and pages are "
        "refilled",
        because="IsPublished is in no key of GSI1 to GSI3",
    ),
    departure(
        document="GSI projection: all attributes",
        here="kept; PasswordHash, which GSI3 thus copies, is a secret that no answer, log or error shows",
        because="a listing of users has no use for it, but another projection would not be the document's index",
    ),
    departure(
        document="GSI3 eliminates expensive Scan operations",
        here="kept, but read in pages, and never all of it for one answer",
        because="a Query on EntityType reads all items of the type just as a Scan would, and each type is one "
        "partition of the index, with the throughput of one",
    ),
    departure(
        document="CreatedAt and UpdatedAt of type Timestamp",
        here="strings: RFC 3339 in UTC, whole seconds, Z",
        because="DynamoDB has no such type, and texts of one width sort as their times do",
    ),
    departure(
        document="User and Category entities",
        here="both have PostCount, which writes of posts keep; an item ADMINS / ADMINS holds AdminCount",
        because="that a user or category has no posts, and that an admin is not the last one, can not be decided "
        "on a query while others write",
    ),
    departure(
        document='Category: PK = "CATEGORY#<slug>"',
        here="another slug is another category: it is created, the old one gets RenamedTo, its posts move, and the "
        "old one is deleted when it has none left; until then the new one has an AwaitedCount of 1 and stays",
        because="a category may have more posts than a transaction holds, and whoever finds RenamedTo can finish "
        "what was begun",
    ),
    departure(
        document="User, Post and Category entities",
        here="each has a Version, which every update raises and checks",
        because="two people who edit one post must not overwrite each other unseen",
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
        because="a token that is rotated, reused or revoked has to be known; the document's table has no time to "
        "live and should hold nothing that is not the document's",
    ),
    departure(
        document="Endpoint: LocalStack, http://localhost:4566",
        here="any DynamoDB: the embedded engine, an endpoint or AWS",
        because="the design does not depend on where it runs",
    ),
)
