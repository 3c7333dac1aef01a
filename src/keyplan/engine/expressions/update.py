"""Update expressions: from the old item to the new one.

Every action reads the old item, so their order doesn't matter. Writing follows the tree of all written paths: maps and
lists on the way are copied once, everything else is shared with the old item.
"""

from functools import lru_cache
from typing import NamedTuple, cast

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.expressions.grammar import CACHE_SIZE, parse_update
from keyplan.engine.expressions.nodes import Action, ParsedUpdate, ValueNode
from keyplan.engine.expressions.paths import Path, Tree, pick, resolve, top_level, tree, without
from keyplan.engine.expressions.placeholders import Placeholders
from keyplan.engine.expressions.update_operands import Binder, Compute, binder, is_copied
from keyplan.engine.values.attribute_values import AttributeValue, Item, item_size

# What AWS counts for the actions of an update, in addition to what they write.
_COST = 3
_COSTS = {"SET": 19, "ADD": 19, "REMOVE": 2, "DELETE": 2}


class _Plan(NamedTuple):
    actions: tuple[Action, ...]
    names: dict[str, str]
    binders: tuple[Binder, ...]
    paths: tuple[Path, ...]
    tree: Tree
    flat: tuple[str, ...] | None
    attributes: frozenset[str]
    cost: int


class Update:
    """An update that can be applied to an item."""

    __slots__ = ("_computes", "_plan")

    def __init__(self, plan: _Plan, computes: list[Compute]) -> None:
        self._plan = plan
        self._computes = computes

    @property
    def attributes(self) -> frozenset[str]:
        """The top-level attributes that are written."""
        return self._plan.attributes

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths that are written, in the order of the text."""
        return self._plan.paths

    @property
    def cost(self) -> int:
        """The bytes that AWS counts for the actions themselves."""
        return self._plan.cost

    def written_size(self, item: Item) -> int:
        """Return what counts for AWS's limit on an update with this result: attributes that it doesn't name don't."""
        return self._plan.cost + item_size({name: item[name] for name in self._plan.attributes if name in item})

    def literals(self) -> Item:
        """Return the new values of attributes that are the same for every item: those that the request contains."""
        actions = zip(self._plan.actions, self._plan.paths, self._computes, strict=True)
        found = [
            (cast(str, path[0]), compute({}))
            for action, path, compute in actions
            if len(path) == 1 and action.section in ("SET", "ADD") and isinstance(action.operand, ValueNode)
        ]
        return {name: value for name, value in found if value is not None}

    def copies(self, attribute: str, item: Item) -> bool:
        """Return whether the new value of an attribute is copied from an attribute of this item."""
        for action, path in zip(self._plan.actions, self._plan.paths, strict=True):
            if path == (attribute,) and action.section == "SET":
                return is_copied(action.operand, self._plan.names, item)
        return True

    def create(self, key: Item) -> Item:
        """Return the item that is made where there is none but this key. There, REMOVE has nothing to do."""
        plan = self._plan
        if plan.flat is not None:
            return self.apply(key)
        removed = {position for position, action in enumerate(plan.actions) if action.section == "REMOVE"}
        return _write_members(key, without(plan.tree, removed), [compute(key) for compute in self._computes])

    def apply(self, item: Item) -> Item:
        """Return the updated item; the given one isn't changed. Raises AWS's error if a path or operand doesn't fit."""
        flat = self._plan.flat
        if flat is None:
            return _write_members(item, self._plan.tree, [compute(item) for compute in self._computes])
        result = item.copy()
        for name, compute in zip(flat, self._computes, strict=True):
            value = compute(item)
            if value is not None:
                result[name] = value
            elif name in result:
                del result[name]
        return result

    def updated(self, item: Item) -> Item:
        """Return the parts of an item at the written paths: of the old item for UPDATED_OLD, else of the new one."""
        flat = self._plan.flat
        if flat is None:
            return pick(item, self._plan.tree)
        return {name: item[name] for name in flat if name in item}


def update(text: str, placeholders: Placeholders) -> Update:
    """Return the update of an UpdateExpression."""
    parsed = parse_update(text)
    return bind_update(parsed, placeholders.use(parsed), placeholders.values)


def bind_update(
    parsed: ParsedUpdate,
    names: tuple[str, ...],
    values: Item,
    made: type[Update] = Update,
    *,
    keep_plan: bool = True,
) -> Update:
    """Return the update with these names in place of `parsed.names`, and these values by placeholder.

    With `keep_plan`, the next update with the same nodes and names takes less time.
    """
    plan = _plan(parsed, names) if keep_plan else _plan.__wrapped__(parsed, names)
    return made(plan, [bind(values) for bind in plan.binders])


@lru_cache(maxsize=CACHE_SIZE)
def _plan(parsed: ParsedUpdate, names: tuple[str, ...]) -> _Plan:
    found = dict(zip(parsed.names, names, strict=True))
    paths = tuple([resolve(action.path, found) for action in parsed.actions])
    written = tree(parsed.kind, paths)
    flat = tuple([cast(str, path[0]) for path in paths]) if all(len(path) == 1 for path in paths) else None
    return _Plan(
        parsed.actions,
        found,
        tuple([binder(action, found) for action in parsed.actions]),
        paths,
        written,
        flat,
        top_level(paths),
        _COST + sum(map(_cost, parsed.actions)),
    )


def _cost(action: Action) -> int:
    """The cost of one action; to set an element of a list takes one byte more."""
    return _COSTS[action.section] + (action.section == "SET" and isinstance(action.path[-1], int))


def _write(value: AttributeValue | None, node: Tree, results: list[AttributeValue | None]) -> AttributeValue:
    """The map or list with the results at the leaves of the tree; raises AWS's error if there is none."""
    if isinstance(next(iter(node)), str):
        members = None if value is None else value.get("M")
        if members is None:
            raise _invalid_path()
        return {"M": _write_members(members, node, results)}
    elements = None if value is None else value.get("L")
    if elements is None:
        raise _invalid_path()
    return {"L": _write_elements(elements, node, results)}


def _write_members(members: Item, node: Tree, results: list[AttributeValue | None]) -> Item:
    written = members.copy()
    for part, child in node.items():
        name = cast(str, part)
        value = results[child] if isinstance(child, int) else _write(members.get(name), child, results)
        if value is None:
            written.pop(name, None)
        else:
            written[name] = value
    return written


def _write_elements(
    elements: list[AttributeValue], node: Tree, results: list[AttributeValue | None]
) -> list[AttributeValue]:
    """The list with the results. Indexes refer to the old list: elements are removed last, others appended."""
    written: list[AttributeValue | None] = [*elements]
    for part, child in node.items():
        index = cast(int, part)
        inside = index < len(elements)
        if not isinstance(child, int):
            if not inside:
                raise _invalid_path()
            written[index] = _write(elements[index], child, results)
        elif inside:
            written[index] = results[child]
        else:
            written.append(results[child])
    return [element for element in written if element is not None]


def _invalid_path() -> DynamoError:
    return validation_error("The document path provided in the update expression is invalid for update")
