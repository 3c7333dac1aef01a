"""The HTTP endpoint: DynamoDB and DynamoDB Streams on one port, for every AWS SDK and the AWS CLI.

`server` has the endpoint itself and what runs it; `connection` is one client's connection, from bytes to requests and
back; `http` makes response heads and compresses bodies; `sigv4` checks signatures; `hosts` refuses requests from web
pages. It knows the JSON protocol
(`keyplan.engine.protocol`) and any `LoopExecutor` that answers the requests; it doesn't know the database.

The main types are `Server`, which runs on an event loop, and `Credentials`. `serve_in_thread` and `run` bring the
event loop.
"""

from keyplan.engine.wire.server import Server, run, serve_in_thread
from keyplan.engine.wire.sigv4 import Credentials

__all__ = ["Credentials", "Server", "run", "serve_in_thread"]
