"""Designs, access patterns, and the words by which a design says what is expected and accepted."""

from keyplan.review.rule import refused

RULES = (
    refused(
        "KP155",
        "not-a-sequence",
        "Tables or entities that aren't a list",
        "`tables` and `entities` of a design are tuples or lists. With one member, the comma is easily "
        "forgotten: `(One)` is no tuple.\n\n"
        "Write `tables = (one,)`.",
    ),
    refused(
        "KP156",
        "pattern-wording",
        "An access pattern without wording",
        "The wording says what the pattern answers, in the words of whoever asks. Documents, reviews and the "
        "console show it.\n\n"
        'Write `@pattern("Get order by id")`, with the parentheses.',
    ),
    refused(
        "KP157",
        "pattern-branches",
        "An access pattern that depends on its arguments",
        "A pattern is called once at import, with stand-ins for its parameters, so that its key can be checked "
        "for all values. It can't compare, format, or iterate over them, and must return an operation.\n\n"
        "Split it into two patterns, or let the caller decide between them.",
    ),
    refused(
        "KP158",
        "job",
        "A job that isn't a rewrite",
        "A method with `@job` returns a rewrite of many items, which is journaled so that it can be finished. It "
        "returned something else.\n\n"
        "Return `rewrite(...)` or `rekey(...)`.",
    ),
    refused(
        "KP159",
        "decides",
        "A decision without a description",
        "`decides` says what is decided on what a pattern reads, and it is empty or no text.\n\n"
        'Say what: `decides="whether the user may publish"`, or leave it out.',
    ),
    refused(
        "KP160",
        "returns",
        "A number of results that isn't one",
        "`returns` is how many items a pattern usually returns, and this is no whole number.\n\n"
        "Give the usual number, or leave it out.",
    ),
    refused(
        "KP161",
        "expectation",
        "An expectation that isn't a number",
        "`expect(...)` takes whole numbers above 0: `items`, `size` in bytes, `partition`, and `growth` in a "
        "month, which may be 0.\n\n"
        "Give a number, or leave out what isn't known.",
    ),
    refused(
        "KP162",
        "claims",
        "Claims that aren't a list",
        "`claims` lists fields, or combinations of fields, that no two items share. A text alone would be read "
        "as a list of its letters.\n\n"
        'Write `claims=("email",)`, with the comma.',
    ),
    refused(
        "KP163",
        "tenant-field",
        "A tenant that no entity has",
        "`tenant_field` names the field that says whose data an item is, and no entity of the design has it.\n\n"
        "Name a field of the entities, or remove it.",
    ),
    refused(
        "KP164",
        "regions",
        "Regions that can't be ones",
        "`regions` lists the regions of AWS in which the tables are, and something in it isn't the name of one.\n\n"
        'Write them as AWS does, in a tuple: `regions = ("eu-central-1",)`.',
    ),
    refused(
        "KP165",
        "acceptance",
        "An acceptance that says nothing",
        "`accept(...)` names a rule by its code or name, the place of the finding, and the reason. One of them "
        "is missing, or `accepted` isn't a list of them. Readers need the reason to know whether it still holds.\n\n"
        'Write `accepted = (accept("KP401", "Blog.GSI2", because="..."),)`, with the comma.',
    ),
)
