"""A design at work: requests built and answers read without I/O, and stores that send them.

This package knows designs (`keyplan.design`) and DynamoDB's API in the shape of boto3's client. It doesn't know which
DynamoDB answers. Its folders build on each other in this order; a table in `tests/test_architecture.py` says which may
import which.

| folder or module | what it is |
| --- | --- |
| `errors`, `steps` | the errors, and operations as generators that ask for calls and get answers |
| `objects` | the port to object storage, for large values |
| `compat` | pydantic's private interfaces, and the public way beside each |
| `relations` | which entities belong to which |
| `codec` | entities to items and back |
| `expressions` | conditions on stored items, and the expressions of requests |
| `reads` | gets, lookups, lists, counts and cursors |
| `writes` | what a write does to its item and to others, as one plan and one request |
| `jobs` | work larger than one transaction: cascading deletes, rewrites, cleanup of expired items |
| `upkeep` | creating tables, verifying and repairing what they hold |
| `subjects` | the entities that an operation is on |
| `operations` | the steps of every operation, which both stores carry out |
| `store` | `Store` and `AsyncStore`, which carry all of this out |
| `streams` | handlers of changes, and the runner that delivers records to them; a public package of its own |

What other packages use is exported here, and by `keyplan.data.streams`.
"""

from keyplan.data.codec.entities import codec_of, set_stored_item, stored_item
from keyplan.data.codec.sizes import item_size
from keyplan.data.codec.values import AttributeValue, Item
from keyplan.data.errors import (
    AlreadyExists,
    BadCursor,
    ConditionFailed,
    Conflict,
    DataError,
    FloorReached,
    InUse,
    InvalidItem,
    InvalidOperation,
    ItemChanged,
    MissingTable,
    NotFound,
    ParentMissing,
    PathMissing,
    Refused,
    RequestFailed,
    StaleVersion,
    StoredDataError,
    Throttled,
    TokenReused,
    TooLarge,
    UniqueViolation,
    Unsupported,
)
from keyplan.data.objects import FolderStorage, ObjectStorage
from keyplan.data.operations import utc_now
from keyplan.data.reads.segments import ScanProgress
from keyplan.data.steps import Answer
from keyplan.data.store import AsyncStore, Store
from keyplan.data.upkeep.findings import VerifyFinding
from keyplan.data.upkeep.provisioning import create_table_requests
from keyplan.data.writes.batches import delete_all, put_all
from keyplan.data.writes.clauses import Clause, Target, at, increment
from keyplan.data.writes.imports import Imported, import_all
from keyplan.data.writes.key_operations import DeleteByKey, Patch, Upsert, delete, patch, touch, upsert
from keyplan.data.writes.operations import (
    AlreadyWritten,
    Beside,
    Check,
    Create,
    Delete,
    Move,
    Part,
    Update,
    WriteOp,
    check,
    clean_up_expired,
    create,
    move,
    put,
    update,
)
from keyplan.data.writes.partial import Partial
from keyplan.data.writes.plan import Plan

__all__ = [
    "AlreadyExists",
    "AlreadyWritten",
    "Answer",
    "AsyncStore",
    "AttributeValue",
    "BadCursor",
    "Beside",
    "Check",
    "Clause",
    "ConditionFailed",
    "Conflict",
    "Create",
    "DataError",
    "Delete",
    "DeleteByKey",
    "FloorReached",
    "FolderStorage",
    "Imported",
    "InUse",
    "InvalidItem",
    "InvalidOperation",
    "Item",
    "ItemChanged",
    "MissingTable",
    "Move",
    "NotFound",
    "ObjectStorage",
    "ParentMissing",
    "Part",
    "Partial",
    "Patch",
    "PathMissing",
    "Plan",
    "Refused",
    "RequestFailed",
    "ScanProgress",
    "StaleVersion",
    "Store",
    "StoredDataError",
    "Target",
    "Throttled",
    "TokenReused",
    "TooLarge",
    "UniqueViolation",
    "Unsupported",
    "Update",
    "Upsert",
    "VerifyFinding",
    "WriteOp",
    "at",
    "check",
    "clean_up_expired",
    "codec_of",
    "create",
    "create_table_requests",
    "delete",
    "delete_all",
    "import_all",
    "increment",
    "item_size",
    "move",
    "patch",
    "put",
    "put_all",
    "set_stored_item",
    "stored_item",
    "touch",
    "update",
    "upsert",
    "utc_now",
]
