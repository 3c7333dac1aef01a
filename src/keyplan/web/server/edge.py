"""The outermost layer: every request gets an ID, an address, limits, a log line, and always a response."""

import asyncio
import ipaddress
import re
import time
from functools import lru_cache

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from keyplan.design import make_id
from keyplan.web.models.problems import ContentTooLarge, Problem, Unavailable, Unexpected
from keyplan.web.pages.rendering import problem_response
from keyplan.web.settings import Settings
from keyplan.web.system.observe import Trace, current, logger, observe

_GOOD_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
FILES = "/media/"
"""Files have their own limits: they can be large, and slow connections need time."""


class _Watch:
    """The sending side of a request, which remembers the status."""

    def __init__(self, send: Send, trace: Trace, *, show_capacity: bool) -> None:
        self._send = send
        self._trace = trace
        self._show_capacity = show_capacity
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message["headers"], (b"x-request-id", self._trace.request_id.encode())]
            if self._show_capacity:
                headers.append((b"x-dynamodb-capacity", self._trace.capacity().encode()))
            message = {**message, "headers": headers}
        await self._send(message)


class Edge:
    """An application with limits."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        trace = Trace(_request_id(headers), _line(self._address(scope)))
        scope["keyplan"] = trace
        scope["keyplan.nesting"] = self._settings.nesting_limit
        watch = _Watch(send, trace, show_capacity=self._settings.dev)
        token = current.set(trace)
        began = time.perf_counter()
        try:
            problem = await self._served(scope, receive, watch, headers)
            if problem is not None and not watch.status:
                await problem_response(scope, problem)(scope, receive, watch)
        finally:
            current.reset(token)
            observe(trace, scope["method"], watch.status or 499, time.perf_counter() - began)

    async def _served(self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, bytes]) -> Problem | None:
        """The problem, if the application didn't answer it itself."""
        of_files = scope["path"].startswith(FILES)
        try:
            if not of_files:
                _check_length(headers, self._settings.body_limit)
                receive = _limited(receive, self._settings.body_limit)
            async with asyncio.timeout(None if of_files else self._settings.request_seconds):
                await self._app(scope, receive, send)
        except TimeoutError:
            return Unavailable("timeout", "The request timed out. It may still be completed.")
        except Problem as problem:
            return problem
        except Exception:  # noqa: BLE001 - whatever it was, the caller gets an answer
            logger.exception("unexpected", extra={"fields": {"request_id": scope["keyplan"].request_id}})
            return Unexpected()
        return None

    def _address(self, scope: Scope) -> str:
        """The address of the client: the last one in X-Forwarded-For that isn't a trusted proxy."""
        address: str = scope["client"][0] if scope.get("client") else ""
        if not self._settings.proxies or not self._is_proxy(address):
            return address
        lines = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        for forwarded in reversed(b",".join(lines).decode("latin-1").split(",")):
            if not (candidate := forwarded.strip()):
                continue
            if not _is_address(candidate):
                return address
            address = candidate
            if not self._is_proxy(address):
                break
        return address

    def _is_proxy(self, address: str) -> bool:
        return _is_address(address) and any(
            ipaddress.ip_address(address) in network for network in self._settings.proxies
        )


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


@lru_cache(4096)
def _line(address: str) -> str:
    """The part of an address that identifies a client: for IPv6 its network, in which a client has many addresses."""
    if not _is_address(address):
        return address
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(found), 64), strict=False))
    return address


def _request_id(headers: dict[bytes, bytes]) -> str:
    """The caller's ID for the request if it is valid, or a new one."""
    given = headers.get(b"x-request-id", b"").decode("latin-1")
    return given if _GOOD_ID.fullmatch(given) else make_id()


def _check_length(headers: dict[bytes, bytes], limit: int) -> None:
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length) > limit:
        raise _too_large(limit)


def _limited(receive: Receive, limit: int) -> Receive:
    received = 0

    async def limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise _too_large(limit)
        return message

    return limited


def _too_large(limit: int) -> ContentTooLarge:
    return ContentTooLarge("body-too-large", f"The body is larger than {limit:,} bytes.")
