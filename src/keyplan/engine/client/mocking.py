"""`mock`: while it lasts, an engine answers every boto3 and aiobotocore client of this process.

It takes the place of `send` of the HTTP sessions of botocore and aiobotocore. That is where all requests pass, so
clients that were made before are answered too, and nothing can reach AWS by accident.
"""

import functools
import inspect
import os
import threading
import time
import unittest
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, TypeAlias, TypeVar, cast, overload
from urllib.parse import urlsplit

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.httpsession import URLLib3Session
from botocore.utils import validate_region_name

from keyplan.engine.client.engine import Engine
from keyplan.engine.client.in_process import ACCESS_KEY, aiobotocore_response, answer, is_for_dynamodb
from keyplan.engine.errors import RefusedRequest

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=unittest.TestCase)
_Send: TypeAlias = Callable[..., object]

_REGION = "us-east-1"
_AIOBOTOCORE_SESSIONS = (
    ("aiobotocore.httpsession", "AIOHTTPSession"),
    ("aiobotocore.httpxsession", "HttpxSession"),
)
_CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": ACCESS_KEY,
    "AWS_SECRET_ACCESS_KEY": ACCESS_KEY,
    # These could name real credentials, or a profile that doesn't exist here.
    **dict.fromkeys(("AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN", "AWS_PROFILE", "AWS_DEFAULT_PROFILE")),
}


class _Block:
    """A mock from its start to its end."""

    def __init__(self, engine: Engine, region: str | None, allow_other_services: bool, outer: "_Block | None") -> None:
        self.engine = engine
        self.region = region
        self.allow_other_services = allow_other_services
        self.outer = outer

    def takes(self, request: AWSPreparedRequest) -> bool:
        """Whether a request is answered here. Raises `RefusedRequest` for one that isn't and mustn't be sent."""
        if is_for_dynamodb(request):
            return True
        if self.allow_other_services:
            return False
        address = urlsplit(request.url)
        raise RefusedRequest(
            f"keyplan.mock() answers only DynamoDB, and refused {request.method} {address.scheme}://{address.netloc}"
            f"{address.path}. To send requests to other services, use keyplan.mock(allow_other_services=True)."
        )


_lock = threading.RLock()
_active: list[_Block] = []
"""All blocks of this process that haven't ended, in the order of their start."""
_entered: ContextVar[tuple[_Block, ...]] = ContextVar("keyplan_mock", default=())
"""The blocks around the code that is running. A thread starts without any, so it is found by `_active`."""
_restore: list[Callable[[], None]] = []
"""What undoes the changes to this process, when the last block has ended."""


def _block() -> _Block | None:
    """The block that answers a request made here and now; None if there is none."""
    with _lock:
        for block in reversed(_entered.get()):
            if block in _active:
                return block
        around = {block.outer for block in _active}
        inner = [block for block in _active if block not in around]
    if len(inner) > 1:
        raise RefusedRequest(
            "Several keyplan.mock() blocks run at the same time, and this thread wasn't started with the context of "
            "any of them. Start it with contextvars.copy_context().run, or with asyncio.to_thread."
        )
    return inner[0] if inner else None


def _start(block: _Block) -> None:
    with _lock:
        if not _active:
            _replace_senders()
            _keep_environment()
        _active.append(block)
        _set_environment(block)
    _entered.set((*_entered.get(), block))


def _end(block: _Block) -> None:
    # The context may be another one than at the start: async fixtures of pytest start and end in different tasks.
    _entered.set(tuple(other for other in _entered.get() if other is not block))
    with _lock:
        _active.remove(block)
        if _active:
            _set_environment(_active[-1])
        while not _active and _restore:
            _restore.pop()()


def _replace_senders() -> None:
    _replace_send(URLLib3Session, _sender)
    if find_spec("aiobotocore"):
        response = aiobotocore_response()
        for module, name in _AIOBOTOCORE_SESSIONS:
            _replace_send(getattr(import_module(module), name), functools.partial(_async_sender, response))


def _replace_send(session: type, sender: Callable[[_Send], _Send]) -> None:
    original: _Send = vars(session)["send"]
    type.__setattr__(session, "send", sender(original))
    _restore.append(lambda: type.__setattr__(session, "send", original))


def _sender(original: _Send) -> _Send:
    @functools.wraps(original)
    def send(session: object, request: AWSPreparedRequest) -> object:
        block = _block()
        if block is None or not block.takes(request):
            return original(session, request)
        return answer(block.engine.database, request)

    return send


def _async_sender(response: type[AWSResponse], original: _Send) -> _Send:
    @functools.wraps(original)
    async def send(session: object, request: AWSPreparedRequest) -> object:
        block = _block()
        if block is None or not block.takes(request):
            return await cast("Awaitable[object]", original(session, request))
        return answer(block.engine.database, request, response)

    return send


def _keep_environment() -> None:
    before = dict(os.environ)
    session = boto3.DEFAULT_SESSION

    def restore() -> None:
        for name in ("AWS_DEFAULT_REGION", *_CREDENTIALS):
            _set_variable(name, before.get(name))
        boto3.DEFAULT_SESSION = session

    _restore.append(restore)


def _set_environment(block: _Block) -> None:
    """Give the clients that are made from now on a region, and credentials that aren't real."""
    os.environ["AWS_DEFAULT_REGION"] = block.region or os.environ.get("AWS_DEFAULT_REGION") or _REGION
    if not block.allow_other_services:  # those may need the real ones
        for name, value in _CREDENTIALS.items():
            _set_variable(name, value)
    boto3.DEFAULT_SESSION = None  # it remembers region and credentials


def _set_variable(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


class Mock:
    """Answers every boto3 and aiobotocore client: as `with`, as `async with`, or as a decorator. See `mock`."""

    def __init__(
        self, region: str | None, path: str | Path, clock: Callable[[], float], allow_other_services: bool
    ) -> None:
        if region is not None:
            if not isinstance(region, str):
                raise TypeError(f"region must be the name of an AWS region, such as 'us-east-1', not {region!r}")
            validate_region_name(region)
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"path must be a database file or ':memory:', not {path!r}")
        if not callable(clock):
            raise TypeError("clock must be a function that returns the time in seconds since 1970, such as time.time")
        self._region = region
        self._path = os.fspath(path)
        self._clock = clock
        self._allow_other_services = allow_other_services
        self._blocks: list[_Block] = []

    def __enter__(self) -> Engine:
        engine = Engine(self._path, clock=self._clock)
        around = [block for block in _entered.get() if block in _active]
        block = _Block(engine, self._region, self._allow_other_services, around[-1] if around else None)
        try:
            _start(block)
        except BaseException:
            engine.close()
            raise
        self._blocks.append(block)
        return engine

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        block = self._blocks.pop()
        try:
            _end(block)
        finally:
            block.engine.close()

    async def __aenter__(self) -> Engine:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    @overload
    def __call__(self, function: type[C], /) -> type[C]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> Callable[P, R]: ...

    def __call__(self, function: Callable[P, R] | type[C], /) -> Callable[P, R] | type[C]:
        """Decorate a function, a coroutine function or a `unittest.TestCase`: each call or test has a new engine."""
        if isinstance(function, type):
            return self._decorate_class(function)
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(
                f"{function.__qualname__} is a generator, which would run after the mock has ended. "
                "Use `with keyplan.mock():` inside it instead."
            )
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_async(*positional: P.args, **named: P.kwargs) -> object:
                with self._copy():
                    return await function(*positional, **named)

            return cast("Callable[P, R]", run_async)

        @functools.wraps(function)
        def run(*positional: P.args, **named: P.kwargs) -> R:
            with self._copy():
                return function(*positional, **named)

        return run

    def _decorate_class(self, case: type[C]) -> type[C]:
        if not issubclass(case, unittest.TestCase):
            raise TypeError(
                f"{case.__qualname__} is neither a function nor a unittest.TestCase. For a class of pytest, write a "
                "fixture: `with keyplan.mock() as engine: yield engine`."
            )
        run_test = case.run

        @functools.wraps(run_test)
        def run(test: C, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
            with self._copy():
                return run_test(test, result)

        type.__setattr__(case, "run", run)
        return case

    def _copy(self) -> "Mock":
        """A mock of its own for each call, because calls may overlap."""
        return Mock(self._region, self._path, self._clock, self._allow_other_services)


@overload
def mock(function: type[C], /) -> type[C]: ...
@overload
def mock(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def mock(
    *,
    region: str | None = None,
    path: str | Path = ":memory:",
    clock: Callable[[], float] = time.time,
    allow_other_services: bool = False,
) -> Mock: ...


def mock(
    function: Callable[P, R] | type[C] | None = None,
    /,
    *,
    region: str | None = None,
    path: str | Path = ":memory:",
    clock: Callable[[], float] = time.time,
    allow_other_services: bool = False,
) -> Mock | Callable[P, R] | type[C]:
    """Answer every boto3 and aiobotocore client of this process with a new engine, without sockets or credentials.

        with keyplan.mock() as engine: ...
        @keyplan.mock
        def test_it(): ...

    It works with `async with` and on coroutine functions as well. `region` is the default region of clients made
    inside (else AWS_DEFAULT_REGION, or us-east-1), `path` a database file, and `clock` returns the time in seconds.
    A request to another service raises `RefusedRequest`, unless `allow_other_services` is set; then credentials stay
    as they are.
    """
    made = Mock(region, path, clock, allow_other_services)
    if function is not None and not callable(function):
        raise TypeError(f"keyplan.mock() takes its settings by name, such as path={function!r}")
    return made if function is None else made(cast("Callable[P, R]", function))
