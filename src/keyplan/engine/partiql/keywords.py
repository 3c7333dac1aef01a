"""The words with a meaning in PartiQL, in lower case. An attribute or table with such a name needs double quotes.

The list is that of AWS's PartiQL parser (SQL-92's words and PartiQL's own). It isn't the list of reserved words of
DynamoDB's expressions.
"""

OPERATORS = frozenset({"and", "or", "not", "is", "in", "between", "like", "union", "except", "intersect"})
"""Words that are operators."""

KEYWORDS = frozenset(
    """
    absolute action add all allocate alter any are assertion authorization avg bag begin bigint bit bit_length blob
    bool boolean can_cast can_lossless_cast cascade cascaded case cast catalog char char_length character
    character_length check clob close coalesce collate collation column commit conflict connect connection constraint
    constraints continue convert corresponding count create cross current current_date current_time current_timestamp
    current_user cursor date date_add date_diff deallocate dec decimal declare default deferrable deferred delete
    describe descriptor diagnostics disconnect distinct do domain double drop else end escape exception exec execute
    exists external extract fetch first float foreign found from full get global go goto grant group having identity
    immediate index indicator initially inner input insensitive insert int int2 int4 int8 integer integer2 integer4
    integer8 interval into isolation join key language last left let level limit list local lower match max min
    modified module names national natural nchar new next no nothing nullif numeric octet_length of offset old on
    only open option order outer output overlaps pad partial pivot position precision prepare preserve primary prior
    privileges procedure public read real references relative remove restrict returning revoke right rollback rows
    schema scroll section select session session_user set sexp size smallint some space sql sqlcode sqlerror sqlstate
    string struct substring sum symbol system_user table temporary then time timestamp to transaction translate
    translation trim tuple unique unknown unpivot update upper usage user using value values varchar varying view when
    whenever where with work write zone
    """.split()
)
"""All other words. Parts of dates are words only in functions that DynamoDB doesn't have."""

FUNCTION_NAMES = frozenset(
    """
    avg bag bit_length char_length character_length count exists list lower max min octet_length sexp size sum upper
    """.split()
)
"""The keywords that may be called."""

TYPES: dict[str, tuple[str, ...]] = {
    "null": ("NULL",),
    "boolean": ("BOOL",),
    "bool": ("BOOL",),
    **dict.fromkeys(
        ("decimal", "dec", "numeric", "real", "float", "int", "integer", "smallint", "bigint", "int2", "int4", "int8"),
        ("N",),
    ),
    "string": ("S",),
    "blob": ("B",),
    "list": ("L",),
    "struct": ("M",),
    "tuple": ("M",),
    "bag": ("SS", "NS", "BS"),
}
"""The types that can follow IS, with DynamoDB's types; MISSING isn't a type of DynamoDB."""

TOGETHER = frozenset(
    {
        ("not", "in"),
        ("is", "not"),
        ("not", "between"),
        ("not", "like"),
        ("insert", "into"),
        ("modified", "old"),
        ("modified", "new"),
        ("all", "old"),
        ("all", "new"),
    }
)
"""Words that are one token if they follow each other."""

JOINS = frozenset({"join", "cross", "inner", "left", "right", "full", "outer"})
