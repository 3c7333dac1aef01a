"""What changes together: the effects that a design declares, and the actions of each write with their conditions."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keyplan.design import HOUSEKEEPING, Design, Entity
from keyplan.design.entities.effects import Counter, Unique, named_by
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.entities.standins import read_refs
from keyplan.publish.document.code import Code
from keyplan.publish.document.examples import Examples, Written
from keyplan.publish.document.items import Address, address_by, address_in, address_of, guard_address, names_by_address
from keyplan.publish.document.model import Consumption, Effect, Sent, Together, Touched, WriteText
from keyplan.publish.document.requests import filled, item_text

_ACTIONS = {"put_item": "Put", "update_item": "Update", "delete_item": "Delete"}
_DELETED = {
    "cascade": "when it is deleted, this is deleted too",
    "refuse": "it can't be deleted while this exists",
    "keep": "when it is deleted, this stays",
}


def together(design: Design, examples: Examples, costs: Mapping[str, Consumption], code: Code) -> Iterator[Together]:
    """For each entity that isn't made by others: its effects, and how it is created, changed and deleted."""
    others = names_by_address(examples)
    for entity in design.entities:
        written = examples.written.get(entity.__name__)
        if written is not None:
            effects = (*effects_of(entity.spec), *_effects_of_children(design, entity))
            known = others | (_known(written.after) if written.after is not None else {}) | _known(written.entity)
            yield Together(entity.__name__, effects, tuple(_writes(design, written, known, costs, code)))


# Effects in words


def effects_of(spec: EntitySpec) -> Iterator[Effect]:
    """What an item of an entity does to other items, in the order of its declarations."""
    for unique in spec.uniques:
        when = f", while {unique.when} is true" if unique.when else ""
        carries = f"; it carries {', '.join(unique.carries)}" if unique.carries else ""
        yield Effect("guard", unique.name, f"a guard holds {_guard_key(unique)} for it alone{when}{carries}")
    for derived in spec.derived:
        names = ", ".join(each.__name__ for each in derived.entities)
        words = {"mirror": "a copy of it", "derived": "made from it", "reference": "recorded for what it uses"}
        yield Effect(derived.kind, derived.name, f"{names}: {words[derived.kind]}{_doc(derived.method)}")
    for counter in spec.counters:
        yield Effect("counter", counter.name, _counter_text(spec, counter))
    for parent in spec.parents:
        name = parent.entity.__name__ if parent.entity is not None else "item"
        counted = f"; counted in its {parent.count}" if parent.count else ""
        text = f"the {name} must exist; {_DELETED[parent.on_delete]}{counted}{_doc(parent.parent)}"
        yield Effect("parent", parent.name, text)


def _guard_key(unique: Unique) -> str:
    return " / ".join(f"`{template.text}`" for template in (unique.hash, unique.range) if template is not None)


def _counter_text(spec: EntitySpec, counter: Counter[Any]) -> str:
    names = ", ".join(dict.fromkeys(each.entity.__name__ for each in read_refs(spec, counter.target)))
    floor = f", never below {counter.floor}" if counter.floor is not None else ""
    return f"adds to {counter.field} of {names}{floor}{_doc(counter.target)}"


def _effects_of_children(design: Design, entity: type[Entity]) -> Iterator[Effect]:
    for child in design.entities:
        for parent in child.spec.parents:
            if parent.entity is entity:
                yield Effect("children", f"{child.__name__}.{parent.name}", _children_text(child, parent.on_delete))


def _children_text(child: type[Entity], on_delete: str) -> str:
    if on_delete == "cascade":
        return f"deleting it deletes its {child.__name__} items, in a journaled job if they don't fit one transaction"
    if on_delete == "refuse":
        return f"can't be deleted while {child.__name__} items refer to it"
    return f"{child.__name__} items stay when it is deleted"


def _doc(method: object) -> str:
    text = " ".join((inspect.getdoc(method) or "").split())
    return f". {text}" if text else ""


# Writes


def _writes(
    design: Design, written: Written, known: Mapping[Address, str], costs: Mapping[str, Consumption], code: Code
) -> Iterator[WriteText]:
    name = type(written.entity).__name__
    field, value = written.changed or ("", None)
    runs = {
        "create": (written.creating, f"store.run(create(item))  # item: {name}"),
        "update": (written.changing, f"item.{field} = {code.value(value)}; store.run(update(item))"),
        "delete": (written.deleting, "store.run(delete(item))"),
    }
    for verb, (sent, python) in runs.items():
        if sent:
            touched = tuple(_touched(design, sent, known))
            yield WriteText(f"{verb} {name}", python, sent, touched, costs.get(f"{verb} {name}"))


def _known(item: Entity) -> dict[Address, str]:
    """What each item is that a write may touch."""
    spec = type(item).spec
    known: dict[Address, str] = {}

    def add(address: Address | None, what: str) -> None:
        if address is not None:
            known[address] = f"{known[address]}; {what}" if address in known else what

    add(address_of(item), f"the {spec.name} itself")
    for unique in spec.uniques:
        add(guard_address(unique, item), f"guard {unique.name}")
    for derived in spec.derived:
        for copy in derived.make(item):
            add(address_of(copy), f"{derived.kind} {derived.name}: {type(copy).__name__}")
    for counter in spec.counters:
        for ref in named_by(counter.target(item)):
            add(address_by(ref.entity.spec, ref.values), f"{ref.entity.__name__}, {counter.field} ({counter.name})")
    for parent in spec.parents:
        for ref in named_by(parent.parent(item)):
            add(address_by(ref.entity.spec, ref.values), f"{ref.entity.__name__}, parent ({parent.name})")
    return known


def _touched(design: Design, sent: Sequence[Sent], known: Mapping[Address, str]) -> Iterator[Touched]:
    tables = {design.table_name(table): table for table in design.all_tables}
    for each in sent:
        for action, part in _actions(each):
            table = tables[part["TableName"]]
            item = part.get("Key") or part["Item"]
            key = {name: item[name] for name in table.key_names}
            what = known.get(address_in(table, key), "the journal of the job" if table is HOUSEKEEPING else "")
            change = filled(part, "UpdateExpression")
            yield Touched(action, part["TableName"], item_text(key), what, change, filled(part, "ConditionExpression"))


def _actions(sent: Sent) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if sent.operation in _ACTIONS:
        yield _ACTIONS[sent.operation], sent.request
    for each in sent.request.get("TransactItems", ()):
        yield from each.items()
