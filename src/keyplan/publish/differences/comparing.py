"""`compare`: all that differs between two snapshots."""

from collections.abc import Sequence

from keyplan.publish.differences.changes import Difference, Differences
from keyplan.publish.differences.entities import entity_changes, pattern_changes
from keyplan.publish.differences.snapshots import Snapshot
from keyplan.publish.differences.steps import steps_between
from keyplan.publish.differences.tables import table_changes
from keyplan.publish.shapes import TableShape


def compare(before: Snapshot, after: Snapshot) -> Differences:
    """What differs. Entities and patterns are compared if both sides have them: tables that were found don't.

    There are steps if the new side is a design. Nothing is changed to be like tables that were found.
    """
    changes = list(table_changes(before.tables, after.tables))
    if before.entities is not None and after.entities is not None:
        changes += entity_changes(before.entities, after.entities)
    if before.patterns is not None and after.patterns is not None:
        changes += pattern_changes(before.patterns, after.patterns)
    steps = () if after.entities is None else steps_between(before.tables, after.tables)
    return Differences(before.name, after.name, tuple(changes), steps)


def replaced(before: Sequence[TableShape], after: Sequence[TableShape]) -> list[Difference]:
    """The changes that would replace a table, or leave it out of a template."""
    changes = table_changes(before, after)
    return [each for each in changes if each.effect == "copy" or _is_removed_table(each)]


def _is_removed_table(change: Difference) -> bool:
    return change.kind == "removed" and change.place.startswith("table ")
