"""The errors of the data layer.

`DataError` is the base. A rule of the design that refuses a write raises a `Refused` with the entity, the constraint
and the values: `NotFound`, `AlreadyExists`, `UniqueViolation`, `ItemChanged` (`StaleVersion` if the entity has a
version), `ConditionFailed`, `PathMissing`, `ParentMissing`, `InUse` or `FloorReached`. Wrong stored data or requests
are `StoredDataError`, `BadCursor` and `TooLarge`. A request that DynamoDB failed is `RequestFailed`; `Conflict` was
repeated first, `Throttled` by the client, and `MissingTable` says which table.
`Unsupported` says what an endpoint lacks. Every class has a stable `code`. Values
that are over their limits or can't be stored raise `keyplan.design.InvalidValue`; an import reports them as an
`InvalidItem`, which is a `Refused` too.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from keyplan.design import InvalidValue, Refusal


class DataError(Exception):
    """Base of all errors of the data layer."""

    code: ClassVar[str] = "data-error"


def described(entity: str, values: Mapping[str, object]) -> str:
    """An item by its entity and the values of its key: `Author(author_id='ada')`."""
    return f"{entity}({', '.join(f'{name}={value!r}' for name, value in values.items())})"


class Refused(DataError):
    """A rule of the design refused the write; nothing was written."""

    code = "refused"
    sentence: ClassVar[str] = "A rule of the design refused the write of {item}"

    def __init__(
        self, entity: str, constraint: str, values: Mapping[str, object], stored: object = None, sentence: str = ""
    ) -> None:
        said = sentence or self.sentence.format(item=described(entity, values))
        super().__init__(f"{said} [{entity}.{constraint}]")
        self.entity = entity
        self.constraint = constraint
        self.values = dict(values)
        self.stored = stored
        self.refusal: Refusal | None = None
        """What the write itself says for this case: `check(..., refusal=Refusal(...))`."""


class NotFound(Refused):
    """The item to change or delete doesn't exist."""

    code = "not-found"
    sentence = "{item} doesn't exist"


class AlreadyExists(Refused):
    """The item to create already exists."""

    code = "already-exists"
    sentence = "{item} already exists"


class UniqueViolation(Refused):
    """Another item has this unique value."""

    code = "unique-violation"
    sentence = "Another item has the same value: {item}"


class ItemChanged(Refused):
    """The item was changed by somebody else since it was read; `stored` is the item now."""

    code = "item-changed"
    sentence = "{item} was changed since it was read. Read it again"


class StaleVersion(ItemChanged):
    """The item has another version than when it was read; `stored` is the item now."""

    code = "stale-version"


class ConditionFailed(Refused):
    """The caller's condition doesn't hold; `stored` is the item now."""

    code = "condition-failed"
    sentence = "{item} doesn't meet the condition"


class PathMissing(Refused):
    """There is nothing at the path that a patch changes: no such element, or the value around it is None."""

    code = "path-missing"
    sentence = "{item} has nothing at the path to change"


class ParentMissing(Refused):
    """The item's parent doesn't exist, or is being deleted."""

    code = "parent-missing"
    sentence = "The parent doesn't exist: {item}"


class InUse(Refused):
    """The item can't be deleted while others refer to it."""

    code = "in-use"
    sentence = "Can't delete {item}: other items refer to it"


class FloorReached(Refused):
    """A number would fall below the floor that the design sets ("not the last one")."""

    code = "floor-reached"
    sentence = "A number would fall below its floor: {item}"


class InvalidItem(Refused):
    """An item of an import has values that are over their limits or can't be stored; `problems` has all of them."""

    code = "invalid-item"

    def __init__(self, entity: str, values: Mapping[str, object], problems: Sequence[InvalidValue]) -> None:
        wrong = "; ".join(map(str, problems))
        super().__init__(
            entity, problems[0].field or "primary", values, None, f"Can't import {described(entity, values)}: {wrong}"
        )
        self.problems = tuple(problems)


class StoredDataError(DataError):
    """A stored item doesn't fit its entity; `key` and `attribute` say which item and attribute."""

    code = "stored-data"

    def __init__(self, message: str, entity: str, attribute: str, key: Mapping[str, object]) -> None:
        super().__init__(message)
        self.entity = entity
        self.attribute = attribute
        self.key = dict(key)


class BadCursor(DataError):
    """The cursor is not from this list: another pattern, other arguments or another secret."""

    code = "bad-cursor"


class TooLarge(DataError):
    """The write is larger than a transaction can be; nothing was sent."""

    code = "too-large"


class InvalidOperation(DataError, TypeError):
    """The store was given something that it can't do: a read in a transaction, another design's entity."""

    code = "invalid-operation"


class RequestFailed(DataError):
    """DynamoDB refused a request for a reason other than a rule of the design."""

    code = "request-failed"

    def __init__(self, operation: str, error_code: str, message: str) -> None:
        super().__init__(f"{operation}: {error_code}: {message}")
        self.operation = operation
        self.error_code = error_code


class MissingTable(RequestFailed):
    """A table of the design doesn't exist."""

    code = "missing-table"

    def __init__(self, operation: str, error_code: str, tables: Sequence[str]) -> None:
        self.tables = tuple(tables)
        which = f"the table {tables[0]}" if len(tables) == 1 else f"one of the tables {', '.join(tables)}"
        super().__init__(operation, error_code, f"{which} doesn't exist; create_tables() creates missing tables")


class Unsupported(RequestFailed):
    """The endpoint lacks an operation of DynamoDB that the design needs."""

    code = "unsupported"

    def __init__(self, operation: str, error_code: str) -> None:
        name = "".join(word.capitalize() for word in operation.split("_"))
        lacks, to_do = _LACKING.get(operation, (f"the operation {name}", "Use one that has it"))
        super().__init__(operation, error_code, f"this endpoint lacks {lacks} ({name}). {to_do}")


_TRANSACTIONS = (
    "transactions, with which a store keeps guards, counters and derived items in step",
    "Use DynamoDB on AWS, `keyplan dynamodb` or another endpoint that has them",
)
_TIME_TO_LIVE = (
    "time to live, so that expired items stay stored, though reads leave them out",
    "The tables exist and can be used; delete expired items yourself, or use an endpoint that has it",
)
_LACKING = {
    "transact_write_items": _TRANSACTIONS,
    "transact_get_items": _TRANSACTIONS,
    "describe_time_to_live": _TIME_TO_LIVE,
    "update_time_to_live": _TIME_TO_LIVE,
}
"""What an endpoint without an operation lacks, and what to do about it."""


class TokenReused(RequestFailed):
    """A transaction with this token was carried out in the last 10 minutes, with other contents."""

    code = "token-reused"


class Throttled(RequestFailed):
    """DynamoDB still throttled the request after all retries."""

    code = "throttled"


class Conflict(RequestFailed):
    """Other transactions kept changing the same items through all retries."""

    code = "conflict"


def not_a_reference(target: object) -> InvalidOperation:
    """The error for a write by key of what isn't `ref(...)`."""
    given = target.__name__ if isinstance(target, type) else type(target).__name__
    return InvalidOperation(
        f"a write by key takes ref({given}, ...), and this isn't one. To write an entity that was read, use update"
    )
