"""The errors of the engine.

`DynamoError` is an answer: what AWS would send back. The wire turns it into a response, the in-process client into
the `botocore` exception of that code. `DamagedFile` is not an answer but a refusal to give any: the file under the
engine can not be trusted any more.
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
    """A request breaks a constraint on its members; whoever finds that out, it is an error of the request as such."""

    def __init__(self, message: str) -> None:
        super().__init__("ValidationException", f"1 validation error detected: {message}")


class DamagedFile(Exception):
    """The database file is damaged; nothing is answered from it. The message says where and what to do."""


def validation_error(message: str) -> DynamoError:
    """The most common answer to a request that AWS would not accept."""
    return DynamoError("ValidationException", message)


def invalid_parameter(message: str) -> DynamoError:
    """A value that is well-formed but that DynamoDB refuses, with the sentence AWS begins these with."""
    return DynamoError("ValidationException", "One or more parameter values were invalid: " + message)


def not_found(message: str) -> DynamoError:
    """A table, index, stream or backup that is not there."""
    return DynamoError("ResourceNotFoundException", message)
