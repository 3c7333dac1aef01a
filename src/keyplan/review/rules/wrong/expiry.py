"""Items that expire."""

from collections.abc import Iterator

from keyplan.design.entities.effects import Unique
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.review.keys import guard_slots
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Violation, rule


@rule(
    "KP313",
    "expiry-not-stored",
    group="wrong",
    severity="warning",
    title="A time to live that no item has",
    whole=True,
)
def expiry_not_stored(reviewed: Reviewed) -> Iterator[Violation]:
    """The table has a time to live, and no entity stores anything in its attribute.

    DynamoDB deletes only items that have the attribute, as a number of seconds since 1970. Items without it stay
    forever, and so do those that have milliseconds (a date some 50,000 years ahead) or text there.

    Declare a field of type `Ttl` in the entities that expire: Keyplan stores it in seconds, and reads leave out what
    has expired but isn't deleted yet. Or remove `ttl=` from the table.
    """
    for table in reviewed.tables:
        stored = {field.stored for spec in reviewed.entities_in(table) for field in spec.fields.values()}
        if table.ttl is not None and table.ttl not in stored:
            yield Violation(
                reviewed.at_table(table),
                f"no item has {table.ttl}, so none ever expires",
                "Declare it in the entities that expire, or remove ttl= from the table.",
                f'expires_at: Annotated[Ttl, stored("{table.ttl}")]',
            )


@rule(
    "KP314",
    "expiry-leaves-items",
    group="wrong",
    severity="warning",
    title="What an expired item leaves behind",
)
def expiry_leaves_items(reviewed: Reviewed) -> Iterator[Violation]:
    """Items expire, other items follow from them, and nothing can remove those.

    DynamoDB deletes an expired item by itself, without a transaction: its mirrors and derived items stay and are still
    listed, what it was counted in stays too high, and a guard that doesn't expire with it keeps its value taken.
    Keyplan's `clean_up_expired` removes all that, but somebody has to call it, with the item as it was: the reader of a
    stream with old images. This table has no such stream.

    Give the table `stream="NEW_AND_OLD_IMAGES"` (or `OLD_IMAGE`), and call `clean_up_expired` for what expired. A guard
    needs none of this if it carries the time to live, or the primary key: then it counts as free.
    """
    for spec in reviewed.specs:
        left = _left_behind(spec) if "ttl" in spec.by_kind else ()
        if left and spec.table.stream not in ("NEW_AND_OLD_IMAGES", "OLD_IMAGE"):
            yield Violation(
                reviewed.at(spec),
                f"when DynamoDB deletes an expired {spec.noun}, this stays: {', '.join(left)}",
                "Give the table a stream with old images, and call clean_up_expired for what expired.",
                'stream="NEW_AND_OLD_IMAGES"',
            )


def _left_behind(spec: EntitySpec) -> list[str]:
    """What doesn't go with an expired item, by the declarations from which it follows."""
    guards = [f"the guard {each.name}" for each in spec.uniques if not _frees_itself(spec, each)]
    lasting = [each for each in spec.derived if not all("ttl" in kind.spec.by_kind for kind in each.entities)]
    numbers = [(each.name, each.field) for each in spec.counters]
    numbers += [(each.name, each.count) for each in spec.parents if each.count is not None]
    counted = [f"what {name} added to {field}" for name, field in numbers]
    return [*guards, *(f"the items of {each.name}" for each in lasting), *counted]


def _frees_itself(spec: EntitySpec, guard: Unique) -> bool:
    """Whether the guard of an expired item counts as free: it expires too, or leads to the item."""
    known = {*guard.carries, *(slot.field for slot in guard_slots(guard) if slot.fold is None)}
    return spec.by_kind["ttl"].name in guard.carries or set(spec.primary.fields) <= known
