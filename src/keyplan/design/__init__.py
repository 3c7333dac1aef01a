"""Declare a design: its tables, keys, entities, what must change together, access patterns and departures.

A design is plain data. It does no I/O, and doesn't know who reads it. There are three main types. An `Entity` is a
pydantic model that knows how its keys are built (`EntitySpec`) and which other items depend on its items (guards,
mirrors, derived items, counters, parents). An `Op[T]` says what to read, in terms of entities and fields. A `Design`
combines tables, entities and named access patterns. Every pattern is evaluated once at import, so a pattern that the
keys can't answer, or that DynamoDB would reject, fails there, with the place and what to do about it.

Its folders build on each other in this order; a table in `tests/test_architecture.py` says which may import which.

| folder or module | what it is |
| --- | --- |
| `errors` | errors in declarations and in values |
| `compat` | pydantic's private interfaces, and the public way beside each |
| `words` | what is expected, who reads streams, and which findings are accepted |
| `values` | types of values: annotations, limits, ids, texts |
| `keys` | keys as text: templates and formats |
| `tables` | tables and indexes |
| `fields` | fields that are declared once |
| `entities` | entities, their limits, and what must change together with their items |
| `operations` | what to read, as plain data |
| `designs` | access patterns, and checks of a design as a whole |
| `examples` | example items and arguments; a public package of its own |

What systems use is exported here. `data`, `review`, `publish`, `capacity` and `adopt` work with every detail of a
declaration, so they may import from the folders.
"""

from pydantic import Secret

from keyplan.design.designs.patterns import Departure, Design, Parameter, Pattern, departure, job, pattern
from keyplan.design.entities.effects import Guard, Ref, belongs_to, counts, derived, mirror, ref, reference, unique
from keyplan.design.entities.entity import Entity
from keyplan.design.entities.joint_limits import joint_limits_of, limits
from keyplan.design.entities.large_values import NotLoaded, large
from keyplan.design.entities.refusals import Refusal, RuleKind, declared_refusal
from keyplan.design.entities.vectors import vector
from keyplan.design.errors import DesignError, InvalidValue, collecting
from keyplan.design.fields.common_types import LINK, ImageLink, Link, UserId
from keyplan.design.fields.declarations import (
    CREATE_ONLY,
    HIDDEN,
    OPEN,
    READ_ONLY,
    Count,
    Created,
    CreatedAt,
    Fields,
    Id,
    NoSeparator,
    Stamped,
    Ttl,
    Updated,
    UpdatedAt,
    Version,
    Versioned,
    about,
    access_of,
    created,
    label_of,
    on_top,
    public,
    public_name,
    stored,
    takes_none,
    updated,
    values_in_common,
)
from keyplan.design.keys.formats import timestamp_text
from keyplan.design.operations.bounds import at_least, at_most, less_than, more_than, starting, within
from keyplan.design.operations.conditions import absent, attribute_type, between, contains, exists, not_, one_of, size
from keyplan.design.operations.item_collections import Aggregate, Aggregated, aggregate, collection
from keyplan.design.operations.item_reads import (
    BatchGet,
    Get,
    GuardTaken,
    Lookup,
    Together,
    TransactGet,
    batch_get,
    entity_of,
    get,
    lookup,
    taken,
    there,
    together,
    transact_get,
)
from keyplan.design.operations.nearest import Near, Nearest, nearest
from keyplan.design.operations.queries import (
    Follow,
    ItemCount,
    Merge,
    Query,
    Scan,
    count,
    follow,
    merge,
    query,
    scan,
)
from keyplan.design.operations.reading import BatchOp, ItemOp, ListOp, Op, OrderedList, Page, Unreadable
from keyplan.design.operations.rewrites import Rewrite, rekey, rewrite
from keyplan.design.tables.attributes import ALL, KEYS_ONLY, include
from keyplan.design.tables.tables import HOUSEKEEPING, KeyAccess, Table, index, key, local
from keyplan.design.tables.vector_indexes import VectorAccess, vector_index
from keyplan.design.values.aliases import mapped_type
from keyplan.design.values.annotations import plain_type
from keyplan.design.values.emails import address_key, check_address
from keyplan.design.values.ids import IdFactory, ids_from, make_id, new_id, new_ulid
from keyplan.design.values.limits import CHECKED_ON_WRITE, Limit, limit
from keyplan.design.values.relaxed import AsStored, relaxed_field
from keyplan.design.values.storable import classes_in
from keyplan.design.values.text import OneLine
from keyplan.design.words import Accepted, Consumer, Expected, accept, consumer, expect

__all__ = [
    "ALL",
    "CHECKED_ON_WRITE",
    "CREATE_ONLY",
    "HIDDEN",
    "HOUSEKEEPING",
    "KEYS_ONLY",
    "LINK",
    "OPEN",
    "READ_ONLY",
    "Accepted",
    "Aggregate",
    "Aggregated",
    "AsStored",
    "BatchGet",
    "BatchOp",
    "Consumer",
    "Count",
    "Created",
    "CreatedAt",
    "Departure",
    "Design",
    "DesignError",
    "Entity",
    "Expected",
    "Fields",
    "Follow",
    "Get",
    "Guard",
    "GuardTaken",
    "Id",
    "IdFactory",
    "ImageLink",
    "InvalidValue",
    "ItemCount",
    "ItemOp",
    "KeyAccess",
    "Limit",
    "Link",
    "ListOp",
    "Lookup",
    "Merge",
    "Near",
    "Nearest",
    "NoSeparator",
    "NotLoaded",
    "OneLine",
    "Op",
    "OrderedList",
    "Page",
    "Parameter",
    "Pattern",
    "Query",
    "Ref",
    "Refusal",
    "Rewrite",
    "RuleKind",
    "Scan",
    "Secret",
    "Stamped",
    "Table",
    "Together",
    "TransactGet",
    "Ttl",
    "Unreadable",
    "Updated",
    "UpdatedAt",
    "UserId",
    "VectorAccess",
    "Version",
    "Versioned",
    "about",
    "absent",
    "accept",
    "access_of",
    "address_key",
    "aggregate",
    "at_least",
    "at_most",
    "attribute_type",
    "batch_get",
    "belongs_to",
    "between",
    "check_address",
    "classes_in",
    "collecting",
    "collection",
    "consumer",
    "contains",
    "count",
    "counts",
    "created",
    "declared_refusal",
    "departure",
    "derived",
    "entity_of",
    "exists",
    "expect",
    "follow",
    "get",
    "ids_from",
    "include",
    "index",
    "job",
    "joint_limits_of",
    "key",
    "label_of",
    "large",
    "less_than",
    "limit",
    "limits",
    "local",
    "lookup",
    "make_id",
    "mapped_type",
    "merge",
    "mirror",
    "more_than",
    "nearest",
    "new_id",
    "new_ulid",
    "not_",
    "on_top",
    "one_of",
    "pattern",
    "plain_type",
    "public",
    "public_name",
    "query",
    "ref",
    "reference",
    "rekey",
    "relaxed_field",
    "rewrite",
    "scan",
    "size",
    "starting",
    "stored",
    "taken",
    "takes_none",
    "there",
    "timestamp_text",
    "together",
    "transact_get",
    "unique",
    "updated",
    "values_in_common",
    "vector",
    "vector_index",
    "within",
]
