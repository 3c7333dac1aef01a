"""A club with a team to delete and an author to rename, for tests of interrupted jobs."""

from collections.abc import Callable
from typing import Any

import pytest

from keyplan.data import (
    Store,
    create,
    delete,
)
from keyplan.design import get
from tests.data.club import Article, Club, Game, Goal, Member, Team, User
from tests.data.support import Killed, Mortal, club_store


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


def check_team_deleted(store: Store[Club]) -> None:
    raw: Any = store.client
    assert left_of_the_team(raw) == set()
    for name, teams in (("ann", 1), ("joe", 0)):
        user = store.run(store.design.user(name))
        assert user is not None
        assert user.team_count == teams
    store.run(create(Team(team_id="t", name="T")))


def check_renamed(store: Store[Club]) -> None:
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


def half_way(store: Store[Club], client: object) -> None:
    with pytest.raises(Killed):
        cascade(Store(store.design, Mortal(client, 2, after=True)))
