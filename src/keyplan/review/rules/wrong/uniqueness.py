"""Values that are said to be unique."""

from collections.abc import Iterator

from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.operations.item_reads import guard_fields
from keyplan.review.changed_lines import guard_for
from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Unjudged, Violation, rule


@rule(
    "KP301",
    "claim-not-guarded",
    group="wrong",
    severity="error",
    title="A unique value that nothing guards",
    needs=('claims=("email",)',),
)
def claim_not_guarded(reviewed: Reviewed) -> Iterator[Violation | Unjudged]:
    """The design says that no two items share a value, and nothing makes sure of it.

    DynamoDB enforces that one thing only is unique: the primary key. A query before the write doesn't help: two
    requests at the same time both find nothing, and both write. Indexes allow duplicates, and are eventually
    consistent.

    Declare a guard, `unique("EMAIL#{email.address}")`: an item whose key is the value, written in the same transaction
    as the item, on the condition that it doesn't exist."""
    for spec in (each for each in reviewed.specs if not each.broken):
        if not spec.claims:
            yield Unjudged(reviewed.at(spec), 'claims=("email",)')
        for claim in spec.claims:
            if not _is_guarded(spec, set(claim)):
                named = " and ".join(claim)
                yield Violation(
                    reviewed.at(spec, claim[0]),
                    f"two items of {spec.name} can have the same {named}: no primary key or guard prevents it",
                    "Declare a guard in the entity.",
                    guard_for(spec, claim),
                )


def _is_guarded(spec: EntitySpec, claim: set[str]) -> bool:
    """Whether no two items can have the same values in these fields."""
    guarded = [set(spec.primary.fields)]
    guarded += [set(guard_fields(guard)) for guard in spec.uniques if guard.when is None]
    return any(fields <= claim for fields in guarded)
