"""Random writes combined in transactions: all or nothing, each item once, and everything still agrees."""

import random
from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest

from keyplan.data import DataError, Store, create, delete, increment, move, patch, update
from keyplan.design import get, ref
from tests.data.club import Article, Club, Member, Note, Team, User
from tests.data.support import Recorder

ROLES: tuple[Literal["member", "admin"], ...] = ("member", "admin")


def some_writes(store: Store[Club], chance: random.Random) -> Iterator[Any]:
    """Writes of a few items, so that they conflict."""
    user, team, slug, note = (chance.choice(each) for each in ("ab", "tv", "xyz", "mn"))
    member = store.run(get(Member, team_id=team, username=user))
    article = store.run(get(Article, slug=slug))
    tags, images = frozenset(chance.sample("pqr", 2)), chance.sample("ij", chance.randrange(3))
    yield patch(ref(User, username=user), email=chance.choice("abcd"), nickname=chance.choice(["n", "o", None]))
    yield patch(ref(Note, note_id=note), stars=increment())
    yield create(Note(note_id=note, folder="f", rank=1))
    if member is None:
        yield create(Member(team_id=team, username=user, role=chance.choice(ROLES)))
    else:
        yield delete(member)
        yield move(member, team_id="v" if team == "t" else "t")
        member.role = chance.choice(ROLES)
        yield update(member)
    number = chance.randrange(3)
    if article is None:
        yield create(Article(slug=slug, number=number, title="T", author=user, tags=tags, images=images))
    else:
        yield delete(article)
        yield move(article, slug=chance.choice("xyz"), title="moved")
        article.author, article.number, article.tags, article.images = user, number, tags, images
        yield update(article)


def addresses(request: dict[str, Any]) -> list[tuple[str, ...]]:
    found = []
    for action in request["TransactItems"]:
        ((_, members),) = action.items()
        item = members.get("Key") or members["Item"]
        names = ("PK", "SK") if members["TableName"] == "Club" else ("name",)
        found.append((members["TableName"], *(item[name]["S"] for name in names)))
    return found


def check_each_once(sent: Recorder) -> None:
    for operation, request in sent.taken():
        if operation == "transact_write_items":
            touched = addresses(request)
            assert len(touched) == len(set(touched))


def stored(sent: Recorder) -> Callable[[], object]:
    raw: Any = sent.client
    return lambda: [raw.scan(TableName=name)["Items"] for name in ("Club", "Names")]


@pytest.mark.parametrize("seed", range(6))
def test_transactions_of_random_writes_leave_everything_consistent(
    store: Store[Club], sent: Recorder, seed: int
) -> None:
    chance, items, done = random.Random(seed), stored(sent), 0
    for name in "ab":
        store.run(create(User(username=name, email=name)))
    for name in "tv":
        store.run(create(Team(team_id=name, name=name)))
    for _ in range(80):
        writes = [chance.choice(list(some_writes(store, chance))) for _ in range(chance.randrange(1, 4))]
        before = items()
        sent.taken()
        try:
            store.transact(*writes)
            done += 1
        except DataError:
            assert items() == before
        check_each_once(sent)
        assert store.verify() == [], writes
    assert done > 10
