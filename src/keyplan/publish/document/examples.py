"""Runs the examples of a design on an empty DynamoDB, and keeps what the store sent and stored."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from keyplan.data import DataError, Store, create, delete, update
from keyplan.design import Design, DesignError, Entity, InvalidValue
from keyplan.design.examples import (
    example_arguments,
    example_items,
    example_of,
    example_value,
    made_by_others,
)
from keyplan.publish.document.model import Sent

MOMENT = datetime(2026, 1, 15, 12, tzinfo=UTC)
"""When the examples are run, so that a document is the same tomorrow."""


@dataclass
class Written:
    """An example of an item, and what the store sent to create, change and delete it."""

    entity: Entity
    creating: tuple[Sent, ...] = ()
    changed: tuple[str, object] | None = None
    """The field that the change sets, with the value."""
    after: Entity | None = None
    """The item after the change."""
    changing: tuple[Sent, ...] = ()
    deleting: tuple[Sent, ...] = ()

    def is_of(self, item: Entity) -> bool:
        """Whether this is the example, and not another item of its entity."""
        return item.key_values == self.entity.key_values


@dataclass
class Asked:
    """An example of an access pattern: the arguments, and what the store sent."""

    arguments: dict[str, object]
    sent: tuple[Sent, ...]


@dataclass
class Examples:
    """What the examples of a design sent and stored."""

    written: dict[str, Written] = field(default_factory=dict)
    """By the name of the entity."""
    asked: dict[str, Asked] = field(default_factory=dict)
    """By the name of the pattern."""
    items: list[Entity] = field(default_factory=list)
    """All items that were created by themselves."""
    problems: dict[str, str] = field(default_factory=dict)
    """Why there is no example, by the name of the entity or the pattern."""
    stored: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """All items, by the declared name of their table, in the order of their keys."""


class Recorder:
    """A client of boto3's shape that keeps the requests and passes them on."""

    def __init__(self, client: object) -> None:
        self._client = client
        self.sent: list[Sent] = []

    def __getattr__(self, name: str) -> Callable[..., object]:
        method = getattr(self._client, name)

        def call(**request: object) -> object:
            kept = {member: each for member, each in request.items() if member != "ClientRequestToken"}
            self.sent.append(Sent(name, deepcopy(kept)))
            return method(**request)

        return call

    def taken(self) -> tuple[Sent, ...]:
        """What was sent since the last time."""
        sent, self.sent = tuple(self.sent), []
        return sent


def run_examples(design: Design, client: object) -> Examples:
    """Create the example items of a design, run its patterns, then change and delete the items.

    `client` is a DynamoDB without the tables of the design. What a rule of the design refuses was sent all the same.
    """
    recorder = Recorder(client)
    store = Store(design, recorder, clock=lambda: MOMENT, secret=b"example")
    store.create_tables()
    recorder.taken()
    made = Examples()
    items = [_created(store, recorder, made, each) for each in _items(design, made)]
    made.items = list(items)
    for table in design.all_tables:
        made.stored[table.name] = _sorted(_scanned(client, design.table_name(table)), table.key_names)
    for name in design.patterns:
        made.asked[name] = _asked(store, recorder, made, name)
    items = [_changed(store, recorder, made, item) for item in items]
    for item in reversed(items):
        _delete(store, recorder, made, item)
    return made


def _items(design: Design, made: Examples) -> list[Entity]:
    """The example items in the order in which they can be created; without those that can't be made."""
    try:
        return list(example_items(design))
    except (DesignError, InvalidValue):
        pass  # which of them it is shows one by one
    items = []
    for entity in design.entities:
        try:
            example = example_of(design, entity)
        except (DesignError, InvalidValue) as error:
            made.problems[entity.__name__] = str(error)
        else:
            items += [example] if entity not in made_by_others(design) else []
    return items


def _created(store: Store[Any], recorder: Recorder, made: Examples, item: Entity) -> Entity:
    name = type(item).__name__
    with suppress(DataError):  # its rules may not allow it as things are, and the request shows which
        item = store.run(create(item))
    sent = recorder.taken()
    if name not in made.written:
        made.written[name] = Written(item, creating=sent)
    return item


def _asked(store: Store[Any], recorder: Recorder, made: Examples, name: str) -> Asked:
    pattern = store.design.patterns[name]
    try:
        arguments = example_arguments(pattern, design=store.design)
        operation = getattr(store.design, name)(**arguments)
        with suppress(DataError):
            store.run(operation)
    except (DesignError, InvalidValue) as error:
        made.problems[name] = str(error)
        return Asked({}, ())
    return Asked(arguments, recorder.taken())


def _changed(store: Store[Any], recorder: Recorder, made: Examples, item: Entity) -> Entity:
    """Set the first field that may be set, and that no key or guard is made of."""
    written = made.written[type(item).__name__]
    if not written.is_of(item):
        return item
    for name, value in _changes(item):
        changed = item.model_copy(update={name: value})
        try:
            after = store.run(update(changed))
        except (DataError, DesignError, InvalidValue):
            recorder.taken()
            continue
        sent = recorder.taken()
        if sent:
            written.changed, written.changing, written.after = (name, value), sent, after
            return after
    return item


def _changes(item: Entity) -> Iterator[tuple[str, object]]:
    spec = type(item).spec
    in_keys = {name for each in spec.keys for name in each.fields}
    in_keys |= {name for guard in spec.uniques for name in (*guard.hash.fields, *(guard.range or guard.hash).fields)}
    for name, each in spec.fields.items():
        if each.kind == "plain" and each.access == "open" and name not in in_keys and each.large is None:
            info = type(item).declared_fields[name]
            value = example_value(name, info.annotation, info, 2)
            if value != getattr(item, name):
                yield name, value


def _delete(store: Store[Any], recorder: Recorder, made: Examples, item: Entity) -> None:
    with suppress(DataError):
        store.run(delete(item))
    written, sent = made.written[type(item).__name__], recorder.taken()
    if written.is_of(item):
        written.deleting = sent


def _scanned(client: Any, table: str) -> list[dict[str, Any]]:  # noqa: ANN401 - boto3's clients have no common type
    items: list[dict[str, Any]] = client.scan(TableName=table)["Items"]
    return items


def _sorted(items: list[dict[str, Any]], names: tuple[str, ...]) -> list[dict[str, Any]]:
    return sorted(items, key=lambda item: [order_of(item[name]) for name in names])


def order_of(value: Mapping[str, Any]) -> tuple[float, str]:
    """Where a value of a key sorts: numbers by their value, text by its bytes."""
    ((kind, content),) = value.items()
    return (float(content), "") if kind == "N" else (0, str(content))
