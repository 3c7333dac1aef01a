"""A design for writes by key: entities without effects, and one for each reason to read the item first."""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, StringConstraints, field_validator, model_validator

from keyplan.data import Store
from keyplan.design import (
    Count,
    Created,
    Design,
    Entity,
    Id,
    Ref,
    Refusal,
    Table,
    Ttl,
    Updated,
    Version,
    belongs_to,
    created,
    derived,
    key,
    limit,
    limits,
    ref,
    unique,
    updated,
)
from keyplan.engine import Engine
from tests.data.support import Clock, Recorder

tools = Table(
    "Tools",
    key("PK", "SK"),
    indexes={
        "GSI1": key("GSI1PK", "GSI1SK"),
        "Wear": key("maker", "wear:N"),
        "Weight": key("maker", "weight:N"),
        "Loans": key("LoanPK", "LoanSK"),
    },
    type_attribute="type",
    ttl="expires",
)
boxes = Table("Boxes", key("PK", "SK"), envelope="data")


class Size(BaseModel):
    width: int = 0
    unit: Annotated[str, StringConstraints(max_length=3)] = "cm"
    depth: int | None = None
    colors: frozenset[str] = frozenset()


class Span(BaseModel):
    """A model that checks its fields together."""

    low: int = 0
    high: int = 9

    @model_validator(mode="after")
    def ordered(self) -> Self:
        if self.low > self.high:
            raise ValueError("low is above high")
        return self


def even(value: int) -> None:
    if value % 2:
        raise ValueError("an odd number")


class Tool(Entity, table=tools, type="TOOL"):
    """Nothing follows from it but index keys."""

    tool_id: Id
    name: str = ""
    shelf: str = "A"
    rank: int = 0
    maker: str = "ours"
    wear: int = 0
    borrower: str | None = None
    lent: bool = False
    stock: Annotated[int, Field(ge=0, le=100)] = 10
    price: Annotated[Decimal, Field(ge=0)] = Decimal("1.50")
    weight: Decimal | None = None
    pairs: Annotated[int, limit(even)] = 0
    size: Size = Size()
    box: Size | None = None
    span: Span = Span()
    log: list[str] = Field(default_factory=list, max_length=3)
    parts: list[Size] = Field(default_factory=list)
    tags: Annotated[frozenset[str], Field(max_length=2)] = frozenset()
    numbers: set[int] = Field(default_factory=set)
    notes: dict[str, int] = Field(default_factory=dict)
    by_number: dict[int, Size] = Field(default_factory=dict)
    anything: Any = None
    status: Literal["new", "old"] = "new"
    expires: Ttl | None = None
    added_at: Created = created()
    changed_at: Updated = updated()
    version: Version = 0

    primary = key("TOOL#{tool_id}", "TOOL")
    by_shelf = tools.GSI1("SHELF#{shelf}", "{rank:04}#{tool_id}")
    by_wear = tools.Wear("{maker}", "{wear}")
    by_weight = tools.Weight("{maker}", "{weight}")
    loans = tools.Loans("LOAN#{borrower}", "{name}#{tool_id}", when="lent")


class Plain(Entity, table=tools, type="PLAIN"):
    """Nothing follows from it at all."""

    plain_id: Id
    text: str
    number: int = 7
    hits: int = 0

    primary = key("PLAIN#{plain_id}", "PLAIN")


class Badge(Entity, table=tools, type="BADGE"):
    """It has a guard."""

    badge_id: Id
    code: str
    color: str = "red"
    uses: int = 0

    primary = key("BADGE#{badge_id}", "BADGE")
    code_guard = unique("CODE#{code}")


class Drawer(Entity, table=tools, type="DRAWER"):
    """A parent that its children keep from being deleted."""

    drawer_id: Id
    label: str = ""
    screws: Count = 0

    primary = key("DRAWER#{drawer_id}", "DRAWER")


class Mark(Entity, table=tools, type="MARK"):
    mark: str
    screw_id: Id

    primary = key("MARK#{mark}", "SCREW#{screw_id}")


class Screw(Entity, table=tools, type="SCREW"):
    """It has a parent that counts it, and derived items."""

    screw_id: Id
    drawer_id: Id
    length: int = 1
    marks: frozenset[str] = frozenset()
    version: Version = 0

    primary = key("SCREW#{screw_id}", "SCREW")

    @belongs_to(on_delete="refuse", count="screws")
    def drawer(self) -> Ref[Drawer]:
        return ref(Drawer, drawer_id=self.drawer_id)

    @derived
    def mark_items(self) -> list[Mark]:
        return [Mark(mark=mark, screw_id=self.screw_id) for mark in sorted(self.marks)]


class Room(Entity, table=tools, type="ROOM"):
    """A parent that takes its children along."""

    room_id: Id
    name: str = ""

    primary = key("ROOM#{room_id}", "ROOM")


class Bench(Entity, table=tools, type="BENCH"):
    room_id: Id
    bench_id: Id

    primary = key("ROOM#{room_id}", "BENCH#{bench_id}")

    @belongs_to(on_delete="cascade")
    def room(self) -> Ref[Room]:
        return ref(Room, room_id=self.room_id)


class Old(Entity, table=tools, type="OLD"):
    """Its items may be in an older form."""

    old_id: Id
    note: str = ""
    hits: int = 0

    primary = key("OLD#{old_id}", "OLD")

    @classmethod
    def evolve(cls, item: dict[str, Any]) -> dict[str, Any]:
        if "remark" in item:
            item["note"] = item.pop("remark")
        return item


class Strict(Entity, table=tools, type="STRICT"):
    """A validator of its own, and a limit on two fields."""

    strict_id: Id
    name: str = ""
    low: int = 0
    high: int = 9

    primary = key("STRICT#{strict_id}", "STRICT")

    @field_validator("name")
    @classmethod
    def short(cls, value: str) -> str:
        return value.strip()


class Pair(Entity, table=tools, type="PAIR"):
    """A limit on two fields together."""

    pair_id: Id
    low: int = 0
    high: int = 9

    primary = key("PAIR#{pair_id}", "PAIR")

    @limits("low", "high")
    def ordered(self) -> Refusal | None:
        return Refusal("low-above-high", "Low can't be above high.", field="low") if self.low > self.high else None


class Box(Entity, table=boxes):
    """Its fields are in an envelope."""

    box_id: Id
    size: Size = Size()
    log: list[str] = Field(default_factory=list)
    count: int = 0

    primary = key("BOX#{box_id}", "BOX")


class Workshop(Design):
    tables = (tools, boxes)
    entities = (Tool, Plain, Badge, Drawer, Mark, Screw, Room, Bench, Old, Strict, Pair, Box)


@contextmanager
def workshop_store() -> Iterator[tuple[Store[Workshop], Recorder]]:
    """A store on a new engine, and the recorder of its calls."""
    with Engine() as engine:
        recorder = Recorder(engine)
        store = Store(Workshop(), recorder, clock=Clock(), secret=b"of the tests")
        store.create_tables()
        recorder.taken()
        yield store, recorder
