"""Keys and the templates that they are made of."""

from keyplan.review.rule import refused

RULES = (
    refused(
        "KP040",
        "key-parts",
        "A key with too many or too few parts",
        "The entity's key must have one template for each attribute of the table's or the index's key. Without a "
        "value for the range key, DynamoDB refuses the item; in an index, the item would be left out.\n\n"
        "Give one part for each of the attributes that the message lists.",
    ),
    refused(
        "KP041",
        "bad-template",
        "A template that can't be read",
        "Text in braces is a field with an optional format. Something in the template has braces and is neither.\n\n"
        "Fields are written as `{field}`, `{field:04}`, `{field:%Y-%m}`, `{field.lower}`, `{field.address}`, "
        "`{field.desc}`, `{field|text}` or `{shard(field, 16)}`.",
    ),
    refused(
        "KP042",
        "empty-template",
        "An empty template",
        "A key attribute must have a value: DynamoDB refuses empty text and empty bytes in keys.\n\n"
        "Add a literal text or a field to the template.",
    ),
    refused(
        "KP043",
        "optional-key",
        "A primary key that may have no value",
        "A field of the primary key can be None, and an item without its primary key can't be stored.\n\n"
        "Remove None from the type, or give the template a text for it: `{field|none}`.",
    ),
    refused(
        "KP044",
        "not-injective",
        "A primary key that different items share",
        "The key has only a date bucket or a shard of the field, and not the whole value. Different items would "
        "have the same key, and the second would overwrite the first, or be refused.\n\n"
        "Add the whole value as the last part of the sort key.",
    ),
    refused(
        "KP045",
        "two-templates",
        "An attribute with two templates",
        "An attribute that is in two keys has one value, and the entity declares two templates for it. What is "
        "written would depend on which of them is used last.\n\n"
        "Use the same template in both, or another attribute.",
    ),
    refused(
        "KP046",
        "lost-value",
        "A field that can't be read back from its key attribute",
        "The field is stored only in a key attribute that doesn't always contain its value: the template folds "
        "it to lower case, has only a part of it, or isn't written for all items.\n\n"
        'Store the field under a name of its own: `Annotated[..., stored("Name")]`.',
    ),
    refused(
        "KP047",
        "inverted-value",
        "A field that is stored in reverse order",
        "The field is stored only in a key attribute in which it is inverted (`.desc`). Conditions and filters "
        "on it would compare the inverted values, so `<` would mean `>`.\n\n"
        'Store the field under a name of its own: `Annotated[..., stored("Name")]`.',
    ),
    refused(
        "KP048",
        "number-in-key",
        "A counter or version in a key template",
        "The data layer changes counters and versions with an update of that attribute alone. A text that "
        "contains the number would keep the old one, and the item would be in the wrong place of the index.\n\n"
        "Use the number itself as a key attribute of type N, with the field's name.",
    ),
    refused(
        "KP049",
        "ttl-not-projected",
        "An index without the time to live",
        "DynamoDB deletes expired items hours or days after their time. Until then, queries leave them out by a "
        "filter on the time to live, and the index doesn't have that attribute.\n\n"
        "Project the attribute into the index.",
    ),
    refused(
        "KP050",
        "not-its-key",
        "A key of another entity",
        "An operation on an entity was given a key that is declared in another one. Their templates differ, so "
        "it would read something else.\n\n"
        "Use a key that the entity declares or inherits.",
    ),
    refused(
        "KP051",
        "ambiguous-entities",
        "Two entities whose keys can be taken for each other",
        "An item's entity is known by its key or by its type attribute. These two entities can have the same "
        "key, and nothing else tells them apart. So one could overwrite the other, and reads could take one for "
        "the other.\n\n"
        "Begin the keys with different literals, use `Id` for fields without the separator, or give both a type.",
    ),
    refused(
        "KP052",
        "ambiguous-guard",
        "A guard that can be taken for an item",
        "The key of a guard could also be the key of an entity's item. A unique value could then block that "
        "item, or be read as one.\n\n"
        "Begin the guard's key with a literal of its own, such as `EMAIL#`.",
    ),
    refused(
        "KP053",
        "no-format",
        "A type that can't be in a key",
        "Text in keys must have one form for each value, and sort as the values do. Lists, models, booleans and "
        "bytes have no such form; a decimal has several, which would be in different shards.\n\n"
        "Use text, numbers, times, dates, UUIDs, enums or literals.",
    ),
    refused(
        "KP054",
        "unknown-format",
        "A format that the type doesn't have",
        "Numbers have a width (`{n:04}`, `{n:+04}` with a sign, `{n:6.2}` for decimals); times and dates have a "
        "part of a date (`{at:%Y-%m}`). The field has another type, or the format is written in another way.\n\n"
        "Remove the format, or use one that fits the field.",
    ),
    refused(
        "KP055",
        "unpadded-number",
        "A number that doesn't sort",
        "Text is compared from left to right, so 10 comes before 9 unless all numbers have the same width. The "
        "same holds for enums and literals that are numbers.\n\n"
        "Give it a width: `{n:04}`, `{n:+04}` if it may be negative, `{n:+6.2}` for a decimal. Or use an index "
        "key of type N.",
    ),
    refused(
        "KP056",
        "not-invertible",
        "A type that can't be in reverse order",
        "`.desc` writes a value so that larger ones come first. That needs a fixed width, which numbers, times "
        "and dates have, and text hasn't.\n\n"
        "Use `.desc` with one of them, or read the list with `newest_first=True`.",
    ),
    refused(
        "KP057",
        "bucket-format",
        "A date bucket that isn't one",
        "A bucket is a part of a time or date, from the left: `%Y`, `%Y-%m`, `%Y-%m-%d` or a week, for times "
        "also hours, minutes and seconds. Other units, and digits between them, couldn't be computed back into a "
        "range of time.\n\n"
        "Write one of these formats.",
    ),
    refused(
        "KP058",
        "bucket-order",
        "A date bucket whose units aren't in order",
        "Partitions of a bucket are read one after the other, in the order of time. For that, its units must "
        "begin with the year and go on without a gap.\n\n"
        "Write `{at:%Y-%m}`, for example, not `{at:%m-%Y}`.",
    ),
    refused(
        "KP059",
        "shard-count",
        "A number of shards that makes no sense",
        "A shard spreads items over 2 or more partitions, and each query reads all of them, so there is a "
        "largest number, too. With `was=`, the number must differ from the one before.\n\n"
        "Change the number of shards.",
    ),
    refused(
        "KP060",
        "shard-in-sort-key",
        "A shard in a sort key",
        "A shard spreads items over partitions. A sort key doesn't make partitions: the items would stay in one, "
        "and lose their order.\n\n"
        "Put the shard into the hash key.",
    ),
    refused(
        "KP061",
        "shard-in-guard",
        "A shard in the key of a guard",
        "A guard is one item, so there is nothing to spread, and with a shard two items with the same value "
        "could have different guards.\n\n"
        "Write the field itself.",
    ),
    refused(
        "KP062",
        "shard-was",
        "A changed number of shards in a primary key",
        "With `was=`, items are looked for under both numbers of shards. An index can be queried twice; an item "
        "has one primary key.\n\n"
        "Use it in an index. To change a primary key, declare a second entity with the new key, and move the "
        "items by a rewrite.",
    ),
    refused(
        "KP063",
        "computed-twice",
        "A hash key with two buckets or two shards",
        "A query of a bucket or of shards reads all partitions that can have matching items. With two of a kind, "
        "there would be too many combinations.\n\n"
        "Keep one of each in the hash key, and put the other value into the sort key.",
    ),
    refused(
        "KP064",
        "several-sort-keys",
        "Buckets or shards with several sort key attributes",
        "Partitions of a bucket or of shards are read as one list, in the order of the sort key. With several "
        "sort key attributes, that order isn't known.\n\n"
        "Use one attribute as the sort key.",
    ),
)
