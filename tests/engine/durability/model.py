"""DynamoDB in a few lines of plain Python: what the engine is compared with.

Items are as boto3 has them. Keys, conditions and updates come from short lists, each condition and update with the
Python that says what it means; so the model needs no parser and shares no code with the engine.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Item: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, int]

GSI = "by-group"
LSI = "by-weight"


def key_of(item: Item) -> Key:
    return item["pk"]["S"], int(item["sk"]["N"])


def key_item(key: Key) -> Item:
    return {"pk": {"S": key[0]}, "sk": {"N": str(key[1])}}


@dataclass(frozen=True)
class Condition:
    """A condition expression, and what it means for an item ({} if there is none)."""

    text: str
    values: Item
    holds: Callable[[Item], bool]


def number(item: Item, name: str) -> int | None:
    value = item.get(name)
    return int(value["N"]) if value and "N" in value else None


def _counts_below(limit: int) -> Condition:
    def holds(item: Item) -> bool:
        count = number(item, "n")
        return count is not None and count < limit

    return Condition("n < :c", {":c": {"N": str(limit)}}, holds)


CONDITIONS: list[Condition] = [
    Condition("attribute_exists(pk)", {}, bool),
    Condition("attribute_not_exists(pk)", {}, lambda item: not item),
    Condition(
        "attribute_exists(grp) AND NOT grp = :c",
        {":c": {"S": "x"}},
        lambda item: "grp" in item and item["grp"] != {"S": "x"},
    ),
    Condition(
        "contains(tags, :c) OR attribute_type(n, :t)",
        {":c": {"S": "t1"}, ":t": {"S": "N"}},
        lambda item: "t1" in item.get("tags", {}).get("SS", []) or "n" in item,
    ),
    Condition(
        "size(items_) BETWEEN :a AND :b", {":a": {"N": "1"}, ":b": {"N": "2"}}, lambda item: _size(item) in (1, 2)
    ),
    _counts_below(1),
    _counts_below(5),
]


def _size(item: Item) -> int:
    return len(item["items_"]["L"]) if "items_" in item else -1


@dataclass(frozen=True)
class Update:
    """An update expression, and the item that results from it."""

    text: str
    values: Item
    apply: Callable[[Item], None]
    fits: Callable[[Item], bool] = lambda item: True
    """Whether an existing item can be updated like that; if not, the update is refused."""


def _count(item: Item) -> None:
    item["n"] = {"N": str((number(item, "n") or 0) + 1)}


def _add_tag(item: Item) -> None:
    item["tags"] = {"SS": sorted({*item.get("tags", {}).get("SS", []), "t1"})}


def _drop_tag(item: Item) -> None:
    left = sorted({*item.get("tags", {}).get("SS", [])} - {"t1", "t2"})
    item.pop("tags", None)
    if left:
        item["tags"] = {"SS": left}


def _append(item: Item) -> None:
    item["items_"] = {"L": [*item.get("items_", {"L": []})["L"], {"BOOL": True}]}


def _drop_first(item: Item) -> None:
    if "items_" in item:
        item["items_"] = {"L": item["items_"]["L"][1:]}


def _drop_first_and_weigh(item: Item) -> None:
    _drop_first(item)
    item["weight"] = {"N": "3"}


def _set(name: str, value: Item) -> Callable[[Item], None]:
    return lambda item: item.update({name: value})


def _without(*names: str) -> Callable[[Item], None]:
    def apply(item: Item) -> None:
        for name in names:
            item.pop(name, None)

    return apply


UPDATES: list[Update] = [
    Update("SET n = if_not_exists(n, :u) + :v", {":u": {"N": "0"}, ":v": {"N": "1"}}, _count),
    Update("SET grp = :v", {":v": {"S": "x"}}, _set("grp", {"S": "x"})),
    Update("SET grp = :v", {":v": {"S": "y"}}, _set("grp", {"S": "y"})),
    Update("SET weight = :v", {":v": {"N": "7"}}, _set("weight", {"N": "7"})),
    Update("SET weight = :v", {":v": {"N": "-1.5"}}, _set("weight", {"N": "-1.5"})),
    Update("REMOVE grp, n", {}, _without("grp", "n")),
    Update("REMOVE weight", {}, _without("weight")),
    Update("ADD tags :v", {":v": {"SS": ["t1"]}}, _add_tag),
    Update("DELETE tags :v", {":v": {"SS": ["t1", "t2"]}}, _drop_tag),
    Update(
        "SET items_ = list_append(if_not_exists(items_, :u), :v)",
        {":u": {"L": []}, ":v": {"L": [{"BOOL": True}]}},
        _append,
    ),
    Update("REMOVE items_[0]", {}, _drop_first, lambda item: "items_" in item),
    Update(
        "REMOVE items_[0] SET weight = :v", {":v": {"N": "3"}}, _drop_first_and_weigh, lambda item: "items_" in item
    ),
]


@dataclass(frozen=True)
class LegacyCondition:
    """Conditions as they were before expressions, how they are joined, and what they mean for an item."""

    conditions: Item
    operator: str | None
    holds: Callable[[Item], bool]


def _comparing(operator: str, *values: Item) -> Item:
    return {"ComparisonOperator": operator, **({"AttributeValueList": list(values)} if values else {})}


def _tags(item: Item) -> list[str]:
    found: list[str] = item.get("tags", {}).get("SS", [])
    return found


X: Item = {"S": "x"}
LEGACY_CONDITIONS: list[LegacyCondition] = [
    LegacyCondition({"pk": _comparing("NULL")}, None, lambda item: not item),
    LegacyCondition({"pk": _comparing("NOT_NULL")}, None, bool),
    LegacyCondition({"n": _comparing("EQ", {"N": "3"})}, None, lambda item: number(item, "n") == 3),
    LegacyCondition(
        {"n": _comparing("BETWEEN", {"N": "1"}, {"N": "4"})}, None, lambda item: number(item, "n") in range(1, 5)
    ),
    LegacyCondition(
        {"grp": _comparing("NE", X), "weight": _comparing("GE", {"N": "0"})},
        "AND",
        lambda item: item.get("grp") != X and "weight" in item and weight(item) >= 0,
    ),
    LegacyCondition(
        {"tags": _comparing("CONTAINS", {"S": "t1"}), "grp": _comparing("IN", {"S": "z"}, X)},
        "OR",
        lambda item: "t1" in _tags(item) or item.get("grp") == X,
    ),
    LegacyCondition(
        {"tags": _comparing("NOT_CONTAINS", {"S": "t1"}), "grp": _comparing("BEGINS_WITH", X)},
        None,
        lambda item: "tags" in item and "t1" not in _tags(item) and item.get("grp") == X,
    ),
]


@dataclass(frozen=True)
class LegacyUpdate:
    """AttributeUpdates, and the item that results from them."""

    updates: Item
    apply: Callable[[Item], None]


def _all(*changes: Callable[[Item], None]) -> Callable[[Item], None]:
    def apply(item: Item) -> None:
        for change in changes:
            change(item)

    return apply


_ADD_ONE = {"Action": "ADD", "Value": {"N": "1"}}
LEGACY_UPDATES: list[LegacyUpdate] = [
    LegacyUpdate({"n": _ADD_ONE}, _count),
    LegacyUpdate({"grp": {"Value": X}, "n": _ADD_ONE}, _all(_set("grp", X), _count)),
    LegacyUpdate({"weight": {"Action": "PUT", "Value": {"N": "7"}}}, _set("weight", {"N": "7"})),
    LegacyUpdate({"grp": {"Action": "DELETE"}, "n": {"Action": "DELETE"}}, _without("grp", "n")),
    LegacyUpdate({"tags": {"Action": "ADD", "Value": {"SS": ["t1"]}}}, _add_tag),
    LegacyUpdate({"tags": {"Action": "DELETE", "Value": {"SS": ["t1", "t2"]}}}, _drop_tag),
    LegacyUpdate(
        {"items_": {"Action": "ADD", "Value": {"L": [{"BOOL": True}]}}, "weight": {"Action": "DELETE"}},
        _all(_append, _without("weight")),
    ),
]


STATEMENT_CONDITIONS: list[Condition] = [
    Condition("grp IS NOT MISSING AND NOT grp = 'x'", {}, CONDITIONS[2].holds),
    Condition("contains(tags, 't1') OR attribute_type(n, 'N')", {}, CONDITIONS[3].holds),
    Condition("size(items_) BETWEEN 1 AND 2", {}, CONDITIONS[4].holds),
    Condition("n < 5", {}, _counts_below(5).holds),
    Condition("n IS MISSING OR n IN [0, 2, 4]", {}, lambda item: number(item, "n") in (None, 0, 2, 4)),
]
"""Conditions in the WHERE clause of a statement, which has no placeholders."""


def _has(name: str) -> Callable[[Item], bool]:
    return lambda item: name in item


STATEMENT_UPDATES: list[Update] = [
    Update("SET n = n + 1", {}, _count, _has("n")),
    Update("SET grp = 'x'", {}, _set("grp", {"S": "x"})),
    Update("SET grp = 'y' SET weight = -1.5", {}, lambda item: item.update(grp={"S": "y"}, weight={"N": "-1.5"})),
    Update("REMOVE grp REMOVE n", {}, _without("grp", "n")),
    Update("SET tags = set_add(tags, <<'t1'>>)", {}, _add_tag),
    Update("SET tags = set_delete(tags, <<'t1', 't2'>>)", {}, _drop_tag),
    Update("SET items_ = list_append(items_, [true])", {}, _append, _has("items_")),
    Update("SET items_ = [true], n = 0", {}, lambda item: item.update(items_={"L": [{"BOOL": True}]}, n={"N": "0"})),
]


@dataclass
class Change:
    """The content of a stream record."""

    old: Item | None
    new: Item | None
    sweep: int | None = None
    """The sweep that removed it, if one did; a sweep goes through a table in an order of its own."""

    @property
    def name(self) -> str:
        return "INSERT" if self.old is None else "REMOVE" if self.new is None else "MODIFY"


@dataclass
class Table:
    """A table: its items, and all changes since it was made."""

    has_gsi: bool
    items: dict[Key, Item] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    def get(self, key: Key) -> Item | None:
        found = self.items.get(key)
        return None if found is None else deepcopy(found)

    def write(self, key: Key, new: Item | None, sweep: int | None = None) -> None:
        old = self.get(key)
        if new == old:
            return
        self.changes.append(Change(old, deepcopy(new), sweep))
        if new is None:
            del self.items[key]
        else:
            self.items[key] = deepcopy(new)

    def updated(self, key: Key, update: Update | LegacyUpdate) -> Item | None:
        """The item after an update. One that only takes away makes none where there is none."""
        old = self.get(key)
        item = old or key_item(key)
        update.apply(item)
        return None if old is None and item == key_item(key) else item

    def fits(self, key: Key, update: Update) -> bool:
        """Whether an item can be updated like that. There is nothing that doesn't fit where there is no item."""
        old = self.get(key)
        return old is None or update.fits(old)

    def holds(self, key: Key, condition: Condition | LegacyCondition | None) -> bool:
        return condition is None or bool(condition.holds(self.get(key) or {}))

    def partition(self, pk: str) -> list[Item]:
        return sorted((item for (own, _), item in self.items.items() if own == pk), key=lambda item: key_of(item)[1])

    def group(self, name: str) -> list[Item]:
        return [item for item in self.items.values() if item.get("grp") == {"S": name} and "weight" in item]

    def weighed(self, pk: str) -> list[Item]:
        return [item for item in self.partition(pk) if "weight" in item]

    def expired(self, now: float) -> list[Key]:
        def is_over(item: Item) -> bool:
            end = number(item, "expires")
            return end is not None and end < now

        return [key for key, item in self.items.items() if is_over(item)]


def weight(item: Item) -> float:
    return float(item["weight"]["N"])


def canonical(items: Iterable[Item]) -> list[str]:
    """Items in an order that does not depend on where they come from."""
    return sorted(repr(normal(item)) for item in items)


def normal(item: Item) -> list[tuple[str, object]]:
    return sorted((name, {"SS": sorted(value["SS"])} if "SS" in value else value) for name, value in item.items())


def schema(hash_name: str, range_name: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": hash_name, "KeyType": "HASH"},
        {"AttributeName": range_name, "KeyType": "RANGE"},
    ]


def gsi() -> dict[str, Any]:
    return {"IndexName": GSI, "KeySchema": schema("grp", "weight"), "Projection": {"ProjectionType": "ALL"}}


def compares(test: str, value: int, low: int, high: int) -> bool:
    return {
        "=": value == low,
        "<": value < low,
        "<=": value <= low,
        ">": value > low,
        ">=": value >= low,
        "BETWEEN": low <= value <= high,
    }[test]


def check_order(found: list[Item], expected: list[Item]) -> None:
    """An index is sorted by its own key; equal ones come in any order."""
    assert canonical(found) == canonical(expected)
    weights = [weight(it) for it in found]
    assert weights == sorted(weights)


def canonical_or_none(found: Any) -> list[str] | None:
    return None if found is None else canonical([found])
