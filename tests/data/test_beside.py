"""Parts that join every write of a store: they are in each write's transaction, and in the first one of a job."""

from collections.abc import Sequence

import pytest

from keyplan.data import (
    AlreadyWritten,
    DataError,
    NotFound,
    Part,
    Plan,
    Store,
    clean_up_expired,
    create,
    delete,
    import_all,
    patch,
    put_all,
    touch,
)
from keyplan.design import get, query, ref, rewrite
from tests.data.club import Article, Club, Note, Team, User
from tests.data.interrupted import check_renamed, check_team_deleted, fill
from tests.data.support import Killed, Mortal, Recorder, shape


class Joined:
    """Writes a note with each write, and records its calls."""

    def __init__(self) -> None:
        self.asked = 0
        self.passed = 0
        self.before = 0
        """How many writes an earlier run has done."""

    def __call__(self, plan: Plan) -> Sequence[Part]:
        if self.passed < self.before:
            self.passed += 1
            raise AlreadyWritten
        self.asked += 1
        return [create(Note(note_id=f"beside-{self.asked}"))]


@pytest.fixture
def joined() -> Joined:
    return Joined()


@pytest.fixture
def joining(store: Store[Club], joined: Joined) -> Store[Club]:
    fill(store)
    return store.with_(clock=store.clock, beside=joined)


def notes(store: Store[Club]) -> int:
    return len(list(store.each(store.design.notes())))


def test_a_cascade_includes_them_when_it_marks_the_item(joining: Store[Club], joined: Joined, sent: Recorder) -> None:
    team = joining.run(get(Team, team_id="t"))
    assert team is not None
    sent.taken()
    joining.run(delete(team))
    first, *rest = shape(sent.taken())
    assert "Put JOB" in first
    assert "Put NOTE#beside-1/NOTE" in first
    assert len(rest) > 10
    assert not any("NOTE#" in each for each in rest)
    assert (joined.asked, notes(joining)) == (1, 1)
    check_team_deleted(joining)


def test_a_job_includes_them_with_its_journal(joining: Store[Club], joined: Joined, sent: Recorder) -> None:
    sent.taken()
    assert joining.run(joining.design.rename_author("ann", "zoe")) == 3
    assert shape(sent.taken())[0] == "transact: Put JOB, Put NOTE#beside-1/NOTE"
    assert (joined.asked, notes(joining)) == (1, 1)
    check_renamed(joining)


def test_a_rewrite_without_a_journal_includes_them_with_its_first_change(joining: Store[Club], joined: Joined) -> None:
    source = query(Article.by_author, author="ann")
    assert joining.run(rewrite(source, lambda article: setattr(article, "author", "zoe"))) == 3
    assert (joined.asked, notes(joining)) == (1, 1)
    none = rewrite(source, lambda article: setattr(article, "author", "zoe"))
    assert joining.run(none.then(ref(User, username="ann"), lambda ann: setattr(ann, "email", "new"))) == 0
    assert (joined.asked, notes(joining)) == (2, 2)


def test_a_resumed_job_has_none(joining: Store[Club], joined: Joined, sent: Recorder) -> None:
    team = joining.run(get(Team, team_id="t"))
    assert team is not None
    with pytest.raises(Killed):
        Store(joining.design, Mortal(sent.client, 1, after=True)).run(delete(team))
    assert joining.resume() == 1
    assert joined.asked == 0
    check_team_deleted(joining)


def test_a_refusal_prevents_the_whole_job(store: Store[Club], sent: Recorder) -> None:
    team = fill(store)

    def never(plan: Plan) -> Sequence[Part]:
        raise DataError("not allowed")

    refusing = store.with_(clock=store.clock, beside=never)
    sent.taken()
    for op in (delete(team), store.design.rename_author("ann", "zoe")):
        with pytest.raises(DataError, match="not allowed"):
            refusing.run(op)
    assert sent.taken() == []


def test_a_cascade_that_was_started_before_is_finished(store: Store[Club], sent: Recorder, joined: Joined) -> None:
    """The same request runs again: at the same time, with the same copy of the item."""
    team, now = fill(store), store.clock()
    first = Store(store.design, Mortal(sent.client, 3, after=True)).with_(clock=lambda: now, beside=joined)
    with pytest.raises(Killed):
        first.run(delete(team))
    joined.before = joined.asked
    store.with_(clock=lambda: now, beside=joined).run(delete(team))
    assert (joined.passed, joined.asked) == (1, 1)
    assert store.resume() == 0, "the same journal was used, and is deleted"
    check_team_deleted(store)


def test_a_job_that_was_started_before_is_finished(store: Store[Club], sent: Recorder, joined: Joined) -> None:
    fill(store)
    now = store.clock()
    work = store.design.rename_author("ann", "zoe")
    first = Store(store.design, Mortal(sent.client, 2, after=True)).with_(clock=lambda: now, beside=joined)
    with pytest.raises(Killed):
        first.run(work)
    joined.before = joined.asked
    store.with_(clock=lambda: now, beside=joined).run(work)
    assert (joined.passed, joined.asked) == (1, 1)
    assert store.resume() == 0
    check_renamed(store)


def test_other_writes_include_them_each(joining: Store[Club], joined: Joined) -> None:
    joining.run(create(Note(note_id="n")))
    joining.run(patch(ref(Note, note_id="n"), text="t"))
    joining.transact(touch(ref(Note, note_id="n"), stars=1), create(Note(note_id="m")))
    with pytest.raises(NotFound):
        joining.run(patch(ref(Note, note_id="none"), text="t"))
    assert (joined.asked, notes(joining)) == (4, 5)


def test_cleaning_up_an_expired_item_includes_them_once(joining: Store[Club], joined: Joined, sent: Recorder) -> None:
    team = joining.run(get(Team, team_id="t"))
    assert team is not None
    sent.client.delete_item(TableName="Club", Key={"PK": {"S": "TEAM#t"}, "SK": {"S": "TEAM"}})  # type: ignore[attr-defined]  # the engine
    assert joining.run(clean_up_expired(team))
    assert (joined.asked, notes(joining)) == (1, 1)
    check_team_deleted(joining)


def test_a_batch_does_not_accept_them(joining: Store[Club], sent: Recorder) -> None:
    sent.taken()
    for op in (put_all([Note(note_id="n")]), import_all([Note(note_id="n")])):
        with pytest.raises(DataError, match="beside"):
            joining.run(op)
    assert sent.taken() == []
