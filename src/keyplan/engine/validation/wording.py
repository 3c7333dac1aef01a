"""How each operation words the errors in its request.

AWS moved some operations to another validator between June and August 2026, region by region, and their messages
changed. This table says which operations; the engine has only today's wording.
"""

from typing import NamedTuple

from keyplan.engine.errors import ConstraintError, DynamoError, InvalidPlaceholder, PlainError


class Wording(NamedTuple):
    """The wording of one operation. All of it is False for the operations that AWS hasn't moved."""

    names_members: bool = False
    """A member is named as in the model, without its value: `Value at 'TableName'`, not `Value 'x' at 'tableName'`."""
    stops: bool = False
    """Only the first member that breaks a constraint is reported, not all of them."""
    announces: bool = False
    """Whatever is wrong with the request is announced with `1 validation error detected: `."""
    announces_select: bool = False
    """The same, but only for what is wrong with Select."""

    def request_error(self, error: DynamoError) -> DynamoError:
        """Return an error of the request, found before the operation looked at the table."""
        if not self.announces:
            return error
        return _announced(error.reason if isinstance(error, InvalidPlaceholder) else error)

    def select_error(self, error: DynamoError) -> DynamoError:
        """Return an error about what to select."""
        return _announced(error) if self.announces_select else error


_OTHERS = Wording()
_WORDINGS = {
    "PutItem": Wording(names_members=True, stops=True, announces=True),
    "UpdateItem": Wording(names_members=True, stops=True, announces=True),
    "DeleteItem": Wording(names_members=True, announces=True),
    "Query": Wording(names_members=True, announces_select=True),
    "BatchGetItem": Wording(names_members=True),
}


def wording_of(operation: str) -> Wording:
    """Return the wording of an operation."""
    return _WORDINGS.get(operation, _OTHERS)


def _announced(error: DynamoError) -> DynamoError:
    if error.code != "ValidationException" or isinstance(error, ConstraintError | PlainError):
        return error
    return ConstraintError(error.message)
