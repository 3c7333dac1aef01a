"""PartiQL, DynamoDB's dialect of SQL: SELECT, INSERT, UPDATE, DELETE, and EXISTS in transactions.

`statement(text, parameters)` returns a `Statement` (`Select`, `Insert`, `Update`, `Delete` or `Exists`) and the
parameters; `only_reads(text)` tells whether it needs a transaction that writes. What a WHERE clause means for a table
is found out with the names of its key attributes: `access_of` finds the partitions that it names, `exact_key` the key
of one item. The rest becomes the trees of `expressions`, and is evaluated there.

How a text is processed: `lexer` makes tokens, knowing the `keywords`; `grammar`, based on `expression_parser`, makes
`nodes` from them. `statements` gives them their meaning: values (`literals`), conditions (`where`, `access`), `columns`
of a SELECT and `assignments` of an UPDATE. `statement_errors` has AWS's messages. The grammar and its messages are
those of the PartiQL parser that AWS publishes; DynamoDB supports a part of that language and refuses the rest.

The package knows expressions, values and errors. It doesn't know tables, storage or operations.
"""

from keyplan.engine.partiql.access import Access, Branch, ExactKey, Where, access_of, exact_key
from keyplan.engine.partiql.columns import Columns
from keyplan.engine.partiql.literals import Parameters
from keyplan.engine.partiql.statements import (
    Delete,
    Exists,
    Insert,
    Select,
    Statement,
    Update,
    only_reads,
    statement,
)

__all__ = [
    "Access",
    "Branch",
    "Columns",
    "Delete",
    "ExactKey",
    "Exists",
    "Insert",
    "Parameters",
    "Select",
    "Statement",
    "Update",
    "Where",
    "access_of",
    "exact_key",
    "only_reads",
    "statement",
]
