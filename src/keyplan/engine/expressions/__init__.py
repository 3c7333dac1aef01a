"""DynamoDB's expression language: conditions and filters, key conditions, projections, updates.

A text and the request's `Placeholders` become an object that is applied to items:

- `condition(kind, text, placeholders)` gives a `Condition`: `matches(item)`;
- `projection(text, placeholders)` gives a `Projection`: `apply(item)`;
- `update(text, placeholders)` gives an `Update`: `apply(item)`, `updated(item)`;
- `key_condition(text, placeholders, hash_attributes, range_attributes)` gives a `KeyCondition`: `hash`, `range`; or in
  two steps, `key_parts(text, placeholders)` before the key schema is known and `fit_key_parts` when it is.

Whatever AWS refuses is refused here, with its message, before an item is read where it can be; after the last
expression of a request `Placeholders.finish` refuses placeholders that none of them used.

The way of a text: `lexer` makes tokens, `grammar` (on `parser`) makes `nodes`, which are cached by text; the module of
each kind looks paths and names up (cached too) and builds closures around the request's values.

Everything hangs on `AttributeValue` and `Item` of `keyplan.engine.values`, in normal form. The package knows values,
numbers and errors; it knows nothing of tables, storage or operations: a key schema comes as names of attributes.
"""

from keyplan.engine.expressions.condition import Condition, condition
from keyplan.engine.expressions.grammar import parse_key_condition
from keyplan.engine.expressions.key_condition import (
    KeyCondition,
    RangeCondition,
    fit_key_parts,
    key_condition,
    key_parts,
)
from keyplan.engine.expressions.paths import Path
from keyplan.engine.expressions.placeholders import Placeholders
from keyplan.engine.expressions.projection import Projection, projection
from keyplan.engine.expressions.update import Update, update

__all__ = [
    "Condition",
    "KeyCondition",
    "Path",
    "Placeholders",
    "Projection",
    "RangeCondition",
    "Update",
    "condition",
    "fit_key_parts",
    "key_condition",
    "key_parts",
    "parse_key_condition",
    "projection",
    "update",
]
