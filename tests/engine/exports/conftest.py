"""The clients of these tests have a clock that stands still, and a folder with a bucket that stands for S3."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from keyplan.engine import Engine
from tests.engine.support import Clock


@pytest.fixture
def bucket(tmp_path: Path) -> Path:
    """The folder of the bucket `bucket`."""
    folder = tmp_path / "s3" / "bucket"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def engine(clock: Clock, bucket: Path) -> Iterator[Engine]:
    with Engine(clock=clock, s3=bucket.parent) as made:
        yield made
