"""Transactions: puts as parts, callers' tokens, unique values that two parts take, and what can't be a part."""

from collections.abc import Callable
from typing import Any

import pytest

from keyplan.data import (
    AlreadyExists,
    InvalidOperation,
    Store,
    TokenReused,
    UniqueViolation,
    check,
    create,
    increment,
    patch,
    put,
    put_all,
    update,
    upsert,
)
from keyplan.design import get, query, ref
from keyplan.engine import Engine
from tests.data.club import Article, Club, Note, Team, User
from tests.data.support import NOW, Recorder, shape


def test_a_put_is_a_part(store: Store[Club], sent: Recorder) -> None:
    note, user = Note(note_id="n", text="a"), User(username="ann", email="ann@x.org")
    assert store.transact(put(note), put(user)) == (note, user)
    assert shape(sent.taken()) == [
        "get_item USER#ann/USER",
        "transact: Put NOTE#n/NOTE, Put USER#ann/USER, Put EMAIL#ann@x.org/EMAIL#ann@x.org",
    ]
    assert user.version == 1
    again = User(username="ann", email="new@x.org")
    store.transact(put(again), check(ref(Note, note_id="n")), put(Team(team_id="t", name="T")))
    assert (again.version, again.created_at) == (2, user.created_at)
    assert store.verify() == []


def test_a_refused_transaction_puts_nothing(store: Store[Club]) -> None:
    with pytest.raises(Exception, match="doesn't exist"):
        store.transact(put(Note(note_id="n")), check(ref(Note, note_id="other")))
    assert store.run(get(Note, note_id="n")) is None


def test_a_put_that_loses_a_race_is_tried_again(store: Store[Club], raw: Any) -> None:
    class Racing(Recorder):
        def __getattr__(self, name: str) -> Callable[..., Any]:
            if name == "transact_write_items" and not self.calls_of(name):
                store.run(create(User(username="ann", email="first@x.org")))
            return super().__getattr__(name)

        def calls_of(self, name: str) -> list[str]:
            return [each for each, _ in self.calls if each == name]

    client = Racing(raw)
    user = User(username="ann", email="ann@x.org")
    Store(store.design, client, clock=store.clock).transact(put(user), put(Note(note_id="n")))
    assert len(client.calls_of("transact_write_items")) == 2
    assert user.version == 2
    assert store.verify() == []


def test_a_part_that_is_no_put_is_not_tried_again(store: Store[Club], sent: Recorder) -> None:
    store.run(create(Note(note_id="n")))
    sent.taken()
    with pytest.raises(AlreadyExists):
        store.transact(create(Note(note_id="n")), put(Note(note_id="m")))
    assert len(sent.taken()) == 1


def test_two_parts_cannot_take_one_unique_value(store: Store[Club], sent: Recorder) -> None:
    with pytest.raises(UniqueViolation) as taken:
        store.transact(
            create(User(username="ann", email="same@x.org")), create(User(username="joe", email="Same@x.org"))
        )
    assert (taken.value.entity, taken.value.constraint) == ("User", "email_guard")
    assert taken.value.values == {"email": "Same@x.org"}
    joe = store.run(create(User(username="joe", email="joe@x.org")))
    joe.email = "new@x.org"
    sent.taken()
    with pytest.raises(UniqueViolation):
        store.transact(update(joe), create(User(username="ann", email="new@x.org")))
    assert sent.taken() == []
    joe.email = "joe@x.org"
    joe.nickname = "j"
    store.transact(update(joe), create(User(username="ann", email="ann@x.org")))
    assert store.verify() == []


@pytest.fixture
def timeless(store: Store[Club], raw: Engine) -> Store[Club]:
    """A store whose clock stands still, so that the same write is the same request."""
    return Store(store.design, raw, clock=lambda: NOW)


def test_the_same_transaction_with_a_token_is_carried_out_once(timeless: Store[Club], raw: Any) -> None:
    user = User(username="ann", email="ann@x.org")
    for _ in range(2):
        timeless.transact(create(user.model_copy()), token="order-1")
    with pytest.raises(AlreadyExists):
        timeless.transact(create(user), token="order-2")


def test_an_increment_with_a_token_is_carried_out_once(timeless: Store[Club]) -> None:
    timeless.run(create(Note(note_id="n", stars=1)))
    for _ in range(3):
        timeless.transact(patch(ref(Note, note_id="n"), stars=increment(2)), token="once")
    note = timeless.run(get(Note, note_id="n"))
    assert note is not None
    assert note.stars == 3


def test_another_transaction_with_the_token_is_refused(timeless: Store[Club]) -> None:
    timeless.transact(create(Note(note_id="n")), token="order-1")
    with pytest.raises(TokenReused) as reused:
        timeless.transact(create(Note(note_id="m")), token="order-1")
    assert reused.value.code == "token-reused"
    assert timeless.run(get(Note, note_id="m")) is None


@pytest.mark.parametrize("token", ["", "x" * 37])
def test_a_token_has_the_length_that_dynamodb_accepts(timeless: Store[Club], token: str) -> None:
    with pytest.raises(InvalidOperation) as refused:
        timeless.transact(create(Note(note_id="n")), token=token)
    assert str(refused.value) == f"a token has 1 to 36 characters, and this one has {len(token)}"
    assert timeless.run(get(Note, note_id="n")) is None


NO_PARTS: list[tuple[Callable[[Store[Club]], Any], str]] = [
    (lambda s: s.design.user("ann"), "Get is a read, and transact() only writes."),
    (lambda s: query(Article.by_author, author="ann"), "Query is a read"),
    (lambda s: Note(note_id="n"), "Note is an entity. Say what to do with it: create(note)"),
    (lambda s: put_all([Note(note_id="n")]), "PutAll can't be part of a transaction. Its parts are create, put"),
    (lambda s: None, "NoneType can't be part of a transaction"),
]


@pytest.mark.parametrize(("part", "sentence"), NO_PARTS, ids=[sentence for _, sentence in NO_PARTS])
def test_what_is_no_part_of_a_transaction(
    store: Store[Club], sent: Recorder, part: Callable[[Store[Club]], Any], sentence: str
) -> None:
    with pytest.raises(InvalidOperation) as refused:
        store.transact(create(Note(note_id="n")), part(store))
    assert str(refused.value).startswith(sentence)
    assert refused.value.code == "invalid-operation"
    assert sent.taken() == []


def test_only_an_operation_can_be_run(store: Store[Club]) -> None:
    with pytest.raises(InvalidOperation, match="isn't an operation that a store can run"):
        store.run(Note(note_id="n"))  # type: ignore[call-overload]  # that is the mistake


class Meddling:
    """Lets another process write just before a transaction is sent."""

    def __init__(self, client: Any, meddle: Callable[[], object]) -> None:
        self.client, self.meddle = client, [meddle]

    def __getattr__(self, name: str) -> Any:
        if name == "transact_write_items" and self.meddle:
            self.meddle.pop()()
        return getattr(self.client, name)


@pytest.mark.parametrize("before", [False, True], ids=["created", "changed"])
def test_an_upsert_that_lost_a_race_in_a_transaction_is_tried_again(
    store: Store[Club], sent: Recorder, before: bool
) -> None:
    target = ref(User, username="ann")
    if before:
        store.run(create(User(username="ann", email="a")))
    other = Store(store.design, sent.client)
    mine = Store(store.design, Meddling(sent.client, lambda: other.run(upsert(target, email="theirs", nickname="n"))))
    mine.transact(upsert(target, email="mine"), create(Note(note_id="n")))
    found = store.run(get(User, username="ann"))
    assert found is not None
    assert (found.email, found.nickname) == ("mine", "n")  # on top of what the other one wrote
    assert store.verify() == []
