"""Cascades and rewrites: killed at any step, and finished by another process."""

from collections.abc import Callable
from typing import Any

import pytest

from keyplan.data import (
    DataError,
    NotFound,
    ParentMissing,
    Refused,
    Store,
    UniqueViolation,
    create,
    delete,
    move,
    patch,
)
from keyplan.design import InvalidValue, get, query, ref, rewrite, there
from tests.data.club import Article, Club, Game, Member, Note, Team
from tests.data.interrupted import (
    calls_of,
    cascade,
    check_renamed,
    check_team_deleted,
    fill,
    half_way,
    rename,
)
from tests.data.support import Killed, Mortal, Recorder, club_store


@pytest.mark.parametrize("after", [False, True], ids=["before the call", "after the call"])
@pytest.mark.parametrize(
    ("work", "finished"), [(cascade, check_team_deleted), (rename, check_renamed)], ids=["cascade", "rewrite"]
)
def test_it_can_be_finished_after_being_killed_at_any_step(
    work: Callable[[Store[Club]], None], finished: Callable[[Store[Club]], None], after: bool
) -> None:
    total = calls_of(work)
    assert total > 5
    for step in range(total):
        with club_store() as (store, sent):
            fill(store)
            with pytest.raises(Killed):
                work(Store(store.design, Mortal(sent.client, step, after=after)))
            again = Store(store.design, sent.client)
            kinds = {finding.kind for finding in again.verify()}
            assert kinds <= {"unfinished", "missing-parent"}, (step, kinds)
            begun = again.resume()
            assert begun <= 3
            assert again.resume() == 0
            if not begun:  # killed before anything was written, or after the end
                work(again)
            assert again.verify() == []
            finished(again)
            journals: Any = sent.client
            assert not [i for i in journals.scan(TableName="Club-keyplan")["Items"] if i["pk"] == {"S": "JOB"}]


def test_an_item_that_is_being_deleted_is_not_found(store: Store[Club], sent: Recorder) -> None:
    team = fill(store)
    half_way(store, sent.client)
    design = store.design
    assert store.run(get(Team, team_id="t")) is None
    assert not store.run(there(Team, team_id="t"))
    assert [each.team_id for each in store.run(design.teams_of("ann")).items] == ["u"]
    assert "Team" not in {type(each).__name__ for each in store.run(design.team_page("t")).items}
    assert {finding.kind for finding in store.verify()} == {"unfinished"}
    assert store.repair(store.verify()) == 0
    with pytest.raises(NotFound):
        store.run(delete(team))
    with pytest.raises(NotFound):
        store.run(patch(ref(Team, team_id="t"), name="V"))
    assert store.resume() == 1


def test_nothing_is_created_under_an_item_that_is_being_deleted(store: Store[Club], sent: Recorder) -> None:
    fill(store)
    half_way(store, sent.client)
    for op in (
        create(Game(team_id="t", game_id="new")),
        create(Member(team_id="t", username="zoe")),
    ):
        with pytest.raises(ParentMissing):
            store.run(op)
    with pytest.raises(UniqueViolation):
        store.run(create(Team(team_id="new", name="t")))
    store.resume()
    store.run(create(Team(team_id="new", name="t")))
    assert store.verify() == []


def test_a_refused_delete_marks_nothing(store: Store[Club]) -> None:
    team = fill(store)
    team.name = "changed by hand"
    with pytest.raises(Refused):
        store.run(delete(team, where=lambda t: t.name == "Z"))
    assert store.run(get(Team, team_id="t")) is not None
    assert store.resume() == 0
    assert store.verify() == []


def test_a_cascade_may_delete_the_last_admin(store: Store[Club]) -> None:
    store.run(delete(fill(store)))
    assert store.verify() == []
    check_team_deleted(store)


def test_two_runners_do_no_harm(store: Store[Club], sent: Recorder) -> None:
    fill(store)
    half_way(store, sent.client)
    other = Store(store.design, sent.client)
    client: Any = sent.client

    class Interfering:
        """Lets the other runner finish in between."""

        left = 3

        def __getattr__(self, name: str) -> Any:
            self.left -= 1
            if self.left == 0:
                other.resume()
            return getattr(client, name)

    Store(store.design, Interfering()).resume()
    assert store.verify() == []
    check_team_deleted(store)


def test_a_late_runner_leaves_new_items_alone(store: Store[Club], sent: Recorder) -> None:
    fill(store)
    half_way(store, sent.client)
    raw: Any = sent.client
    (journal,) = (each for each in raw.scan(TableName="Club-keyplan")["Items"] if each["pk"] == {"S": "JOB"})
    assert store.resume() == 1
    store.run(create(Team(team_id="t", name="T")))
    store.run(create(Member(team_id="t", username="ann", role="admin")))
    raw.put_item(TableName="Club-keyplan", Item=journal)  # as read before the other runner finished
    store.resume()
    assert [type(each).__name__ for each in store.run(store.design.team_page("t")).items] == ["Member", "Team"]
    assert store.resume() == 0
    assert store.verify() == []


def test_a_rewrite_that_would_never_end_is_stopped(store: Store[Club]) -> None:
    fill(store)
    articles = query(Article.by_author, author="ann")
    with pytest.raises(DataError, match="never end"):
        store.run(rewrite(articles, lambda article: None))
    with pytest.raises(DataError, match="never end"):
        store.run(rewrite(articles, lambda article: setattr(article, "title", article.title + "!")))
    assert store.verify() == []


def test_a_rewrite_may_move_items(store: Store[Club]) -> None:
    fill(store)
    store.run(create(Note(note_id="a", folder="f", rank=1)))
    changed = store.run(rewrite(query(Note.by_folder, folder="f"), lambda note: move(note, note_id="b", folder="g")))
    assert changed == 1
    assert store.run(get(Note, note_id="b")) == Note(note_id="b", folder="g", rank=1)
    assert store.verify() == []


def test_the_arguments_of_a_job_must_fit_into_its_journal(store: Store[Club], sent: Recorder) -> None:
    sent.taken()
    with pytest.raises(InvalidValue, match="new"):
        store.run(store.design.rename_author("ann", ["zoe"]))  # type: ignore[arg-type]
    assert sent.taken() == []


def test_an_unreadable_journal_does_not_block_others(store: Store[Club], sent: Recorder) -> None:
    fill(store)
    half_way(store, sent.client)
    raw: Any = sent.client
    for kind, name in (("cascade", "Ghost"), ("rewrite", "ghost"), ("gone", "Ghost"), ("strange", "ghost")):
        item = {"pk": {"S": "JOB"}, "sk": {"S": "0" + kind}, "kind": {"S": kind}, "name": {"S": name}}
        raw.put_item(TableName="Club-keyplan", Item=item | {"key": {"M": {}}, "arguments": {"M": {}}})
    with pytest.raises(DataError, match="not finished"):
        store.resume()
    assert store.verify() == []
    check_team_deleted(store)
