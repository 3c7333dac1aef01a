"""Real boto3 sessions whose requests to DynamoDB are answered in this process, without a socket."""

from collections.abc import Callable, Iterator
from typing import cast

import boto3
from boto3.session import Session
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders

from keyplan.engine.executor import Executor
from keyplan.engine.protocol import CONTENT_TYPE, operation_of, respond

_SERVICE_IDS = ("dynamodb", "dynamodb-streams")  # as botocore spells them in the names of its events


class _Body:
    """Stands for urllib3's response: a body that botocore can read once."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self) -> Iterator[bytes]:
        yield self._content


def session(database: Executor, region_name: str) -> Session:
    """Return a session whose DynamoDB and DynamoDB Streams clients and resources talk to the database."""

    def answer(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        body = request.body
        status, content = respond(
            database,
            operation_of(request.headers["X-Amz-Target"]),
            body if isinstance(body, bytes) else b"",
        )
        headers = HTTPHeaders()
        headers["content-type"] = CONTENT_TYPE
        headers["content-length"] = str(len(content))
        return AWSResponse(request.url, status, headers, _Body(content))

    made = boto3.Session(
        # Without credentials, botocore would search for some and refuse to sign.
        aws_access_key_id="keyplan",
        aws_secret_access_key="keyplan",
        region_name=region_name,
    )
    for service_id in _SERVICE_IDS:
        # botocore uses what a handler of this event returns in place of a response from the network.
        made.events.register(f"before-send.{service_id}", cast("Callable[..., None]", answer))
    return made
