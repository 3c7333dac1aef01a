"""Methods that refer to other items are called with stand-ins, to find out what they refer to."""

from collections.abc import Callable
from datetime import datetime
from typing import ClassVar, Literal

import pytest
from pydantic import BaseModel, Field

from keyplan.design import (
    Count,
    Design,
    DesignError,
    Entity,
    Id,
    Ref,
    Table,
    belongs_to,
    counts,
    key,
    ref,
)
from keyplan.design.entities.effects import BelongsTo, Counter, Refs

club = Table("Club", key("PK", "SK"))


class Time(BaseModel):
    day: int
    place_id: str


class Place(Entity, table=club):
    place_id: Id
    uses: Count = 0

    primary = key("PLACE#{place_id}", "PLACE")


class Course(Entity, table=club):
    course_id: Id
    place_id: Id | None = None
    removed_at: datetime | None = None
    hidden: bool = False
    kind: Literal["open", "closed"] = "open"
    times: list[Time] = Field(default_factory=list)
    best: Time | None = None

    primary = key("COURSE#{course_id}", "COURSE")


def of_times(course: Course) -> Refs:
    return [ref(Place, place_id=time.place_id) for time in course.times]


def of_best(course: Course) -> Refs:
    return ref(Place, place_id=course.best.place_id) if course.best else None


def by_a_method(course: Course) -> Refs:
    return ref(Place, place_id=course.place_id) if (course.place_id or "").startswith("p") else None


def by_order(course: Course) -> Refs:
    return ref(Place, place_id=course.place_id) if course.course_id > "m" else None


def set_only(course: Course) -> Refs:
    return ref(Place, place_id=course.place_id) if course.place_id is not None else None


def not_removed(course: Course) -> Refs:
    return None if course.removed_at else ref(Place, place_id=course.place_id)


def never_removed(course: Course) -> Refs:
    return ref(Place, place_id=course.place_id) if course.removed_at is None else None


def not_hidden(course: Course) -> Refs:
    return [] if course.hidden else [ref(Place, place_id=course.place_id)]


def open_only(course: Course) -> Refs:
    return ref(Place, place_id=course.place_id) if course.kind == "open" else None


def all_of_it(course: Course) -> Refs:
    if course.removed_at or course.hidden or course.kind != "open" or not course.place_id:
        return None
    return ref(Place, place_id=course.place_id)


@pytest.mark.parametrize(
    ("method", "field"),
    [
        (of_times, "times"),
        (of_best, "best"),
        (by_a_method, "place_id"),
        (by_order, "place_id"),
        (set_only, "place_id"),
        (not_removed, "place_id"),
        (never_removed, "place_id"),
        (not_hidden, "place_id"),
        (open_only, "place_id"),
        (all_of_it, "place_id"),
    ],
)
def test_references_of_a_method_are_found(method: Callable[[Course], Refs], field: str) -> None:
    class Training(Course, table=club):
        primary = key("TRAINING#{course_id}", "TRAINING")
        place: ClassVar[BelongsTo["Training"]] = belongs_to(on_delete="refuse", count="uses")(method)
        used: ClassVar[Counter["Training"]] = counts("uses")(method)

    class Trainings(Design):
        tables = (club,)
        entities = (Place, Training)

    relation: BelongsTo[Entity] = Training.spec.parents[0]
    assert Trainings.entities
    assert relation.entity is Place
    assert relation.fields == {"place_id": field}


def test_a_method_that_never_refers_to_an_item_is_refused() -> None:
    class Nowhere(Course, table=club):
        primary = key("NOWHERE#{course_id}", "NOWHERE")

        @belongs_to(on_delete="refuse", count="uses")
        def place(self) -> Ref[Place] | None:
            return None

    with pytest.raises(DesignError, match="returns no parent"):

        class Nowheres(Design):
            tables = (club,)
            entities = (Place, Nowhere)


def test_a_counter_that_only_some_items_refer_to_is_checked() -> None:
    class Wrong(Course, table=club):
        primary = key("WRONG#{course_id}", "WRONG")

        @counts("usses")
        def place(self) -> Ref[Place] | None:
            return None if self.removed_at else ref(Place, place_id=self.place_id)

    with pytest.raises(DesignError, match="usses"):

        class Wrongs(Design):
            tables = (club,)
            entities = (Place, Wrong)


def test_a_counter_can_compute_its_amount() -> None:
    class Sale(Course, table=club):
        amount: int = 1
        primary = key("SALE#{course_id}", "SALE")

        @counts("uses")
        def place(self) -> Ref[Place]:
            return ref(Place, place_id=self.place_id).adding(-2 * (self.amount + 1))

    class Sales(Design):
        tables = (club,)
        entities = (Place, Sale)

    assert Sales.entities
    assert Sale.spec.counters[0].target(Sale(course_id="c", place_id="p", amount=4)) == Ref(
        Place, {"place_id": "p"}, -10
    )
