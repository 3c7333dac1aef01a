"""Eight threads and two processes want the same e-mails, slugs, numbers, grants and counters of the five designs."""

import multiprocessing
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

from keyplan.engine import Engine
from tests.apps.racers import VALUES, Arena, race, race_in
from tests.data.fighters import start

THREADS = [f"thread{number}" for number in range(8)]
PROCESSES = ["one", "other2"]
RACERS = [*THREADS, *PROCESSES]


def test_one_winner_each_and_exact_numbers(tmp_path: Path) -> None:
    path = str(tmp_path / "designs.db")
    with Engine(path) as engine:
        arena = Arena(engine)
        arena.prepare(RACERS)
        won = _race(path, arena)
        for contest in ("email", "slug", "rename", "news", "number"):
            assert [won[f"{contest} {number}"] for number in range(VALUES)] == [1] * VALUES, contest
        # All admins except the last one could be removed.
        assert sum(won[f"admin {number}"] for number in range(VALUES)) == VALUES - 1
        _check_numbers(arena)
        for store in (arena.blog, arena.club, arena.softball, arena.football, arena.sites):
            assert store.verify() == []


def _race(path: str, arena: Arena) -> Counter[str]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(PROCESSES), context) as processes, ThreadPoolExecutor(len(THREADS)) as threads:
        races = [processes.submit(race, path, name) for name in PROCESSES]
        races += [threads.submit(race_in, arena, path, name) for name in THREADS]
        start(path, RACERS)
        return sum((each.result() for each in races), Counter())


def _check_numbers(arena: Arena) -> None:
    john = arena.blog.run(arena.blog.design.user("john_doe"))
    category = arena.blog.run(arena.blog.design.category("technology"))
    photo = arena.club.run(arena.club.design.media("photo"))
    north = arena.football.run(arena.football.design.league("north"))
    site = arena.sites.run(arena.sites.design.site("site"))
    assert john is not None
    assert category is not None
    assert photo is not None
    assert north is not None
    assert site is not None
    posts = len(RACERS) * VALUES + VALUES
    assert (john.post_count, category.post_count) == (posts, posts)
    assert photo.references == VALUES
    assert north.admin_count == len(arena.football.run(arena.football.design.grants("north")).items) == 1
    kept = len(RACERS) * len(range(0, VALUES, 2))
    assert (site.rating_count, site.rating_sum) == (kept, 5 * kept)
