"""What the items of an entity add to numbers on other items."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice, product
from typing import Any

from keyplan.design import Ref
from keyplan.design.entities.effects import Refs, named_by
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.examples import example_item
from keyplan.review.keys import choices

_MOST_VARIANTS = 64


def refs_of_variants(spec: EntitySpec, method: Callable[[Any], Refs]) -> Sequence[Sequence[Ref[Any]]]:
    """What a method refers to, for items with different values in the fields that have few; none if it isn't known."""
    found: list[Sequence[Ref[Any]]] = []
    with suppress(Exception):  # no example is known, or the method, which isn't ours, fails with one
        item = example_item(spec.entity)
        several = {name: values for name in spec.fields if (values := choices(spec, name)) is not None}
        for variant in islice(product(*several.values()), _MOST_VARIANTS):
            changed = item.model_copy(update=dict(zip(several, variant, strict=True)))
            found.append(named_by(method(changed)))
    return found
