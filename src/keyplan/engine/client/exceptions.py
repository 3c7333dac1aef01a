"""The exceptions of boto3's clients, made from the same model, and the metadata of every answer.

`engine.exceptions.ConditionalCheckFailedException` and the like are subclasses of `botocore.exceptions.ClientError`.
They are created once per process, so the classes of one engine also catch the errors of another.
"""

from collections.abc import Callable
from functools import cache
from itertools import count
from secrets import token_hex
from typing import TYPE_CHECKING, cast

from botocore.errorfactory import BaseClientExceptions
from botocore.exceptions import ClientError

from keyplan.engine.client.shapes import conversion
from keyplan.engine.errors import DynamoError
from keyplan.engine.service_model import SERVICES, Service, load

if TYPE_CHECKING:
    from botocore.exceptions import _ClientErrorResponseTypeDef

# As long as AWS's request ids. Only the end changes from call to call: random digits would cost a microsecond.
_request_ids = map((token_hex(20).upper() + "{:012X}").format, count(1))
request_id: Callable[[], str] = _request_ids.__next__
"""Returns a new id, of the form that AWS gives to every request."""


@cache
def _classes() -> dict[str, type[ClientError]]:
    """One class per exception of the model; a name that exists in both services is one class."""
    names = [name for service in SERVICES for name, shape in load(service)["shapes"].items() if "exception" in shape]
    return {name: type(name, (ClientError,), {}) for name in names}


@cache
def exceptions() -> BaseClientExceptions:
    """Return all exceptions of both services, like `client.exceptions` of a boto3 client."""
    made: type[BaseClientExceptions] = type("EngineExceptions", (BaseClientExceptions,), dict(_classes()))
    return made(_classes())


def metadata(status: int = 200) -> dict[str, object]:
    """Return the `ResponseMetadata` of one answer."""
    number = request_id()
    return {
        "RequestId": number,
        "HTTPStatusCode": status,
        "HTTPHeaders": {"content-type": "application/x-amz-json-1.0", "x-amzn-requestid": number},
        "RetryAttempts": 0,
    }


def client_error(error: DynamoError, operation: str, service: Service) -> ClientError:
    """Return the exception that boto3 raises for an error: of the class for its code, with the answer in it."""
    response: dict[str, object] = {
        "Error": {"Message": error.message, "Code": error.code},
        "ResponseMetadata": metadata(error.status),
    }
    if error.code in load(service)["shapes"]:
        # The members of a modeled error are next to "Error", including its message in the model's spelling.
        members = {"message": error.message, "Message": error.message, **error.extra}
        response |= conversion(service, error.code)(members)
    kind = _classes().get(error.code, ClientError)
    return kind(cast("_ClientErrorResponseTypeDef", response), operation)
