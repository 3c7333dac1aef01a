"""Reading: get, lookup, batches, collections, follow, scan."""

from typing import Any

import pytest

from keyplan.data import Store, create, delete, delete_all, put_all
from keyplan.data import steps as steps_module
from keyplan.data.errors import DataError
from keyplan.design import InvalidValue, batch_get, get, lookup, ref, taken, there
from tests.data.club import Article, Club, Game, Member, Note, Tag, Team, User
from tests.data.support import Recorder, shape


@pytest.fixture
def filled(store: Store[Club]) -> Store[Club]:
    for name in ("ann", "joe"):
        store.run(create(User(username=name, email=f"{name}@x.org", nickname=name)))
    for n, tags in enumerate(["ab", "a", ""]):
        store.run(create(Article(slug=f"s{n}", number=n, title=f"T{n}", author="ann", tags=frozenset(tags))))
    for team in ("t", "u"):
        store.run(create(Team(team_id=team, name=team)))
        store.run(create(Member(team_id=team, username="ann", role="admin")))
    store.run(create(Game(team_id="t", game_id="g")))
    return store


def test_get_and_there(filled: Store[Club], sent: Recorder) -> None:
    sent.taken()
    found = filled.run(get(User, username="ann", consistent=True))
    assert found is not None
    assert found.email == "ann@x.org"
    assert filled.run(get(User, username="nobody")) is None
    assert filled.run(there(User, username="ann"))
    assert not filled.run(there(User, username="nobody"))
    first, *_, last = sent.taken()
    assert first[1]["ConsistentRead"]
    assert "ProjectionExpression" in last[1]


def test_lookup_and_taken(filled: Store[Club], sent: Recorder) -> None:
    sent.taken()
    found = filled.run(filled.design.user_by_email("ANN@X.org"))
    assert found is not None
    assert found.username == "ann"
    assert shape(sent.taken()) == ["get_item EMAIL#ann@x.org/EMAIL#ann@x.org", "get_item USER#ann/USER"]
    assert filled.run(lookup(User.email_guard, email="nobody")) is None
    assert filled.run(taken(User.email_guard, email="joe@x.org"))
    assert filled.run(taken(User.nickname_guard, nickname="joe"))
    assert not filled.run(taken(User.nickname_guard, nickname="jim"))


def test_a_collection_is_one_query(filled: Store[Club], sent: Recorder) -> None:
    sent.taken()
    page = filled.run(filled.design.team_page("t"))
    assert [type(each).__name__ for each in page.items] == ["Game", "Member", "Team"]
    assert shape(sent.taken()) == ["query"]


def test_follow_is_a_query_and_a_batch(filled: Store[Club], sent: Recorder) -> None:
    sent.taken()
    assert [article.title for article in filled.run(filled.design.tagged("a")).items] == ["T0", "T1"]
    assert shape(sent.taken()) == ["query", "batch_get_item"]
    first = filled.run(filled.design.teams_of("ann").limit(1))
    rest = filled.run(filled.design.teams_of("ann").limit(1).after(first.next))
    assert [team.name for team in (*first.items, *rest.items)] == ["t", "u"]
    assert [team.name for team in filled.each(filled.design.teams_of("ann").limit(1))] == ["t", "u"]
    assert list(filled.run(filled.design.tagged("none")).items) == []


def test_a_batch_keeps_the_order_asked_and_asks_once(filled: Store[Club], sent: Recorder) -> None:
    sent.taken()
    found = filled.run(batch_get(User, ["joe", "nobody", "ann", "joe"]))
    assert [user and user.username for user in found] == ["joe", None, "ann", "joe"]
    ((_, request),) = sent.taken()
    assert len(request["RequestItems"]["Club"]["Keys"]) == 3
    pairs = filled.run(batch_get(Tag, [{"tag": "a", "slug": "s1"}, {"tag": "b", "slug": "s0"}]))
    assert [tag and tag.title for tag in pairs] == ["T1", "T0"]
    assert filled.run(batch_get(User, [])) == []


def test_batches_are_split(store: Store[Club], sent: Recorder) -> None:
    notes = [Note(note_id=f"n{n}", text="old") for n in range(120)]
    sent.taken()
    assert store.run(put_all([*notes, Note(note_id="n0", text="new")])) == 120
    writes = [request["RequestItems"]["Club"] for _, request in sent.taken()]
    assert [len(write) for write in writes] == [25, 25, 25, 25, 20]
    found = store.run(batch_get(Note, [f"n{n}" for n in range(119, -1, -1)]))
    assert [note and note.note_id for note in found] == [f"n{n}" for n in range(119, -1, -1)]
    assert [len(request["RequestItems"]["Club"]["Keys"]) for _, request in sent.taken()] == [100, 20]
    last = found[-1]
    assert last is not None
    assert last.text == "new"
    assert store.run(delete_all(ref(Note, note_id=f"n{n}") for n in range(120))) == 120
    assert store.run(store.design.notes()).items == []


def test_a_batch_is_for_plain_items_only(store: Store[Club], sent: Recorder) -> None:
    sent.taken()
    with pytest.raises(DataError, match="one by one"):
        store.run(put_all([User(username="ann", email="a")]))
    with pytest.raises(DataError, match="one by one"):
        store.run(delete_all([ref(Member, team_id="t", username="u")]))
    assert sent.taken() == []


class Reluctant:
    """Does only half of a batch at a time."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def batch_get_item(self, RequestItems: dict[str, Any]) -> Any:  # noqa: N803 - DynamoDB's names
        keys = RequestItems["Club"]["Keys"]
        half = (len(keys) + 1) // 2
        answer = self.client.batch_get_item(RequestItems={"Club": {"Keys": keys[:half]}})
        return {**answer, "UnprocessedKeys": {"Club": {"Keys": keys[half:]}} if keys[half:] else {}}

    def batch_write_item(self, RequestItems: dict[str, Any]) -> Any:  # noqa: N803
        writes = RequestItems["Club"]
        half = (len(writes) + 1) // 2
        self.client.batch_write_item(RequestItems={"Club": writes[:half]})
        return {"UnprocessedItems": {"Club": writes[half:]} if writes[half:] else {}}


def test_what_was_not_processed_is_asked_again(store: Store[Club], raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps_module, "_FIRST_PAUSE", 0.0)
    slow = Store(store.design, Reluctant(raw))
    slow.run(put_all(Note(note_id=f"n{n}") for n in range(30)))
    found = slow.run(batch_get(Note, [f"n{n}" for n in range(30)]))
    assert [note and note.note_id for note in found] == [f"n{n}" for n in range(30)]


def test_a_scan_finds_its_entity_only(filled: Store[Club]) -> None:
    filled.run(create(Note(note_id="n")))
    assert [note.note_id for note in filled.each(filled.design.notes().limit(1))] == ["n"]


@pytest.mark.parametrize(
    "op",
    [
        get(User, username=None),
        lookup(User.email_guard, email=None),
        taken(User.nickname_guard, nickname=None),
        get(User, username=""),
    ],
)
def test_an_absent_key_value_is_refused(store: Store[Club], sent: Recorder, op: Any) -> None:
    sent.taken()
    with pytest.raises(InvalidValue):
        store.run(op)
    assert sent.taken() == []


def test_a_query_for_an_absent_value_is_refused(store: Store[Club], sent: Recorder) -> None:
    sent.taken()
    with pytest.raises(InvalidValue) as caught:
        store.run(store.design.articles_of(None))  # type: ignore[arg-type]
    assert caught.value.field == "author"
    assert sent.taken() == []


def test_what_was_deleted_is_gone(filled: Store[Club]) -> None:
    article = next(iter(filled.each(filled.design.articles_of("ann"))))
    filled.run(delete(article))
    assert filled.run(get(Article, slug=article.slug)) is None
    assert filled.verify() == []


def test_a_request_can_be_seen_without_being_sent(filled: Store[Club], sent: Recorder) -> None:
    design = filled.design
    sent.taken()
    for op in (
        design.user("ann"),
        design.user_by_email("ann@x.org"),
        design.articles_of("ann"),
        design.tagged("a"),
        design.team_page("t"),
        design.two_folders("f", "g"),
        design.notes(),
        there(User, username="ann"),
        batch_get(User, ["ann"]),
        create(User(username="jim", email="j")),
        delete(Note(note_id="n")),
    ):
        assert len(filled.requests(op)) == 1
    assert sent.taken() == []
    for op in (design.user("ann"), design.articles_of("ann"), design.two_folders("f", "g"), design.notes()):
        shown = filled.requests(op)
        filled.run(op)
        assert sent.taken()[:1] == shown
