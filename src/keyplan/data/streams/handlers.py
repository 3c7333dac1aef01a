"""Handlers: functions that are called with the changes of an entity's items."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args

from keyplan.data.codec.entities import DELETING, codec_of
from keyplan.data.codec.values import Item
from keyplan.data.streams.records import Record, by_time_to_live, sequence_of, time_of
from keyplan.design import DesignError, Entity, Table
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.tables.tables import StreamView

E = TypeVar("E", bound=Entity)
C = TypeVar("C")

ChangeKind: TypeAlias = Literal["INSERT", "MODIFY", "REMOVE"]

_SHOWS_NEW: tuple[StreamView, ...] = ("NEW_IMAGE", "NEW_AND_OLD_IMAGES")
_SHOWS_OLD: tuple[StreamView, ...] = ("OLD_IMAGE", "NEW_AND_OLD_IMAGES")


@dataclass(frozen=True)
class ItemChange(Generic[E]):
    """A change of an item.

    `before` and `after` are set if the stream's view includes them (`Table.stream`), or if all fields are in the key.
    """

    kind: ChangeKind
    keys: Mapping[str, object]
    """The fields in the primary key; set with every view."""
    before: E | None
    """The item before the change; None for an INSERT."""
    after: E | None
    """The item after the change; None for a REMOVE. It may have changed again since."""
    expired: bool
    """Whether DynamoDB's time to live deleted the item."""
    event: str
    """The id of the record: the same each time it is delivered."""
    sequence: str
    """The sequence number of the record: larger for later changes of the same item."""
    time: datetime
    """The approximate time of the change."""


@dataclass(frozen=True)
class Handler(Generic[C]):
    """A function that is called with the changes of an entity's items, and with a context of type `C`."""

    entity: type[Entity]
    kinds: frozenset[ChangeKind]
    act: Callable[[ItemChange[Any], C], None]

    @property
    def name(self) -> str:
        """The name under which failed records are stored."""
        return self.act.__name__

    def __call__(self, change: ItemChange[Any], context: C) -> None:
        self.act(change, context)

    def wants(self, table: Table, record: Record) -> bool:
        """Whether a record of this table's stream is for this handler."""
        if self.entity.spec.table is not table or record["eventName"] not in self.kinds:
            return False
        change = record["dynamodb"]
        if record["eventName"] == "MODIFY" and DELETING in change.get("NewImage", {}):
            return False  # it is being deleted by a cascade, and its REMOVE follows
        return codec_of(self.entity).recognizes(_shown_item(change))

    def deliver(self, record: Record, context: C) -> None:
        """Call the function with the change of a record."""
        self.act(change_of(self.entity, record), context)


def on(
    entity: type[E], kind: ChangeKind, *more: ChangeKind
) -> Callable[[Callable[[ItemChange[E], C], None]], Handler[C]]:
    """Declare a function as a handler of the changes of an entity's items.

    It gets every change at least once, the changes of one item in order, and the context that the runner was given. If
    it raises, it is called again. It must accept a change that it has seen before, even after a later one: when a
    process was lost, or when an operator retries a record. If that matters, it should read the item.
    """
    kinds = frozenset((kind, *more))
    _check(entity.spec, kinds)

    def declare(act: Callable[[ItemChange[E], C], None]) -> Handler[C]:
        return Handler(entity, kinds, act)

    return declare


def deliver(handlers: Sequence[Handler[C]], table: Table, record: Record, context: C) -> int:
    """Call the handlers for a record of this table's stream, in order; returns how many were called."""
    called = 0
    for handler in handlers:
        if handler.wants(table, record):
            handler.deliver(record, context)
            called += 1
    return called


def change_of(entity: type[E], record: Record) -> ItemChange[E]:
    """The change of an item of this entity in a record."""
    change = record["dynamodb"]
    kind: ChangeKind = record["eventName"]
    keys = _key_values(entity.spec, change["Keys"])
    return ItemChange(
        kind,
        keys,
        None if kind == "INSERT" else _entity(entity, change.get("OldImage"), keys),
        None if kind == "REMOVE" else _entity(entity, change.get("NewImage"), keys),
        by_time_to_live(record),
        record.get("eventID", ""),
        sequence_of(record),
        time_of(record),
    )


def _entity(entity: type[E], image: Item | None, keys: Mapping[str, object]) -> E | None:
    if image:
        return codec_of(entity).decode(image)
    return entity.model_validate(keys) if keys.keys() == entity.spec.fields.keys() else None


def _key_values(spec: EntitySpec, keys: Item) -> dict[str, object]:
    """The fields in a primary key, without those that it has in a folded form only."""
    values: dict[str, object] = {}
    for part in spec.primary.parts:
        stored = keys[part.attribute.name]
        if part.template is None:
            assert part.field is not None
            values |= codec_of(spec.entity).decode_fields([part.field], {spec.fields[part.field].stored: stored})
        else:
            read = part.template.read(stored["S"]) or {}
            values |= {name: value for name, value in read.items() if name in part.template.readable_fields}
    return values


def _shown_item(change: Mapping[str, Any]) -> Item:
    """As much of the item as the record has, to tell which entity it is of."""
    item: Item = change.get("NewImage") or change.get("OldImage") or change["Keys"]
    return item


def _check(spec: EntitySpec, kinds: frozenset[ChangeKind]) -> None:
    """Raise `DesignError` if the table has no stream, or one whose view doesn't tell the entity of an item."""
    table, place = spec.table, spec.name
    if not kinds <= set(get_args(ChangeKind)):
        unknown = ", ".join(sorted(kinds - set(get_args(ChangeKind))))
        raise DesignError("stream-kind", place, f"{unknown} isn't a kind of change", "Use INSERT, MODIFY or REMOVE.")
    if table.stream is None:
        raise DesignError(
            "no-stream", place, f"its table {table.name} has no stream", 'Declare it with stream="NEW_AND_OLD_IMAGES".'
        )
    shown = set()
    if table.stream in _SHOWS_NEW:
        shown |= {"INSERT", "MODIFY"}
    if table.stream in _SHOWS_OLD:
        shown |= {"MODIFY", "REMOVE"}
    if table.type_attribute is not None and spec.type is not None and not kinds <= shown:
        raise DesignError(
            "stream-view",
            place,
            f"the stream of {table.name} has only the keys of a change, which don't tell the entity",
            'Declare the table with stream="NEW_AND_OLD_IMAGES".',
        )
