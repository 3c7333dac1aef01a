"""AWS's errors for statements: those of its parser, and those for PartiQL that DynamoDB doesn't support."""

from typing import NamedTuple

from keyplan.engine.errors import DynamoError, validation_error


class Span(NamedTuple):
    """Where a token is in the statement: line and column from 1, and its length."""

    line: int
    column: int
    length: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}:{self.length}"


def malformed(detail: str) -> DynamoError:
    """Return the error for a statement that can't be parsed; the detail is that of AWS's PartiQL parser."""
    return validation_error(f"Statement wasn't well formed, can't be processed: {detail}")


def unsupported(what: str, name: str, span: Span) -> DynamoError:
    """Return the error for correct PartiQL that DynamoDB doesn't support."""
    return validation_error(f"Unsupported {what}: {name} at {span}")


def unexpected_component(span: Span) -> DynamoError:
    """Return the error for a part of a path that is neither a name nor the index of a list."""
    return validation_error(f"Unexpected path component at {span}")
