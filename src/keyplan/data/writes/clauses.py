"""Clauses: what a patch does to one field, or to one value inside it.

`lambda book: (at(book.year).add(1), at(book.size.width).set(3))` is called once with the stand-in for an entity that
conditions use too. `at` makes a `Target` of what it records, and a target's verb makes a `Clause`: plain data with a
path, a verb and its values. To a type checker, `at(book.year)` is a `Target[int]`, so `set` takes an int, `add` is for
numbers and sets, and `append` for lists.

| verb | in DynamoDB | on |
| --- | --- | --- |
| `set(value)` | `SET path = :value` | anything; None and an empty set remove it |
| `set_default(value)` | `SET path = if_not_exists(path, :value)` | anything |
| `remove()` | `REMOVE path` | what may be absent, an entry of a map, an element of a list |
| `add(amount)`, `subtract(amount)` | `ADD`, or `SET path = path + :amount` | numbers; if absent, the default or 0 |
| `append(*values)`, `prepend(*values)` | `SET path = list_append(...)` | lists; if absent, the default or empty |
| `add(*members)`, `delete(*members)` | `ADD`, `DELETE` | sets |

All clauses of a patch see the item as it was before, as in DynamoDB, so no two may be about the same value. What can be
known to be wrong without the item is refused when the patch is made: `recorded_clauses` raises `InvalidValue`. How a
clause becomes part of a request, and what it makes of an item that was read, is the matter of `clause_terms`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar, cast, overload

from keyplan.data.codec.value_paths import Path, PathType, value_path
from keyplan.design import Entity, InvalidValue
from keyplan.design.entities.entity_spec import EntitySpec
from keyplan.design.operations.conditions import EntityStandIn, FieldStandIn

E = TypeVar("E", bound=Entity)
T = TypeVar("T")
V = TypeVar("V")
T_contra = TypeVar("T_contra", contravariant=True)

_Set: TypeAlias = set  # `set` is a verb in the class

Verb: TypeAlias = Literal["set", "set_default", "remove", "add", "append", "prepend", "add_members", "delete_members"]


class Clause(NamedTuple):
    """One change of one value: `at(book.year).add(1)`."""

    path: tuple[str | int, ...]
    """The field, and the way to a value inside it."""
    verb: Verb
    values: tuple[object, ...] = ()

    @property
    def field(self) -> str:
        return self.path[0]  # type: ignore[return-value]  # a path begins with a name

    @property
    def replaces(self) -> bool:
        """Whether it says what the whole field will be."""
        return len(self.path) == 1 and self.verb in ("set", "remove")


Clauses: TypeAlias = Clause | Sequence[Clause]
"""What the function of a patch returns."""


class Target(Generic[T_contra]):
    """A field, or a value inside it, to be changed."""

    def __init__(self, path: tuple[str | int, ...]) -> None:
        self._path = path

    def __repr__(self) -> str:
        return f"at({path_text(self._path)})"

    def set(self, value: T_contra) -> Clause:
        """Set it to this value."""
        return Clause(self._path, "set", (value,))

    def set_default(self, value: T_contra) -> Clause:
        """Set it to this value if it isn't stored yet."""
        return Clause(self._path, "set_default", (value,))

    def remove(self) -> Clause:
        """Remove it. A field with a default is read as its default then."""
        return Clause(self._path, "remove")

    @overload
    def add(self: "Target[int]", amount: int, /) -> Clause: ...
    @overload
    def add(self: "Target[Decimal]", amount: Decimal | int, /) -> Clause: ...
    @overload
    def add(self: "Target[float]", amount: float, /) -> Clause: ...
    @overload
    def add(self: "Target[_Set[V]]", /, *members: V) -> Clause: ...
    @overload
    def add(self: "Target[frozenset[V]]", /, *members: V) -> Clause: ...
    def add(self, *values: object) -> Clause:
        """Add an amount to the number, or members to the set."""
        return Clause(self._path, "add", values)

    @overload
    def subtract(self: "Target[int]", amount: int, /) -> Clause: ...
    @overload
    def subtract(self: "Target[Decimal]", amount: Decimal | int, /) -> Clause: ...
    @overload
    def subtract(self: "Target[float]", amount: float, /) -> Clause: ...
    def subtract(self, amount: object, /) -> Clause:
        """Subtract an amount from the number."""
        negative: object = amount
        if isinstance(amount, Decimal):
            negative = amount.copy_negate()  # unlike -amount, it doesn't round to the digits of the context
        elif isinstance(amount, int | float) and not isinstance(amount, bool):
            negative = -amount
        return Clause(self._path, "add", (negative,))

    @overload
    def append(self: "Target[list[V]]", /, *values: V) -> Clause: ...
    @overload
    def append(self: "Target[tuple[V, ...]]", /, *values: V) -> Clause: ...
    @overload
    def append(self: "Target[Sequence[V]]", /, *values: V) -> Clause: ...
    def append(self, *values: object) -> Clause:
        """Add values at the end of the list."""
        return Clause(self._path, "append", values)

    @overload
    def prepend(self: "Target[list[V]]", /, *values: V) -> Clause: ...
    @overload
    def prepend(self: "Target[tuple[V, ...]]", /, *values: V) -> Clause: ...
    @overload
    def prepend(self: "Target[Sequence[V]]", /, *values: V) -> Clause: ...
    def prepend(self, *values: object) -> Clause:
        """Add values at the beginning of the list, in this order."""
        return Clause(self._path, "prepend", values)

    @overload
    def delete(self: "Target[_Set[V]]", /, *members: V) -> Clause: ...
    @overload
    def delete(self: "Target[frozenset[V]]", /, *members: V) -> Clause: ...
    def delete(self, *members: object) -> Clause:
        """Delete members from the set."""
        return Clause(self._path, "delete_members", members)


def at(field: T) -> Target[T]:
    """The field, or the value inside it, to change in a patch: `at(book.size.width).set(3)`."""
    if not isinstance(field, FieldStandIn):
        raise TypeError(f"at() takes a field of the entity, as in lambda book: at(book.year).add(1), not {field!r}")
    return Target(field._path.names)


@dataclass(frozen=True, slots=True)
class Increment:
    """In a patch: a number to add to the field."""

    by: int


def increment(by: int = 1) -> Increment:
    """In a patch, as a keyword: add this number to the field. Short for `at(...).add(by)`."""
    return Increment(by)


def recorded_clauses(
    entity: type[E], change: Callable[[E], Clauses] | None, values: Mapping[str, object]
) -> tuple[Clause, ...]:
    """The clauses of a patch, from its function and its keywords. Raises `InvalidValue` for those that can't be."""
    found = [_of_keyword(name, value) for name, value in values.items()]
    if change is not None:
        if not callable(change):
            raise TypeError(f"a patch takes a function, such as lambda book: at(book.year).add(1), not {change!r}")
        given = change(cast(E, EntityStandIn(entity, writing=True)))
        found += (given,) if isinstance(given, Clause | FieldStandIn) or not isinstance(given, Iterable) else given
    clauses = tuple([_checked(entity, clause) for clause in found])
    if len(clauses) > 1:
        _check_overlap(entity.spec, clauses)
    return clauses


def _of_keyword(name: str, value: object) -> Clause:
    return Clause((name,), "add", (value.by,)) if isinstance(value, Increment) else Clause((name,), "set", (value,))


def invalid_clause(spec: EntitySpec, code: str, path: Sequence[str | int], problem: str) -> InvalidValue:
    """The error for a clause that can't be carried out."""
    return InvalidValue(code, f"{spec.name}.{path_text(path)}", problem, field=str(path[0]))


def path_text(path: Sequence[str | int]) -> str:
    """A path as it is written in Python: `parts[0].width`."""
    return "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in path).removeprefix(".")


_CONTENTS = {"append": "elements", "prepend": "elements", "add_members": "members", "delete_members": "members"}
_WORKS_ON = {"append": "lists", "prepend": "lists", "delete_members": "sets"}
_SHOWN = {"append": "append", "prepend": "prepend", "add_members": "add", "delete_members": "delete"}
_NOT_A_VALUE = "The value can't be another field, since only DynamoDB knows it. Read the item and update it."


def _checked(entity: type[Entity], clause: object) -> Clause:
    """The clause, with what its verb means for the type of its path."""
    spec = entity.spec
    if not isinstance(clause, Clause):
        raise TypeError(
            f"{clause!r} isn't a clause. The function of a patch returns one clause or a tuple of them, each made by "
            "at(...) with a verb: lambda book: at(book.year).add(1)"
        )
    path, verb, kind = _resolved(spec, clause.path, clause.verb)
    for value in clause.values:
        if type(value) in (FieldStandIn, Target):
            raise invalid_clause(spec, "not-a-value", path, _NOT_A_VALUE)
    if verb in _CONTENTS and not clause.values:
        raise invalid_clause(spec, "empty", path, f"Give {_SHOWN[verb]}() at least one value.")
    if verb == "add":
        _check_amount(spec, kind, clause)
    return Clause(path, verb, clause.values)


@lru_cache(maxsize=4096)
def _resolved(spec: EntitySpec, path: Path, verb: Verb) -> tuple[Path, Verb, PathType]:
    """The path by its stored names, what the verb means there, and the type. Refuses what can't be for any value."""
    _check_field(spec, str(path[0]))
    way = value_path(spec.entity, path)
    kind = way.type
    if verb == "add" and kind.holds == "members":
        verb = "add_members"
    if kind.info is not None:
        if verb in _CONTENTS and kind.holds != _CONTENTS[verb]:
            raise invalid_clause(spec, "wrong-type", path, f"{_SHOWN[verb]}() works on {_WORKS_ON[verb]} only.")
        if verb == "add" and kind.plain not in (int, float, Decimal):
            raise invalid_clause(spec, "wrong-type", path, "add() works on numbers and sets only.")
    if verb == "remove" and kind.is_required:
        problem = "This value is required, so it can't be removed. Set it to another value."
        raise invalid_clause(spec, "required", path, problem)
    return (str(path[0]), *way.names[1:]), verb, kind


def _check_field(spec: EntitySpec, name: str) -> None:
    field = spec.fields.get(name)
    if field is None:
        known = ", ".join(spec.fields)
        raise invalid_clause(spec, "unknown-field", (name,), f"There is no such field. The fields are: {known}.")
    if name in spec.primary.fields:
        problem = "This field is part of the primary key, which a patch can't change. Use move()."
        raise invalid_clause(spec, "key-changed", (name,), problem)
    if field.kind in ("count", "version", "updated"):
        problem = "This field is maintained by the store, so it can't be set."
        raise invalid_clause(spec, "looked-after", (name,), problem)


def _check_amount(spec: EntitySpec, kind: PathType, clause: Clause) -> None:
    (amount,) = clause.values if len(clause.values) == 1 else (None,)
    if isinstance(amount, bool) or not isinstance(amount, int | Decimal | float):
        raise invalid_clause(spec, "wrong-type", clause.path, "add() takes one number.")
    if kind.plain is int and not isinstance(amount, int):
        raise invalid_clause(spec, "wrong-type", clause.path, "This field takes whole numbers.")


def _check_overlap(spec: EntitySpec, clauses: Sequence[Clause]) -> None:
    """Refuse two clauses about the same value, or about a value and something inside it."""
    paths = [clause.path for clause in clauses]
    for number, path in enumerate(paths):
        for other in paths[:number]:
            shorter = min(len(path), len(other))
            if path[:shorter] == other[:shorter]:
                one, two = path_text(other), path_text(path)
                what = f"Two clauses change {one}" if one == two else f"The clauses for {one} and {two} overlap"
                raise invalid_clause(spec, "overlapping-paths", path, f"{what}. Make them one.")
