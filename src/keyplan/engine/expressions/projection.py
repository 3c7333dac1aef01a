"""Projection expressions: the parts of an item that a request returns."""

from functools import lru_cache
from typing import cast

from keyplan.engine.expressions.grammar import CACHE_SIZE, parse_projection
from keyplan.engine.expressions.nodes import ParsedProjection
from keyplan.engine.expressions.paths import Path, pick, resolve, top_level, tree
from keyplan.engine.expressions.placeholders import Placeholders
from keyplan.engine.values.attribute_values import Item


class Projection:
    """A projection that can be applied to any number of items."""

    __slots__ = ("_flat", "_tree", "attributes", "paths")

    def __init__(self, kind: str, paths: tuple[Path, ...]) -> None:
        self.paths = paths
        self.attributes = top_level(paths)
        """The top-level attributes that the paths start with."""
        self._tree = tree(kind, paths)
        self._flat = tuple(self._tree) if all(len(path) == 1 for path in paths) else None

    def apply(self, item: Item) -> Item:
        """Return the projected parts of the item: nested ones inside their maps and lists, list elements moved up."""
        if self._flat is None:
            return pick(item, self._tree)
        return {name: item[name] for name in cast(tuple[str, ...], self._flat) if name in item}


def projection(text: str, placeholders: Placeholders) -> Projection:
    """Return the projection of a ProjectionExpression; requests share it, because it has no values."""
    parsed = parse_projection(text)
    return _plan(parsed, placeholders.use(parsed))


@lru_cache(maxsize=CACHE_SIZE)
def _plan(parsed: ParsedProjection, names: tuple[str, ...]) -> Projection:
    found = dict(zip(parsed.names, names, strict=True))
    return Projection(parsed.kind, tuple([resolve(path, found) for path in parsed.paths]))
