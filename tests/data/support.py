"""Clients for the tests of the data layer: they record calls, stop at a call, or fail as told."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError

from keyplan.data import Store
from keyplan.engine import Engine
from tests.data.club import Club

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Recorder:
    """Passes calls on and records them."""

    def __init__(self, client: object) -> None:
        self.client = client
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            self.calls.append((name, request))
            return getattr(self.client, name)(**request)

        return call

    def taken(self) -> list[tuple[str, dict[str, Any]]]:
        """The calls since this was last called."""
        calls, self.calls = self.calls, []
        return calls


class Killed(BaseException):
    """Ends the process; nothing may catch it."""


class Mortal:
    """Passes on a number of calls; the next one kills the process, before or after the call."""

    def __init__(self, client: object, calls: int, *, after: bool) -> None:
        self.client = client
        self.left = calls
        self.after = after

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            if self.left == 0 and not self.after:
                raise Killed
            answer = getattr(self.client, name)(**request)
            if self.left == 0:
                raise Killed
            self.left -= 1
            return answer

        return call


class Failing:
    """Fails with the given errors first, then passes calls on."""

    def __init__(self, client: object, failures: Sequence[Exception], only: str = "") -> None:
        self.client = client
        self.failures = list(failures)
        self.only = only
        self.tried = 0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            if not self.only or name == self.only:
                self.tried += 1
                if self.failures:
                    raise self.failures.pop(0)
            return getattr(self.client, name)(**request)

        return call


class Aio:
    """A client whose methods are plain functions that return an awaitable, like aiobotocore's."""

    def __init__(self, client: object) -> None:
        self.client = client
        self.threads: set[int] = set()

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        async def answer(**request: Any) -> Any:
            self.threads.add(threading.get_ident())
            await asyncio.sleep(0)
            return getattr(self.client, name)(**request)

        def call(**request: Any) -> Coroutine[Any, Any, Any]:
            return answer(**request)

        return call


def failure(code: str, *reasons: str) -> ClientError:
    """A client error; for a transaction, with the codes of its reasons."""
    response: Any = {"Error": {"Code": code, "Message": "as told"}}
    if reasons:
        response["CancellationReasons"] = [{"Code": reason} for reason in reasons]
    return ClientError(response, "Operation")


class Clock:
    """A clock that advances by a second each time it is read."""

    def __init__(self) -> None:
        self.time = NOW

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


@contextmanager
def club_store(engine: Engine | None = None) -> Iterator[tuple[Store[Club], Recorder]]:
    """A store on a new engine, and the recorder of its calls."""
    with engine or Engine() as made:
        recorder = Recorder(made)
        store = Store(Club(), recorder, clock=Clock(), secret=b"of the tests")
        store.create_tables()
        recorder.taken()
        yield store, recorder


def shape(calls: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """Short descriptions of calls: `update_item USER#ann`, or `transact: Put EMAIL#a, ConditionCheck TEAM#t/TEAM`."""
    return [_shape(name, request) for name, request in calls]


def _shape(name: str, request: dict[str, Any]) -> str:
    if name == "transact_write_items":
        parts = [_action(kind, members) for item in request["TransactItems"] for kind, members in item.items()]
        return f"transact: {', '.join(parts)}"
    if name in ("put_item", "update_item", "delete_item", "get_item"):
        return _action(name, request)
    return name


def _action(kind: str, members: dict[str, Any]) -> str:
    key = members.get("Key", members.get("Item"))
    assert key is not None
    return f"{kind} {_key(key)}"


def _key(item: dict[str, Any]) -> str:
    names = next(each for each in (("PK", "SK"), ("pk",), ("name",), ("id",)) if each[0] in item)
    return "/".join(str(next(iter(item[name].values()))) for name in names)
