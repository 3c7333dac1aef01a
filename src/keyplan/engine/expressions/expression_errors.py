"""How a refused expression is answered: `Invalid <kind of expression>: <what is wrong>`."""

from keyplan.engine.errors import DynamoError, validation_error


def invalid(kind: str, problem: str) -> DynamoError:
    """The answer to an expression of this kind (the name of its request member) that has this problem."""
    return validation_error(f"Invalid {kind}: {problem}")


def wrong_type(kind: str, operator: str, operand_type: str) -> DynamoError:
    """An operand whose type is known before any item is read does not fit its operator or function."""
    return invalid(
        kind,
        "Incorrect operand type for operator or function; "
        f"operator or function: {operator}, operand type: {operand_type}",
    )
