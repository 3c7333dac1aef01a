"""How many items there are and how many are added: as the traffic says, otherwise as the design expects."""

from keyplan.capacity.traffic.model import Traffic
from keyplan.design import Design


def item_counts(design: type[Design], traffic: Traffic) -> dict[str, float]:
    """How many items of each entity there are."""
    counts = {}
    for entity in design.entities:
        said = traffic.items.get(entity.__name__)
        expected = entity.spec.expected.items if entity.spec.expected is not None else None
        counts[entity.__name__] = float(said.count if said is not None else expected or 0)
    return counts


def growth_counts(design: type[Design], traffic: Traffic) -> dict[str, float]:
    """How many items of each entity are added in a month."""
    counts = {}
    for entity in design.entities:
        said = traffic.items.get(entity.__name__)
        expected = entity.spec.expected.growth if entity.spec.expected is not None else None
        rate = said.growth if said is not None else None
        counts[entity.__name__] = traffic.per_month(rate) if rate is not None else float(expected or 0)
    return counts
