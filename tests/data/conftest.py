"""A store on a fresh engine for each test."""

from collections.abc import Iterator
from typing import Any

import pytest

from keyplan.data import Store
from tests.data.club import Club
from tests.data.support import Recorder, club_store


@pytest.fixture
def opened() -> Iterator[tuple[Store[Club], Recorder]]:
    with club_store() as both:
        yield both


@pytest.fixture
def store(opened: tuple[Store[Club], Recorder]) -> Store[Club]:
    return opened[0]


@pytest.fixture
def sent(opened: tuple[Store[Club], Recorder]) -> Recorder:
    return opened[1]


@pytest.fixture
def raw(sent: Recorder) -> Any:
    """The engine itself, for writes that a store wouldn't make."""
    return sent.client
