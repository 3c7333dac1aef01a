"""The problems that callers get when a rule of the design refuses a write."""

from collections.abc import Callable
from typing import Annotated

import pytest
from pydantic import StringConstraints

from keyplan.data import (
    AlreadyExists,
    ConditionFailed,
    InUse,
    NotFound,
    ParentMissing,
    Refused,
    Store,
    check,
    create,
    delete,
)
from keyplan.design import (
    Count,
    Design,
    Entity,
    Id,
    InvalidValue,
    Ref,
    Refusal,
    Table,
    belongs_to,
    counts,
    key,
    public,
    ref,
)
from keyplan.engine import Engine
from keyplan.web.models.refusals import problem_for

_table = Table("Zoo", key("PK", "SK"))


class Cage(Entity, table=_table, exists=Refusal("number-taken", "Choose another number.", field="number")):
    """Where animals live."""

    number: Id
    animals: Count = 0
    weight: Count = 0

    primary = key("CAGE#{number}", "CAGE")


class Animal(Entity, table=_table, noun="animal of the zoo", exists=Refusal("known-already")):
    """An animal in a cage, which its path names, with an optional second cage, which its body names."""

    name: Id
    cage: Id
    winter_cage: Id | None = None
    keeper_id: Annotated[str, StringConstraints(max_length=5), public("keeper")] = ""

    primary = key("ANIMAL#{name}", "ANIMAL")

    @belongs_to(on_delete="refuse", count="animals", missing=Refusal("not-found"), in_use=Refusal("inhabited"))
    def home(self) -> Ref[Cage]:
        return ref(Cage, number=self.cage)

    @counts("weight")
    def weighed(self) -> Ref[Cage]:
        """A counter on the parent is refused in the same way as the parent."""
        return ref(Cage, number=self.cage).adding(100)

    @belongs_to(on_delete="keep", missing=Refusal("no-such-cage", "Build it first.", field="winter_cage"))
    def winter_home(self) -> Ref[Cage] | None:
        return None if self.winter_cage is None else ref(Cage, number=self.winter_cage)


class Zoo(Design):
    """Cages and animals."""

    tables = (_table,)
    entities = (Cage, Animal)


def _refused(write: Callable[[Store[Zoo]], object], error: type[Refused]) -> tuple[int, str, str, list[str]]:
    """Status, code, message and pointers of the problem that a write is refused with."""
    store = Store(Zoo(), Engine())
    store.create_tables()
    store.run(create(Cage(number="1")))
    store.run(create(Animal(name="leo", cage="1")))
    with pytest.raises(error) as refused:
        write(store)
    problem = problem_for(refused.value, store.design)
    return problem.status, problem.code, problem.detail, [each.pointer for each in problem.errors]


def test_a_missing_parent_in_the_path_is_not_found() -> None:
    def write(store: Store[Zoo]) -> object:
        return store.run(create(Animal(name="mia", cage="2")))

    assert _refused(write, ParentMissing) == (404, "not-found", "Cage not found.", [])


def test_a_missing_parent_in_the_body_has_a_pointer() -> None:
    def write(store: Store[Zoo]) -> object:
        return store.run(create(Animal(name="mia", cage="1", winter_cage="2")))

    status, code, detail, pointers = _refused(write, ParentMissing)
    assert (status, code, pointers) == (422, "no-such-cage", ["/winter_cage"])
    assert detail == "Build it first."


def test_a_refusal_without_a_message_keeps_the_general_one() -> None:
    def write(store: Store[Zoo]) -> object:
        return store.run(create(Animal(name="leo", cage="1")))

    said = "This animal of the zoo already exists."
    assert _refused(write, AlreadyExists) == (409, "known-already", said, [])


def test_deleting_an_item_in_use_is_refused_with_the_code_of_the_reference() -> None:
    def write(store: Store[Zoo]) -> object:
        return store.run(delete(Cage(number="1")))

    said = "Can't delete this cage: at least one animal of the zoo refers to it."
    assert _refused(write, InUse) == (409, "inhabited", said, [])


def test_a_taken_value_has_a_pointer() -> None:
    def write(store: Store[Zoo]) -> object:
        return store.run(create(Cage(number="1")))

    status, code, _, pointers = _refused(write, AlreadyExists)
    assert (status, code, pointers) == (422, "number-taken", ["/number"])


def test_a_condition_can_have_its_own_message() -> None:
    small = Refusal("too-small", "This cage is too small.", field="cage")

    def write(store: Store[Zoo]) -> None:
        room = check(ref(Cage, number="1"), lambda cage: cage.animals < 1, refusal=small)
        store.transact(create(Animal(name="dumbo", cage="1")), room)

    assert _refused(write, ConditionFailed) == (422, "too-small", "This cage is too small.", ["/cage"])


def test_a_condition_on_a_hidden_item_is_not_found() -> None:
    def write(store: Store[Zoo]) -> None:
        store.transact(check(ref(Cage, number="2"), refusal=Refusal("not-found", "There is no cage 2.")))

    assert _refused(write, NotFound) == (404, "not-found", "There is no cage 2.", [])

    def without_words(store: Store[Zoo]) -> None:
        store.transact(check(ref(Cage, number="2"), refusal=Refusal("not-found")))

    assert _refused(without_words, NotFound) == (404, "not-found", "Not found.", [])


def test_a_value_over_its_limit_has_a_pointer_with_its_public_name() -> None:
    store = Store(Zoo(), Engine())
    with pytest.raises(InvalidValue) as refused:
        store.run(create(Animal(name="leo", cage="1", keeper_id="Stranger")))
    problem = problem_for(refused.value, store.design)
    assert (problem.status, problem.errors[0].pointer, problem.errors[0].code) == (422, "/keeper", "string-too-long")
    assert problem_for(refused.value).errors[0].pointer == "/keeper_id"
