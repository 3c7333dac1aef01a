"""Whether a design reads back what is stored: each item is written through it into an empty DynamoDB, and compared."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import ModuleType

from keyplan.adopt.model import Found, FoundTable, Json
from keyplan.data import AttributeValue, DataError, Item, Store, codec_of, create
from keyplan.design import Design, Entity, InvalidValue

_BATCH = 25
_SHOWN_EVERY = 200
_MODULE = "keyplan_adopted_design"

Progress = Callable[[int, int], None]


@dataclass
class RoundTrip:
    """How many items came back as they were, and what differs. There are no values in it."""

    items: int = 0
    same: int = 0
    nulls: int = 0
    """Items that came back as they were, apart from attributes that are NULL."""
    orphans: int = 0
    """Guard items that nothing in the sample is guarded by."""
    problems: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many items of which entity have which problem."""

    @property
    def whole(self) -> bool:
        """Whether all items came back."""
        return self.same + self.nulls + self.orphans == self.items


def loaded(source: str) -> type[Design]:
    """The design in a module's source. Raises `DesignError` if it can't work."""
    module = ModuleType(_MODULE)
    sys.modules[_MODULE] = module
    try:
        exec(compile(source, "design.py", "exec"), module.__dict__)
    finally:
        del sys.modules[_MODULE]
    design: type[Design] = module.__dict__["DESIGN"]
    return design


def check_items(
    design: type[Design], found: Found, client: Json, progress: Progress = lambda done, total: None
) -> RoundTrip:
    """Write all items that were read through a design into an empty DynamoDB, and compare what is there."""
    store = Store(design(), client)
    store.create_tables()
    checked = RoundTrip()
    total = sum(len(table.items) for table in found.tables)
    written: dict[str, list[Item]] = {table.table.name: [] for table in found.tables}
    done = 0
    for table in found.tables:
        guards = {_key(record.item, table) for records in table.guards for record in records}
        entities = [each for each in design.entities if each.spec.table.name == table.table.name]
        for item in table.items:
            done += 1
            if done % _SHOWN_EVERY == 0:
                progress(done, total)
            if _key(item, table) not in guards:
                _write(store, entities, item, written, checked)
    for name, items in written.items():
        _put(client, name, items)
    for table in found.tables:
        _compare(client, table, checked)
    return checked


def _write(
    store: Store[Design],
    entities: Sequence[type[Entity]],
    item: Item,
    written: dict[str, list[Item]],
    checked: RoundTrip,
) -> None:
    """Read an item through the design, and add what the design would write for it."""
    mine = [entity for entity in entities if codec_of(entity).recognizes(item)]
    if len(mine) != 1:
        checked.problems["", "no entity recognizes it" if not mine else "several entities recognize it"] += 1
        return
    codec = codec_of(mine[0])
    try:
        entity = codec.decode(item)
        written[mine[0].spec.table.name].append(codec.encode(entity))
        if mine[0].spec.uniques:
            for name, guard in _guards(store, entity):
                written[name].append(guard)
    except (DataError, InvalidValue) as error:
        checked.problems[mine[0].__name__, type(error).__name__] += 1


def _guards(store: Store[Design], entity: Entity) -> Iterator[tuple[str, Item]]:
    """The guards that are written with an item, with their tables."""
    own = codec_of(type(entity)).key(entity.__dict__)
    name = entity.spec.table.name
    for _, request in store.requests(create(entity)):
        for action in request.get("TransactItems", ()):
            put = action.get("Put")
            if put is not None and not (put["TableName"] == name and own.items() <= put["Item"].items()):
                yield put["TableName"], put["Item"]


def _put(client: Json, table: str, items: Sequence[Item]) -> None:
    for start in range(0, len(items), _BATCH):
        left = {table: [{"PutRequest": {"Item": item}} for item in items[start : start + _BATCH]]}
        while left:
            left = client.batch_write_item(RequestItems=left).get("UnprocessedItems")


def _compare(client: Json, table: FoundTable, checked: RoundTrip) -> None:
    there = {_key(item, table): item for item in _scanned(client, table.table.name)}
    guards = {_key(record.item, table) for records in table.guards for record in records}
    for item in table.items:
        checked.items += 1
        back = there.get(_key(item, table))
        if back is None:
            if _key(item, table) in guards:
                checked.orphans += 1
            continue
        mine, theirs = comparable_item(item), comparable_item(back)
        if mine == theirs:
            checked.same += 1
        elif {name: value for name, value in mine.items() if item[name] != {"NULL": True}} == theirs:
            checked.nulls += 1
        else:
            names = {*mine, *theirs}
            differ = sorted(name for name in names if mine.get(name) != theirs.get(name))
            checked.problems[", ".join(differ), "comes back different"] += 1


def _scanned(client: Json, table: str) -> Iterator[Item]:
    request: dict[str, Json] = {"TableName": table, "ConsistentRead": True}
    while True:
        answer = client.scan(**request)
        yield from answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return
        request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def _key(item: Item, table: FoundTable) -> tuple[object, ...]:
    return tuple(comparable(item[name]) for name in table.table.key_names)


def comparable_item(item: Item) -> dict[str, object]:
    """An item in a form in which equal items are equal: numbers by value, sets without order."""
    return {name: comparable(value) for name, value in item.items()}


def comparable(value: AttributeValue) -> object:
    """A value in a form in which equal values are equal."""
    ((tag, content),) = value.items()
    match tag:
        case "N":
            return (tag, Decimal(content))
        case "L":
            return (tag, tuple(map(comparable, content)))
        case "M":
            members: Mapping[str, AttributeValue] = content
            return (tag, frozenset((name, comparable(each)) for name, each in members.items()))
        case "NS":
            return (tag, frozenset(map(Decimal, content)))
        case "SS" | "BS":
            return (tag, frozenset(content))
        case "B":
            return (tag, bytes(content))
    return (tag, content)
