"""A document in order: what it says under which heading."""

from collections.abc import Iterator, Sequence

from keyplan.publish.document.blocks import (
    Block,
    Bullets,
    Code,
    Figure,
    Fold,
    Heading,
    Jump,
    Listing,
    Paragraph,
    Rows,
    Span,
    Text,
    code,
    lines,
    marked,
)
from keyplan.publish.document.drawings import slug
from keyplan.publish.document.model import (
    Consumption,
    Document,
    Held,
    IndexText,
    ItemType,
    KeyPlace,
    PatternText,
    Remark,
    Sent,
    TableText,
    Together,
    WriteText,
)
from keyplan.publish.document.operations import FOR_EACH, THEN
from keyplan.publish.document.requests import json_text


def content_of(document: Document) -> Iterator[Block]:
    """All blocks of a document."""
    yield Heading(1, [document.title], "top")
    yield from _paragraphs(document.purpose)
    yield Rows(("", ""), [([name], marked(text)) for name, text in document.facts])
    sections = [section for section in _sections(document) if section[1]]
    yield Bullets([[Jump(title, slug(title))] for title, _ in sections])
    for title, blocks in sections:
        yield Heading(2, [title], slug(title))
        yield from blocks


def _sections(document: Document) -> Iterator[tuple[str, list[Block]]]:
    yield "Entities", list(_entities(document))
    yield "Tables and indexes", [block for table in document.tables for block in _table(document, table)]
    yield "Item types", [block for item in document.items for block in _item(item)]
    yield "Access patterns", list(_patterns(document))
    yield "What changes together", list(_together(document))
    yield "Departures", list(_departures(document))
    yield "Findings", list(_findings(document.remarks))
    yield "Rationale", list(_rationale(document))
    yield "Examples that can't be made", list(_problems(document))


def _paragraphs(text: str) -> Iterator[Block]:
    for paragraph in text.split("\n\n"):
        items = [line.strip() for line in paragraph.splitlines()]
        if items and all(line.startswith(("- ", "* ")) for line in items):
            yield Bullets([marked(line[2:]) for line in items])
        elif paragraph.strip():
            yield Paragraph(marked(" ".join(paragraph.split())))


def _rows(head: Sequence[str], rows: Sequence[Sequence[Text]]) -> Rows:
    """A table without the columns in which nothing is."""
    kept = [number for number in range(len(head)) if any(any(row[number]) for row in rows)]
    return Rows([head[number] for number in kept], [[row[number] for number in kept] for row in rows])


def _figures(document: Document, *names: str) -> Iterator[Block]:
    yield from (Figure(drawing) for drawing in document.drawings if drawing.name in names)


# Entities and tables


def _entities(document: Document) -> Iterator[Block]:
    yield from _figures(document, "entities")
    rows = [
        ([Jump(item.name, slug(f"item {item.name}"))], [item.kind], code(item.table), marked(_first(item.about)))
        for item in document.items
    ]
    if rows:
        yield _rows(("Item type", "Is", "Table", "Holds"), rows)


def _first(text: str) -> str:
    """The first paragraph of a text, on one line."""
    return " ".join(text.partition("\n\n")[0].split())


def _table(document: Document, table: TableText) -> Iterator[Block]:
    yield Heading(3, ["Table ", Code(table.actual)], slug(f"table {table.actual}"))
    if table.why:
        yield Paragraph(marked(table.why))
    if table.housekeeping:
        text = "The housekeeping table: what isn't part of the document's tables, such as sessions, jobs and leases."
        yield Paragraph([text])
    settings: list[tuple[Text, Text]] = [([each.role.capitalize()], _attribute(each)) for each in table.keys]
    settings += [([name], marked(text)) for name, text in table.settings]
    if table.actual != table.name:
        settings.insert(0, (["Declared as"], code(table.name)))
    yield Rows(("", ""), settings)
    yield from _holds(table.holds)
    yield from _figures(document, slug(f"table {table.actual}"))
    if table.indexes:
        yield _rows(
            ("Index", "Kind", "Partition key", "Sort key", "Projection", "Purpose"), [*map(_index_row, table.indexes)]
        )
    for index in table.indexes:
        yield from _index(document, table, index)
    yield Fold("CreateTable request", [Listing("json", json_text(table.request))])


def _attribute(place: KeyPlace) -> Text:
    return [Code(place.attribute), f" ({place.type})"]


def _index_row(index: IndexText) -> Sequence[Text]:
    parts = [
        lines(_attribute(each) for each in index.keys if each.role == role) for role in ("partition key", "sort key")
    ]
    return (code(index.name), [index.kind], *parts, [index.projection], marked(index.why))


def _index(document: Document, table: TableText, index: IndexText) -> Iterator[Block]:
    yield Heading(4, ["Index ", Code(index.name)], slug(f"index {table.actual} {index.name}"))
    if index.why:
        yield Paragraph(marked(index.why))
    yield from _holds(index.holds)
    readers = [Jump(name, slug(f"pattern {name}")) for name in index.patterns]
    if readers:
        yield Paragraph(["Read by: ", *_joined(readers)])
    else:
        yield Paragraph(["No access pattern reads it."])
    yield from _figures(document, slug(f"index {table.actual} {index.name}"))


def _joined(spans: Sequence[Span]) -> Iterator[Span]:
    for number, span in enumerate(spans):
        yield from (", ", span) if number else (span,)


def _holds(holds: Sequence[Held]) -> Iterator[Block]:
    if not holds:
        yield Paragraph(["It holds no items of the design."])
        return
    rows: list[Sequence[Text]] = []
    for held in holds:
        parts = [
            lines([Code(f"{each.attribute} = {each.template}")] for each in held.keys if each.role == role)
            for role in ("partition key", "sort key")
        ]
        rows.append(([held.name], *parts, marked(held.when)))
    yield _rows(("Holds", "Partition key", "Sort key", "Condition"), rows)


# Item types


def _item(item: ItemType) -> Iterator[Block]:
    yield Heading(3, [item.name], slug(f"item {item.name}"))
    if item.kind != "entity":
        yield Paragraph([f"{item.kind[0].upper()}{item.kind[1:]}, in the table ", Code(item.table), "."])
    yield from _paragraphs(item.about)
    rows = [
        (
            [place],
            lines([Code(f"{key.attribute} = {key.template}")] for key in keys if key.role == "partition key"),
            lines([Code(f"{key.attribute} = {key.template}")] for key in keys if key.role == "sort key"),
        )
        for place, keys in item.keys
    ]
    yield _rows(("In", "Partition key", "Sort key"), rows)
    attributes = [
        (
            code(each.name),
            [each.type],
            ["yes" if each.required else ""],
            marked(each.limits),
            _about(each.field, each.name, each.about),
            code(each.example),
        )
        for each in item.attributes
    ]
    yield _rows(("Attribute", "Type", "Always", "Value", "About", "Example"), attributes)
    if item.facts:
        yield Bullets([[f"{name}: ", *marked(text)] for name, text in item.facts])
    if item.example is not None:
        yield Fold("Example item", [Listing("json", json_text(item.example))])


def _about(field: str, name: str, about: str) -> Text:
    field_text: list[Span] = ["field ", Code(field)] if field and field != name else []
    text = marked(about) if about else []
    return [*field_text, "; " if field_text and text else "", *text]


# Access patterns


def _patterns(document: Document) -> Iterator[Block]:
    rows = [_pattern_row(number, each) for number, each in enumerate(document.patterns, 1)]
    costs = any(each.cost is not None for each in document.patterns)
    head = ("#", "Access pattern", "Operation", "Table or index", "Key condition", "Filter", "Cost")
    yield _rows(head, rows)
    if costs:
        yield Paragraph(["The cost is what the example consumed: RCU are read units, WCU write units."])
    yield Paragraph(["The examples continue this one:"])
    yield Listing("python", document.setup)
    for number, each in enumerate(document.patterns, 1):
        yield from _pattern(number, each)


def _pattern_row(number: int, pattern: PatternText) -> Sequence[Text]:
    return (
        [str(number)],
        [Jump(pattern.wording.replace("`", ""), slug(f"pattern {pattern.name}"))],
        [pattern.operation],
        code(f"{pattern.table}.{pattern.index}" if pattern.index else pattern.table),
        _condition(pattern.key_condition),
        code(pattern.filter),
        [_cost(pattern.cost)],
    )


def _condition(text: str) -> Text:
    """A key condition, in which each step has a line, and some words are not part of the expression."""
    found: list[Text] = []
    for line in text.split("\n") if text else ():
        then, expression = ("then ", line.removeprefix(THEN)) if line.startswith(THEN) else ("", line)
        expression, each, keys = expression.partition(FOR_EACH)
        found.append([span for span in (then, Code(expression), each, Code(keys) if keys else "") if span])
    return lines(found)


def _cost(cost: Consumption | None) -> str:
    if cost is None:
        return ""
    return ", ".join(f"{units:g} {name}" for units, name in ((cost.reads, "RCU"), (cost.writes, "WCU")) if units) or "0"


def _pattern(number: int, pattern: PatternText) -> Iterator[Block]:
    yield Heading(3, [f"{number}. ", *marked(pattern.wording)], slug(f"pattern {pattern.name}"))
    yield from _paragraphs(pattern.about)
    call = f"{pattern.name}({', '.join(pattern.parameters)})"
    facts: list[tuple[Text, Text]] = [
        (["Call"], code(call)),
        (["Operation"], [pattern.operation]),
        (["Table"], code(f"{pattern.table}, index {pattern.index}" if pattern.index else pattern.table)),
        (["Key condition"], _condition(pattern.key_condition)),
        (["Filter"], code(pattern.filter)),
        (["Read"], [pattern.order]),
        *(([name], marked(text)) for name, text in pattern.facts),
        (["Cost"], _cost_by_place(pattern.cost)),
    ]
    yield Rows(("", ""), [(name, text) for name, text in facts if any(text)])
    if pattern.requests:
        yield Listing("python", pattern.example.python)
        yield Fold("boto3", [Listing("python", pattern.example.boto3)])
        yield Fold("AWS CLI", [Listing("bash", pattern.example.cli)])


def _cost_by_place(cost: Consumption | None) -> Text:
    if cost is None:
        return []
    places = [f"{use.table}.{use.index}" if use.index else use.table for use in cost.uses]
    parts = [f"{place}: {_cost(Consumption('', (use,)))}" for place, use in zip(places, cost.uses, strict=True)]
    return [_cost(cost) + (f" ({', '.join(parts)})" if len(parts) > 1 else "")]


# What changes together


def _together(document: Document) -> Iterator[Block]:
    yield from _figures(document, "write")
    for each in document.together:
        yield from _of_entity(each)


def _of_entity(together: Together) -> Iterator[Block]:
    yield Heading(3, ["Writing ", together.entity], slug(f"write {together.entity}"))
    if together.effects:
        yield _rows(
            ("Effect", "Name", "What happens"),
            [([each.kind], code(each.name), marked(each.text)) for each in together.effects],
        )
    else:
        yield Paragraph(["Nothing else changes with it."])
    for write in together.writes:
        yield Fold(_write_summary(write), list(_write(write)))


def _write_summary(write: WriteText) -> str:
    cost = f", {_cost(write.cost)}" if write.cost is not None else ""
    return f"{write.name}: {_requests_in_words(write.requests)}{cost}"


def _requests_in_words(requests: Sequence[Sent]) -> str:
    def words(sent: Sent) -> str:
        actions = sent.request.get("TransactItems")
        return f"{sent.action} of {len(actions)}" if actions else sent.action

    return ", then ".join(map(words, requests))


def _write(write: WriteText) -> Iterator[Block]:
    if write.touched:
        rows = [
            ([each.action], [each.what], code(each.key), code(each.change), code(each.condition))
            for each in write.touched
        ]
        yield _rows(("Action", "Item", "Key", "Change", "Condition"), rows)
    yield Listing("text", write.python)
    for sent in write.requests:
        yield Listing("json", json_text({sent.action: sent.request}))


# Departures, findings, rationale


def _departures(document: Document) -> Iterator[Block]:
    if document.departures:
        rows = [(marked(each.document), marked(each.here), marked(each.because)) for each in document.departures]
        yield _rows(("The document says", "The design does", "Because"), rows)


def _findings(remarks: Sequence[Remark] | None) -> Iterator[Block]:
    if remarks is None:
        return
    left = [each for each in remarks if each.accepted is None]
    accepted = [each for each in remarks if each.accepted is not None]
    if left:
        rows = [
            (code(each.code), [each.severity], code(each.place), marked(each.happens), marked(each.remedy))
            for each in left
        ]
        yield _rows(("Rule", "Severity", "Place", "What will happen", "What to do"), rows)
    else:
        yield Paragraph(["The review found nothing that isn't accepted."])
    if accepted:
        yield Paragraph(["These are accepted:"])
        accepted_rows = [
            (code(each.code), code(each.place), marked(each.happens), marked(each.accepted or "")) for each in accepted
        ]
        yield _rows(("Rule", "Place", "What happens", "Accepted because"), accepted_rows)


def _rationale(document: Document) -> Iterator[Block]:
    if document.rationale:
        yield _rows(("What", "Why"), [(code(place), marked(why)) for place, why in document.rationale])


def _problems(document: Document) -> Iterator[Block]:
    if document.problems:
        yield _rows(("Of", "Because"), [(code(name), [problem]) for name, problem in document.problems])
