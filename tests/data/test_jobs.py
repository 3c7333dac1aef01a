"""Cascades and rewrites: killed at any step and finished by somebody else."""

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
from tests.data.club import Article, Club, Game, Goal, Member, Note, Team, User
from tests.data.support import Killed, Mortal, Recorder, club_store


def fill(store: Store[Club]) -> Team:
    for name in ("ann", "joe", "zoe"):
        store.run(create(User(username=name, email=name)))
    store.run(create(Team(team_id="t", name="T")))
    store.run(create(Team(team_id="u", name="U")))
    for name, role in (("ann", "admin"), ("joe", "member")):
        store.run(create(Member.model_validate({"team_id": "t", "username": name, "role": role})))
    store.run(create(Member(team_id="u", username="ann", role="admin")))
    for game in ("g", "h"):
        store.run(create(Game(team_id="t", game_id=game)))
        for minute in (1, 2):
            store.run(create(Goal(team_id="t", game_id=game, minute=minute)))
    for n in range(3):
        store.run(create(Article(slug=f"s{n}", number=n, title="T", author="ann")))
    team = store.run(get(Team, team_id="t"))
    assert team is not None
    return team


def left_of_the_team(raw: Any) -> set[str]:
    items = raw.scan(TableName="Club")["Items"]
    return {
        item["PK"]["S"] for item in items if item.get("team_id") == {"S": "t"} or item.get("name", {}).get("S") == "T"
    }


def cascade(store: Store[Club]) -> None:
    team = store.run(get(Team, team_id="t"))
    if team is not None:
        store.run(delete(team))


def rename(store: Store[Club]) -> None:
    store.run(store.design.rename_author("ann", "zoe"))


def gone(store: Store[Club]) -> None:
    raw: Any = store.client
    assert left_of_the_team(raw) == set()
    for name, teams in (("ann", 1), ("joe", 0)):
        user = store.run(store.design.user(name))
        assert user is not None
        assert user.team_count == teams
    store.run(create(Team(team_id="t", name="T")))


def renamed(store: Store[Club]) -> None:
    assert len(store.run(store.design.articles_of("zoe")).items) == 3
    ann, zoe = store.run(store.design.user("ann")), store.run(store.design.user("zoe"))
    assert ann is not None
    assert zoe is not None
    assert (ann.article_count, zoe.article_count) == (0, 3)


def calls_of(work: Callable[[Store[Club]], None]) -> int:
    with club_store() as (store, sent):
        fill(store)
        sent.taken()
        work(store)
        return len(sent.taken())


@pytest.mark.parametrize("after", [False, True], ids=["before the call", "after the call"])
@pytest.mark.parametrize(("work", "finished"), [(cascade, gone), (rename, renamed)], ids=["cascade", "rewrite"])
def test_killed_at_any_step_it_can_be_finished(
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
            if not begun:  # killed before anything was written, or behind the end
                work(again)
            assert again.verify() == []
            finished(again)
            journals: Any = sent.client
            assert not [i for i in journals.scan(TableName="Club-keyplan")["Items"] if i["pk"] == {"S": "JOB"}]


def half_way(store: Store[Club], client: object) -> None:
    with pytest.raises(Killed):
        cascade(Store(store.design, Mortal(client, 2, after=True)))


def test_what_is_being_deleted_is_not_found(store: Store[Club], sent: Recorder) -> None:
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


def test_nothing_is_created_under_what_is_being_deleted(store: Store[Club], sent: Recorder) -> None:
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


def test_the_last_admin_goes_with_the_team(store: Store[Club]) -> None:
    store.run(delete(fill(store)))
    assert store.verify() == []
    gone(store)


def test_two_runners_do_no_harm(store: Store[Club], sent: Recorder) -> None:
    fill(store)
    half_way(store, sent.client)
    other = Store(store.design, sent.client)
    client: Any = sent.client

    class Interfering:
        """Lets the other runner finish in the middle."""

        left = 3

        def __getattr__(self, name: str) -> Any:
            self.left -= 1
            if self.left == 0:
                other.resume()
            return getattr(client, name)

    Store(store.design, Interfering()).resume()
    assert store.verify() == []
    gone(store)


def test_a_late_runner_leaves_alone_what_was_created_since(store: Store[Club], sent: Recorder) -> None:
    fill(store)
    half_way(store, sent.client)
    raw: Any = sent.client
    (journal,) = (each for each in raw.scan(TableName="Club-keyplan")["Items"] if each["pk"] == {"S": "JOB"})
    assert store.resume() == 1
    store.run(create(Team(team_id="t", name="T")))
    store.run(create(Member(team_id="t", username="ann", role="admin")))
    raw.put_item(TableName="Club-keyplan", Item=journal)  # as one has it that read it before the other was done
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


def test_a_rewrite_may_move(store: Store[Club]) -> None:
    fill(store)
    store.run(create(Note(note_id="a", folder="f", rank=1)))
    changed = store.run(rewrite(query(Note.by_folder, folder="f"), lambda note: move(note, note_id="b", folder="g")))
    assert changed == 1
    assert store.run(get(Note, note_id="b")) == Note(note_id="b", folder="g", rank=1)
    assert store.verify() == []


def test_a_job_takes_what_a_journal_can_hold(store: Store[Club], sent: Recorder) -> None:
    sent.taken()
    with pytest.raises(InvalidValue, match="old"):
        store.run(store.design.rename_author(["ann"], "zoe"))  # type: ignore[arg-type]
    assert sent.taken() == []


def test_a_journal_that_nobody_understands_stops_no_other(store: Store[Club], sent: Recorder) -> None:
    fill(store)
    half_way(store, sent.client)
    raw: Any = sent.client
    for kind, name in (("cascade", "Ghost"), ("rewrite", "ghost"), ("gone", "Ghost"), ("strange", "ghost")):
        item = {"pk": {"S": "JOB"}, "sk": {"S": "0" + kind}, "kind": {"S": kind}, "name": {"S": name}}
        raw.put_item(TableName="Club-keyplan", Item=item | {"key": {"M": {}}, "arguments": {"M": {}}})
    with pytest.raises(DataError, match="not finished"):
        store.resume()
    assert store.verify() == []
    gone(store)
