"""Eight threads and two processes compete for the same values: one winner each, exact counts, nothing left over."""

import multiprocessing
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

from keyplan.data import Store, create
from keyplan.design import get, query
from keyplan.engine import Engine
from tests.data.club import Club, Member, Note, Team, User
from tests.data.fighters import ADMINS, ROUNDS, VALUES, fight, fight_on, start

THREADS = [f"thread{n}" for n in range(8)]
PROCESSES = ["process-a", "process-bb"]
FIGHTERS = [*THREADS, *PROCESSES]


def prepare(store: Store[Club]) -> None:
    store.create_tables()
    store.run(create(User(username="ann", email="ann")))
    store.run(create(Team(team_id="t", name="T")))
    store.run(create(Note(note_id="n")))
    for n in range(ADMINS):
        store.run(create(User(username=f"admin{n}", email=f"admin{n}")))
        store.run(create(Member(team_id="t", username=f"admin{n}", role="admin")))
    for name in FIGHTERS:
        store.run(create(User(username=f"own-{name}", email=f"own-{name}")))


def test_each_value_has_one_winner_and_counts_are_exact(tmp_path: Path) -> None:
    path = str(tmp_path / "club.db")
    with Engine(path) as engine:
        store = Store(Club(), engine)
        prepare(store)
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(len(PROCESSES), context) as processes, ThreadPoolExecutor(len(THREADS)) as threads:
            fights = [processes.submit(fight, path, name) for name in PROCESSES]
            fights += [threads.submit(fight_on, store, path, name) for name in THREADS]
            start(path, FIGHTERS)
            won: Counter[str] = sum((fight.result() for fight in fights), Counter())
        for n in range(VALUES):
            assert won[f"email {n}"] == 1
            assert won[f"slug {n}"] == 1
        assert sum(won[f"admin {n}"] for n in range(ADMINS)) == ADMINS - 1
        added = sum(won[f"add {n}"] for n in range(ROUNDS))
        assert added == ROUNDS * len(FIGHTERS)
        assert store.verify() == []
        note, ann, team = (
            store.run(get(Note, note_id="n")),
            store.run(get(User, username="ann")),
            store.run(get(Team, team_id="t")),
        )
        assert note is not None
        assert ann is not None
        assert team is not None
        assert note.stars == ROUNDS * len(FIGHTERS)
        assert (ann.article_count, ann.version) == (VALUES, 1 + added)
        assert (team.admin_count, team.member_count) == (1, 1)
        assert len(store.run(query(Member.primary, team_id="t")).items) == 1
