"""Health and metrics while the server is busy, and on a port of their own."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from keyplan.web import SIGNED_IN, Api, Missing, allow, takes_long
from keyplan.web.server import monitoring
from keyplan.web.settings import Settings
from tests.web.answers import problem
from tests.web.command import serve
from tests.web.library import SYSTEM, Librarian, ShelfOut
from tests.web.site import Site, changed, site

THREADS = 60
"""More requests than the shared pool has threads."""


class Stuck(Librarian):
    """A librarian who waits for something."""

    @allow(SIGNED_IN)
    def look(self) -> ShelfOut:
        """Look for a shelf. Writes would leave some threads to others."""
        takes_long()
        waiting.append(self.me.sub)
        free.wait(30)
        raise Missing


free = threading.Event()
waiting: list[str] = []


@pytest.fixture
def stuck(settings: Settings) -> Iterator[Site]:
    """A system whose threads all wait."""
    api = Api(Stuck)
    api.get("/stuck", Stuck.look)
    free.clear()
    waiting.clear()
    with site(replace(SYSTEM, api=api), settings) as served, ThreadPoolExecutor(THREADS) as pool:
        headers = {"Authorization": f"Bearer {served.token('ada')}"}
        for _ in range(THREADS):
            pool.submit(httpx.get, f"{served.api}/stuck", headers=headers, timeout=40)
        until(lambda: len(waiting) >= 40)
        try:
            yield served
        finally:
            free.set()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_health_does_not_wait_for_threads(stuck: Site) -> None:
    assert httpx.get(f"{stuck.url}/healthz", timeout=5).text == "ok\n"
    assert not free.is_set()


def test_readiness_and_metrics_have_threads_of_their_own(stuck: Site) -> None:
    assert httpx.get(f"{stuck.url}/readyz", timeout=10).text == "ready\n"
    assert "keyplan_requests_total" in httpx.get(f"{stuck.url}/metrics", timeout=10).text


class Slow:
    """A client whose writes wait."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.writes = 0
        self.free = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def put_item(self, **request: Any) -> Any:
        self.writes += 1
        assert self.free.wait(30)
        return self._client.put_item(**request)


def test_readiness_is_checked_once_for_all_who_ask(settings: Settings) -> None:
    with site(SYSTEM, changed(settings, monitor_seconds=60)) as library, ThreadPoolExecutor(20) as pool:
        slow = Slow(library.running.store.client)
        library.running.store.client = slow
        asked = [pool.submit(httpx.get, f"{library.url}/readyz", timeout=30) for _ in range(20)]
        until(lambda: slow.writes == 1)
        slow.free.set()
        assert {each.result().text for each in asked} == {"ready\n"}
        assert httpx.get(f"{library.url}/readyz").text == "ready\n"
        assert slow.writes == 1


def test_a_database_that_does_not_answer_is_not_ready(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitoring, "_LONGEST_CHECK", 0.2)
    with site(SYSTEM, settings) as library:
        slow = Slow(library.running.store.client)
        library.running.store.client = slow
        for _ in range(3):
            problem(httpx.get(f"{library.url}/readyz"), 503, "not-ready")
        assert slow.writes == 1, "the others wait for the same check"
        slow.free.set()
        until(lambda: httpx.get(f"{library.url}/readyz").status_code == 200)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_readiness_and_metrics_on_a_port_of_their_own(tmp_path: Path, workers: str) -> None:
    with serve(tmp_path, "--dev", "--workers", workers, KEYPLAN_MONITOR_PORT="0") as server:
        line = server.output.readline()
        assert line.startswith("Monitoring on http://127.0.0.1:"), line
        own = line.split()[2]
        assert own != server.url
        assert httpx.get(f"{own}/healthz", timeout=30).text == "ok\n"
        assert httpx.get(f"{own}/readyz", timeout=30).text == "ready\n"
        assert "keyplan_requests_total" in httpx.get(f"{own}/metrics", timeout=30).text
        assert httpx.get(f"{own}/api/wavyblog/posts", timeout=30).status_code == 404
        assert httpx.get(f"{own}/", timeout=30).status_code == 404
        assert server.get("/healthz").text == "ok\n"
        for path in ("/readyz", "/metrics"):
            assert server.get(path).status_code == 404
            assert f'href="{path}"' not in server.get("/").text
