"""Tables and indexes, and how tables are run."""

from keyplan.review.rule import refused

RULES = (
    refused(
        "KP001",
        "table-key",
        "A table with a key that DynamoDB doesn't have",
        "A table's primary key is one hash key attribute, alone or with one range key attribute. DynamoDB "
        "refuses to create a table with more. Only a global index can have several attributes in a part of its "
        "key.\n\n"
        'Write `key("PK")` or `key("PK", "SK")`, and put several values into one attribute with a template.',
    ),
    refused(
        "KP002",
        "index-key",
        "An index key with more than four attributes in a part",
        "Each part of a global index's key, hash and range, can have up to four attributes. DynamoDB refuses "
        "more.\n\n"
        "Put several values into one attribute with a template, such as `{country}#{city}`.",
    ),
    refused(
        "KP003",
        "same-name-twice",
        "One attribute as hash key and range key",
        "A key whose two parts are the same attribute can't sort anything: each partition would have one item. "
        "DynamoDB refuses to create it.\n\n"
        "Use the hash key alone, or another attribute as the range key.",
    ),
    refused(
        "KP004",
        "two-types",
        "A key attribute with two types",
        "A table lists each key attribute once, with one type, and all keys that use the attribute share it. An "
        "item whose value has another type than an index expects is refused.\n\n"
        "Use the same type in all keys, or another attribute.",
    ),
    refused(
        "KP005",
        "key-type",
        "A key of the wrong type",
        "Key attributes are text (S), numbers (N) or bytes (B). A template makes text, so an N or B key takes a "
        'single field of that type, as in `key("{stars}")`; a field that is stored under the name of an '
        "index's key must have its type, too. DynamoDB refuses items whose key has another type.\n\n"
        "Change the type of the attribute in the table, or give it a field that fits.",
    ),
    refused(
        "KP006",
        "local-index",
        "A local index that DynamoDB doesn't allow",
        "A local index needs a table with a range key, and a table can have five of them. They can't be added "
        "later, and limit all items under one hash key to 10 GB together.\n\n"
        "Make it a global index, `key(hash, range)`, unless it has to be read consistently.",
    ),
    refused(
        "KP007",
        "name",
        "A name that DynamoDB doesn't allow",
        "Tables and indexes have names of 3 to 255 letters, digits, underscores, hyphens and dots. Parts in "
        "braces, such as `{env}`, are filled in later and aren't counted here.\n\n"
        "Rename the table or the index.",
    ),
    refused(
        "KP008",
        "same-name",
        "A name that is used twice",
        "Two indexes of a table, two tables or two entities have one name. Requests, addresses, cursors and "
        "journals name tables and entities by it, so they could mean either.\n\n"
        "Rename one of them.",
    ),
    refused(
        "KP009",
        "no-such-index",
        "An index that the table doesn't have",
        "An entity is placed in an index by its name, and the table has none with this name. Often the name is "
        "misspelled, or the index was removed from the table and not from the entity.\n\n"
        "Use one of the indexes that the message lists, or add it to the table.",
    ),
    refused(
        "KP010",
        "foreign-index",
        "An index of another table",
        "An entity is placed in an index that belongs to another table. Its items aren't stored there, so they "
        "could never be in that index.\n\n"
        "Use an index of the entity's own table.",
    ),
    refused(
        "KP011",
        "capacity",
        "Capacity that doesn't fit the billing mode",
        "A provisioned table needs read and write capacity units, and an on-demand table can't have any. "
        "DynamoDB refuses both combinations.\n\n"
        'Use `capacity=(read, write)` with `billing="PROVISIONED"`, and only with it.',
    ),
    refused(
        "KP012",
        "recovery",
        "A recovery period that AWS doesn't have",
        "Point-in-time recovery keeps 1 to 35 days. AWS refuses other periods.\n\n"
        "Write `recovery=35`, another number of days, `True` for 35, or `False` if the table is deliberately "
        "without.",
    ),
    refused(
        "KP039",
        "table-setting",
        "A setting of a table with an unknown value",
        "A table's `stream`, `billing`, `case` and `times` have a few values each, such as `NEW_AND_OLD_IMAGES` or "
        "`PROVISIONED`. With another one, CreateTable is refused, or names and times are stored in a form that nobody "
        "meant.\n\n"
        "Use one of the values. Type checkers find the mistake, too.",
    ),
    refused(
        "KP013",
        "table-class",
        "A table class that AWS doesn't have",
        "A table is in the class `STANDARD`, or in `STANDARD_INFREQUENT_ACCESS`, whose storage is cheaper and "
        "whose requests cost more.\n\n"
        "Use one of the two.",
    ),
    refused(
        "KP014",
        "encryption",
        "An encryption that AWS doesn't have",
        "A table is encrypted with a key that DynamoDB owns (`AWS_OWNED`), with one that AWS manages in the "
        "account (`AWS_MANAGED`), or with a key of your own, which is named by its ARN.\n\n"
        "Use one of the three.",
    ),
    refused(
        "KP015",
        "tags",
        "Tags that AWS doesn't allow",
        "A table can have 50 tags. A key has up to 128 characters and doesn't begin with `aws:`, a value has up "
        "to 256, and both consist of letters, digits, spaces and `. : / = + @ - _`.\n\n"
        "Change or remove the tag.",
    ),
    refused(
        "KP016",
        "consumer",
        "A consumer that can't read the stream",
        '`consumers` of a table lists what reads its stream, each as `consumer("name")`. It isn\'t such a list, '
        "a name in it is empty, or the table has no stream to read.\n\n"
        'Write `consumers=(consumer("search"),)`, with the comma, and give the table a `stream`.',
    ),
    refused(
        "KP017",
        "environment",
        "A table name with an open place",
        "The name of the table has a part in braces without a default, and the design was made without a value "
        "for it. So there is no name to send.\n\n"
        'Pass a value, `Blog(environment={"env": "prod"})`, or write a default: `{env=dev}`.',
    ),
    refused(
        "KP018",
        "foreign-table",
        "An entity or a guard in a table that the design doesn't have",
        "The entity's table, or that of its guard, isn't in `tables` of the design. It wouldn't be created with "
        "the others, and no permissions would be granted for it.\n\n"
        "Add the table to `tables`.",
    ),
    refused(
        "KP019",
        "no-type-attribute",
        "A type without a place",
        'The entity has a `type="..."`, and its table has no type attribute in which it could be stored. It '
        "would be lost, and couldn't tell the entity's items from others.\n\n"
        "Give the table `type_attribute=...`, or remove the type.",
    ),
)
