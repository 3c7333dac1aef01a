"""Limits inside aliases, `TypedDict`s, named tuples and collections: removed for reading, checked on write."""

import sys
from collections.abc import Sequence
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    Required,
    TypeVar,
    get_type_hints,
)

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, TypeAdapter, ValidationError
from typing_extensions import ReadOnly, TypeAliasType, TypedDict

from keyplan.data import Store, create, update
from keyplan.design import Design, Entity, Fields, Id, InvalidValue, Table, classes_in, get, key
from keyplan.design.values.relaxed import relaxed
from keyplan.engine import Engine
from keyplan.web import In, Out

T = TypeVar("T")
U = TypeVar("U")
Short = Annotated[str, StringConstraints(max_length=3)]
Small = Annotated[int, Field(le=9)]


class Address(TypedDict, total=False):
    """Some members are required."""

    code: Required[Short]
    city: Short
    note: str


class Place(Address):
    """Inherits members, and adds one that can be left out."""

    floor: NotRequired[Small]
    name: str


class Strict(TypedDict):
    """Refuses members that it doesn't have."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # as pydantic documents it
    code: Short


class Folder(TypedDict):
    """Contains others of its kind."""

    name: Short
    folders: "list[Folder]"


class Box(TypedDict, Generic[T]):
    """Contains a value of any type."""

    content: T


class Point(NamedTuple):
    """A named tuple with a default."""

    x: Small
    y: Small = 0


class Dot(BaseModel):
    """A model that contains an alias."""

    spot: "Spot"


Spot = TypeAliasType("Spot", Point | Small)
Code = TypeAliasType("Code", Short)
MaybeCode = TypeAliasType("MaybeCode", Code | None)
Pair = TypeAliasType("Pair", tuple[U, T], type_params=(T, U))
Tree = TypeAliasType("Tree", "list[Tree] | Small")
Named = NewType("Named", str)
NamedCode = NewType("NamedCode", Code)
Dot.model_rebuild()

KINDS: dict[str, tuple[Any, Any, Any, Any]] = {
    # a type, a value within its limits, one over them, and one that isn't of the type
    "alias": (Code, "abc", "abcd", 1),
    "alias of an optional": (MaybeCode, None, "abcd", 1),
    "alias with arguments": (Pair[int, Short], ("abc", 1), ("abcd", 1), ("abc", "x")),
    "alias that contains itself": (Tree, [[9], 1], [[10], 1], [["x"]]),
    "alias of a typed dict": (TypeAliasType("A", Address), {"code": "abc"}, {"code": "abcd"}, {}),
    "NewType": (NamedCode, "abc", "abcd", 1),
    "optional": (Optional[Code], "abc", "abcd", 1),  # noqa: UP045 - another type than with |
    "union": (Small | Code, "abc", "abcd", []),
    "list": (list[Code], ["abc"], ["abcd"], "abc"),
    "sequence": (Sequence[Small], [9], [10], ["x"]),
    "dict": (dict[str, list[Small]], {"a": [9]}, {"a": [10]}, {"a": 9}),
    "dict with limited names": (dict[Short, int], {"abc": 1}, {"abcd": 1}, {"abc": "x"}),
    "typed dict": (Address, {"code": "abc", "city": "abc"}, {"code": "abc", "city": "abcd"}, {"city": "abc"}),
    "typed dict that inherits": (
        Place,
        {"code": "abc", "name": "n", "floor": 9},
        {"code": "abcd", "name": "n", "floor": 10},
        {"code": "abc"},
    ),
    "strict typed dict": (Strict, {"code": "abc"}, {"code": "abcd"}, {"code": "abc", "more": 1}),
    "typed dict that contains itself": (
        Folder,
        {"name": "abc", "folders": [{"name": "abc", "folders": []}]},
        {"name": "abc", "folders": [{"name": "abcd", "folders": []}]},
        {"name": "abc", "folders": [{"name": "abc"}]},
    ),
    "typed dict with an argument": (Box[list[Small]], {"content": [9]}, {"content": [10]}, {"content": 9}),
    "named tuple": (Point, Point(9), Point(10, 9), "x"),
    "named tuples in a dict": (dict[str, Point], {"a": Point(9, 9)}, {"a": Point(9, 10)}, {"a": Point(1, "x")}),  # type: ignore[arg-type]  # on purpose
    "model with an alias": (Dot, Dot(spot=Point(9)), Dot.model_construct(spot=Point(10)), {"spot": "x"}),
    "models in a typed dict": (
        Box[Dot],
        {"content": Dot(spot=9)},
        {"content": Dot.model_construct(spot=10)},
        {"content": {"spot": "x"}},
    ),
}
if sys.version_info >= (3, 12):
    space: dict[str, Any] = {"Short": Short, "Small": Small}
    exec("type New = list[Short]\ntype Nest[T] = list[Nest[T]] | T", space)  # 3.11 can't parse it
    KINDS["type statement"] = (space["New"], ["abc"], ["abcd"], "abc")
    KINDS["type statement that contains itself"] = (space["Nest"][Small], [[9]], [[10]], [["x"]])

CASES = [pytest.param(*case, id=name) for name, case in KINDS.items()]


def store_of(kind: Any) -> tuple[Any, Any]:
    """A store for an entity with a field of this type."""
    table = Table("Things", key("PK"))

    class Thing(Entity, table=table):
        thing_id: Id
        value: kind
        other: int = 0
        primary = key("{thing_id}")

    class Things(Design):
        """Things."""

        tables = (table,)
        entities = (Thing,)

    store = Store(Things(), Engine())
    store.create_tables()
    return store, Thing


@pytest.mark.parametrize(("kind", "within", "over", "wrong"), CASES)
def test_limits_are_checked_on_write_and_types_on_read(kind: Any, within: Any, over: Any, wrong: Any) -> None:
    store, thing = store_of(kind)
    with pytest.raises(ValidationError):
        thing(thing_id="a", value=wrong)
    store.run(create(thing(thing_id="a", value=within)))
    found = store.run(get(thing, thing_id="a"))
    assert found.value == within
    assert type(found.value) is type(within)
    found.value = over
    with pytest.raises(InvalidValue, match=r"^Thing\.value"):
        store.run(update(found))
    assert store.verify() == []


@pytest.mark.parametrize(("kind", "within", "over", "wrong"), CASES)
def test_a_value_that_was_stored_over_its_limits_can_be_used(kind: Any, within: Any, over: Any, wrong: Any) -> None:
    store, thing = store_of(kind)
    loose, _ = store_of(Any)
    loose.client = store.client  # of the same table, without limits
    unlimited = next(iter(loose.design.entities))
    loose.run(create(unlimited(thing_id="a", value=over)))
    found = store.run(get(thing, thing_id="a"))
    assert found.value == over
    assert type(found.value) is type(over)
    found.other = 1
    store.run(update(found))
    assert store.run(get(thing, thing_id="a")).value == over
    assert {finding.kind for finding in store.verify()} == {"over-limit"}


UNLIMITED = [JsonValue, Named, list[Named], dict[str, JsonValue], TypeAliasType("Texts", list[str]), Box[int]]


@pytest.mark.parametrize("kind", UNLIMITED, ids=str)
def test_types_without_limits_stay_unchanged(kind: Any) -> None:
    assert relaxed(kind) is kind


def test_an_alias_means_the_same_as_its_type() -> None:
    class Aliased(Entity, table=Table("Aliased", key("PK"))):
        code: Code
        maybe: MaybeCode = None
        kind: TypeAliasType("Kind", Literal["a", "b"]) = "a"  # type: ignore[valid-type]
        primary = key("{kind}#{code}")

    assert Aliased.spec.fields["maybe"].optional
    assert set(Aliased.spec.limits.fields) == {"code", "maybe"}
    assert Aliased(code="long").key_values == {"kind": "a", "code": "long"}


class Secretive(Fields):
    """Fields with aliases."""

    code: Code
    address: Address
    tree: Tree = 1


def test_bodies_have_the_limits_and_answers_do_not() -> None:
    class Body(Secretive, In): ...

    class Shown(Secretive, Out): ...

    with pytest.raises(ValidationError) as refused:
        Body.model_validate({"code": "abcd", "address": {"code": "abcd"}, "tree": [10]})
    assert {each["loc"][0] for each in refused.value.errors()} == {"code", "address", "tree"}
    over = {"code": "abcd", "address": {"code": "abcd"}, "tree": [10]}
    assert Shown.model_validate(over).model_dump() == over


def test_the_members_of_a_typed_dict_stay_required_or_not() -> None:
    class Site(Place):
        country: ReadOnly[NotRequired[Short]]

    twin = relaxed(Site).__metadata__[0].twin
    assert (twin.__required_keys__, twin.__optional_keys__) == (Site.__required_keys__, Site.__optional_keys__)
    plain = {"code": str, "city": str, "note": str, "floor": int, "name": str}
    assert get_type_hints(twin).items() >= plain.items()


def test_classes_are_found_inside_aliases_and_typed_dicts() -> None:
    assert set(classes_in(Box[Tree])) == {Box, list, int}
    assert set(classes_in(Folder)) == {Folder, str, list}
    assert {Dot, Point} <= {*classes_in(list[Dot]), *classes_in(Spot)}


TEXTS = st.sampled_from([str, Short, Code, NamedCode])
TYPES = st.recursive(
    TEXTS,
    lambda inner: st.one_of(
        inner.map(lambda kind: list[kind]),  # type: ignore[valid-type]
        inner.map(lambda kind: dict[str, kind]),  # type: ignore[valid-type]
        inner.map(lambda kind: Box[kind]),  # type: ignore[valid-type]
        inner.map(lambda kind: kind | None),
        inner.map(lambda kind: TypeAliasType("Alias", kind)),
        inner.map(lambda kind: TypedDict("Made", {"content": NotRequired[kind]})),  # type: ignore[operator]
        inner.map(lambda kind: Annotated[kind, Field(title="T")]),
    ),
    max_leaves=5,
)


def value_of(kind: Any, text: str) -> Any:
    """A value of a type, with this text wherever it contains text."""
    if isinstance(kind, TypeAliasType):
        return value_of(kind.__value__, text)
    if kind is str or kind is NamedCode:
        return text
    if hasattr(kind, "__metadata__"):
        return value_of(kind.__origin__, text)
    if isinstance(kind, type) and issubclass(kind, dict) and "content" in getattr(kind, "__annotations__", {}):
        return {"content": value_of(kind.__annotations__["content"].__args__[0], text)}
    origin, arguments = getattr(kind, "__origin__", None), kind.__args__
    if origin is Box:
        return {"content": value_of(arguments[0], text)}
    if origin is dict:
        return {"key": value_of(arguments[1], text)}
    return [value_of(arguments[0], text)] if origin is list else value_of(arguments[0], text)


@given(TYPES, st.text())
def test_without_limits_any_value_of_the_type_is_valid(kind: Any, text: str) -> None:
    once = relaxed(kind)
    value = value_of(kind, text)
    assert TypeAdapter(once).validate_python(value) == value
    assert relaxed(once) is once
    if once is kind:
        assert TypeAdapter(kind).validate_python(value) == value
