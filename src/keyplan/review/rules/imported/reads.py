"""Reads: what keys can answer, and what DynamoDB accepts."""

from keyplan.review.rule import refused

RULES = (
    refused(
        "KP130",
        "key-fields",
        "A read without the values that its key needs",
        "A get needs all fields of the key. A query needs all fields of the hash key, and can have those of the "
        "sort key from the left, without gaps. Some are missing, or others were given.\n\n"
        "Pass the fields that the message lists, or query another index.",
    ),
    refused(
        "KP131",
        "hash-range",
        "A range of a hash key",
        "DynamoDB finds a partition by the exact value of its hash key. It can't look for those that are larger, "
        "between or that begin with something.\n\n"
        "Put the field that needs a range into a sort key.",
    ),
    refused(
        "KP132",
        "open-range",
        "A range over date buckets without an end",
        "Each date bucket is a partition, and all partitions in the range are read. So it needs a beginning and "
        "an end.\n\n"
        "Use `within(first, last)`, or one value for one bucket.",
    ),
    refused(
        "KP133",
        "bucket-range",
        "A range over date buckets that the sort key can't cut",
        "The first and the last bucket have items before and after the range. The sort key doesn't begin with "
        "the time, so they can't be left out.\n\n"
        "Begin the sort key with the field, or query one bucket with one value.",
    ),
    refused(
        "KP134",
        "bound-on-bucket",
        "A range of a value of which the sort key has only a bucket",
        "The sort key has the month of a time, for example, and the range ends in the middle of a month. It "
        "would find too much.\n\n"
        "Use the whole value in the sort key: it sorts by time as well.",
    ),
    refused(
        "KP135",
        "unknown-option",
        "A query with a misspelled option",
        "A query takes fields of its key and a few options. This is neither, and would have been taken for a "
        "field.\n\n"
        "The message says which option was probably meant.",
    ),
    refused(
        "KP136",
        "filter-on-key",
        "A filter on a key attribute",
        "DynamoDB refuses filters on the attributes of the key that is queried.\n\n"
        "Query by the value, with the fields of the key or a bound, or use another index.",
    ),
    refused(
        "KP137",
        "not-projected",
        "A filter on an attribute that the index doesn't have",
        "The index doesn't project the attribute, so a filter would find it missing in all items.\n\n"
        "Project the attribute into the index, or filter after reading.",
    ),
    refused(
        "KP138",
        "consistent-index",
        "A consistent read of a global index",
        "Global indexes are updated after the table, so DynamoDB doesn't offer consistent reads of them, and "
        "refuses the request.\n\n"
        "Remove `consistent`, or read the table or a local index.",
    ),
    refused(
        "KP139",
        "newest-first",
        "A reversed list that is reversed again",
        "The sort key is written in reverse order (`.desc`), so items come newest first anyway. With "
        "`newest_first`, they would come oldest first.\n\n"
        "Leave out `newest_first`.",
    ),
    refused(
        "KP140",
        "not-a-key",
        "A query of something that isn't a key",
        "A query reads one partition of the table or an index, so it takes a key: the primary key or a placement "
        "of an entity.\n\n"
        "Use one, such as `Order.primary` or `Order.by_customer`.",
    ),
    refused(
        "KP141",
        "not-one-collection",
        "A collection of items in different partitions",
        "One query reads one partition. The entities are in different tables or indexes, or their hash keys are "
        "made in different ways.\n\n"
        "Give them hash keys with the same text and fields of the same types, or read them with several queries.",
    ),
    refused(
        "KP142",
        "aggregate",
        "An aggregate that can't be put together",
        "The first field of an aggregate is an entity, the root; each other one is a list of another entity's "
        "items, or the only one of them. Each entity is in one field, since items are told apart by their "
        "entity.\n\n"
        "Declare the fields like this: `order: Order`, `lines: list[Line]`, `invoice: Invoice | None`.",
    ),
    refused(
        "KP143",
        "only",
        "A selection that isn't one of fields",
        "`only(...)` takes a function that returns fields of the entity, or a model with some of its fields. It "
        "is called once with a stand-in, so it can't compute anything, and lists have no large values.\n\n"
        "Return a field, or a tuple of fields: `lambda post: (post.title, post.slug)`.",
    ),
    refused(
        "KP144",
        "view",
        "A view that isn't a model",
        "A view is a pydantic model whose fields are fields of the entity, and this is something else.\n\n"
        "Declare a model with these fields.",
    ),
    refused(
        "KP145",
        "view-type",
        "A view whose field has another type",
        "Values of a view are decoded as the entity's are. The field has another type there, so it would have "
        "values that it doesn't allow.\n\n"
        "Use the same type, or inherit the field from shared `Fields`.",
    ),
    refused(
        "KP146",
        "transact-get",
        "A transaction that can't read this",
        "TransactGetItems reads 1 to 100 items by their keys, as they were at one moment. Queries can't be part "
        "of it.\n\n"
        "Give it reads by key, `get(...)`. For more items, use `batch_get`, which doesn't promise one moment.",
    ),
    refused(
        "KP147",
        "count",
        "A count of something that isn't a list",
        "`count` counts the items of a query, a collection or a scan, without returning them.\n\n"
        "Pass one of these, such as `query(Post.by_author, author=author)`.",
    ),
    refused(
        "KP148",
        "on-unreadable",
        "An unknown way to treat unreadable items",
        "`on_unreadable` says what happens to stored items that don't fit their entity. This read doesn't have "
        "the choice that was given.\n\n"
        "Use one that the message lists.",
    ),
    refused(
        "KP149",
        "unreadable-order",
        "Unreadable items in a merged list",
        "A merged list is sorted by values of its items. An item that can't be read has none, so it has no "
        "place.\n\n"
        'Leave such items out with `on_unreadable("skip")`, which reports them beside the list.',
    ),
)
