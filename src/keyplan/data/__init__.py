"""A design at work: requests built and answers read without I/O, and thin stores that send them.

It knows designs, and DynamoDB's API in boto3's client shape; it does not know which DynamoDB answers. Three things
carry everything. `EntityCodec` turns entities into items and back. A `Plan` is what a write does, one action for each
item, worked out from the difference in what follows from an entity before and after (`consequences`). `Steps` are
generators that ask for calls and get answers; `Store` and `AsyncStore` do nothing but carry them out.
"""

from keyplan.data.batches import delete_all, put_all
from keyplan.data.errors import (
    AlreadyExists,
    BadCursor,
    ConditionFailed,
    Conflict,
    DataError,
    FloorReached,
    InUse,
    MissingTable,
    NotFound,
    ParentMissing,
    Refused,
    RequestFailed,
    StaleVersion,
    StoredDataError,
    Throttled,
    TooLarge,
    UniqueViolation,
)
from keyplan.data.imports import Imported, import_all
from keyplan.data.store import AsyncStore, Store
from keyplan.data.verify import Finding
from keyplan.data.writes import check, create, delete, gone, increment, move, patch, put, touch, update

__all__ = [
    "AlreadyExists",
    "AsyncStore",
    "BadCursor",
    "ConditionFailed",
    "Conflict",
    "DataError",
    "Finding",
    "FloorReached",
    "Imported",
    "InUse",
    "MissingTable",
    "NotFound",
    "ParentMissing",
    "Refused",
    "RequestFailed",
    "StaleVersion",
    "Store",
    "StoredDataError",
    "Throttled",
    "TooLarge",
    "UniqueViolation",
    "check",
    "create",
    "delete",
    "delete_all",
    "gone",
    "import_all",
    "increment",
    "move",
    "patch",
    "put",
    "put_all",
    "touch",
    "update",
]
