"""The exact requests that are sent: never more items and never more requests than needed."""

import re
from itertools import permutations
from typing import Any

import pytest

from keyplan.data import (
    AsyncStore,
    ConditionFailed,
    DataError,
    Part,
    Patch,
    Store,
    TooLarge,
    UniqueViolation,
    check,
    create,
    delete,
    increment,
    move,
    patch,
    put,
    touch,
    update,
)
from keyplan.design import Design, InvalidValue, get, ref
from tests.data.club import Alias, Article, Club, Game, Member, Note, Team, User
from tests.data.support import NOW, Recorder, shape


def ann(store: Store[Club]) -> User:
    return store.run(create(User(username="ann", email="Ann@x.org")))


def article(store: Store[Club], **values: Any) -> Article:
    given = {"slug": "one", "number": 1, "title": "One", "author": "ann", **values}
    return store.run(create(Article(**given)))


def test_one_item_is_one_plain_conditional_write(store: Store[Club], sent: Recorder) -> None:
    store.run(create(Note(note_id="n", text="a")))
    assert sent.taken() == [
        (
            "put_item",
            {
                "TableName": "Club",
                "Item": {
                    "PK": {"S": "NOTE#n"},
                    "SK": {"S": "NOTE"},
                    "note_id": {"S": "n"},
                    "text": {"S": "a"},
                    "stars": {"N": "0"},
                },
                "ConditionExpression": "attribute_not_exists(#0)",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                "ExpressionAttributeNames": {"#0": "PK"},
            },
        )
    ]


def test_an_update_writes_only_the_difference(store: Store[Club], sent: Recorder) -> None:
    note = store.run(create(Note(note_id="n", text="a", folder="f", rank=3)))
    sent.taken()
    note.text, note.folder = "b", None
    shown = store.requests(update(note))
    store.run(update(note))
    assert sent.taken() == shown
    assert shown == [
        (
            "update_item",
            {
                "TableName": "Club",
                "Key": {"PK": {"S": "NOTE#n"}, "SK": {"S": "NOTE"}},
                "UpdateExpression": "SET #0 = :0 REMOVE #1, #2, #3",
                "ConditionExpression": "attribute_exists(#4) AND #3 = :1 AND #5 = :2 AND #0 = :3",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                "ExpressionAttributeNames": {
                    "#0": "text",
                    "#1": "GSI1PK",
                    "#2": "GSI1SK",
                    "#3": "folder",
                    "#4": "PK",
                    "#5": "rank",
                },
                "ExpressionAttributeValues": {
                    ":0": {"S": "b"},
                    ":1": {"S": "f"},
                    ":2": {"N": "3"},
                    ":3": {"S": "a"},
                },
            },
        )
    ]


def relied_on(request: dict[str, Any]) -> set[str]:
    """The attributes in the condition of a write."""
    named = set(re.findall(r"#\d+", request["ConditionExpression"]))
    return {name for placeholder, name in request["ExpressionAttributeNames"].items() if placeholder in named}


def test_an_update_has_only_the_conditions_it_needs(store: Store[Club], sent: Recorder) -> None:
    user = ann(store)
    one = article(store)
    store.run(create(Team(team_id="t", name="T")))
    game = store.run(create(Game(team_id="t", game_id="g")))
    alias = store.run(create(Alias(alias_id="a", name="A")))
    note = store.run(create(Note(note_id="n")))
    sent.taken()
    game.place, user.email, one.title, alias.text, note.text = "here", "b", "T", "new", "new"
    for entity, names in (
        (game, {"PK", "place", "keyplanDeleting"}),  # no version: its own field; and that it isn't being deleted
        (user, {"PK", "version", "created_at", "email", "nickname"}),  # its type, and the fields of its guards
        (one, {"PK", "version", "created_at"}),
        (alias, {"PK", "name", "text"}),
        (note, {"PK", "text"}),
    ):
        store.run(update(entity))
        ((operation, request),) = sent.taken()
        first = request["TransactItems"][0]["Update"] if operation == "transact_write_items" else request
        assert relied_on(first) == names, entity


def test_an_unchanged_entity_sends_nothing(store: Store[Club], sent: Recorder) -> None:
    user = ann(store)
    read = store.run(store.design.user("ann"))
    assert read is not None
    sent.taken()
    for each in (user, read):
        before = each.model_dump()
        each.email = str(each.email)
        store.run(update(each))
        assert each.model_dump() == before
    assert sent.taken() == []


SHAPES: list[tuple[str, list[str]]] = [
    ("create user", ["transact: Put USER#bob/USER, Put EMAIL#bob@x.org/EMAIL#bob@x.org, Put bob"]),
    ("change nothing of a guard", ["update_item USER#ann/USER"]),
    ("change of case only", ["update_item USER#ann/USER"]),
    ("swap a guard", ["transact: Update USER#ann/USER, Delete EMAIL#ann@x.org/EMAIL#ann@x.org, Put EMAIL#b/EMAIL#b"]),
    ("first nickname", ["transact: Update USER#ann/USER, Put annie"]),
    (
        "create article",
        [
            (
                "transact: Put ARTICLE#two/ARTICLE, Put SLUG#two/SLUG#two, Put TAG#x/ARTICLE#two,"
                " Put NUMBER#000002/SHORT, Put IMAGE#i/USE#two, Update USER#ann/USER"
            )
        ],
    ),
    (
        "change a title",
        [
            (
                "transact: Update ARTICLE#one/ARTICLE, Update TAG#a/ARTICLE#one, Update TAG#b/ARTICLE#one,"
                " Update NUMBER#000001/SHORT"
            )
        ],
    ),
    ("change tags", ["transact: Update ARTICLE#one/ARTICLE, Delete TAG#b/ARTICLE#one, Put TAG#c/ARTICLE#one"]),
    ("change the author", ["transact: Update ARTICLE#one/ARTICLE, Update USER#ann/USER, Update USER#joe/USER"]),
    (
        "move an article",
        [
            (
                "transact: Delete ARTICLE#one/ARTICLE, Put ARTICLE#uno/ARTICLE, Delete SLUG#one/SLUG#one,"
                " Delete TAG#a/ARTICLE#one, Delete TAG#b/ARTICLE#one, Update NUMBER#000001/SHORT,"
                " Put SLUG#uno/SLUG#uno, Put TAG#a/ARTICLE#uno, Put TAG#b/ARTICLE#uno"
            )
        ],
    ),
    (
        "delete an article",
        [
            (
                "transact: Delete ARTICLE#one/ARTICLE, Delete SLUG#one/SLUG#one, Delete TAG#a/ARTICLE#one,"
                " Delete TAG#b/ARTICLE#one, Delete NUMBER#000001/SHORT, Update USER#ann/USER"
            )
        ],
    ),
    ("delete a user", ["transact: Delete USER#joe/USER, Delete EMAIL#joe@x.org/EMAIL#joe@x.org"]),
    (
        "delete a team with a member and a game",
        [
            "transact: Update TEAM#t/TEAM, Put JOB",  # the mark and the journal
            "query",  # its members, each with its counters
            "transact: Delete TEAM#t/MEMBER#ann, Update TEAM#t/TEAM, Update USER#ann/USER",
            "query",  # its games, each with its goals (there are none)
            "transact: Update TEAM#t/GAME#g, Put JOB",
            "query",
            "transact: Delete TEAM#t/GAME#g, Delete JOB",
            "transact: Delete TEAM#t/TEAM, Delete TEAMNAME#t/TEAMNAME#t, Delete JOB",
        ],
    ),
    ("move to the same place", []),
    ("put a plain item", ["put_item NOTE#p/NOTE"]),
    (
        "put over a guard",
        [
            "get_item ALIAS#a/ALIAS",
            "transact: Update ALIAS#a/ALIAS, Delete ALIASNAME#A/ALIASNAME#A, Put ALIASNAME#B/ALIASNAME#B",
        ],
    ),
    ("put what is there", ["get_item ALIAS#a/ALIAS"]),
    ("patch a plain field", ["update_item NOTE#n/NOTE"]),
    ("patch beside a guard", ["update_item ALIAS#a/ALIAS"]),
    ("patch an index key", ["get_item NOTE#n/NOTE", "update_item NOTE#n/NOTE"]),
    (
        "patch a guard",
        [
            "get_item ALIAS#a/ALIAS",
            "transact: Update ALIAS#a/ALIAS, Delete ALIASNAME#A/ALIASNAME#A, Put ALIASNAME#C/ALIASNAME#C",
        ],
    ),
    ("add to a number", ["update_item NOTE#n/NOTE"]),
    ("touch", ["update_item USER#ann/USER"]),
    ("check alone", ["transact: ConditionCheck NOTE#n/NOTE"]),
    ("two notes", ["transact: Put NOTE#a/NOTE, Put NOTE#b/NOTE"]),
]


def act(store: Store[Club], case: str) -> None:
    run, design = store.run, store.design
    user, one = run(design.user("ann")), next(iter(store.each(design.articles_of("ann"))))
    joe, team = run(design.user("joe")), run(get(Team, team_id="t"))
    assert user is not None
    assert joe is not None
    assert team is not None
    match case:
        case "create user":
            run(create(User(username="bob", email="Bob@x.org", nickname="bob")))
        case "change nothing of a guard":
            run(patch(ref(User, username="ann"), created_at=NOW))
        case "change of case only":
            user.email = "ANN@x.org"
            run(update(user))
        case "swap a guard":
            user.email = "B"
            run(update(user))
        case "first nickname":
            user.nickname = "annie"
            run(update(user))
        case "create article":
            run(create(Article(slug="two", number=2, title="T", author="ann", tags=frozenset("x"), images=["i"])))
        case "change a title":
            one.title = "Uno"
            run(update(one))
        case "change tags":
            one.tags = frozenset("ac")
            run(update(one))
        case "change the author":
            one.author = "joe"
            run(update(one))
        case "move an article":
            run(move(one, slug="uno"))
        case "delete an article":
            run(delete(one))
        case "delete a user":
            run(delete(joe))
        case "delete a team with a member and a game":
            run(delete(team))
        case "move to the same place":
            run(move(one, slug="one"))
        case "put a plain item":
            run(put(Note(note_id="p")))
        case "put over a guard":
            run(put(Alias(alias_id="a", name="B")))
        case "put what is there":
            run(put(Alias(alias_id="a", name="A")))
        case "patch a plain field":
            run(patch(ref(Note, note_id="n"), text="new"))
        case "patch beside a guard":
            run(patch(ref(Alias, alias_id="a"), text="new"))
        case "patch an index key":
            run(patch(ref(Note, note_id="n"), rank=7))
        case "patch a guard":
            run(patch(ref(Alias, alias_id="a"), name="C"))
        case "add to a number":
            run(patch(ref(Note, note_id="n"), stars=increment(2)))
        case "touch":
            run(touch(ref(User, username="ann"), created_at=NOW))
        case "check alone":
            run(check(ref(Note, note_id="n"), lambda note: note.text == "a"))
        case "two notes":
            store.transact(create(Note(note_id="a")), create(Note(note_id="b")))
        case _:
            raise AssertionError(case)


@pytest.mark.parametrize(("case", "expected"), SHAPES, ids=[case for case, _ in SHAPES])
def test_the_requests_of(store: Store[Club], sent: Recorder, case: str, expected: list[str]) -> None:
    ann(store)
    store.run(create(User(username="joe", email="joe@x.org")))
    article(store, tags=frozenset("ab"))
    store.run(create(Note(note_id="n", text="a", folder="f", rank=1)))
    store.run(create(Alias(alias_id="a", name="A")))
    store.run(create(Team(team_id="t", name="T")))
    store.run(create(Member(team_id="t", username="ann", role="admin")))
    store.run(create(Game(team_id="t", game_id="g")))
    before = len(sent.calls)
    act(store, case)
    done = shape(sent.calls[before:])
    # Reads that the case itself does:
    reads = ["get_item USER#ann/USER", "query", "get_item USER#joe/USER", "get_item TEAM#t/TEAM"]
    assert done[:4] == reads
    assert done[4:] == expected
    assert store.verify() == []


def test_only_a_stamp_can_be_touched(store: Store[Club], sent: Recorder) -> None:
    ann(store)
    article(store, tags=frozenset("a"))
    sent.taken()
    with pytest.raises(InvalidValue, match=r"touch\(\) can.t set"):
        store.run(touch(ref(User, username="ann"), email="b"))  # part of a guard
    assert sent.taken() == []
    with pytest.raises(InvalidValue, match=r"touch\(\) can.t set"):
        store.run(touch(ref(Article, slug="one"), title="Uno"))  # part of tags and a mirror
    assert shape(sent.taken()) == ["get_item ARTICLE#one/ARTICLE"]
    store.run(touch(ref(Article, slug="one"), category="misc"))
    assert shape(sent.taken()) == ["get_item ARTICLE#one/ARTICLE", "update_item ARTICLE#one/ARTICLE"]
    assert store.verify() == []


def test_a_touch_on_a_condition_is_one_request(store: Store[Club], sent: Recorder) -> None:
    ann(store)
    sent.taken()
    stamp = touch(ref(User, username="ann"), where=lambda user: user.created_at < NOW, created_at=NOW)
    with pytest.raises(ConditionFailed) as refusal:
        store.run(stamp)
    assert isinstance(refusal.value.stored, User)
    expected = {
        "TableName": "Club",
        "Key": {"PK": {"S": "USER#ann"}, "SK": {"S": "USER"}},
        "UpdateExpression": "SET #0 = :0",
        "ConditionExpression": "attribute_exists(#1) AND #0 < :1",
        "ExpressionAttributeNames": {"#0": "created_at", "#1": "PK"},
        "ExpressionAttributeValues": {
            ":0": {"S": "2026-03-01T12:00:00.000Z"},
            ":1": {"S": "2026-03-01T12:00:00.000Z"},
        },
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    assert sent.taken() == [("update_item", expected)]
    assert AsyncStore(Club(), None).requests(stamp) == [("update_item", expected)]


def test_effects_on_one_item_are_merged_into_one_action(store: Store[Club], sent: Recorder) -> None:
    user = ann(store)
    sent.taken()
    user.email = "new@x.org"
    parts = [create(Article(slug=f"s{n}", number=n, title="T", author="ann")) for n in range(3)]
    store.transact(update(user), *parts)
    ((_, request),) = sent.taken()
    updates = [item["Update"] for item in request["TransactItems"] if "Update" in item]
    assert len(updates) == 1
    assert "ADD #4 :" in updates[0]["UpdateExpression"] or "ADD" in updates[0]["UpdateExpression"]
    assert user.article_count == 3
    assert store.verify() == []
    user.nickname = "annie"
    store.run(update(user))  # it remembers what is stored
    assert store.verify() == []


def test_a_parent_and_its_children_can_be_created_together(store: Store[Club]) -> None:
    ann(store)
    for order in (0, 1):
        name = f"t{order}"
        parts: list[Part] = [
            create(Team(team_id=name, name=name)),
            create(Member(team_id=name, username="ann", role="admin")),
        ]
        store.transact(*parts[::-1] if order else parts)
    assert store.verify() == []


def test_two_items_can_swap_a_unique_value(store: Store[Club]) -> None:
    store.transact(create(Alias(alias_id="1", name="A")), create(Alias(alias_id="2", name="B")))
    first, second = Alias(alias_id="1", name="A"), Alias(alias_id="2", name="B")
    for each in (first, second):
        store.run(put(each))
    first.name, second.name = "B", "A"
    store.transact(update(first), update(second))
    assert store.verify() == []
    with pytest.raises(UniqueViolation):
        store.run(create(Alias(alias_id="3", name="B")))


def test_an_item_can_be_deleted_and_created_again_in_one_transaction(store: Store[Club]) -> None:
    alias = store.run(create(Alias(alias_id="1", name="A")))
    store.transact(delete(alias), create(Alias(alias_id="1", name="A", text="again")))
    assert store.verify() == []


def test_two_writes_of_one_item_are_refused(store: Store[Club], sent: Recorder) -> None:
    note = store.run(create(Note(note_id="n")))
    sent.taken()
    note.text = "b"
    with pytest.raises(DataError, match="two writes"):
        store.transact(update(note), update(note))
    with pytest.raises(DataError, match="two writes"):
        store.transact(create(Note(note_id="m")), create(Note(note_id="m")))
    change = patch(ref(Note, note_id="n"), text="c")
    parts: list[Part | Patch[Note]] = [update(note), move(note, note_id="m"), delete(note), change]
    for one, other in permutations(parts, 2):
        with pytest.raises(DataError, match="two writes"):
            store.transact(one, other)
    with pytest.raises(DataError, match="two writes"):  # its counter would be lowered twice
        store.transact(delete(note), delete(note))
    assert sent.taken() == []


def test_a_transaction_that_is_too_large_is_refused_before_it_is_sent(store: Store[Club], sent: Recorder) -> None:
    ann(store)
    sent.taken()
    with pytest.raises(TooLarge, match="105 items"):
        store.run(create(Article(slug="s", number=1, title="T", author="ann", images=[f"i{n}" for n in range(101)])))
    with pytest.raises(TooLarge, match="bytes"):
        store.transact(*(create(Note(note_id=f"n{n}", text="x" * 390_000)) for n in range(11)))
    assert sent.taken() == []


def test_a_cascading_delete_cannot_be_part_of_a_transaction(store: Store[Club], sent: Recorder) -> None:
    team = store.run(create(Team(team_id="t", name="T")))
    sent.taken()
    with pytest.raises(DataError, match="cascades"):
        store.transact(delete(team), create(Note(note_id="n")))
    assert sent.taken() == []


def test_stamps_come_from_the_clock_and_are_read_back_unchanged(store: Store[Club]) -> None:
    user = ann(store)
    assert user.created_at == user.updated_at
    assert store.run(store.design.user("ann")) == user
    user.email = "b@x.org"
    store.run(update(user))
    assert user.updated_at > user.created_at
    assert user.version == 2
    assert store.run(store.design.user("ann")) == user
    early = store.run(create(User(username="old", email="o", created_at=NOW)))
    assert early.created_at == NOW


def test_tables_are_created_once(sent: Recorder) -> None:
    design: Design = Club()
    store = Store(design, sent)
    store.create_tables()
    assert {name for name, _ in sent.taken()} == {
        "transact_write_items",  # whether the endpoint has them
        "create_table",
        "describe_table",
        "describe_time_to_live",
    }
