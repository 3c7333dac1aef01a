"""What is declared around a design: stream handlers, bodies and answers of an API."""

from keyplan.review.rule import refused

RULES = (
    refused(
        "KP180",
        "no-stream",
        "A handler of a table without a stream",
        "A handler is called with changes from the table's stream, and the table has none, so it would never be "
        "called.\n\n"
        'Declare the table with `stream="NEW_AND_OLD_IMAGES"`.',
    ),
    refused(
        "KP181",
        "stream-kind",
        "A handler of unknown changes",
        "A stream has three kinds of changes: `INSERT`, `MODIFY` and `REMOVE`. The handler asks for another one, "
        "which never comes.\n\n"
        "Use some of the three.",
    ),
    refused(
        "KP182",
        "stream-view",
        "A stream that doesn't show the entity",
        "The entity is told by its type attribute, and the stream's view doesn't have that attribute for the "
        "changes that the handler asks for.\n\n"
        'Declare the table with `stream="NEW_AND_OLD_IMAGES"`.',
    ),
    refused(
        "KP183",
        "same-handler",
        "Two handlers with one name",
        "Records that a handler can't process are stored under its name, to be tried again. With two of one "
        "name, they would reach the wrong one.\n\n"
        "Rename one of the functions.",
    ),
    refused(
        "KP184",
        "not-to-be-seen",
        "A hidden field in an answer",
        "The field is declared as hidden, such as the hash of a password, and the class of an answer has it. "
        "Everybody who calls the API would see it.\n\n"
        "Leave it out of the answer.",
    ),
    refused(
        "KP185",
        "not-to-be-set",
        "A field in a body that callers can't set",
        "The field is declared as read-only or hidden: the system sets it itself. The class of a request's body "
        "has it, so callers could overwrite it.\n\n"
        "Leave it out of the body, or declare the field with `CREATE_ONLY` or `OPEN`.",
    ),
    refused(
        "KP186",
        "taken-name",
        "A field with the name of a method",
        "A partial change has methods such as `get` and `values`, and a field of the same name would hide one.\n\n"
        'Name the field otherwise, with `public("values")` for callers.',
    ),
)
