"""Conditions and filters, written as Python: `lambda post: post.status == "draft"`.

The lambda is called once with a stand-in for the entity that records the comparisons. The result is a small tree that
the data layer turns into an expression. To a type checker the stand-in is the entity, so misspelled fields are errors.
Combine conditions with `&`, `|` and `not_(...)` (or `~`): Python's own `and`, `or` and `not` can't be recorded.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn, TypeAlias, TypeVar, cast, get_args

from keyplan.design.errors import DesignError

if TYPE_CHECKING:
    from keyplan.design.entities.entity import Entity

E = TypeVar("E", bound="Entity")

AttributeType: TypeAlias = Literal["S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"]
"""DynamoDB's names of the types that a value can have."""


_NOT_RECORDED = "use &, | and not_(...) in a condition: Python's and, or and not can't be recorded"
_BETWEEN = ", nor can a chain: write 1 < x < 5 as between(x, 1, 5) or as (x > 1) & (x < 5)"
_INSTEAD = dict.fromkeys(("<", "<=", ">", ">="), _BETWEEN) | {
    "=": ", nor can in: write x in (1, 2) as one_of(x, (1, 2))",
}
"""What else Python may have asked of a comparison, by its operator."""


@dataclass(slots=True, unsafe_hash=True)
class Node:
    """Part of a condition: an operator with operands, which are nodes, field paths or values.

    Nodes are never changed. They aren't frozen because that takes three times as long, and every write makes several.
    """

    operator: str
    operands: tuple[object, ...]

    def __and__(self, other: object) -> "Node":
        return Node("AND", (self, _condition(other)))

    def __or__(self, other: object) -> "Node":
        return Node("OR", (self, _condition(other)))

    def __invert__(self) -> "Node":
        return Node("NOT", (self,))

    def __bool__(self) -> bool:
        raise TypeError(_NOT_RECORDED + _INSTEAD.get(self.operator, ""))


class FieldPath(NamedTuple):
    """The path of a field, or of a value inside it."""

    names: tuple[str | int, ...]


class SizeStandIn:
    """Stands in for the size of a field's value and records comparisons."""

    __hash__ = None  # type: ignore[assignment]  # equality is recorded, so it can't be a key of a dict

    def __init__(self, path: FieldPath) -> None:
        self._size = Node("size", (path,))

    def __eq__(self, other: object) -> Node:  # type: ignore[override]  # recorded, not decided
        return Node("=", (self._size, other))

    def __ne__(self, other: object) -> Node:  # type: ignore[override]  # recorded, not decided
        return Node("<>", (self._size, other))

    def __lt__(self, other: object) -> Node:
        return Node("<", (self._size, other))

    def __le__(self, other: object) -> Node:
        return Node("<=", (self._size, other))

    def __gt__(self, other: object) -> Node:
        return Node(">", (self._size, other))

    def __ge__(self, other: object) -> Node:
        return Node(">=", (self._size, other))

    def __bool__(self) -> bool:
        raise TypeError("compare size(...) with a number in a condition")


class FieldStandIn:
    """Stands in for a field's value and records comparisons."""

    def __hash__(self) -> NoReturn:
        raise TypeError(self._no_value("look it up. Write x in {1, 2} as one_of(x, (1, 2))"))

    def __init__(self, path: FieldPath) -> None:
        self._path = path

    def __getattr__(self, name: str) -> "FieldStandIn":
        if name.startswith("__"):
            raise AttributeError(name)
        return FieldStandIn(FieldPath((*self._path.names, name)))

    def __getitem__(self, index: int | str | slice) -> "FieldStandIn":
        if isinstance(index, slice):
            raise TypeError(self._no_value("take a part of it. Name one element, such as x[0]"))
        return FieldStandIn(FieldPath((*self._path.names, index)))

    def __eq__(self, other: object) -> "Node":  # type: ignore[override]  # recorded, not decided
        return Node("attribute_not_exists", (self._path,)) if _is_absent(other) else Node("=", (self._path, other))

    def __ne__(self, other: object) -> "Node":  # type: ignore[override]  # recorded, not decided
        return Node("attribute_exists", (self._path,)) if _is_absent(other) else Node("<>", (self._path, other))

    def __lt__(self, other: object) -> "Node":
        return Node("<", (self._path, other))

    def __le__(self, other: object) -> "Node":
        return Node("<=", (self._path, other))

    def __gt__(self, other: object) -> "Node":
        return Node(">", (self._path, other))

    def __ge__(self, other: object) -> "Node":
        return Node(">=", (self._path, other))

    def __and__(self, other: object) -> Node:
        return _condition(self) & other

    def __or__(self, other: object) -> Node:
        return _condition(self) | other

    def __invert__(self) -> Node:
        return ~_condition(self)

    def __contains__(self, other: object) -> bool:
        raise TypeError("use contains(p.field, value) in a condition")

    def __bool__(self) -> bool:
        raise TypeError(_NOT_RECORDED)

    def __rand__(self, other: object) -> Node:
        raise TypeError(f"put comparisons in parentheses: {other!r} & ... is evaluated first. Write (x > 1) & (y == 2)")

    __ror__ = __rand__

    def __iter__(self) -> NoReturn:
        raise TypeError(self._no_value("iterate over it"))

    def __len__(self) -> int:
        raise TypeError(self._no_value("take its length. In a condition, use size(x)"))

    def __format__(self, spec: str) -> str:
        raise TypeError(self._no_value("put it into a text"))

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError(
            f"you can't call {self!r}(...), since only DynamoDB knows the value. In a condition, use "
            "x.startswith(...), contains(x, ...) or size(x); in a patch, at(x) with a verb"
        )

    def _computed(self, other: object) -> NoReturn:
        raise TypeError(self._no_value("compute with it. In a patch, use at(x).add(1)"))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _computed

    def __repr__(self) -> str:
        return ".".join(str(part) for part in self._path.names)

    def _no_value(self, attempt: str) -> str:
        return f"{self!r} stands for a field, whose value only DynamoDB knows: you can't {attempt}"

    def startswith(self, prefix: object) -> Node:
        """The text starts with this prefix."""
        return Node("begins_with", (self._path, prefix))


def _is_absent(value: object) -> bool:
    """Whether a value is stored by leaving its attribute out: None, or an empty set."""
    return value is None or (isinstance(value, set | frozenset) and not value)


def _condition(value: object) -> Node:
    """A value as a condition. A field by itself means that it is true."""
    if isinstance(value, Node):
        return value
    if isinstance(value, FieldStandIn):
        return Node("=", (value._path, True))
    raise TypeError(
        f"{value!r} isn't a condition. Compare fields, each comparison in parentheses: (x > 1) & (y == 2). "
        "For None, use absent(x) or exists(x) instead of is"
    )


def _path(field: object) -> FieldPath:
    if not isinstance(field, FieldStandIn):
        raise TypeError(f"{field!r} isn't a field of the entity")
    return field._path


def contains(field: object, value: object) -> bool:
    """The field (text, a list or a set) contains the value."""
    return cast(bool, Node("contains", (_path(field), value)))


def one_of(field: object, values: Iterable[object]) -> bool:
    """The field is one of the values."""
    if isinstance(values, str | bytes):
        raise TypeError(f"one_of takes a list of values, not {values!r}. Compare with one value by ==")
    return cast(bool, Node("IN", (_path(field), *values)))


def between(field: object, low: object, high: object) -> bool:
    """The field is between `low` and `high`, inclusive."""
    return cast(bool, Node("BETWEEN", (_path(field), low, high)))


def size(field: object) -> int:
    """The size of the field: characters of a text, bytes of a binary, members of a list, a set or a map."""
    return cast(int, SizeStandIn(_path(field)))


def attribute_type(field: object, type: AttributeType) -> bool:
    """The field is stored as this type, by DynamoDB's name for it."""
    if type not in get_args(AttributeType):
        raise ValueError(f"{type!r} isn't one of DynamoDB's types. They are {', '.join(get_args(AttributeType))}")
    return cast(bool, Node("attribute_type", (_path(field), type)))


def not_(condition: object) -> bool:
    """The condition doesn't hold. The same as `~`, which type checkers refuse on a comparison."""
    return cast(bool, ~_condition(condition))


def exists(field: object) -> bool:
    """The field has a value."""
    return cast(bool, Node("attribute_exists", (_path(field),)))


def absent(field: object) -> bool:
    """The field has no value."""
    return cast(bool, Node("attribute_not_exists", (_path(field),)))


class EntityStandIn:
    """Stands in for an entity while a condition or a change is recorded."""

    def __init__(self, entity: "type[Entity]", *, writing: bool = False) -> None:
        self._entity = entity
        self._writing = writing
        """Whether fields are named to be written: then it doesn't matter whether conditions can read them."""

    def __getattr__(self, name: str) -> FieldStandIn:
        if self._writing and name in self._entity.spec.fields:
            return FieldStandIn(FieldPath((name,)))
        if name not in self._entity.model_fields:
            known = ", ".join(self._entity.model_fields)
            raise DesignError(
                "no-such-field", f"{self._entity.__name__}.{name}", "no such field", f"The fields are: {known}."
            )
        spec = self._entity.spec
        field = spec.fields[name]
        if spec.table.envelope and not field.on_top and field.stored not in spec.key_attributes:
            raise DesignError(
                "not-on-top",
                f"{spec.name}.{name}",
                f"it is inside the envelope {spec.table.envelope!r}, which conditions can't read",
                "Store it outside the envelope too: Annotated[..., on_top()].",
            )
        if field.large is not None:
            raise DesignError(
                "large-in-condition",
                f"{spec.name}.{name}",
                "it is a large value, which DynamoDB can't compare or project",
                "Keep what you need of it in another field.",
            )
        part = spec.key_attributes.get(field.stored)
        if part is not None and part.fields != (name,):
            raise DesignError(
                "not-by-itself",
                f"{spec.name}.{name}",
                f"it is stored in the key attribute {field.stored!r} together with other fields",
                'Store it under a different name: Annotated[..., stored("Name")].',
            )
        return FieldStandIn(FieldPath((name,)))


def recorded(entity: type[E], condition: Callable[[E], object]) -> Node:
    """The condition as a tree."""
    given: object = condition
    if not callable(given):
        raise TypeError(f"a condition is a function of the item, such as lambda post: post.stars > 1, not {given!r}")
    return _condition(condition(cast(E, EntityStandIn(entity))))
