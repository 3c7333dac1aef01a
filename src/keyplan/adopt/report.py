"""The report of an adoption: what was found, on what grounds, and what isn't sure. Without values of items."""

import json
from collections.abc import Iterator

from keyplan.adopt.checking import RoundTrip
from keyplan.adopt.files import item_to_json
from keyplan.adopt.model import Found, FoundTable, template_text
from keyplan.adopt.rules import rules_of


def adoption_report(found: Found, checked: RoundTrip | None, *, with_values: bool = False) -> str:
    """The report as Markdown. `with_values`: with an example of each entity's items."""
    sections = [
        f"# {found.name}: what was adopted, and what to look at",
        "\n".join(_tables(found)),
        "\n".join(_checks(checked)) if checked else "",
        "\n".join(_doubts(found)),
        "\n".join(_questions(found)),
        *("\n".join(_entities(table, with_values=with_values)) for table in found.tables),
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def _tables(found: Found) -> Iterator[str]:
    yield "| table | items read | entities | guard items | keys and indexes |"
    yield "| --- | --- | --- | --- | --- |"
    for table in found.tables:
        read = f"{len(table.items):,}" + ("" if table.complete else " (a sample)")
        guards = sum(map(len, table.guards))
        keys = 1 + len(table.table.by_name)
        yield f"| {table.table.name} | {read} | {len(table.entities)} | {guards:,} | {keys} |"


def _checks(checked: RoundTrip) -> Iterator[str]:
    yield "## Read back"
    yield ""
    if not checked.items:
        yield "There were no items."
        return
    yield (
        f"Each of the {checked.items:,} items was read through the design and written into an empty DynamoDB. "
        f"{checked.same:,} came back unchanged."
    )
    if checked.nulls:
        yield ""
        yield f"{checked.nulls:,} came back unchanged apart from attributes that are NULL, which are not written."
    if checked.orphans:
        yield ""
        yield f"{checked.orphans:,} guard items guard nothing that was read, so they weren't compared."
    if checked.problems:
        yield ""
        yield "| entity or attributes | problem | items |"
        yield "| --- | --- | --- |"
        for (place, problem), count in checked.problems.most_common():
            yield f"| {place} | {problem} | {count:,} |"


def _doubts(found: Found) -> Iterator[str]:
    yield "## Not sure"
    yield ""
    if not found.entities:
        yield "Which entities there are: only items say that."
        return
    if not found.doubts:
        yield "Nothing: every item that was read agrees with the design, and with no other that was tried."
        return
    yield "| place | why | items |"
    yield "| --- | --- | --- |"
    for doubt in found.doubts:
        yield (
            f"| {doubt.place} | {doubt.problem} | {doubt.items or '':,} |"
            if doubt.items
            else (f"| {doubt.place} | {doubt.problem} | |")
        )


def _questions(found: Found) -> Iterator[str]:
    """What items can't say: rules that the code may keep."""
    rows = rules_of(found)
    if not rows:
        return
    yield "## Rules that your code may keep"
    yield ""
    yield "Items don't say who keeps these. Declare what your code does; see docs/design.md."
    yield ""
    yield "| field | what it looks like | word |"
    yield "| --- | --- | --- |"
    yield from (f"| {place} | {what} | {word} |" for place, what, word in rows)


def _entities(table: FoundTable, *, with_values: bool) -> Iterator[str]:
    yield f"## {table.table.name}"
    if not table.entities and not table.guards:
        yield ""
        yield "No items were read, so nothing says what is in this table."
    for entity in table.entities:
        optional = [field.name for field in entity.fields if field.optional]
        yield ""
        yield f"### {entity.name}"
        yield ""
        count = f"{len(entity.records):,} {'item' if len(entity.records) == 1 else 'items'}"
        yield count + (f", some without {', '.join(optional)}." if optional else ".")
        yield ""
        yield "| key | hash | range | when |"
        yield "| --- | --- | --- | --- |"
        for key in entity.keys:
            hash_, range_ = (
                ", ".join(f"`{template_text(parts, entity.names)}`" for parts in each) for each in (key.hash, key.range)
            )
            yield f"| {key.index or 'table'} | {hash_} | {range_} | {key.when or ''} |"
        for guard in entity.guards:
            texts = [template_text(each, entity.names) for each in (guard.hash, guard.range) if each is not None]
            yield f"| {guard.name} ({guard.items:,} items) | {' | '.join(f'`{each}`' for each in texts)} | |"
        if with_values and entity.records:
            yield ""
            yield "```json"
            yield json.dumps(item_to_json(entity.records[0].item), indent=2, ensure_ascii=False)
            yield "```"
