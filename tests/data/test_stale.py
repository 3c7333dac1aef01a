"""Two concurrent writers: never a stale index key, a stale guard or a lost update."""

from typing import Any

import pytest

from keyplan.data import (
    DataError,
    InUse,
    ItemChanged,
    Store,
    UniqueViolation,
    create,
    delete,
    increment,
    move,
    patch,
    put,
    update,
)
from keyplan.design import get, ref
from tests.data.club import Alias, Article, Club, Member, Note, Team, User
from tests.data.support import Recorder, shape


def two(store: Store[Club]) -> tuple[Note, Note]:
    first, second = store.run(get(Note, note_id="n")), store.run(get(Note, note_id="n"))
    assert first is not None
    assert second is not None
    return first, second


def test_writers_of_different_fields_do_not_conflict(store: Store[Club]) -> None:
    store.run(create(Note(note_id="n")))
    first, second = two(store)
    first.text, second.stars = "first", 5
    store.run(update(first))
    store.run(update(second))
    assert store.run(get(Note, note_id="n")) == Note(note_id="n", text="first", stars=5)


def test_writers_of_the_same_field_conflict(store: Store[Club]) -> None:
    store.run(create(Note(note_id="n")))
    first, second = two(store)
    first.text, second.text = "first", "second"
    store.run(update(first))
    with pytest.raises(ItemChanged):
        store.run(update(second))


@pytest.mark.parametrize("before", [{}, {"folder": "f", "rank": 1}])
def test_writers_of_two_parts_of_one_index_key_conflict(store: Store[Club], before: dict[str, Any]) -> None:
    store.run(create(Note(note_id="n", **before)))
    first, second = two(store)
    first.folder, second.rank = "g", 7
    store.run(update(first))
    with pytest.raises(ItemChanged):
        store.run(update(second))
    assert store.verify() == []


def test_two_writers_of_one_unique_value_conflict(store: Store[Club]) -> None:
    store.run(create(Alias(alias_id="a", name="A")))
    first, second = store.run(get(Alias, alias_id="a")), store.run(get(Alias, alias_id="a"))
    assert first is not None
    assert second is not None
    first.name, second.name = "B", "C"
    store.run(update(first))
    with pytest.raises(ItemChanged):
        store.run(update(second))
    with pytest.raises(ItemChanged):
        store.run(delete(second))
    assert store.verify() == []
    store.run(create(Alias(alias_id="c", name="C")))


def test_saving_again_does_not_conflict_with_its_own_guard(store: Store[Club]) -> None:
    user = store.run(create(User(username="ann", email="a", nickname="n")))
    for email in ("b", "b", "a", "A"):
        user.email = email
        store.run(update(user))
    store.run(put(user))
    store.run(put(User(username="ann", email="a", nickname="n")))
    store.run(put(User(username="ann", email="c")))
    assert store.verify() == []
    store.run(create(User(username="joe", email="a", nickname="n")))


def test_unique_values_work_in_a_table_with_another_key_name(store: Store[Club]) -> None:
    store.run(create(User(username="ann", email="a", nickname="n")))
    with pytest.raises(UniqueViolation) as caught:
        store.run(create(User(username="joe", email="b", nickname="n")))
    assert caught.value.constraint == "nickname_guard"


def test_an_absent_version_counts_as_0(store: Store[Club], raw: Any) -> None:
    store.run(create(User(username="ann", email="a")))
    key = {"PK": {"S": "USER#ann"}, "SK": {"S": "USER"}}
    raw.update_item(TableName="Club", Key=key, UpdateExpression="REMOVE version")
    first, second = store.run(store.design.user("ann")), store.run(store.design.user("ann"))
    assert first is not None
    assert second is not None
    assert first.version == 0
    first.nickname = "n"
    store.run(update(first))
    assert first.version == 1
    second.nickname = "m"
    with pytest.raises(ItemChanged):
        store.run(update(second))


def test_a_counter_stored_as_null_counts_as_0(store: Store[Club], raw: Any) -> None:
    store.run(create(Team(team_id="t", name="T")))
    raw.update_item(
        TableName="Club",
        Key={"PK": {"S": "TEAM#t"}, "SK": {"S": "TEAM"}},
        UpdateExpression="SET member_count = :n",
        ExpressionAttributeValues={":n": {"NULL": True}},
    )
    team = store.run(get(Team, team_id="t"))
    assert team is not None
    team.name = "U"
    assert store.run(update(team)).member_count == 0
    assert store.run(get(Team, team_id="t")) == team


def test_counters_and_mirrors_do_not_raise_the_version(store: Store[Club], raw: Any) -> None:
    user = store.run(create(User(username="ann", email="a")))
    article = store.run(create(Article(slug="s", number=1, title="T", author="ann")))
    user.email = "b"
    store.run(update(user))  # not stale, though its counter has changed since
    article.title = "U"
    store.run(update(article))
    found = store.run(store.design.user("ann"))
    assert found is not None
    assert (found.version, found.article_count) == (2, 1)
    assert store.verify() == []


def test_a_put_raises_the_stored_version_and_keeps_counters(store: Store[Club]) -> None:
    made = store.run(create(User(username="ann", email="a")))
    store.run(create(Article(slug="s", number=1, title="T", author="ann")))
    again = store.run(put(User(username="ann", email="b")))
    assert (again.version, again.article_count, again.created_at) == (2, 1, made.created_at)
    assert store.run(store.design.user("ann")) == again
    assert store.verify() == []


def test_a_patch_of_part_of_an_index_key(store: Store[Club], sent: Recorder) -> None:
    target = ref(Note, note_id="n")
    store.run(create(Note(note_id="n")))
    sent.taken()
    store.run(patch(target, folder="f"))
    store.run(patch(target, rank=3))
    store.run(patch(target, rank=increment(4)))
    assert shape(sent.taken()) == ["get_item NOTE#n/NOTE", "update_item NOTE#n/NOTE"] * 3
    assert store.run(get(Note, note_id="n")) == Note(note_id="n", folder="f", rank=7)
    store.run(patch(target, folder=None))
    assert store.verify() == []


def test_a_patch_is_retried_when_the_item_changes_meanwhile(store: Store[Club], sent: Recorder) -> None:
    store.run(create(Note(note_id="n", folder="f", rank=1)))
    client: Any = sent.client

    class Interfering:
        """Changes the item once, between the patch's read and its write."""

        done = False

        def __getattr__(self, name: str) -> Any:
            if name == "update_item" and not self.done:
                self.done = True
                store.run(patch(ref(Note, note_id="n"), rank=5))
            return getattr(client, name)

    Store(store.design, Interfering()).run(patch(ref(Note, note_id="n"), folder="g"))
    assert store.run(get(Note, note_id="n")) == Note(note_id="n", folder="g", rank=5)
    assert store.verify() == []


def test_a_patch_of_an_absent_number(store: Store[Club], raw: Any) -> None:
    store.run(create(Note(note_id="n")))
    raw.update_item(TableName="Club", Key={"PK": {"S": "NOTE#n"}, "SK": {"S": "NOTE"}}, UpdateExpression="REMOVE stars")
    store.run(patch(ref(Note, note_id="n"), stars=increment(2)))
    store.run(patch(ref(Note, note_id="n"), rank=increment()))
    note = store.run(get(Note, note_id="n"))
    assert note is not None
    assert (note.stars, note.rank) == (2, 1)


def test_a_move_takes_everything_along(store: Store[Club], raw: Any) -> None:
    store.run(create(User(username="ann", email="a")))
    article = store.run(create(Article(slug="one", number=1, title="T", author="ann", tags=frozenset("ab"))))
    raw.update_item(
        TableName="Club",
        Key={"PK": {"S": "ARTICLE#one"}, "SK": {"S": "ARTICLE"}},
        UpdateExpression="SET legacy = :x",
        ExpressionAttributeValues={":x": {"S": "kept"}},
    )
    article = next(iter(store.each(store.design.articles_of("ann"))))
    store.run(move(article, slug="two", title="New"))
    item = raw.get_item(TableName="Club", Key={"PK": {"S": "ARTICLE#two"}, "SK": {"S": "ARTICLE"}})["Item"]
    assert item["legacy"] == {"S": "kept"}
    assert (article.slug, article.title, article.version) == ("two", "New", 2)
    assert store.verify() == []
    article.title = "Newer"
    store.run(update(article))
    assert store.verify() == []


def test_a_parent_with_children_cannot_be_moved(store: Store[Club]) -> None:
    store.run(create(User(username="ann", email="a")))
    store.run(create(Article(slug="one", number=1, title="T", author="ann")))
    user = store.run(store.design.user("ann"))
    assert user is not None
    with pytest.raises(InUse, match="Article"):
        store.run(move(user, username="bob"))
    team = store.run(create(Team(team_id="t", name="T")))
    store.run(create(Member(team_id="t", username="ann")))
    with pytest.raises(DataError, match="belong to it by its key"):
        store.run(move(team, team_id="u"))
    assert store.verify() == []


def test_an_old_copy_does_not_change_a_new_item_with_the_same_key(store: Store[Club]) -> None:
    store.run(create(User(username="ann", email="a")))
    old_user = store.run(store.design.user("ann"))
    article = store.run(create(Article(slug="s", number=1, title="T", author="ann", tags=frozenset("ab"))))
    old = store.run(get(Article, slug="s"))
    store.run(delete(article))
    assert old is not None
    assert old_user is not None
    fresh = store.run(store.design.user("ann"))
    assert fresh is not None
    store.run(delete(fresh))
    store.run(create(User(username="ann", email="b")))
    store.run(create(User(username="joe", email="a")))
    store.run(create(Article(slug="s", number=2, title="T", author="joe", tags=frozenset("c"))))
    old_user.email, old.title = "c", "U"
    for op in (update(old_user), delete(old_user), update(old), delete(old), move(old, slug="t")):
        with pytest.raises(ItemChanged):
            store.run(op)
    assert store.verify() == []
