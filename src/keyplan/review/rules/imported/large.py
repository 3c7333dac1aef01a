"""Large values and vectors."""

from keyplan.review.rule import refused

RULES = (
    refused(
        "KP090",
        "large-type",
        "A large value that is neither text nor bytes",
        "A large value is stored in parts, in items or objects beside its own. Only text and bytes can be cut "
        "and put together again.\n\n"
        "Use `str` or `bytes`, and encode other values.",
    ),
    refused(
        "KP091",
        "large-key",
        "A large value in a key",
        "Keys have at most 2048 and 1024 bytes, and a large value isn't even in its item. So it can't be part of "
        "a key or a guard.\n\n"
        "Use another field there, such as a hash of the value.",
    ),
    refused(
        "KP092",
        "large-envelope",
        "A large value in a table with an envelope",
        "The table stores the fields of an item as JSON in one attribute, and a large value is stored beside the "
        "item.\n\n"
        "Declare the entity in a table without an envelope.",
    ),
    refused(
        "KP093",
        "large-limit",
        "A large value with an impossible limit",
        "`inline` is up to which size the value stays in its item. Items have at most 400 KB, with everything "
        "else in them.\n\n"
        "Use a number in the range that the message names.",
    ),
    refused(
        "KP094",
        "large-order",
        "Markers after large()",
        "`large()` wraps what stands before it in `Annotated[...]`. A marker after it would be applied to a "
        "value that may not have been read.\n\n"
        "Make `large()` the last marker.",
    ),
    refused(
        "KP095",
        "large-validator",
        "A validator of a large value",
        "Lists return items without their large values. A validator of the class would be called with what "
        "stands for one.\n\n"
        "Declare the validator with the type, before `large()`: `Annotated[str, AfterValidator(...), large()]`.",
    ),
    refused(
        "KP096",
        "large-joint-limit",
        "A limit on several fields, one of which is large",
        "The limit is checked when one of its fields changes, and the large value may not have been read then.\n\n"
        "Limit it alone, with its type, or keep what the limit needs in another field.",
    ),
    refused(
        "KP097",
        "large-sort-key",
        "Parts of a large value without a sort key",
        "The parts are items in the partition of their item, told apart by their sort keys. The table has no "
        "sort key of type S.\n\n"
        'Give the table one, or keep the value in object storage: `large(kept_in="objects")`.',
    ),
    refused(
        "KP098",
        "large-parts",
        "Items that sort among the parts of a large value",
        "The parts of a large value are in the partition of its item, after all other items. An entity or a "
        "guard in that partition sorts among them or after them, so each query of it would read the parts.\n\n"
        "Begin its sort key with a text that sorts before them, such as `ITEM#`.",
    ),
    refused(
        "KP099",
        "large-in-condition",
        "A condition on a large value",
        "A large value may be outside of its item, so DynamoDB can't compare it in a condition or filter, or "
        "project it.\n\n"
        "Keep what you need of it, such as its length, in another field.",
    ),
    refused(
        "KP110",
        "vector-dimensions",
        "A vector of an impossible size",
        "A vector index has a number of dimensions, from 1 up to the limit in the message, and all indexes on "
        "one attribute have the same. The model that makes the vectors says how many they have.\n\n"
        "Use that number.",
    ),
    refused(
        "KP111",
        "vector-indexes",
        "Too many vector indexes",
        "A table can have only a few vector indexes; the message says how many.\n\n"
        "Remove one, or store the vectors in another table.",
    ),
    refused(
        "KP112",
        "vector-filters",
        "Too many filters in a vector index",
        "A search can be limited by a few attributes, which the index holds beside the vector; the message says "
        "how many.\n\n"
        "Remove those that no search uses.",
    ),
    refused(
        "KP113",
        "vector-billing",
        "A vector index in a provisioned table",
        "Vector indexes are paid for by use, so their table has to be on demand.\n\n"
        "Leave out `billing` and `capacity`.",
    ),
    refused(
        "KP114",
        "vector-envelope",
        "A vector index of a table with an envelope",
        "The table stores the fields of an item as JSON in one attribute. An index can't look into it for the "
        "vector.\n\n"
        "Use a table without an envelope.",
    ),
    refused(
        "KP115",
        "vector-field",
        "A vector index without a vector",
        "The index reads the vector from an attribute, and the entity stores no vector of that size there.\n\n"
        "Declare a field with `vector(...)` that is stored under the name in the index.",
    ),
    refused(
        "KP116",
        "vector-element",
        "A filter of a vector index that isn't a field",
        "The index names an attribute by which searches can be limited, and the entity stores no field there.\n\n"
        "Name the stored attribute of a field in the index.",
    ),
    refused(
        "KP117",
        "vector-fields",
        "A search limited by other fields than the index has",
        "A search can be limited by the fields of the index only, and needs a value of the first one if the "
        "index is divided by it.\n\n"
        "Pass the fields that the message lists.",
    ),
    refused(
        "KP118",
        "vector-shared",
        "A vector index with two entities",
        "Both entities have vectors in the index, and a search can't be limited to one of them. It would find "
        "the nearest of both, and leave out the others after that, so it could return too few.\n\n"
        "Add the table's type attribute to the filters of the index, or use an index for each.",
    ),
    refused(
        "KP119",
        "not-a-vector-index",
        "A search in something that isn't a vector index",
        "`nearest` searches in a vector index of an entity, and was given something else.\n\n"
        'Use the member that was declared with `table.nearest_by("...")`, such as `Note.by_meaning`.',
    ),
)
