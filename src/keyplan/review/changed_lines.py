"""The changed lines of a design that a remedy shows: the lines of its source, with the change in them.

What can't be written without knowing more (how many digits a number needs, which fields a list shows) is left out: the
result is "" then, and the remedy says it in words.
"""

import ast
from collections.abc import Mapping, Sequence
from textwrap import dedent

from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.specs import KeySpec
from keyplan.design.keys.templates import SEPARATOR, Slot
from keyplan.design.tables.attributes import KeyAttribute, Projection
from keyplan.design.tables.tables import Index
from keyplan.review.keys import is_made, number_range
from keyplan.review.places import source_of_member
from keyplan.review.reviewed import Reviewed

_SHARDS = 8
_PLAIN_TYPES = ("datetime", "date", "UUID", "bool")

# Keys


def changed_key(
    reviewed: Reviewed, spec: EntitySpec, key: KeySpec, *, hash: str | None = None, range: str | None = None
) -> str:
    """The lines that declare a key with another template for its first hash or its last range attribute.

    An attribute that is a field by itself can't have a template, so the key gets an attribute of its own then.
    """
    texts = {0: hash, 1: range}
    renamed: dict[str, str] = {}
    for part, text, ending in ((key.hash[0], hash, "PK"), (key.range[-1] if key.range else None, range, "SK")):
        if text is not None and part is not None and _is_field(reviewed, spec, key.index, part.attribute):
            renamed[part.attribute.name] = f"{key.index.name if key.index is not None else ''}{ending}"
            if part.attribute.type != "S" and _is_shared(reviewed, key.index):
                return ""  # the other entities would need other templates, too
    line = _with_arguments(spec, key.name, {place: f'"{text}"' for place, text in texts.items() if text is not None})
    return "\n".join([*([_declared_keys(spec, key.index, renamed)] if renamed else []), line]) if line else ""


def with_ties_broken(reviewed: Reviewed, spec: EntitySpec, key: KeySpec) -> str:
    """The lines that declare a key in an index whose sort key ends with the fields of the primary key."""
    last, index = key.range[-1], key.index
    missing = [name for name in spec.primary.fields if name not in key.fields]
    if index is None or not missing:
        return ""
    if not _is_field(reviewed, spec, index, last.attribute):
        texts = [_text_in_primary(spec, name) for name in missing]
        return changed_key(reviewed, spec, key, range=SEPARATOR.join([last.source, *texts])) if all(texts) else ""
    more = [KeyAttribute(spec.fields[name].stored, "S") for name in missing]
    are_texts = all(spec.fields[name].annotation is str for name in missing)
    if index.local or _is_shared(reviewed, index) or not are_texts or len(index.range) + len(more) > 4:
        return ""
    sources = [*(part.source for part in key.range), *(f"{{{name}}}" for name in missing)]
    line = _with_arguments(spec, key.name, {1: _strings(sources)}, whole=True)
    return f"{_index_line(index, index.hash, (*index.range, *more))}\n{line}" if line else ""


def with_shards(reviewed: Reviewed, spec: EntitySpec, key: KeySpec, number: int = _SHARDS) -> str:
    """The lines that declare a key whose hash key is spread over shards, by what tells the items apart."""
    known = {name for part in key.hash for name in part.fields}
    fields = [name for name in spec.primary.fields if name not in known]
    made = [name for name in fields if is_made(spec, name)]
    best = made or [name for name in fields if spec.fields[name].no_separator] or fields
    if not best or (key.index is not None and key.index.local):
        return ""
    return changed_key(reviewed, spec, key, hash=f"{key.hash[0].source}{SEPARATOR}{{shard({best[-1]}, {number})}}")


def with_slot(reviewed: Reviewed, spec: EntitySpec, key: KeySpec, slot: Slot, text: str) -> str:
    """The lines that declare a key with another text in the place of a field."""
    old = slot_text(slot)
    hash_ = key.hash[0].source.replace(old, text)
    range_ = key.range[-1].source.replace(old, text) if key.range else None
    if any(part.attribute.type != "S" and slot.field in part.fields for part in key.parts):
        return ""  # how many digits a number needs in a text isn't known
    changes = {"hash": hash_ if hash_ != key.hash[0].source else None}
    changes["range"] = range_ if key.range and range_ != key.range[-1].source else None
    return changed_key(reviewed, spec, key, **changes) if any(changes.values()) else ""


def slot_text(slot: Slot) -> str:
    """The place of a field as it is written in a template."""
    if slot.shards is not None:
        return f"{{shard({slot.field}, {slot.shards.count})}}"
    way = "desc" if slot.inverted else slot.fold
    form, absent = (f":{slot.spec}" if slot.spec else ""), (f"|{slot.absent}" if slot.absent else "")
    return f"{{{slot.field}{f'.{way}' if way else ''}{form}{absent}}}"


def _text_in_primary(spec: EntitySpec, field: str) -> str:
    """A field as the primary key has it, if it tells the value exactly; "" if it can't be in a text."""
    for part in (each.template for each in spec.primary.parts):
        for slot in part.slots if part is not None and field in part.readable_fields else ():
            if slot.field == field and slot.shards is None:
                return slot_text(slot)
    return field_text(spec, field)


def field_text(spec: EntitySpec, field: str) -> str:
    """A field as it is written in a template, with what its type needs; "" if that isn't known."""
    annotation = spec.fields[field].annotation
    if annotation is str:
        return f"{{{field}.address}}" if "mail" in field else f"{{{field}}}"
    if annotation is int:
        return with_width(spec, field)
    return f"{{{field}}}" if getattr(annotation, "__name__", "") in _PLAIN_TYPES else ""


def with_width(spec: EntitySpec, field: str) -> str:
    """A whole number as it is written in a template, with as many digits as its limits need; "" if there are none."""
    least, most = number_range(spec, field)
    if most is None:
        return ""
    sign = "+" if least is None or least < 0 else ""
    return f"{{{field}:{sign}0{max(len(str(abs(end))) for end in (least or 0, most))}}}"


def _is_field(reviewed: Reviewed, spec: EntitySpec, index: Index | None, attribute: KeyAttribute) -> bool:
    """Whether a key attribute is a field of an item by itself, so that its value can't be another one."""
    specs = reviewed.entities_in(spec.table) if index is None else [each for each, _ in reviewed.placed_in(index)]
    stored = (field.stored for each in specs for field in each.fields.values())
    return attribute.type != "S" or attribute.name in stored


def _is_shared(reviewed: Reviewed, index: Index | None) -> bool:
    return index is not None and len({spec.name for spec, _ in reviewed.placed_in(index)}) > 1


# Tables


def _declared_keys(spec: EntitySpec, index: Index | None, renamed: Mapping[str, str]) -> str:
    """The keys of a table or an index, some of them with other attributes."""
    parts = (spec.table.hash, spec.table.range) if index is None else (index.hash, index.range)
    hash_, range_ = (
        [KeyAttribute(renamed[each.name], "S") if each.name in renamed else each for each in part] for part in parts
    )
    if index is None:
        return f"{_attributes(hash_, range_)}  # the key of the table"
    return _index_line(index, hash_, range_)


def with_projection(index: Index, projection: Projection) -> str:
    """The line that declares an index with another projection."""
    return _index_line(index, index.hash, index.range, projection)


def _index_line(
    index: Index, hash_: Sequence[KeyAttribute], range_: Sequence[KeyAttribute], projection: Projection | None = None
) -> str:
    has = projection or index.projection
    names = ", ".join(f'"{each}"' for each in has.attributes)
    projected = "" if has.type == "ALL" else ", KEYS_ONLY" if has.type == "KEYS_ONLY" else f", include({names})"
    why = f", why={index.why!r}" if index.why else ""
    if index.local:
        return f'"{index.name}": local({_names(range_)}{projected}{why})'
    keys = _attributes(hash_, range_)
    return f'"{index.name}": {f"index({keys}{projected}{why})" if projected or why else keys}'


def _attributes(hash_: Sequence[KeyAttribute], range_: Sequence[KeyAttribute]) -> str:
    return f"key({', '.join(_names(each) for each in (hash_, range_) if each)})"


def _names(attributes: Sequence[KeyAttribute]) -> str:
    return _strings([each.name if each.type == "S" else f"{each.name}:{each.type}" for each in attributes])


def _strings(texts: Sequence[str]) -> str:
    quoted = [f'"{each}"' for each in texts]
    return quoted[0] if len(quoted) == 1 else f"({', '.join(quoted)})"


# Fields and rules


def guard_for(spec: EntitySpec, fields: Sequence[str]) -> str:
    """The line that declares a guard of the values of some fields, which leads to the item."""
    texts = [field_text(spec, name) for name in fields]
    if not all(texts):
        return ""
    exact = {name for name, text in zip(fields, texts, strict=True) if ".address" not in text}
    hash_ = f"{spec.name}{''.join(fields)}".upper().replace("_", "")
    carries = [each for each in spec.primary.fields if each not in exact]
    carried = f", carries={_strings(carries)}" if carries else ""
    return f'{"_".join(fields)}_guard = unique("{hash_}{SEPARATOR}{SEPARATOR.join(texts)}"{carried})'


def changed_guard(spec: EntitySpec, name: str, hash: str) -> str:
    """The line that declares a guard with another hash key."""
    return _with_arguments(spec, name, {0: f'"{hash}"'})


def annotated(spec: EntitySpec, field: str, *markers: str) -> str:
    """The line that declares a field, as the design has it, with more markers."""
    statement, text = _declared(spec, field)
    if statement is None:
        return ""
    kind = ast.get_source_segment(text, statement.annotation) or ""
    inside = kind[len("Annotated[") : -1].rstrip().rstrip(",") if kind.startswith("Annotated[") else kind
    marked = f"Annotated[{', '.join([inside, *markers])}]"
    return _edited(text, statement, {statement.annotation: marked})


def with_default(spec: EntitySpec, field: str, default: str) -> str:
    """The line that declares a field, as the design has it, with a default."""
    statement, text = _declared(spec, field)
    if statement is None:
        return ""
    if statement.value is not None:
        return _edited(text, statement, {statement.value: default})
    return f"{_edited(text, statement, {})} = {default}"


def with_equal_widths(spec: EntitySpec, field: str, digits: Sequence[str]) -> str:
    """The line that declares a field with texts of digits, with zeros in front of the short ones."""
    statement, text = _declared(spec, field)
    width = max(map(len, digits))
    texts = ast.walk(statement) if statement is not None else ()
    short = [node for node in texts if isinstance(node, ast.Constant) and node.value in digits]
    edits: dict[ast.expr, str] = {node: f'"{str(node.value).zfill(width)}"' for node in short}
    return _edited(text, statement, edits) if statement is not None and edits else ""


def _declared(spec: EntitySpec, field: str) -> tuple[ast.AnnAssign | None, str]:
    """The statement that declares a field, and the text of its file."""
    statement, text = source_of_member(spec.entity, field) or (None, "")
    return (statement, text) if isinstance(statement, ast.AnnAssign) else (None, "")


def with_floor(spec: EntitySpec, counter: str, floor: int) -> str:
    """The decorator of a count, as the design has it, with a floor."""
    found = source_of_member(spec.entity, counter)
    for call in getattr(found[0], "decorator_list", ()) if found is not None else ():
        if found is not None and isinstance(call, ast.Call) and call.args:
            first = ast.get_source_segment(found[1], call.args[0])
            return f"@{_edited(found[1], call, {call.args[0]: f'{first}, floor={floor}'})}"
    return ""


# Source


def _with_arguments(spec: EntitySpec, member: str, arguments: Mapping[int, str], *, whole: bool = False) -> str:
    """The statement that declares a member, with other arguments: of several in a tuple, the first hash or last range
    template, or the whole tuple; "" if the design doesn't have them as texts."""
    found = source_of_member(spec.entity, member)
    call = getattr(found[0], "value", None) if found is not None else None
    if found is None or not isinstance(call, ast.Call) or max(arguments) >= len(call.args):
        return ""
    edits: dict[ast.expr, str] = {}
    for place, text in arguments.items():
        node = call.args[place]
        if isinstance(node, ast.Tuple) and not whole:
            node = node.elts[0 if place == 0 else -1]
        edits[node] = text
    return _edited(found[1], found[0], edits)


def _edited(text: str, node: ast.stmt | ast.expr, edits: Mapping[ast.expr, str]) -> str:
    """The source of a node with other text in the place of some expressions in it."""
    lines = text.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    source = b"".join(lines)
    begin, end = _span(node, starts)
    for inner in sorted(edits, key=lambda each: -_span(each, starts)[0]):
        first, last = _span(inner, starts)
        source = source[:first] + edits[inner].encode() + source[last:]
        end += len(edits[inner].encode()) - (last - first)
    return dedent(" " * node.col_offset + source[begin:end].decode())


def _span(node: ast.stmt | ast.expr, starts: Sequence[int]) -> tuple[int, int]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
