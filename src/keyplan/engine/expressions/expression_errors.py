"""AWS's errors for expressions: `Invalid <kind of expression>: <what is wrong>`."""

from keyplan.engine.errors import DynamoError, validation_error


def invalid(kind: str, problem: str) -> DynamoError:
    """Return the error for an expression of this kind (the name of its request member) with this problem."""
    return validation_error(f"Invalid {kind}: {problem}")


class ExpressionTooLong(DynamoError):
    """The text of an expression is too long. Of all expressions, AWS tells the size only of a Scan's filter."""

    def __init__(self, kind: str, size: int) -> None:
        problem = f"Invalid {kind}: Expression size has exceeded the maximum allowed size;"
        super().__init__("ValidationException", problem)
        self.kind = kind
        self.with_size = f"{problem} expression size: {size}"


def wrong_type(kind: str, operator: str, operand_type: str) -> DynamoError:
    """Return the error for an operand of a wrong type that is known before an item is read."""
    return invalid(
        kind,
        "Incorrect operand type for operator or function; "
        f"operator or function: {operator}, operand type: {operand_type}",
    )
