"""The boto3 clients of commands: how long they try, and what they repeat.

A request with all its repetitions takes at most `KEYPLAN_DYNAMODB_TIMEOUT` seconds. The last attempt begins within the
first half of them, and an attempt takes less than half, so that a server that doesn't answer is asked twice. boto3's
own retries are turned off, because they count attempts, not seconds, and repeat writes that may have been carried out.
"""

import json
import logging
import random
import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ProxyConnectionError,
)

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodbstreams import DynamoDBStreamsClient

_ATTEMPT = 0.45
"""The part of the timeout that one attempt may take."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
_THROTTLED = frozenset(
    "ProvisionedThroughputExceededException ThrottlingException RequestLimitExceeded LimitExceededException".split()
)
_NEVER_SENT = (EndpointConnectionError, ConnectTimeoutError, ProxyConnectionError)
_SERVER_ERROR, _NOT_IMPLEMENTED = 500, 501
_COMPUTES = re.compile(r"\bADD\b|[+-]|\blist_append\b")
"""What makes a difference in an update expression if it is carried out twice."""


def clients(endpoint_url: str | None, timeout: float) -> "tuple[DynamoDBClient, DynamoDBStreamsClient]":
    """Clients for DynamoDB and its streams, at an endpoint or on AWS. Raises `ValueError` if they can't be made."""
    session = boto3.Session()
    # A local endpoint accepts any credentials, and boto3 sends nothing without some.
    if endpoint_url is not None and session.get_credentials() is None:
        session = boto3.Session(aws_access_key_id="keyplan", aws_secret_access_key="keyplan")
    region = session.region_name or ("us-east-1" if endpoint_url else None)
    config = Config(
        connect_timeout=timeout * _ATTEMPT,
        read_timeout=timeout * _ATTEMPT,
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    # boto3 refuses IDs of shards that are shorter than those on AWS, although a server has just given them to it.
    unchecked = config.merge(Config(parameter_validation=False))
    try:
        made = (
            session.client("dynamodb", endpoint_url=endpoint_url, region_name=region, config=config),
            session.client("dynamodbstreams", endpoint_url=endpoint_url, region_name=region, config=unchecked),
        )
    except BotoCoreError as error:
        raise ValueError(str(error)) from error
    for client in made:
        repeats = Repeats(client.meta.endpoint_url, timeout)
        service = client.meta.service_model.service_id.hyphenize()
        client.meta.events.register(f"before-call.{service}", repeats.begin)
        events: Any = client.meta.events  # its stubs don't know that this handler returns a number
        events.register_first(f"needs-retry.{service}", repeats.delay)
    return made


class Repeats:
    """Decides whether a client repeats a request, and says what it waits for."""

    def __init__(self, place: str, timeout: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._place = place
        self._timeout = timeout
        self._clock = clock
        self._quiet_until = 0.0

    def begin(self, params: dict[str, Any], **_: object) -> None:
        """Remember when a request began."""
        params["context"]["keyplan_began"] = self._clock()

    def delay(
        self,
        response: tuple[Any, dict[str, Any]] | None,
        attempts: int,
        caught_exception: Exception | None,
        operation: Any,  # noqa: ANN401 - botocore's model of the operation
        request_dict: dict[str, Any],
        **_: object,
    ) -> float | None:
        """Seconds until the request is repeated; None if it isn't."""
        problem = _problem(response, caught_exception, lambda: _can_be_repeated(operation.name, request_dict))
        if problem is None:
            return None
        now = self._clock()
        pause: float = random.uniform(0.5, 1) * min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (attempts - 1))
        if now + pause > request_dict["context"]["keyplan_began"] + self._timeout / 2:
            return None
        self._say(problem, now)
        return pause

    def _say(self, problem: str, now: float) -> None:
        """Say what is waited for, once for as long as a request may take."""
        if now >= self._quiet_until:
            self._quiet_until = now + self._timeout
            logging.getLogger("keyplan").warning(
                f"Waiting for {self._place}, up to {self._timeout:g} s (KEYPLAN_DYNAMODB_TIMEOUT): {problem}"
            )


def _problem(
    response: tuple[Any, dict[str, Any]] | None, error: Exception | None, repeatable: Callable[[], bool]
) -> str | None:
    """What went wrong with a request that should be repeated; None if it shouldn't.

    If it may have been carried out, it is repeated only if that is safe.
    """
    if isinstance(error, _NEVER_SENT):
        return str(error)
    if isinstance(error, HTTPClientError):
        return str(error) if repeatable() else None
    if response is None:
        return None
    http, parsed = response
    code = parsed.get("Error", {}).get("Code", "")
    if code in _THROTTLED:
        return f"it throttles requests ({code})"
    if http.status_code >= _SERVER_ERROR and http.status_code != _NOT_IMPLEMENTED and repeatable():
        return f"it answers {http.status_code} {code}".rstrip()
    return None


def _can_be_repeated(operation: str, request: dict[str, Any]) -> bool:
    """Whether a request that was carried out already does nothing more when it is repeated.

    Reads do, puts and deletes do, and transactions do by their token. An update does unless DynamoDB computes the new
    value from the old one.
    """
    if operation != "UpdateItem":
        return True
    update: object = json.loads(request["body"]).get("UpdateExpression", "")
    return isinstance(update, str) and not _COMPUTES.search(update)
