"""What changes together: guards, derived items, counters and parents."""

from keyplan.review.rule import refused

RULES = (
    refused(
        "KP070",
        "not-a-table",
        "A guard in something that isn't a table",
        "`unique(..., table=...)` takes the table itself in which the guard is to be, and was given something "
        "else.\n\n"
        "Pass the `Table`, not its name.",
    ),
    refused(
        "KP071",
        "not-a-guard",
        "A lookup through something that isn't a guard",
        "`lookup` and `taken` find an item by a value that is unique, by the item that guards it; `lookup` works "
        "through a mirror as well. This is another member of the entity.\n\n"
        "Pass a guard, such as `User.email_guard`. To get an item by its key, use `get`; by an index, `query`.",
    ),
    refused(
        "KP072",
        "guard-carries",
        "A guard that doesn't lead to its item",
        "A lookup reads the guard, and then the item by the primary key in it. The guard doesn't have all fields "
        "of that key.\n\n"
        'Add them: `unique("EMAIL#{email}", carries=("username",))`.',
    ),
    refused(
        "KP073",
        "derived-entity",
        "Derived items that aren't entities of the design",
        "A method with `@derived` returns items of an entity, which its annotation must name and the design must "
        "have. The derived items follow from another item, so they can't have effects of their own.\n\n"
        "Annotate what it returns, add that entity to the design, and declare effects next to the method.",
    ),
    refused(
        "KP074",
        "on-delete",
        "A parent with an unknown rule for deletes",
        "`on_delete` says what happens to the children when the parent is deleted: `cascade` deletes them, "
        "`refuse` forbids it as long as there are any, `keep` leaves them.\n\n"
        "Use one of the three.",
    ),
    refused(
        "KP075",
        "parent",
        "A parent that isn't named",
        "A method with `@belongs_to` returns a reference to the parent's item, and it returned none for any "
        "value that was tried.\n\n"
        "Return `ref(Parent, ...)` with the fields of the parent's key.",
    ),
    refused(
        "KP076",
        "refuse-needs-count",
        "A delete that can't be refused safely",
        'With `on_delete="refuse"`, a parent with children can\'t be deleted. A query for children before the '
        "delete would miss those that are created in between; a count in the parent is a condition of the same "
        "transaction.\n\n"
        'Add `count="..."`, the name of a `Count` field of the parent.',
    ),
    refused(
        "KP077",
        "cascade-via",
        "Children that a delete can't find",
        "A cascading delete finds the children by a query of the primary key or of an index, with values of the "
        "parent's key. The key named by `via` doesn't exist, or needs other values as well.\n\n"
        "Name a placement whose hash key is made of the parent's key, or list all other values in `over=`.",
    ),
    refused(
        "KP078",
        "counter",
        "A counter without a field",
        "The count is kept in a `Count` field of another item, and the entity that is named has no such field.\n\n"
        "Declare it there: `posts: Count = 0`.",
    ),
    refused(
        "KP079",
        "floor",
        "A floor that isn't a number",
        "`floor` is the least value of a counter: a write that would make it smaller is refused, as part of its "
        "transaction.\n\n"
        "Use a whole number, such as `floor=0`.",
    ),
    refused(
        "KP080",
        "transaction-size",
        "A change that doesn't fit into a transaction",
        "A DynamoDB transaction has at most 100 actions. One change of the entity can affect more items than "
        "that: its own, guards, and those that follow from its lists, each of which may have to be removed and "
        "added.\n\n"
        "Give the lists a smaller `max_length`, or derive the items by a stream handler.",
    ),
    refused(
        "KP081",
        "foreign-entity",
        "An entity that the design doesn't have",
        "A pattern, counter or parent uses an entity that isn't in `entities` of the design, so its items "
        "weren't checked together with the others.\n\n"
        "Add it to `entities`.",
    ),
)
