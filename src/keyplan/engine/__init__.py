"""The embedded DynamoDB: AWS's behaviour on one SQLite file, in this process or behind an HTTP endpoint.

It knows nothing of the rest of Keyplan, only DynamoDB's own vocabulary. From the bottom up: `values`, `numbers` and
`keys` say what is legal and how it sorts; `storage` is the file, and a `Transaction` what an operation sees of it;
`expressions` parses and evaluates; `validation` checks requests against botocore's service model; `operations` has a
function for each operation; `streams`, `expiry` and `maintenance` are what happens beside them. A `Database` puts
these together: a request in the wire's form goes in, an answer in the wire's form comes out. On it stand the two
ways in: `client.Engine`, which has the methods of boto3's clients, and `wire`, the HTTP endpoint.

Three types carry everything: the item in the wire's JSON form (`values.Item`), which is also how it is stored; the
storage `Transaction`; and the `DynamoError`, an answer that is an error.
"""

from typing import TYPE_CHECKING

from keyplan.engine.errors import DamagedFile

if TYPE_CHECKING:
    from keyplan.engine.client import Engine

__all__ = ["DamagedFile", "Engine"]


def __getattr__(name: str) -> object:
    """The client is imported when it is asked for: it needs botocore, which an endpoint starts much faster without."""
    if name == "Engine":
        from keyplan.engine.client import Engine

        return Engine
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
