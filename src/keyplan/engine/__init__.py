"""The embedded DynamoDB: AWS's behavior on one SQLite file, in this process or behind an HTTP endpoint.

It knows nothing of the rest of Keyplan, only DynamoDB's own vocabulary. A request takes this way through it:

1. It arrives over HTTP (`wire`) or as a method call of `Engine` (`client`). `protocol` is the JSON form that the
   endpoint and boto3 sessions share; `executor` is the interface to what answers requests.
2. `regions` says which tables its caller sees. `database` has the request checked against AWS's service model
   (`service_model`, `validation`), finds its operation and runs it in a transaction.
3. The operation (`operations`) parses expressions (`expressions`) or a statement (`partiql`), computes with values and
   keys (`values`), and reads and writes the file (`storage`). `vectors` finds the nearest vectors for SearchVectors.
4. Between requests, `background` deletes expired items, trims streams and fills new indexes, and continues backups,
   restores, exports and imports. For files with items it uses `formats`, and `objects` for what stands for S3.

`operator` has what the operator of a file does with it: backups, checks, and tables as files.

Three types carry everything: `Item`, an item in the wire's JSON form, which is also how it is stored; `Transaction`,
what an operation sees of the file; and `DynamoError` (in `errors`), an answer that is an error.
"""

from typing import TYPE_CHECKING

from keyplan.engine.errors import DamagedFile, RefusedRequest

if TYPE_CHECKING:
    from keyplan.engine.client import Engine
    from keyplan.engine.client.mocking import mock
    from keyplan.engine.database import Database

__all__ = ["DamagedFile", "Database", "Engine", "RefusedRequest", "mock"]


def __getattr__(name: str) -> object:
    """Import the database and the client on first use: the client needs botocore, which is slow to import."""
    if name == "Database":
        from keyplan.engine.database import Database

        return Database
    if name == "Engine":
        from keyplan.engine.client import Engine

        return Engine
    if name == "mock":
        from keyplan.engine.client.mocking import mock

        return mock
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
