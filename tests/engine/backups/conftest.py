"""The clients of these tests have a clock that stands still until the test moves it."""

from collections.abc import Iterator

import pytest

from keyplan.engine import Engine
from tests.engine.support import Clock


@pytest.fixture
def engine(clock: Clock) -> Iterator[Engine]:
    with Engine(clock=clock) as made:
        yield made
