"""Writers that compete for the same values, run in threads and processes on one file."""

import random
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from keyplan.data import (
    AlreadyExists,
    FloorReached,
    ItemChanged,
    NotFound,
    Store,
    UniqueViolation,
    create,
    delete,
    increment,
    patch,
    update,
)
from keyplan.design import get, ref
from keyplan.engine import Engine
from tests.data.club import Article, Club, Member, Note, User

VALUES = 8
ROUNDS = 5
ADMINS = 6


def ready(path: str, name: str) -> None:
    """Wait for the others: a new process must import everything first."""
    Path(f"{path}.{name}").touch()
    _wait_for(Path(f"{path}.go"))


def start(path: str, names: Iterable[str]) -> None:
    """Start them as soon as all are ready."""
    for name in names:
        _wait_for(Path(f"{path}.{name}"))
    Path(f"{path}.go").touch()


def _wait_for(file: Path) -> None:
    for _ in range(60_000):
        if file.exists():
            return
        time.sleep(0.001)
    raise TimeoutError(file.name)


def fight(path: str, name: str) -> Counter[str]:
    """Run one writer in its own process, and return what it won."""
    with Engine(path) as engine:
        return fight_on(Store(Club(), engine), path, name)


def fight_on(store: Store[Club], path: str, name: str) -> Counter[str]:
    """Run one writer, and return what it won."""
    won: Counter[str] = Counter()
    turns = [
        *(("email", n) for n in range(VALUES)),
        *(("slug", n) for n in range(VALUES)),
        *(("rename", n) for n in range(VALUES)),
        *(("admin", n) for n in range(ADMINS)),
        *(("add", n) for n in range(ROUNDS)),
    ]
    random.Random(name).shuffle(turns)
    ready(path, name)
    for what, n in turns:
        try:
            turn(store, name, what, n)
        except (UniqueViolation, AlreadyExists, NotFound, FloorReached, ItemChanged):
            continue
        won[f"{what} {n}"] += 1
    return won


def turn(store: Store[Club], name: str, what: str, n: int) -> None:
    match what:
        case "email":
            store.run(create(User(username=f"{name}-{n}", email=f"MAIL{n}" if len(name) % 2 else f"mail{n}")))
        case "slug":
            store.run(create(Article(slug=f"s{n}", number=n, title=name, author="ann", tags=frozenset(name))))
        case "rename":
            user = store.run(get(User, username=f"own-{name}", consistent=True))
            assert user is not None
            user.nickname = f"nick{n}"
            store.run(update(user))
        case "admin":
            member = store.run(get(Member, team_id="t", username=f"admin{n}", consistent=True))
            if member is None:
                raise NotFound("Member", "primary", {})
            store.run(delete(member))
        case "add":
            store.run(patch(ref(Note, note_id="n"), stars=increment()))
            while not renamed(store, f"ann{name}{n}"):
                pass


def renamed(store: Store[Club], email: str) -> bool:
    """Change the e-mail address that everyone changes, unless all attempts fail."""
    try:
        store.run(patch(ref(User, username="ann"), email=email))
    except ItemChanged:
        return False
    return True
