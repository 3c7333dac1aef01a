"""Reading: get, lookup, batches, collections, follow, scan."""

from datetime import UTC, datetime
from typing import Any

import pytest

from keyplan.data import DataError, Store, create, delete, delete_all, move, put_all
from keyplan.data import steps as steps_module
from keyplan.data.reads.reader import LOOKS
from keyplan.design import DesignError, InvalidValue, batch_get, collection, get, lookup, ref, taken, there, together
from keyplan.engine import Engine
from tests.data.club import Article, Club, Game, Member, Note, Tag, Team, User
from tests.data.market import Login, Market, Picture, Stall
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


class Interrupted:
    """Moves the user after some of the reads: away, and back again."""

    def __init__(self, store: Store[Club], raw: Any, moves: dict[int, tuple[str, str]]) -> None:
        self.asked: list[str] = []
        self._store, self._raw, self._moves = store, raw, moves

    def get_item(self, **request: Any) -> Any:
        answer = self._raw.get_item(**request)
        self.asked.append(request["Key"]["PK"]["S"])
        if len(self.asked) in self._moves:
            before, after = self._moves[len(self.asked)]
            found = self._store.run(get(User, username=before))
            assert found is not None
            self._store.run(move(found, username=after))
        return answer


@pytest.mark.parametrize(
    ("moves", "looks"),
    [
        ({1: ("jim", "tim")}, ["USER#jim", "EMAIL#jim@x.org", "USER#tim"]),
        ({1: ("jim", "tim"), 2: ("tim", "jim")}, ["USER#jim", "EMAIL#jim@x.org", "USER#jim"]),
    ],
)
def test_a_lookup_finds_an_item_that_is_moved_meanwhile(
    filled: Store[Club], raw: Any, moves: dict[int, tuple[str, str]], looks: list[str]
) -> None:
    filled.run(create(User(username="jim", email="jim@x.org")))
    client = Interrupted(filled, raw, moves)
    found = Store(Club(), client).run(lookup(User.email_guard, email="jim@x.org"))
    assert found is not None
    assert found.username == moves[len(moves)][1]
    assert client.asked == ["EMAIL#jim@x.org", *looks]


def test_a_lookup_through_a_stale_guard_ends(filled: Store[Club], raw: Any, sent: Recorder) -> None:
    raw.delete_item(TableName="Club", Key={"PK": {"S": "USER#joe"}, "SK": {"S": "USER"}})
    sent.taken()
    assert filled.run(lookup(User.email_guard, email="joe@x.org")) is None
    assert len(sent.taken()) == 1 + 2 * LOOKS


def test_lookup_through_a_mirror(filled: Store[Club], sent: Recorder) -> None:
    sent.taken()
    found = filled.run(lookup(Article.short, number=1))
    assert found is not None
    assert found.slug == "s1"
    assert shape(sent.taken()) == ["get_item NUMBER#000001/SHORT", "get_item ARTICLE#s1/ARTICLE"]
    assert filled.run(lookup(Article.short, number=7)) is None
    assert shape(sent.taken()) == ["get_item NUMBER#000007/SHORT"]


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


def test_a_page_skips_items_that_no_longer_exist_and_is_filled_up(
    filled: Store[Club], sent: Recorder, raw: Any
) -> None:
    for n in range(3, 9):
        filled.run(create(Article(slug=f"s{n}", number=n, title=f"T{n}", author="ann", tags=frozenset("a"))))
    for slug in ("s1", "s3", "s4"):  # not through the store, so that the tags stay
        raw.delete_item(TableName="Club", Key={"PK": {"S": f"ARTICLE#{slug}"}, "SK": {"S": "ARTICLE"}})
    sent.taken()
    page = filled.run(filled.design.tagged("a").limit(3))
    assert [article.slug for article in page.items] == ["s0", "s5", "s6"]
    assert [request["Limit"] for name, request in sent.taken() if name == "query"] == [3, 2, 1]
    rest = filled.run(filled.design.tagged("a").limit(3).after(page.next))
    assert ([article.slug for article in rest.items], rest.next) == (["s7", "s8"], None)


def test_a_batch_keeps_the_order_of_its_keys_and_requests_each_once(filled: Store[Club], sent: Recorder) -> None:
    sent.taken()
    found = filled.run(batch_get(User, ["joe", "nobody", "ann", "joe"]))
    assert [user and user.username for user in found] == ["joe", None, "ann", "joe"]
    ((_, request),) = sent.taken()
    assert len(request["RequestItems"]["Club"]["Keys"]) == 3
    pairs = filled.run(batch_get(Tag, [{"tag": "a", "slug": "s1"}, {"tag": "b", "slug": "s0"}]))
    assert [tag and tag.title for tag in pairs] == ["T1", "T0"]
    assert filled.run(batch_get(User, [])) == []
    users = batch_get(User, (name for name in ("ann", "joe")))
    assert filled.run(users) == filled.run(users) != []
    with pytest.raises(DesignError, match="the keys must be a list, not one key"):
        batch_get(Tag, {"tag": "a", "slug": "s1"})


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


def test_a_batch_write_accepts_only_entities_without_effects(store: Store[Club], sent: Recorder) -> None:
    sent.taken()
    with pytest.raises(DataError, match="import_all"):
        store.run(put_all([User(username="ann", email="a")]))
    with pytest.raises(DataError, match="import_all"):
        store.run(delete_all([ref(Member, team_id="t", username="u")]))
    assert sent.taken() == []


class Reluctant:
    """Processes only half of a batch at a time."""

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


def test_unprocessed_keys_are_requested_again(store: Store[Club], raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps_module, "_FIRST_PAUSE", 0.0)
    slow = Store(store.design, Reluctant(raw))
    slow.run(put_all(Note(note_id=f"n{n}") for n in range(30)))
    found = slow.run(batch_get(Note, [f"n{n}" for n in range(30)]))
    assert [note and note.note_id for note in found] == [f"n{n}" for n in range(30)]


def test_a_scan_finds_only_its_entity(filled: Store[Club]) -> None:
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


def test_a_deleted_item_is_not_found(filled: Store[Club]) -> None:
    article = next(iter(filled.each(filled.design.articles_of("ann"))))
    filled.run(delete(article))
    assert filled.run(get(Article, slug=article.slug)) is None
    assert filled.verify() == []


def test_a_request_can_be_shown_without_being_sent(filled: Store[Club], sent: Recorder) -> None:
    design = filled.design
    sent.taken()
    for op in (
        design.user("ann"),
        design.user_by_email("ann@x.org"),
        design.articles_of("ann"),
        design.tagged("a"),
        design.team_page("t"),
        design.notes(),
        there(User, username="ann"),
        batch_get(User, ["ann"]),
        create(User(username="jim", email="j")),
        delete(Note(note_id="n")),
    ):
        assert len(filled.requests(op)) == 1
    assert len(filled.requests(design.two_folders("f", "g"))) == 2  # one for each of the merged queries
    assert sent.taken() == []
    for read in (design.user("ann"), design.articles_of("ann"), design.two_folders("f", "g"), design.notes()):
        shown = filled.requests(read)
        filled.run(read)
        assert sent.taken()[: len(shown)] == shown


def test_lookups_and_collections_can_be_consistent(filled: Store[Club], sent: Recorder) -> None:
    sent.taken()
    assert filled.run(lookup(User.email_guard, email="ann@x.org", consistent=True)) is not None
    assert filled.run(lookup(Article.short, number=1, consistent=True)) is not None
    assert len(filled.run(collection(Team, Member, team_id="t", consistent=True)).items) == 2
    calls = sent.taken()
    assert shape(calls)[-1] == "query"
    assert len(calls) == 5
    assert all(request["ConsistentRead"] for _, request in calls)


def test_several_batch_gets_share_one_request() -> None:
    with Engine() as engine:
        sent = Recorder(engine)
        store = Store(Market(), sent, secret=b"of the tests")
        store.create_tables()
        for n in range(60):
            store.run(create(Login(login_id=f"l{n}", expires_at=datetime(2126, 1, 1, tzinfo=UTC))))
            store.run(create(Picture(picture_id=f"p{n}")))
        sent.taken()
        pictures, stalls, logins = store.run(
            together(
                batch_get(Picture, ["p1", "none", "p1"]),
                batch_get(Stall, []),
                batch_get(Login, ["l2"], consistent=True),
            )
        )
        assert [each and each.picture_id for each in pictures] == ["p1", None, "p1"]
        assert stalls == []
        assert [each and each.login_id for each in logins] == ["l2"]
        ((operation, request),) = sent.taken()
        assert operation == "batch_get_item"
        wanted = {
            table: (len(each["Keys"]), each.get("ConsistentRead")) for table, each in request["RequestItems"].items()
        }
        assert wanted == {"Market-dev": (2, None), "Market-dev-keyplan": (1, True)}
        many = together(
            batch_get(Picture, [f"p{n}" for n in range(60)]), batch_get(Login, [f"l{n}" for n in range(60)])
        )
        for found in store.run(many):
            assert len(found) == 60
            assert None not in found
        assert [sum(len(each["Keys"]) for each in r["RequestItems"].values()) for _, r in sent.taken()] == [100, 20]
