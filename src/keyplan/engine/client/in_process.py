"""Answers requests that botocore or aiobotocore has signed and is about to send, in place of the network."""

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import cast
from urllib.parse import urlsplit

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.hooks import BaseEventHooks

from keyplan.engine.client.exceptions import request_id
from keyplan.engine.executor import CalledOperation, Caller, Executor
from keyplan.engine.protocol import CONTENT_TYPE, is_target, operation_of, respond

SERVICE_IDS = ("dynamodb", "dynamodb-streams")
"""The services that are answered, as botocore spells them in the names of its events."""
ACCESS_KEY = "keyplan"
"""Without credentials, botocore would search for some and refuse to sign. Nobody checks these."""

_CREDENTIAL = re.compile(r"Credential=([^/]+)/\d+/([^/]+)/")


class _Body:
    """Stands for the response of an HTTP library: botocore streams its content, aiobotocore reads it."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self) -> Iterator[bytes]:
        yield self._content

    async def read(self) -> bytes:
        return self._content


def is_for_dynamodb(request: AWSPreparedRequest) -> bool:
    """Whether a request is for DynamoDB or DynamoDB Streams, wherever it would be sent."""
    return is_target(request.headers.get("X-Amz-Target"))


def answer(database: Executor, request: AWSPreparedRequest, response: type[AWSResponse] = AWSResponse) -> AWSResponse:
    """Return the database's answer to a request, as botocore gets it from its HTTP session."""
    body = request.body
    operation = CalledOperation.by(_caller(request), operation_of(request.headers["X-Amz-Target"]))
    status, content = respond(database, operation, body if isinstance(body, bytes) else b"")
    headers = HTTPHeaders()
    headers["x-amzn-requestid"] = request_id()
    headers["content-type"] = CONTENT_TYPE
    headers["content-length"] = str(len(content))
    return response(request.url, status, headers, _Body(content))


def _caller(request: AWSPreparedRequest) -> Caller:
    """Who sends a request, by its signature."""
    authorization = cast("str | bytes", request.headers.get("Authorization", ""))
    text = authorization.decode("latin-1") if isinstance(authorization, bytes) else authorization
    found = _CREDENTIAL.search(text)
    access_key, region = found.groups() if found else ("", "")
    return Caller(access_key, region, urlsplit(request.url).netloc)


def aiobotocore_response() -> type[AWSResponse]:
    """The class of aiobotocore's responses, whose content is awaited."""
    made: type[AWSResponse] = import_module("aiobotocore.awsrequest").AioAWSResponse
    return made


def answer_events(events: BaseEventHooks, database: Executor, response: type[AWSResponse] = AWSResponse) -> None:
    """Have a database answer all requests to DynamoDB of the clients that a session with these events makes."""

    def handle(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        return answer(database, request, response)

    for service_id in SERVICE_IDS:
        # What a handler of this event returns is used in place of a response from the network.
        events.register(f"before-send.{service_id}", cast("Callable[..., None]", handle))
