"""AttributesToGet: the top-level attributes that a request returns."""

from functools import lru_cache

from keyplan.engine.errors import invalid_parameter
from keyplan.engine.expressions.grammar import CACHE_SIZE
from keyplan.engine.expressions.legacy.conditions import MOST_KEPT
from keyplan.engine.expressions.projection import Projection


def attributes_to_get(names: list[str]) -> Projection:
    """Return the projection to these attributes; raise AWS's error if a name is given twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise invalid_parameter(f"Duplicate value in attribute name: {name}")
        seen.add(name)
    return (_projection if len(names) <= MOST_KEPT else _projection.__wrapped__)(tuple(names))


@lru_cache(maxsize=CACHE_SIZE)
def _projection(names: tuple[str, ...]) -> Projection:
    return Projection("AttributesToGet", tuple([(name,) for name in names]))
