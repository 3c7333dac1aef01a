"""`Engine`: the embedded DynamoDB as a Python object with the methods of boto3's clients.

`engine` has the class; `methods` makes its methods from botocore's model; `params` turns a call's arguments into a
request and `shapes` an answer into the return value; `exceptions` are those of boto3's clients; `sessions` gives real
boto3 and aiobotocore sessions that the engine answers, and `mocking` has it answer all of them, both by way of
`in_process`. `typed` is for type checkers only. It knows the database, the service
model, the readers of requests and the JSON protocol, and is the only folder that imports botocore and boto3.

The main type is `Engine`.
"""

from keyplan.engine.client.engine import Engine

__all__ = ["Engine"]
