"""`document_of`: a design as a document."""

import re
from collections.abc import Iterable, Iterator, Sequence

from keyplan.design import Design
from keyplan.publish.document.code import Code
from keyplan.publish.document.drawings import drawings_of
from keyplan.publish.document.examples import run_examples
from keyplan.publish.document.items import item_types
from keyplan.publish.document.model import Consumption, DepartureText, Document, PatternText, Remark, TableText
from keyplan.publish.document.patterns import patterns
from keyplan.publish.document.tables import tables
from keyplan.publish.document.together import together

_IN_NAMES = re.compile(r"\{([a-z_]+)")
_PLURALS = {"entity": "entities", "index": "indexes"}


def document_of(
    design: Design,
    client: object,
    *,
    title: str = "",
    remarks: Iterable[Remark] | None = None,
    costs: Iterable[Consumption] = (),
) -> Document:
    """The document of a design. Its examples are run on `client`, a DynamoDB without tables of these names.

    `title` is the name for people, otherwise that of its class. `remarks` are the findings of a review, and `costs`
    what patterns and writes consumed; both are left out if nobody knows them.
    """
    known = {cost.name: cost for cost in costs}
    code = Code()
    examples = run_examples(design, client)
    made_patterns = tuple(patterns(design, examples, known, code))
    made_tables = tuple(tables(design, made_patterns))
    items = tuple(item_types(design, examples))
    changes = tuple(together(design, examples, known, code))
    return Document(
        name=type(design).__name__,
        title=title or type(design).__name__,
        module=type(design).__module__,
        purpose=type(design).purpose,
        facts=tuple(_facts(design, made_tables, made_patterns)),
        tables=made_tables,
        items=items,
        patterns=made_patterns,
        together=changes,
        departures=tuple(DepartureText(each.document, each.here, each.because) for each in design.departures),
        remarks=None if remarks is None else tuple(remarks),
        rationale=tuple(_rationale(design)),
        setup=_setup(design, code),
        drawings=tuple(drawings_of(design, examples, items, changes)),
        problems=tuple(examples.problems.items()),
    )


def _facts(
    design: Design, made: Sequence[TableText], made_patterns: Sequence[PatternText]
) -> Iterator[tuple[str, str]]:
    yield "Tables", ", ".join(f"`{each.actual}`" for each in made)
    indexes = sum(len(each.indexes) for each in made)
    guards = sum(len(entity.spec.uniques) for entity in design.entities)
    counted = {"entity": len(design.entities), "guard": guards, "index": indexes, "access pattern": len(made_patterns)}
    yield "Contents", ", ".join(_several(number, noun) for noun, number in counted.items() if number)
    scans = [each.name for each in made_patterns if "scan" in each.operation]
    yield "Scans", ", ".join(f"`{name}`" for name in scans) or "none"
    if design.tenant_field:
        yield "Tenant", f"`{design.tenant_field}` says whose data an item is"
    if design.regions:
        yield "Regions", ", ".join(design.regions)


def _several(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {_PLURALS.get(noun, f'{noun}s')}"


def _rationale(design: Design) -> Iterator[tuple[str, str]]:
    for table in design.tables:
        if table.why:
            yield table.name, table.why
        for index in table.by_name.values():
            if index.why:
                yield f"{table.name}, {index.name}", index.why


def _setup(design: Design, code: Code) -> str:
    name = code.imported(type(design).__module__, type(design).__name__)
    code.imported("keyplan.data", "Store")
    code.imported("keyplan.data", "create")
    code.imported("keyplan.design.examples", "example_items")
    code.imported("keyplan.engine", "Engine")
    # Only what is in names of tables: the environment may be that of a whole process, secrets included.
    named = {name for table in design.tables for name in _IN_NAMES.findall(table.name)}
    given = {name: value for name, value in design.environment.items() if name in named}
    environment = code.value(given) if given else ""
    return "\n".join(
        [
            *code.imports(),
            "",
            f"design = {name}({environment})",
            'dynamodb = Engine()  # or boto3.client("dynamodb")',
            "store = Store(design, dynamodb)",
            "store.create_tables()",
            "for item in example_items(design):",
            "    store.run(create(item))",
        ]
    )
