"""Examples for a design: items of its entities, and arguments for its patterns. Pure data; nothing is sent.

Everything with the same number fits together: `example_item(Post, 2)` names the author that `example_item(User, 2)` is,
and `example_arguments(Blog.patterns["posts_by_user"], 2)` asks for the posts of that author. The same call always gives
the same values.

| module | what it is |
| --- | --- |
| `values` | values of a type, within its limits |
| `texts` | texts that match a pattern |
| `fields` | the fields of an entity, which fit the items that it refers to |
| `sizes` | texts that are lengthened until an item has a size |
| `uses` | where a pattern uses its parameters |
| `making` | the functions that are exported here |
"""

from keyplan.design.examples.making import (
    example_arguments,
    example_item,
    example_items,
    example_of,
    made_by_others,
)
from keyplan.design.examples.values import example_value

__all__ = ["example_arguments", "example_item", "example_items", "example_of", "example_value", "made_by_others"]
