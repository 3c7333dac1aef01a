"""Imports: effects are written too, nothing is overwritten, and an interrupted import can be continued."""

from typing import Any

import pytest

from keyplan.data import AlreadyExists, ParentMissing, Refused, Store, UniqueViolation, create, import_all
from keyplan.design import Entity, get
from tests.data.club import Alias, Article, Club, Game, Member, Note, Team, User
from tests.data.support import Killed, Mortal, Recorder, club_store


def records() -> list[Entity]:
    """Children before their parents: the order within an import doesn't matter."""
    members = [Member(team_id="t", username=f"u{n}", role="admin" if n == 0 else "member") for n in range(20)]
    articles = [
        Article(slug=f"s{n}", number=n, title="T", author=f"u{n % 3}", tags=frozenset("ab"), images=["i"])
        for n in range(20)
    ]
    users = [User(username=f"u{n}", email=f"U{n}@x.org", nickname=f"n{n}") for n in range(20)]
    return [*members, *articles, Team(team_id="t", name="T"), *users]


def test_derived_items_and_counters_are_written(store: Store[Club], sent: Recorder) -> None:
    made = records()
    result = store.run(import_all(made))
    assert (result.written, result.unchanged, result.refused) == (tuple(made), (), ())
    names = [name for name, _ in sent.taken()]
    assert set(names) == {"batch_get_item", "batch_write_item"}
    assert store.verify() == []
    team = made[40]
    assert isinstance(team, Team)
    assert (team.admin_count, team.member_count, team.version) == (1, 20, 1)
    assert store.run(get(Team, team_id="t")) == team
    team.name = "V"
    assert store.run(store.design.user_by_email("u3@x.org")) is not None


def test_the_second_import_writes_nothing(store: Store[Club], sent: Recorder) -> None:
    store.run(import_all(records()))
    sent.taken()
    again = records()
    result = store.run(import_all(again))
    assert (result.written, len(result.unchanged), result.refused) == ((), len(again), ())
    assert {name for name, _ in sent.taken()} == {"batch_get_item"}


@pytest.mark.parametrize("after", [False, True], ids=["before the call", "after the call"])
def test_it_can_be_repeated_after_being_killed_at_any_step(after: bool) -> None:
    for step in range(60):
        with club_store() as (store, sent):
            try:
                Store(store.design, Mortal(sent.client, step, after=after)).run(import_all(records()))
            except Killed:
                result = store.run(import_all(records()))
                assert result.refused == ()
                assert len(result.written) + len(result.unchanged) == 61
                assert store.verify() == []
            else:
                assert step > 8
                return
    raise AssertionError("it never finished")


ANN = User(username="ann", email="a")
REFUSED: list[tuple[str, list[Entity], type[Refused], str]] = [
    ("another item", [User(username="ann", email="b")], AlreadyExists, "primary"),
    ("the key twice", [Note(note_id="n"), Note(note_id="n")], AlreadyExists, "primary"),
    ("another has the value", [User(username="joe", email="A")], UniqueViolation, "email_guard"),
    ("the value twice", [Alias(alias_id="a", name="A"), Alias(alias_id="b", name="A")], UniqueViolation, "name_guard"),
    ("no parent", [Game(team_id="none", game_id="g")], ParentMissing, "team"),
    (
        "a derived item's key",
        [Article(slug="one", number=1, title="T", author="ann", tags=frozenset("z"))],
        AlreadyExists,
        "tag_items",
    ),
]


@pytest.mark.parametrize(("made", "kind", "constraint"), [case[1:] for case in REFUSED], ids=[c[0] for c in REFUSED])
def test_refused_records_are_reported_and_not_written(
    store: Store[Club], raw: Any, made: list[Entity], kind: type[Refused], constraint: str
) -> None:
    store.run(create(ANN.model_copy()))
    store.run(create(Article(slug="two", number=2, title="T", author="ann")))
    raw.put_item(TableName="Club", Item={"PK": {"S": "TAG#z"}, "SK": {"S": "ARTICLE#one"}, "title": {"S": "other"}})
    before = raw.scan(TableName="Club")["Items"]
    result = store.run(import_all(made))
    ((entity, refusal),) = result.refused
    assert (entity, type(refusal), refusal.constraint) == (made[-1], kind, constraint)
    assert result.written == tuple(made[:-1])
    if not result.written:
        assert raw.scan(TableName="Club")["Items"] == before


def test_children_of_refused_records_are_refused(store: Store[Club]) -> None:
    store.run(create(Team(team_id="u", name="T")))
    made = [Team(team_id="t", name="t"), Game(team_id="t", game_id="g"), Game(team_id="u", game_id="g")]
    result = store.run(import_all(made))
    assert result.written == (made[2],)
    assert [type(refusal) for _, refusal in result.refused] == [UniqueViolation, ParentMissing]
    assert store.verify() == []


def test_counters_of_existing_items_are_corrected_afterwards(store: Store[Club]) -> None:
    store.run(create(User(username="ann", email="a")))
    store.run(import_all([Article(slug="one", number=1, title="T", author="ann")]))
    (finding,) = store.verify()
    assert finding.kind == "wrong-count"
    store.repair([finding])
    assert store.verify() == []
