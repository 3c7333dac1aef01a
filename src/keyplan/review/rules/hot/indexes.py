"""Indexes that cost more than they give."""

from collections.abc import Iterator

from keyplan.review.reviewed import Reviewed
from keyplan.review.rule import Problem, rule


@rule(
    "KP401",
    "unused-index",
    group="hot",
    severity="warning",
    title="An index that no access pattern uses",
    whole=True,
)
def unused_index(reviewed: Reviewed) -> Iterator[Problem]:
    """No access pattern reads the index, and no rule of an entity needs it, but every write to its items pays for it.

    A write that changes an attribute of an index is a second write, of the item in the index; one that changes its key
    there is a third. The index is stored and paid for as well, and a table can have 20 of them.

    Remove the index and the placements in it. An index can be added later to a table with data. If something outside of
    the design reads it, accept the finding and say what."""
    used = reviewed.indexes_used
    for table in reviewed.tables:
        for index in table.by_name.values():
            if index not in used:
                writers = ", ".join(spec.name for spec, _ in reviewed.placed_in(index))
                yield Problem(
                    reviewed.at_table(table, index.name),
                    f"nothing reads the index {index.name}"
                    + (f", and each write of {writers} pays for it" if writers else ", and nothing is in it"),
                    "Remove it from the table, with the placements in it, or declare the access pattern that reads it.",
                )
