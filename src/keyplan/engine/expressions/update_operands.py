"""The values that the actions of an update compute: the right-hand sides of SET, and the results of ADD and DELETE.

Each becomes a function from the old item to the new value at the action's path, or to None for no value.
"""

from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from keyplan.engine.errors import DynamoError, validation_error
from keyplan.engine.expressions.expression_errors import invalid, wrong_type
from keyplan.engine.expressions.nodes import Action, Arithmetic, CallNode, Operand, PathNode, ValueNode
from keyplan.engine.expressions.paths import Getter, getter, resolve
from keyplan.engine.values import numbers
from keyplan.engine.values.attribute_values import AttributeValue, Item, type_of

Compute: TypeAlias = Callable[[Item], AttributeValue | None]
Binder: TypeAlias = Callable[[Item], Compute]
_Evaluate: TypeAlias = Callable[[Item], AttributeValue]
_EvaluateBinder: TypeAlias = Callable[[Item], _Evaluate]

_KIND = "UpdateExpression"
_ARITHMETIC = {"+": numbers.add, "-": numbers.subtract}
# Unlike other messages, those for ADD and DELETE write the types in full.
_LONG_NAMES = {"S": "STRING", "N": "NUMBER", "B": "BINARY", "BOOL": "BOOLEAN", "NULL": "NULL", "L": "LIST", "M": "MAP"}
SET_TYPES = frozenset({"SS", "NS", "BS"})
_SET_ORDER: dict[str, Callable[[list[str]], list[str]]] = {
    "SS": sorted,
    "NS": lambda members: sorted(members, key=numbers.to_decimal),
    "BS": lambda members: sorted(members, key=b64decode),
}


class IncorrectType(DynamoError):
    """An operand doesn't have the type that an action needs: this depends on the item."""

    def __init__(self) -> None:
        super().__init__("ValidationException", "An operand in the update expression has an incorrect data type")


def binder(action: Action, names: Mapping[str, str]) -> Binder:
    """Return the function from a request's values to the action's computation."""
    if action.section == "REMOVE":
        return lambda values: _nothing
    if action.section == "SET":
        return _set_binder(cast(Operand | Arithmetic, action.operand), names)
    get = getter(resolve(action.path, names))
    name = cast(ValueNode, action.operand).name
    bind = _bind_add if action.section == "ADD" else _bind_delete
    return lambda values: bind(get, values[name])


def is_copied(operand: Operand | Arithmetic | None, names: Mapping[str, str], item: Item) -> bool:
    """Return whether an operand of SET stands for an attribute of this item, as it is."""
    if isinstance(operand, CallNode) and operand.function == "if_not_exists":
        path, default = operand.arguments
        found = getter(resolve(cast(PathNode, path).path, names))(item)
        return found is not None or is_copied(default, names, item)
    return isinstance(operand, PathNode)


def _nothing(item: Item) -> None:
    return None


def _set_binder(operand: Operand | Arithmetic, names: Mapping[str, str]) -> Binder:
    if not isinstance(operand, Arithmetic):
        return _operand(operand, names)
    symbol = operand.operator
    left, right = _operand(operand.left, names), _operand(operand.right, names)
    check_left, check_right = _literal(operand.left), _literal(operand.right)

    def bind(values: Item) -> Compute:
        _check_literal(symbol, check_left, values, "N")
        _check_literal(symbol, check_right, values, "N")
        return _arithmetic(symbol, left(values), right(values))

    return bind


def _arithmetic(symbol: str, left: _Evaluate, right: _Evaluate) -> Compute:
    operate = _ARITHMETIC[symbol]

    def compute(item: Item) -> AttributeValue:
        one, two = left(item), right(item)
        if "N" not in one or "N" not in two:
            raise IncorrectType
        return {"N": operate(one["N"], two["N"])}

    return compute


def _operand(node: Operand, names: Mapping[str, str]) -> _EvaluateBinder:
    """An operand of SET. Nested calls need one stack frame each, so that as many can nest as operators are allowed."""
    if isinstance(node, ValueNode):
        return _value_operand(node.name)
    if isinstance(node, PathNode):
        evaluate = _required(getter(resolve(node.path, names)))
        return lambda values: evaluate
    second = _operand(node.arguments[1], names)
    if node.function == "if_not_exists":
        return _if_not_exists(getter(resolve(cast(PathNode, node.arguments[0]).path, names)), second)
    return _list_append(node, _operand(node.arguments[0], names), second)


def _value_operand(name: str) -> _EvaluateBinder:
    def bind(values: Item) -> _Evaluate:
        value = values[name]
        return lambda item: value

    return bind


def _required(get: Getter) -> _Evaluate:
    def evaluate(item: Item) -> AttributeValue:
        value = get(item)
        if value is None:
            raise validation_error("The provided expression refers to an attribute that does not exist in the item")
        return value

    return evaluate


def _if_not_exists(get: Getter, otherwise: _EvaluateBinder) -> _EvaluateBinder:
    def bind(values: Item) -> _Evaluate:
        default = otherwise(values)

        def evaluate(item: Item) -> AttributeValue:
            value = get(item)
            return default(item) if value is None else value

        return evaluate

    return bind


def _list_append(node: CallNode, left: _EvaluateBinder, right: _EvaluateBinder) -> _EvaluateBinder:
    literals = [_literal(argument) for argument in node.arguments]

    def bind(values: Item) -> _Evaluate:
        for name in literals:
            _check_literal("list_append", name, values, "L")
        one, two = left(values), right(values)

        def evaluate(item: Item) -> AttributeValue:
            front, back = one(item).get("L"), two(item).get("L")
            if front is None or back is None:
                raise IncorrectType
            return {"L": front + back}

        return evaluate

    return bind


def _literal(node: Operand) -> str | None:
    return node.name if isinstance(node, ValueNode) else None


def _check_literal(symbol: str, name: str | None, values: Item, wanted: str) -> None:
    if name is not None and wanted not in values[name]:
        raise wrong_type(_KIND, symbol, type_of(values[name]))


def _bind_add(get: Getter, operand: AttributeValue) -> Compute:
    kind = type_of(operand)
    if kind == "N":
        return _add_number(get, operand)
    if kind not in SET_TYPES:
        raise _refused("ADD", kind)
    members, in_order = cast(dict[str, list[str]], operand)[kind], _SET_ORDER[kind]

    def compute(item: Item) -> AttributeValue:
        old = _set_at(get, item, kind)
        return operand if old is None else _set_value(kind, in_order(list({*old, *members})))

    return compute


def _add_number(get: Getter, operand: AttributeValue) -> Compute:
    amount = operand["N"]

    def compute(item: Item) -> AttributeValue:
        old = get(item)
        if old is None:
            return operand
        if "N" not in old:
            raise IncorrectType
        return {"N": numbers.add(old["N"], amount)}

    return compute


def _bind_delete(get: Getter, operand: AttributeValue) -> Compute:
    kind = type_of(operand)
    if kind not in SET_TYPES:
        raise _refused("DELETE", kind)
    removed = frozenset(cast(dict[str, list[str]], operand)[kind])

    def compute(item: Item) -> AttributeValue | None:
        old = _set_at(get, item, kind)
        left = [] if old is None else [member for member in old if member not in removed]
        # A set can't be empty: the attribute is removed with its last member.
        return _set_value(kind, left) if left else None

    return compute


def _set_at(get: Getter, item: Item, kind: str) -> list[str] | None:
    value = get(item)
    if value is None:
        return None
    if kind not in value:
        raise IncorrectType
    return cast(dict[str, list[str]], value)[kind]


def _set_value(kind: str, members: list[str]) -> AttributeValue:
    return cast(AttributeValue, {kind: members})


def _refused(section: str, kind: str) -> DynamoError:
    return invalid(
        _KIND,
        f"Incorrect operand type for operator or function; operator: {section}, "
        f"operand type: {_LONG_NAMES[kind]}, typeSet: ALLOWED_FOR_{section}_OPERAND",
    )
