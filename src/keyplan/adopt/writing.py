"""A design as Python source, in the order and form in which people write designs."""

import io
import re
import tokenize
from collections.abc import Iterator, Sequence

from keyplan.adopt.layout import WIDTH, group, sequence, text
from keyplan.adopt.model import (
    Found,
    FoundEntity,
    FoundField,
    FoundGuard,
    FoundKey,
    FoundModel,
    FoundTable,
    Parts,
    template_text,
)
from keyplan.adopt.names import Case, stored_as
from keyplan.adopt.patterns import FoundPattern, patterns_of

_DATETIMES = ("date", "datetime")


def design_source(found: Found) -> str:
    """The module of a design. It is formatted, and has no values of items in it, apart from literals of keys."""
    patterns = patterns_of(found)
    body = "\n\n\n".join(
        (
            *(_table(table) for table in found.tables),
            *(each for table in found.tables for entity in table.entities for each in _entity(entity, table)),
            _design(found, patterns),
        )
    )
    body = _without_gaps(body, [table.variable for table in found.tables])
    if any(field.name == "date" for entity in found.entities for field in entity.fields):
        # In such a class, `date` is the field.
        body = re.sub(r"(?<=[:\[] )(date|datetime)\b|(?<=\[)(date|datetime)\b", r"datetime.\1\2", body)
    names = ", ".join(table.table.name for table in found.tables)
    return f'"""The design of {names}, adopted from what is stored there."""\n\n{_imports(found, body)}\n\n{body}\n'


def _without_gaps(body: str, variables: Sequence[str]) -> str:
    """The source with tables of one line one below the other."""
    for variable in variables:
        body = body.replace(f"\n\n\n{variable} = Table(", f"\n{variable} = Table(")
    return body


def _imports(found: Found, body: str) -> str:
    """The imports of all names that are used."""
    used = {*_names_in(body)}
    lines = []
    dates = [each for each in _DATETIMES if each in used]
    if "datetime.date" in body or "datetime.datetime" in body:
        lines.append("import datetime")
    elif dates:
        lines.append(f"from datetime import {', '.join(dates)}")
    if "Decimal" in used:
        lines.append("from decimal import Decimal")
    typing = [each for each in ("Annotated", "Any") if each in used]
    if typing:
        lines.append(f"from typing import {', '.join(typing)}")
    blocks = ["\n".join(lines)] if lines else []
    if any(entity.models for entity in found.entities):
        blocks.append("from pydantic import BaseModel")
    known = [each for each in _KEYPLAN if each in used]
    first = f"from keyplan.design import {', '.join(known)}"
    blocks.append(first if len(first) <= WIDTH else group("from keyplan.design import (", known, ")", apart=True))
    return "\n\n".join(blocks)


_KEYPLAN = (
    "KEYS_ONLY Count Created Design Entity Get GuardTaken Id Lookup Query Table Ttl Updated Version get include index "
    "key local lookup on_top pattern query stored taken unique"
).split()


def _names_in(source: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            yield token.string


def _table(found: FoundTable) -> str:
    table = found.table
    members = [text(table.name), _key_of(table.key.hash, table.key.range)]
    if table.indexes:
        indexes = [f"{text(name)}: {_index(found, name)}" for name in table.indexes]
        members.append(f"indexes={group('{', indexes, '}', indent=1, apart=True)}")
    if table.case != "as is":
        members.append(f"case={text(table.case)}")
    named = ((name, getattr(table, name)) for name in ("type_attribute", "ttl", "stream", "envelope"))
    members += [f"{name}={text(value)}" for name, value in named if value is not None]
    if table.billing == "PROVISIONED":
        members += ['billing="PROVISIONED"', f"capacity={table.capacity}"]
    if table.times != "milliseconds":
        members.append(f"times={text(table.times)}")
    return group(f"{found.variable} = Table(", members, ")")


def _index(found: FoundTable, name: str) -> str:
    index = found.table.by_name[name]
    projection = {"ALL": "", "KEYS_ONLY": "KEYS_ONLY"}.get(
        index.projection.type, f"include({', '.join(map(text, index.projection.attributes))})"
    )
    hashes, ranges = (
        tuple(a.name if a.type == "S" else f"{a.name}:{a.type}" for a in part) for part in (index.hash, index.range)
    )
    if index.local:
        return f"local({', '.join(filter(None, (text(ranges[0]), projection)))})"
    declared = _key_of(hashes, ranges)
    return group("index(", [declared, projection], ")", indent=2) if projection else declared


def _key_of(hash_: Sequence[str], range_: Sequence[str]) -> str:
    parts = [text(part[0]) if len(part) == 1 else f"({', '.join(map(text, part))})" for part in (hash_, range_) if part]
    return f"key({', '.join(parts)})"


def _entity(entity: FoundEntity, found: FoundTable) -> Iterator[str]:
    """The models of an entity's values, and its class."""
    for model in entity.models:
        yield _model(model)
    arguments = ["Entity", f"table={found.variable}"]
    if entity.type is not None:
        arguments.append(f"type={text(entity.type)}")
    fields = [_field(each, found.table.case) for each in entity.fields]
    keys = [f"    {_key(each, entity, found)}" for each in entity.keys]
    keys += [f"    {_guard(each, entity, found)}" for each in entity.guards]
    body = "\n\n".join("\n".join(lines) for lines in (fields, keys) if lines)
    yield f"{group(f'class {entity.name}(', arguments, '):')}\n{body}"


def _model(model: FoundModel) -> str:
    fields = "\n".join(_field(each, "as is") for each in model.fields)
    return f"class {model.name}(BaseModel):\n{fields}"


def _field(field: FoundField, case: Case) -> str:
    kind = field.type
    if field.optional and kind != "Any":
        kind = f"{kind} | None"
    marks = [f"stored({text(field.attribute)})"] if stored_as(field.name, case) != field.attribute else []
    if marks or field.marks:
        kind = f"Annotated[{', '.join((kind, *marks, *field.marks))}]"
    default = "None" if field.optional else field.default
    if kind in ("Count", "Version") and default is None:
        default = "0"
    return f"    {field.name}: {kind}" + (f" = {default}" if default is not None else "")


def _key(key: FoundKey, entity: FoundEntity, found: FoundTable) -> str:
    parts = [_templates(each, entity) for each in (key.hash, key.range) if each]
    if key.when is not None:
        parts.append(f"when={text(key.when)}")
    if key.index is None:
        return group("primary = key(", parts, ")", indent=1)
    place = f".{key.index}" if key.index.isidentifier() else f"[{text(key.index)}]"
    return group(f"{key.name} = {found.variable}{place}(", parts, ")", indent=1)


def _templates(templates: Sequence[Parts], entity: FoundEntity) -> str:
    written = [text(template_text(parts, entity.names)) for parts in templates]
    return written[0] if len(written) == 1 else f"({', '.join(written)})"


def _guard(guard: FoundGuard, entity: FoundEntity, found: FoundTable) -> str:
    parts = [text(template_text(each, entity.names)) for each in (guard.hash, guard.range) if each is not None]
    if guard.carries:
        carried = ", ".join(map(text, guard.carries))
        parts.append(f"carries={carried}" if len(guard.carries) == 1 else f"carries=({carried})")
    if guard.table != found.variable:
        parts.append(f"table={guard.table}")
    if guard.when is not None:
        parts.append(f"when={text(guard.when)}")
    return group(f"{guard.name} = unique(", parts, ")", indent=1)


def _design(found: Found, patterns: Sequence[FoundPattern]) -> str:
    tables = [table.variable for table in found.tables]
    entities = [entity.name for entity in found.entities]
    about = [
        "    # Say in a docstring what it is for. The patterns are what the keys can answer: keep the questions",
        "    # that are asked, and put them into your own words.",
    ]
    if not entities:
        about = ["    # No items were read: declare the entities, and the questions that are asked."]
    lines = [
        f"class {found.name}(Design):",
        *about,
        "",
        f"    tables = {sequence(tables, indent=1, room=9)}",
        f"    entities = {sequence(entities, indent=1, room=11)}",
    ]
    for each in patterns:
        parameters = [f"{name}: {kind}" for name, kind in each.parameters]
        head = group(f"def {each.name}(", ["self", *parameters], f") -> {each.result}:", indent=1)
        lines += ["", f"    @pattern({text(each.wording)})", f"    {head}"]
        lines.append(f"        return {group(each.call, each.arguments, ')', indent=2)}")
    return "\n".join((*lines, "", "", f"DESIGN = {found.name}"))
