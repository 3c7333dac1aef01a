"""Updates of which each is of exactly one kind, such as Create, Update or Delete of an index."""

from collections.abc import Collection, Sequence

from keyplan.engine.errors import invalid_parameter


def kind_of(update: Collection[str], name: str, kinds: Sequence[str]) -> str:
    """The only kind that an update has. `name` is its shape in AWS's model."""
    given = [kind for kind in kinds if kind in update]
    if len(given) == 1:
        return given[0]
    known = ", ".join(f"{name}.{kind}" for kind in kinds)
    raise invalid_parameter(f"Only one of {known} may be specified" if given else f"One of {known} must not be null")
