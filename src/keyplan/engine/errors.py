"""The errors of the engine.

`DynamoError` is an answer: the error that AWS would send back. The wire turns it into a response, `Engine` into the
botocore exception of that code. `DamagedFile` means that there are no more answers, because the database file can't
be trusted.
"""


class DynamoError(Exception):
    """An error that DynamoDB answers a request with."""

    def __init__(self, code: str, message: str, *, status: int = 400, extra: dict[str, object] | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.extra: dict[str, object] = extra or {}


class ConstraintError(DynamoError):
    """A request breaks a constraint on its members; it is reported as an error of the request itself."""

    def __init__(self, message: str) -> None:
        super().__init__("ValidationException", f"1 validation error detected: {message}")


class PlainError(DynamoError):
    """A number, the form of a value or a limit is wrong; AWS words this alike in all operations."""

    def __init__(self, message: str) -> None:
        super().__init__("ValidationException", message)


class InvalidPlaceholder(DynamoError):
    """One of the values of expressions is wrong, for this reason; most operations say which one."""

    def __init__(self, placeholder: str, reason: DynamoError) -> None:
        problem = f"ExpressionAttributeValues contains invalid value: {reason.message} for key {placeholder}"
        super().__init__("ValidationException", problem)
        self.reason = reason


class DamagedFile(Exception):
    """The database file is damaged, so nothing is read from it any more. The message says where and what to do."""


class RefusedRequest(RuntimeError):
    """A request inside `keyplan.mock()` that the engine can't answer, and that must not reach the network."""


def validation_error(message: str) -> DynamoError:
    """A request that AWS doesn't accept; the most common error."""
    return DynamoError("ValidationException", message)


def invalid_parameter(message: str) -> DynamoError:
    """A value that is well-formed but not allowed; AWS starts these messages with a fixed phrase."""
    return DynamoError("ValidationException", "One or more parameter values were invalid: " + message)


def unknown_operation() -> DynamoError:
    """An operation that DynamoDB, or this engine, doesn't have."""
    return DynamoError("UnknownOperationException", "Unknown operation exception")


def not_found(message: str) -> DynamoError:
    """A table, index, stream or backup that doesn't exist."""
    return DynamoError("ResourceNotFoundException", message)
