"""Fixtures for the tests of the HTTP kit."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from keyplan.web import compat
from keyplan.web.settings import Settings
from tests.web.library import SYSTEM
from tests.web.site import Site, settings_of, site


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings for a test: not read from the environment, and without rate limits."""
    return settings_of(
        dev=True, path=tmp_path / "test.db", rate_identity=0, rate_address=0, request_seconds=30, monitor_seconds=0
    )


@pytest.fixture(params=["fast paths", "public interfaces"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs each test twice: as installed, and without private interfaces of other libraries."""
    if request.param == "public interfaces":
        monkeypatch.setattr(compat, "fast_paths", False)
        monkeypatch.setattr(compat, "fast_http", False)


@pytest.fixture
def library(settings: Settings) -> Iterator[Site]:
    """The example system, served."""
    with site(SYSTEM, settings) as started:
        yield started
