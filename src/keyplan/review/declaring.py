"""Errors in declarations: recorded while a design is imported, and as findings."""

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from keyplan.design import Design, DesignError, collecting
from keyplan.design.errors import recorded
from keyplan.review.findings import Finding
from keyplan.review.places import Place, line_of_member, line_of_text, syntax_of
from keyplan.review.registry import find_rule
from keyplan.review.rules.imported.other import OTHER_ERROR


@contextmanager
def errors_recorded() -> Iterator[list[DesignError]]:
    """Record what is refused in declarations, also the error that ends an import: `with errors_recorded() as errors:`.

    What has errors is left out of the design, so it can be reviewed, but not used.
    """
    with collecting() as errors, recorded():
        yield errors


def findings_of_errors(errors: Iterable[DesignError], design: type[Design] | None = None) -> list[Finding]:
    """The findings for errors that were recorded."""
    return [_finding(error, design) for error in errors]


def _finding(error: DesignError, design: type[Design] | None) -> Finding:
    rule = find_rule(error.code)
    rule = rule if rule is not None and rule.is_imported else OTHER_ERROR
    return Finding(rule, "error", _place(error, design), error.problem, error.remedy)


def _place(error: DesignError, design: type[Design] | None) -> Place:
    first, *members = error.place.split(".")
    entities, tables = (design.entities, design.tables) if design is not None else ((), ())
    entity = next((each for each in entities if each.__name__ == first), None)
    table = next((each for each in tables if each.name == first), None)
    if entity is not None:
        table = entity.spec.table
    return Place(
        error.place,
        table.name if table is not None else None,
        entity.__name__ if entity is not None else None,
        members[0] if members and entity is not None else None,
        pattern=error.pattern,
        file=error.file,
        line=_line(error, first, members),
    )


def _line(error: DesignError, first: str, members: list[str]) -> int | None:
    """The line of the member or index that an error is about, if it is in the class or table that was recorded."""
    tree = syntax_of(error.file) if error.file is not None else None
    for node in ast.walk(tree) if tree is not None and members else ():
        if isinstance(node, ast.ClassDef) and node.name == first and _begins_at(node, error.line):
            return line_of_member(node, members[0]) or error.line
        if isinstance(node, ast.Assign) and node.lineno == error.line:
            return line_of_text(node, members[0]) or error.line
    return error.line


def _begins_at(node: ast.ClassDef, line: int | None) -> bool:
    return line in (node.lineno, *(each.lineno for each in node.decorator_list))
