"""Models that are part of an entity, in all shapes: with limits, written, read over their limits, and verified."""

from types import new_class
from typing import Annotated, Any, Generic, Literal, TypeVar

import pytest
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, StringConstraints, computed_field, field_serializer

from keyplan.data import Store, create, update
from keyplan.design import Design, Entity, Id, InvalidValue, Table, get, key
from keyplan.engine import Engine

Short = Annotated[str, StringConstraints(max_length=5)]
T = TypeVar("T")


class Part(BaseModel):
    """A part with a limit."""

    name: Short


class Holder(BaseModel):
    """A part that contains a part."""

    part: Part


class Cat(BaseModel):
    """One of two kinds."""

    kind: Literal["cat"] = "cat"
    name: Short


class Dog(BaseModel):
    """The other kind."""

    kind: Literal["dog"] = "dog"
    size: Annotated[int, Field(le=3)]


class Node(BaseModel):
    """A part that contains others of its kind."""

    name: Short
    inner: list["Node"] = Field(default_factory=list)


class Chicken(BaseModel):
    """Contains what contains it; the limit is in the other one."""

    eggs: list["Egg"] = Field(default_factory=list)


class Egg(BaseModel):
    """Contains what contains it."""

    name: Short
    chicken: Chicken | None = None


class Box(BaseModel, Generic[T]):
    """A part with a value of any type."""

    content: T


class Aliased(BaseModel):
    """A part with other names outside."""

    name: Short = Field(alias="Name")


class Computed(BaseModel):
    """A part whose output has more fields than its input, other values, and fewer fields."""

    model_config = ConfigDict(extra="forbid")
    name: Short
    note: str = Field(exclude=True)

    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def loud(self) -> str:
        return self.name.upper()

    @field_serializer("name")
    def quoted(self, name: str) -> str:
        return f"<{name}>"


LONG = {"S": "too long"}


def stored(**members: Any) -> dict[str, Any]:
    return {"M": members}


PARTS: dict[str, tuple[Any, object, dict[str, Any]]] = {
    "part": (Part, Part(name="short"), stored(name=LONG)),
    "optional": (Part | None, Part(name="short"), stored(name=LONG)),
    "list": (list[Part], [Part(name="short")], {"L": [stored(name=LONG)]}),
    "map": (dict[str, Part], {"a": Part(name="short")}, stored(a=stored(name=LONG))),
    "tuple": (tuple[int, Part], (1, Part(name="short")), {"L": [{"N": "1"}, stored(name=LONG)]}),
    "part of a part": (Holder, Holder(part=Part(name="short")), stored(part=stored(name=LONG))),
    "choice": (Cat | Dog, Cat(name="short"), stored(kind={"S": "cat"}, name=LONG)),
    "choice by a discriminator": (
        Annotated[Cat | Dog, Field(discriminator="kind")],
        Cat(name="short"),
        stored(kind={"S": "cat"}, name=LONG),
    ),
    "choices by a discriminator": (
        list[Annotated[Cat | Dog, Field(discriminator="kind")]],
        [Cat(name="short"), Dog(size=3)],
        {"L": [stored(kind={"S": "dog"}, size={"N": "4"})]},
    ),
    "generic": (Box[Short], Box[Short](content="short"), stored(content=LONG)),
    "recursive": (
        Node,
        Node(name="a", inner=[Node(name="b")]),
        stored(name={"S": "a"}, inner={"L": [stored(name=LONG, inner={"L": []})]}),
    ),
    "recursive in turns": (
        Chicken,
        Chicken(eggs=[Egg(name="a")]),
        stored(eggs={"L": [stored(name={"S": "a"}, chicken=stored(eggs={"L": [stored(name=LONG)]}))]}),
    ),
    "alias": (Aliased, Aliased(Name="short"), stored(name=LONG)),
    "shown in another way": (Computed, Computed(name="short", note=""), stored(name=LONG, note={"S": ""})),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_written_within_its_limits_and_read_over_them(name: str) -> None:
    kind, value, over = PARTS[name]
    table = Table("Things", key("PK"))
    body = {"__annotations__": {"id": Id, "part": kind, "other": int}, "other": 0, "primary": key("{id}")}
    thing: Any = new_class("Thing", (Entity,), {"table": table}, lambda space: space.update(body))
    things: Any = new_class("Things", (Design,), {}, lambda space: space.update(tables=(table,), entities=(thing,)))
    with Engine() as engine:
        store: Store[Any] = Store(things(), engine)
        store.create_tables()
        store.run(create(thing(id="a", part=value)))
        assert store.run(get(thing, id="a")) == thing(id="a", part=value)
        client: Any = store.client
        client.put_item(TableName="Things", Item={"PK": {"S": "a"}, "id": {"S": "a"}, "part": over})
        found: Any = store.run(get(thing, id="a"))
        found.other = 1
        store.run(update(found))
        assert {finding.kind for finding in store.verify()} == {"over-limit"}
        with pytest.raises(InvalidValue):
            store.run(create(thing(id="b", part=found.part)))
        found.part = value
        store.run(update(found))
        assert store.verify() == []


class Counted(BaseModel):
    """A part with a side effect when it is created."""

    name: Short
    _made: int = PrivateAttr(default=0)

    def model_post_init(self, context: object) -> None:
        self._made += 1


class Counting(Entity, table=Table("Counting", key("PK"))):
    """An entity with such a part."""

    id: Id
    part: Counted
    primary = key("{id}")


def test_a_part_that_is_read_is_created_once_and_of_its_own_class() -> None:
    read = Counting.model_validate({"id": "a", "part": {"name": "too long"}}).part
    assert (type(read), read._made, read.model_fields_set) == (Counted, 1, {"name"})
