"""What every test may rely on: no AWS account, no network, no deadline on a busy machine."""

import functools
import logging
import os
from collections.abc import Iterator

import httpx._transports.default as https
import pytest
from hypothesis import HealthCheck, settings

# boto3 and the AWS CLI would otherwise look for a profile, or ask the metadata service of a cloud machine.
for name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[name]
os.environ.update(
    AWS_ACCESS_KEY_ID="test",
    AWS_SECRET_ACCESS_KEY="test",
    AWS_DEFAULT_REGION="us-east-1",
    AWS_EC2_METADATA_DISABLED="true",
    AWS_CONFIG_FILE=os.devnull,
    AWS_SHARED_CREDENTIALS_FILE=os.devnull,
)

# Every client of httpx reads all certificates of the world anew, which takes longer than most tests here.
https.create_ssl_context = functools.cache(https.create_ssl_context)  # type: ignore[attr-defined]  # it is not public

# Two shared cores make a per-example deadline a coin toss.
# Where a change is accepted or not, everybody gets the same examples; on one's own machine they are new ones each time.
settings.register_profile(
    "keyplan", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("keyplan")


@pytest.fixture(autouse=True)
def unchanged_logs() -> Iterator[None]:
    """A command that runs in this process logs to its own stderr, which is closed before the next test logs."""
    logs = [logging.getLogger(name) for name in ("keyplan", "uvicorn.error")]
    before = [(log.handlers[:], log.propagate, log.level) for log in logs]
    yield
    for log, (handlers, propagate, level) in zip(logs, before, strict=True):
        log.handlers[:] = handlers
        log.propagate = propagate
        log.setLevel(level)
