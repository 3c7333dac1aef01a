"""The errors of the data layer, one tree.

`DataError` is the base. What a rule of the design refused says which entity, which constraint and which values
(`NotFound`, `AlreadyExists`, `UniqueViolation`, `StaleVersion`, `ConditionFailed`, `ParentMissing`, `InUse`,
`FloorReached`). What the stored data or a request got wrong: `StoredDataError`, `BadCursor`, `TooLarge`. What DynamoDB
could not do: `RequestFailed`, of which `Throttled` and `Conflict` were retried before, and `MissingTable`. Every class
has a stable `code`. Values that can not be stored at all are refused by the design (`keyplan.design.InvalidValue`).
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from keyplan.design import Refusal


class DataError(Exception):
    """Base of all errors of the data layer."""

    code: ClassVar[str] = "data-error"


class Refused(DataError):
    """A write that a rule of the design does not allow; nothing was written."""

    code = "refused"
    problem: ClassVar[str] = "a rule of the design does not allow it"

    def __init__(
        self, entity: str, constraint: str, values: Mapping[str, object], stored: object = None, problem: str = ""
    ) -> None:
        shown = ", ".join(f"{name}={value!r}" for name, value in values.items())
        super().__init__(f"{entity}.{constraint}({shown}): {problem or self.problem}")
        self.entity = entity
        self.constraint = constraint
        self.values = dict(values)
        self.stored = stored
        self.refusal: Refusal | None = None
        """What the write itself says for this case: `check(..., refusal=Refusal(...))`."""


class NotFound(Refused):
    """The item to change or delete is not there."""

    code = "not-found"
    problem = "it is not there"


class AlreadyExists(Refused):
    """The item to create is there already."""

    code = "already-exists"
    problem = "it is there already"


class UniqueViolation(Refused):
    """Another item has this unique value."""

    code = "unique-violation"
    problem = "another item has this value"


class StaleVersion(Refused):
    """The item was changed by somebody else since it was read; `stored` is the item as it is now."""

    code = "stale-version"
    problem = "it was changed since it was read; read it again"


class ConditionFailed(Refused):
    """A condition of the caller does not hold; `stored` is the item as it is."""

    code = "condition-failed"
    problem = "the condition does not hold"


class ParentMissing(Refused):
    """What the item belongs to is not there, or is being deleted."""

    code = "parent-missing"
    problem = "what it belongs to is not there"


class InUse(Refused):
    """The item can not be deleted while others belong to it."""

    code = "in-use"
    problem = "others belong to it"


class FloorReached(Refused):
    """A number would fall below what the design allows ("not the last one")."""

    code = "floor-reached"
    problem = "a number would fall below its floor"


class StoredDataError(DataError):
    """A stored item does not fit its entity; `key` and `attribute` say which item and what of it."""

    code = "stored-data"

    def __init__(self, message: str, entity: str, attribute: str, key: Mapping[str, object]) -> None:
        super().__init__(message)
        self.entity = entity
        self.attribute = attribute
        self.key = dict(key)


class BadCursor(DataError):
    """A cursor that was not made for this pattern and these parameters, or not by this store."""

    code = "bad-cursor"


class TooLarge(DataError):
    """More than one transaction, item or request can hold; nothing was sent."""

    code = "too-large"


class RequestFailed(DataError):
    """DynamoDB refused a request for a reason that the design does not know."""

    code = "request-failed"

    def __init__(self, operation: str, error_code: str, message: str) -> None:
        super().__init__(f"{operation}: {error_code}: {message}")
        self.operation = operation
        self.error_code = error_code


class MissingTable(RequestFailed):
    """A table of the design is not there."""

    code = "missing-table"

    def __init__(self, operation: str, error_code: str, tables: Sequence[str]) -> None:
        self.tables = tuple(tables)
        which = f"the table {tables[0]} is" if len(tables) == 1 else f"one of the tables {', '.join(tables)} is"
        super().__init__(operation, error_code, f"{which} not there yet; create_tables() makes what is missing")


class Throttled(RequestFailed):
    """Still too many requests after all retries."""

    code = "throttled"


class Conflict(RequestFailed):
    """Another transaction was changing the same items, and still was after all retries."""

    code = "conflict"
