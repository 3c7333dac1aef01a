"""DynamoDB's JSON 1.0 protocol, without any I/O: decodes requests, encodes answers and errors.

The wire server and the in-process boto3 session both use this module, so that they can't disagree.
"""

import functools
import logging
import re
from collections.abc import Callable, Sequence

import orjson

from keyplan.engine.errors import DamagedFile, DynamoError, unknown_operation
from keyplan.engine.executor import NOTHING, Answer, Executor, Later, LoopExecutor, Outcome, Request

CONTENT_TYPE = "application/x-amz-json-1.0"
MAX_BODY = 16 * 1024 * 1024
MAX_MEMBERS = 420_000
"""The most members that all lists and maps of a request may have together. A parser can't be interrupted: this many
take it about 0.15 s, and 150 MB of memory. One item of 400 KB can have 400,000, a body of 16 MB ten times as many."""

log = logging.getLogger("keyplan.engine")

_DYNAMODB = "DynamoDB_20120810"
_STREAMS = "DynamoDBStreams_20120810"
_LONGEST_TARGET = 100
_STREAMS_OPERATIONS = frozenset({"DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"})

# AWS's error types have three sources: its service framework, the framework's validator, and DynamoDB's own model.
_MODEL_NAMESPACE = "com.amazonaws.dynamodb.v20120810#"
_FRAMEWORK_NAMESPACE = "com.amazon.coral.service#"
_NAMESPACES = {
    "ValidationException": "com.amazon.coral.validate#",
    "ThrottlingException": "com.amazon.coral.availability#",
    **dict.fromkeys(
        (
            "AccessDeniedException",
            "ExpiredTokenException",
            "IncompleteSignatureException",
            "InvalidSignatureException",
            "MissingAuthenticationTokenException",
            "RequestEntityTooLargeException",
            "SerializationException",
            "UnknownOperationException",
            "UnrecognizedClientException",
        ),
        _FRAMEWORK_NAMESPACE,
    ),
}

# Most errors have a member "message"; these have a capital letter in the service model or in the framework.
_CAPITAL_MESSAGE = frozenset(
    {
        "AccessDeniedException",
        "IdempotentParameterMismatchException",
        "SerializationException",
        "TransactionCanceledException",
        "TransactionInProgressException",
    }
)


def is_target(target: str | bytes | None) -> bool:
    """Whether an `X-Amz-Target` header is one of DynamoDB or DynamoDB Streams."""
    text = target.decode("latin-1") if isinstance(target, bytes) else target or ""
    return text.partition(".")[0] in (_DYNAMODB, _STREAMS)


@functools.lru_cache(maxsize=256)
def operation_of(target: str | bytes | None) -> str:
    """Return the operation in an `X-Amz-Target` header. Whether the engine supports it is up to the database."""
    text = target.decode("latin-1") if isinstance(target, bytes) else target or ""
    if len(text) > _LONGEST_TARGET or not text.isascii():
        raise unknown_operation()
    service, _, operation = text.partition(".")
    if service == _STREAMS:
        known = operation in _STREAMS_OPERATIONS
    else:
        known = service == _DYNAMODB and operation.isalpha() and operation not in _STREAMS_OPERATIONS
    if not known:
        raise unknown_operation()
    return operation


def request_too_large() -> DynamoError:
    """AWS's answer to a body over 16 MB."""
    return DynamoError("RequestEntityTooLargeException", "", status=413)


def too_many_members() -> DynamoError:
    """The answer to a body with so many values that reading it would hold up all other requests."""
    return DynamoError(
        "RequestEntityTooLargeException",
        f"The lists and maps of the request have more than {MAX_MEMBERS:,} members. Send fewer items in a request.",
        status=413,
    )


_MARKS = b"{[,"
"""What each member of a list or map, and each list or map, has before it."""
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)  # without a way back, for which it would need memory
_CHUNK = 1024 * 1024


def _has_too_many_members(body: bytes) -> bool:
    chunks = (body[start : start + _CHUNK] for start in range(0, len(body), _CHUNK))
    marks = sum(map(_marks, chunks))
    if marks <= MAX_MEMBERS:
        return False
    for strings, found in enumerate(_STRING.finditer(body)):  # what is in a string is no member
        marks -= _marks(found.group())
        if marks <= MAX_MEMBERS:
            return False
        if strings > 2 * MAX_MEMBERS:  # each is a member, or the name of one
            return True
    return True


def _marks(text: bytes) -> int:
    return len(text) - len(text.translate(None, _MARKS))


def internal_error() -> DynamoError:
    """The answer when the engine itself fails; the details are in the log."""
    return DynamoError("InternalServerError", "Internal server error", status=500)


def decode(body: bytes) -> Request:
    """Return the request in a body. Anything but a JSON object is refused without a message, as AWS does."""
    if len(body) > MAX_MEMBERS and _has_too_many_members(body):
        raise too_many_members()
    try:
        request = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise DynamoError("SerializationException", "") from None
    if not isinstance(request, dict):
        raise DynamoError("SerializationException", "")
    return request


def encode(answer: Answer | DynamoError) -> tuple[int, bytes]:
    """Return status and body for an answer or error of the database."""
    if isinstance(answer, DynamoError):
        # Its traceback leads to what called, and so to itself, with a body of up to 16 MB: Python would keep all of it
        # until it looks for cycles, which is rare in a server.
        answer.__traceback__ = answer.__context__ = answer.__cause__ = None
        return answer.status, encode_error(answer)
    try:
        return 200, b"" if answer is NOTHING else orjson.dumps(answer)
    except orjson.JSONEncodeError:
        log.exception("An answer can't be encoded")
        return 500, encode_error(internal_error())


def encode_error(error: DynamoError) -> bytes:
    """Return the body of an error answer."""
    code = error.code
    members: dict[str, object] = {"__type": _NAMESPACES.get(code, _MODEL_NAMESPACE) + code}
    members.update(error.extra)
    if error.message:
        members["Message" if code in _CAPITAL_MESSAGE else "message"] = error.message
    return orjson.dumps(members)


def respond(database: Executor, operation: str, body: bytes) -> tuple[int, bytes]:
    """Answer one request: return status and JSON body. Never raises, whatever a client sent."""
    try:
        if len(body) > MAX_BODY:
            raise request_too_large()
        return encode(database.execute(operation, decode(body)))
    except DynamoError as error:
        return encode(error)
    except DamagedFile as error:
        return encode(DynamoError("InternalServerError", str(error), status=500))
    except Exception:
        log.exception("%s failed", operation)
        return encode(internal_error())


def execute_now(
    database: LoopExecutor, calls: Sequence[tuple[str, Request]], *, may_write: bool
) -> list[Outcome | None]:
    """`Executor.execute_now`; if that fails as a whole, each request is answered with an internal error."""
    try:
        outcomes = database.execute_now(calls, may_write=may_write)
        if len(outcomes) != len(calls):
            raise RuntimeError(f"{len(outcomes)} answers to {len(calls)} requests")
        return outcomes
    except Exception:
        log.exception("%s failed", ", ".join(sorted({operation for operation, _ in calls})))
        return [internal_error() for _ in calls]


def execute_writes(database: LoopExecutor, writes: Sequence[Later]) -> list[Answer | DynamoError]:
    """`LoopExecutor.execute_writes`; if that fails as a whole, each request is answered with an internal error."""
    try:
        answers = database.execute_writes(writes)
        if len(answers) != len(writes):
            raise RuntimeError(f"{len(answers)} answers to {len(writes)} writes")
        return answers
    except Exception:
        log.exception("%d writes failed", len(writes))
        return [internal_error() for _ in writes]


def run(work: Callable[[], Outcome]) -> Outcome:
    """The outcome of a request, or of the rest of one; an internal error if that fails."""
    try:
        return work()
    except DynamoError as error:
        return error
    except Exception:
        log.exception("A request failed")
        return internal_error()
