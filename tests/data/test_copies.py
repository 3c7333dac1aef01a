"""Copies of an entity remember the item that it was read from; a created copy is an item of its own."""

import pickle
from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any

import pytest

from keyplan.data import AlreadyExists, StaleVersion, Store, create, put, stored_item, update
from keyplan.design import InvalidValue
from tests.data.club import Article, Club, Note, Team, User
from tests.data.support import Recorder, shape

COPIES: list[Callable[[Any], Any]] = [
    copy,
    deepcopy,
    lambda entity: entity.model_copy(),
    lambda entity: entity.model_copy(deep=True),
    lambda entity: pickle.loads(pickle.dumps(entity)),
]
NAMES = ["copy", "deepcopy", "model_copy", "model_copy(deep=True)", "pickle"]


@pytest.fixture
def user(store: Store[Club]) -> User:
    store.run(create(User(username="ann", email="ann@x.org")))
    user = store.run(store.design.user("ann"))
    assert user is not None
    return user


@pytest.mark.parametrize("copied", COPIES, ids=NAMES)
def test_a_copy_is_updated_like_its_original(
    store: Store[Club], sent: Recorder, user: User, copied: Callable[[User], User]
) -> None:
    twin = copied(user)
    assert twin == user
    assert stored_item(twin) == stored_item(user)
    twin.nickname = "Annie"
    sent.taken()
    store.run(update(twin))
    (request,) = shape(sent.taken())
    assert request.startswith("transact: Update USER#ann/USER")
    user.nickname = "Nan"
    with pytest.raises(StaleVersion):
        store.run(update(user))


@pytest.mark.parametrize("copied", COPIES, ids=NAMES)
def test_a_copy_of_a_new_entity_remembers_nothing(copied: Callable[[Note], Note]) -> None:
    assert stored_item(copied(Note(note_id="n"))) is None


@pytest.mark.parametrize("copied", COPIES, ids=NAMES)
def test_a_created_copy_is_an_item_of_its_own(store: Store[Club], user: User, copied: Callable[[User], User]) -> None:
    store.run(create(Article(slug="one", number=1, title="One", author="ann")))
    read = store.run(store.design.user("ann"))
    assert read is not None
    assert read.article_count == 1
    read.nickname = "Annie"
    store.run(update(read))
    twin = copied(read)
    twin.username, twin.email, twin.nickname = "joe", "joe@x.org", None
    made = store.run(create(twin))
    assert (made.version, made.article_count) == (1, 0)
    assert made.created_at > read.created_at
    assert made.updated_at > read.updated_at
    assert (stored_item(made) or {})["PK"] == {"S": "USER#joe"}
    assert store.run(store.design.user("joe")) == made
    assert (read.version, read.article_count, (stored_item(read) or {})["PK"]) == (2, 1, {"S": "USER#ann"})
    assert store.verify() == []


def test_a_stamp_that_the_caller_sets_on_a_copy_is_kept(store: Store[Club], user: User) -> None:
    day = user.created_at.replace(year=2001)
    made = store.run(create(user.model_copy(update={"username": "joe", "email": "joe@x.org", "created_at": day})))
    assert made.created_at == day


def test_a_copy_with_the_same_key_is_not_created(store: Store[Club], user: User) -> None:
    twin = user.model_copy()
    with pytest.raises(AlreadyExists):
        store.run(create(twin))
    twin.nickname = "Annie"
    store.run(update(twin))  # it still remembers the item


def test_an_assigned_counter_is_refused(store: Store[Club], sent: Recorder) -> None:
    sent.taken()
    for write in (create(Team(team_id="t", name="T", member_count=3)), put(Team(team_id="t", name="T", admin_count=1))):
        with pytest.raises(InvalidValue) as refused:
            store.run(write)
        assert refused.value.code == "count-changed"
    assert [name for name, _ in sent.taken() if name != "get_item"] == []
    team = store.run(create(Team(team_id="t", name="T", member_count=0)))
    team.member_count = 2
    with pytest.raises(InvalidValue, match="maintained by the items that it counts"):
        store.run(update(team))
    with pytest.raises(InvalidValue):
        store.run(put(team))
    team.member_count = 0
    team.name = "Team"
    store.run(put(team))
    assert store.verify() == []
