"""The asyncio store does the same as the sync store, on the engine and on a client like aiobotocore's."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from keyplan.data import (
    AsyncStore,
    BadCursor,
    ConditionFailed,
    DataError,
    Store,
    UniqueViolation,
    create,
    delete,
    move,
    patch,
    put,
    put_all,
    update,
)
from keyplan.design import batch_get, count, get, query, ref
from keyplan.engine import Engine
from tests.data.club import Article, Club, Game, Goal, Member, Note, Team, User
from tests.data.support import Aio, Clock, Recorder


async def scenario(run: Any, store: Any) -> list[object]:
    """A bit of everything, and the results."""
    design = Club()
    seen: list[object] = []
    user = await run(store.run(create(User(username="ann", email="Ann"))))
    for n in range(5):
        await run(store.run(create(Article(slug=f"s{n}", number=n, title="T", author="ann", tags=frozenset("ab")))))
    try:
        await run(store.run(create(User(username="joe", email="ANN"))))
    except UniqueViolation as error:
        seen.append(str(error))
    user.email = "new"
    await run(store.run(update(user)))
    page = await run(store.run(design.articles_of("ann").limit(2)))
    rest = await run(store.run(design.articles_of("ann").limit(9).after(page.next)))
    seen += [[a.slug for a in page.items], [a.slug for a in rest.items]]
    await run(store.run(move(page.items[0], slug="moved")))
    await run(store.run(put_all([Note(note_id="n", folder="f", rank=1), Note(note_id="m")])))
    await run(store.run(patch(ref(Note, note_id="n"), rank=2)))
    await run(store.run(put(Note(note_id="p"))))
    try:
        await run(store.run(patch(ref(Note, note_id="n"), where=lambda n: n.text == "z", text="b")))
    except ConditionFailed as error:
        seen.append(error.stored)
    await run(store.transact(create(Team(team_id="t", name="T")), create(Member(team_id="t", username="ann"))))
    await run(store.run(create(Game(team_id="t", game_id="g"))))
    await run(store.run(create(Goal(team_id="t", game_id="g", minute=1))))
    seen.append([type(each).__name__ for each in (await run(store.run(design.team_page("t")))).items])
    team = await run(store.run(get(Team, team_id="t")))
    await run(store.run(delete(team)))
    await run(store.run(create(User(username="zoe", email="zoe"))))
    seen.append(await run(store.run(design.rename_author("ann", "zoe"))))
    seen.append(await run(store.run(count(query(Article.by_author, author="zoe")))))
    seen.append([note and note.rank for note in await run(store.run(batch_get(Note, ["n", "x", "m"])))])
    seen.append(await run(store.resume()))
    findings = await run(store.verify())
    seen += [findings, await run(store.repair(findings))]
    return seen


async def awaited(value: Any) -> Any:
    return await value


async def at_once(value: Any) -> Any:
    return value


def essence(calls: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, str]]:
    """The calls without their random parts."""
    shown = []
    for name, request in calls:
        request = {key: value for key, value in request.items() if key != "ClientRequestToken"}
        text = repr(request)
        shown.append((name, "" if "-keyplan" in text else text))
    return shown


def test_both_stores_send_and_answer_the_same() -> None:
    def run(make: Callable[[Any], Any], use: Any) -> tuple[list[object], list[tuple[str, str]]]:
        with Engine() as engine:
            recorder = Recorder(engine)

            async def main() -> list[object]:
                store = make(recorder)
                await use(store.create_tables())
                return await scenario(use, store)

            return asyncio.run(main()), essence(recorder.calls)

    plain = run(lambda c: Store(Club(), c, clock=Clock(), secret=b"s"), at_once)
    in_threads = run(lambda c: AsyncStore(Club(), c, clock=Clock(), secret=b"s"), awaited)
    aio = run(lambda c: AsyncStore(Club(), Aio(c), clock=Clock(), secret=b"s"), awaited)
    assert plain[0][-2:] == [[], 0]
    assert in_threads == plain
    assert aio == plain


class Waiting:
    """An engine whose calls wait for the event loop, which would never answer if it were blocked by them."""

    def __init__(self, client: object) -> None:
        self.client = client
        self.called = threading.Semaphore(0)
        self.word = threading.Event()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            self.called.release()
            assert self.word.wait(5), "the event loop is blocked"
            return getattr(self.client, name)(**request)

        return call


def test_the_engine_never_blocks_the_event_loop() -> None:
    async def main() -> int:
        with Engine() as engine:
            await AsyncStore(Club(), engine).create_tables()
            waiting = Waiting(engine)
            store = AsyncStore(Club(), waiting)
            tasks = [asyncio.create_task(store.run(create(Note(note_id=f"n{n}")))) for n in range(3)]
            while not waiting.called.acquire(blocking=False):
                await asyncio.sleep(0.001)
            waiting.word.set()
            return len(await asyncio.gather(*tasks))

    assert asyncio.run(main()) == 3


def test_an_asyncio_client_is_called_in_the_event_loop() -> None:
    async def main() -> set[int]:
        with Engine() as engine:
            await AsyncStore(Club(), engine).create_tables()
            client = Aio(engine)
            store = AsyncStore(Club(), client)
            await store.run(create(Note(note_id="n")))
            assert await store.run(get(Note, note_id="n")) == Note(note_id="n")
            with pytest.raises(DataError):
                await store.run(create(Note(note_id="n")))
            return client.threads

    assert asyncio.run(main()) == {threading.get_ident()}


def test_iteration() -> None:
    async def main() -> list[str]:
        with Engine() as engine:
            store = AsyncStore(Club(), engine)
            await store.create_tables()
            await store.run(put_all(Note(note_id=f"n{n}", folder="f", rank=n) for n in range(5)))
            with pytest.raises(BadCursor):
                await store.run(store.design.starred("f").after("x"))
            return [note.note_id async for note in store.each(query(Note.by_folder, folder="f").limit(2))]

    assert asyncio.run(main()) == [f"n{n}" for n in range(5)]
