"""Access patterns: in the document's words, with what is read and how it is run."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from keyplan.design import Design, Pattern
from keyplan.publish.document.code import Code, pattern_example
from keyplan.publish.document.examples import Examples
from keyplan.publish.document.model import Consumption, PatternText
from keyplan.publish.document.operations import operation_name, reading_of


def patterns(design: Design, examples: Examples, costs: Mapping[str, Consumption], code: Code) -> Iterator[PatternText]:
    """The access patterns of a design, in the order of its declaration."""
    for name, pattern in design.patterns.items():
        asked = examples.asked[name]
        reading = reading_of(design, pattern.symbolic)
        yield PatternText(
            name=name,
            wording=" ".join(pattern.wording.split()),
            about=inspect.cleandoc(pattern.__doc__ or ""),
            parameters=pattern.parameters,
            operation=operation_name(pattern.symbolic),
            table=reading.table,
            index=reading.index,
            key_condition=reading.condition,
            filter=reading.filter,
            order=reading.order,
            facts=tuple(_facts(pattern)),
            requests=asked.sent,
            example=pattern_example(code, name, asked.arguments, asked.sent),
            cost=costs.get(name),
        )


def _facts(pattern: Pattern[..., Any]) -> Iterator[tuple[str, str]]:
    if pattern.decides:
        yield "Decides", pattern.decides
    if pattern.returns is not None:
        yield "Returns", f"usually {pattern.returns:,} {'item' if pattern.returns == 1 else 'items'}"
