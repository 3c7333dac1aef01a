"""DynamoDB's expression language: conditions and filters, key conditions, projections, updates.

An expression's text and the request's `Placeholders` become an object that is applied to items:

- `condition(kind, text, placeholders)` returns a `Condition`: `matches(item)`;
- `projection(text, placeholders)` returns a `Projection`: `apply(item)`;
- `update(text, placeholders)` returns an `Update`: `apply(item)`, `updated(item)`;
- `key_condition(text, placeholders, hash_attributes, range_attributes)` returns a `KeyCondition`. In three steps:
  `key_expression(text, placeholders)` and `key_parts` before the key schema is known, and `fit_key_parts` when it is;
- `search_condition(text, placeholders)` returns the values of attributes that a vector search asks for.

Whatever AWS refuses is refused here with AWS's message (`expression_errors`), before an item is read where possible.
After the last expression of a request, `Placeholders.finish` refuses placeholders that none of them used.

How a text is processed: `lexer` makes tokens; `grammar`, based on `parser`, makes `nodes` from them, knowing the
`functions` and the `reserved` words. Nodes are cached by text. The module of each kind (`condition` with its
`operators`, `key_condition`, `search_condition`, `projection`, `update` with its `update_operands`) looks up names
(`placeholders`) and `paths`, which is cached too, and builds closures around the request's values.

`legacy` makes the same nodes of the parameters from before expressions.

The package knows values and errors. It doesn't know tables, storage or operations: a key schema is passed as names of
attributes. Values are `AttributeValue`s in normal form.
"""

from keyplan.engine.expressions.condition import Condition, condition
from keyplan.engine.expressions.expression_errors import ExpressionTooLong
from keyplan.engine.expressions.grammar import parse_key_condition
from keyplan.engine.expressions.key_condition import (
    KeyCondition,
    KeyParts,
    RangeCondition,
    fit_key_parts,
    key_condition,
    key_expression,
    key_parts,
)
from keyplan.engine.expressions.paths import Path
from keyplan.engine.expressions.placeholders import Placeholders
from keyplan.engine.expressions.projection import Projection, projection
from keyplan.engine.expressions.search_condition import SearchCondition, search_condition
from keyplan.engine.expressions.update import Update, update

__all__ = [
    "Condition",
    "ExpressionTooLong",
    "KeyCondition",
    "KeyParts",
    "Path",
    "Placeholders",
    "Projection",
    "RangeCondition",
    "SearchCondition",
    "Update",
    "condition",
    "fit_key_parts",
    "key_condition",
    "key_expression",
    "key_parts",
    "parse_key_condition",
    "projection",
    "search_condition",
    "update",
]
