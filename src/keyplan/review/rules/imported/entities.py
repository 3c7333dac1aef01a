"""Entities and their fields."""

from keyplan.review.rule import refused

RULES = (
    refused(
        "KP020",
        "class-options",
        "An entity with options that don't exist",
        "The class is declared with a keyword that entities don't have, or with a type and no table to store it "
        "in. Python would pass it on silently, so it is refused here.\n\n"
        "The options are `table`, `type`, `noun`, `exists`, `expected`, `claims` and `abstract`.",
    ),
    refused(
        "KP021",
        "no-table",
        "An entity without a table",
        "The class inherits from `Entity`, and nothing says in which table its items are.\n\n"
        "Declare it with `table=...`, or with `abstract=True` if other entities are to inherit from it.",
    ),
    refused(
        "KP022",
        "abstract-entity",
        "An abstract entity that is used as an entity",
        "An abstract entity is there to be inherited from. It has no items, so it can't have a type or claims of "
        "its own, and can't be read, written or listed in a design.\n\n"
        "Use an entity that inherits from it.",
    ),
    refused(
        "KP023",
        "no-key",
        "An entity without a primary key",
        "DynamoDB identifies each item by its primary key, and the entity doesn't say how its own is made.\n\n"
        'Declare `primary = key("USER#{username}", "PROFILE")`, with one part for each part of the table\'s '
        "key.",
    ),
    refused(
        "KP024",
        "no-codec",
        "A field that can't be stored",
        "The type of the field has no form in DynamoDB. Sets have members of one type: text, numbers or bytes. "
        "Everything else is text, a number, bytes, a boolean, a time, a date, a UUID, an enum, or a list, dict "
        "or model of them.\n\n"
        "Use such a type, or a list instead of the set.",
    ),
    refused(
        "KP025",
        "unknown-type",
        "A type that isn't defined",
        "The annotation of a field names a type that its module doesn't have, so nobody can know how it is "
        "stored. Often an import is missing, or the type is defined inside of a function.\n\n"
        "Define or import it at the top of the module, before the entity.",
    ),
    refused(
        "KP026",
        "no-such-field",
        "A field that the entity doesn't have",
        "A template, a condition, a selection, a guard or a claim names a field that the entity doesn't have. "
        "Usually it is misspelled, or it was renamed in one place only.\n\n"
        "Use one of the fields that the message lists.",
    ),
    refused(
        "KP027",
        "unknown-field",
        "A limit on a field that the class doesn't have",
        "A limit on several fields names one that the class doesn't have, so it could never be checked.\n\n"
        "Name fields of the class in `limits(...)`.",
    ),
    refused(
        "KP028",
        "limit",
        "A limit that can't be called",
        "`limit(...)` takes a function that gets the value and raises `ValueError` if it is beyond the limit, "
        "and this is something else.\n\n"
        "Give it a function, or use one of pydantic's limits, such as `Field(le=3)`.",
    ),
    refused(
        "KP029",
        "same-attribute",
        "Two fields that are stored under one name",
        "Both values would be written into the same attribute, and one of them would be lost. This can happen by "
        "the table's `case` as well: `user_id` and `userId` are the same in camel case.\n\n"
        'Give one of them another name: `Annotated[..., stored("Name")]`.',
    ),
    refused(
        "KP030",
        "taken-attribute",
        "A field that is stored under a reserved name",
        "The attribute holds the entity's type, is the envelope of the table, or begins with `keyplan`, which is "
        "reserved for what the data layer stores itself. The field would overwrite it.\n\n"
        'Store it under another name: `Annotated[..., stored("Name")]`.',
    ),
    refused(
        "KP031",
        "same-kind",
        "Two fields of a kind that there is once",
        "An entity has one version, one time of creation, one time of change and one time to live. The data "
        "layer writes them itself, and wouldn't know which of two to use for conditions.\n\n"
        "Make the second one a plain `int` or `datetime`, or remove it.",
    ),
    refused(
        "KP032",
        "ttl-attribute",
        "A time to live where DynamoDB doesn't look for it",
        "A table has one attribute with the time to live. A `Ttl` that is stored under another name would never "
        "delete anything, and another field under that name could delete items by accident.\n\n"
        'Give the table `ttl="expiresAt"` and store the `Ttl` there.',
    ),
    refused(
        "KP033",
        "lost-none",
        "A None that would be read as something else",
        "None isn't stored, since an index leaves out items without its attributes. So a missing attribute is "
        "read as the default, and a value that was set to None would come back as that.\n\n"
        "Make None the default, or remove None from the type.",
    ),
    refused(
        "KP034",
        "lost-empty-set",
        "An empty set that would be read as something else",
        "DynamoDB has no empty sets, so one isn't stored, and a missing attribute is read as the default. A set "
        "whose members were all removed would come back with those of the default.\n\n"
        "Remove the default, and pass the members when you create the entity.",
    ),
    refused(
        "KP035",
        "empty-or-none",
        "A set that can be None",
        "Neither None nor an empty set is stored, so they can't be told apart when the item is read.\n\n"
        "Remove None from the type: a missing set is an empty set.",
    ),
    refused(
        "KP036",
        "no-example",
        "A field without an example",
        "Examples of requests, documents and metered costs need a valid value of each field, and none was found: "
        "the field has limits that aren't known from its type, such as a function.\n\n"
        "Declare one: `Annotated[..., about(..., example=...)]`, or `Field(examples=[...])`.",
    ),
    refused(
        "KP037",
        "not-on-top",
        "A condition on a field inside the envelope",
        "The table stores fields as JSON in one attribute, which conditions and filters can't look into.\n\n"
        "Store the field outside the envelope as well: `Annotated[..., on_top()]`.",
    ),
    refused(
        "KP038",
        "not-by-itself",
        "A condition on a field that is part of a key attribute",
        "The field isn't stored by itself but in a key attribute together with others. A condition would compare "
        "the whole attribute.\n\n"
        'Store the field under a name of its own: `Annotated[..., stored("Name")]`.',
    ),
)
