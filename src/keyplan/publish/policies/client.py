"""`PermittedClient`: a client that may do only what policies allow."""

from collections.abc import Iterable
from typing import Any

from botocore.exceptions import ClientError

from keyplan.publish.policies.evaluation import AccessRequest, Document, is_allowed
from keyplan.publish.policies.requests import Authorization, Partitions

DENIED = "AccessDeniedException"
_PREFIX = "arn:aws:dynamodb:us-east-1:123456789012"


class PermittedClient:
    """A client of DynamoDB or its streams in boto3's shape, by which a test can try policies.

    What the policies don't allow raises the `ClientError` that AWS would answer with; everything else is passed to
    `client`. Denied requests are kept in `denied`, and allowed ones in `allowed`.
    """

    def __init__(self, client: object, *documents: Document) -> None:
        self._client = client
        self._documents = documents
        self._known: dict[str, Partitions] = {}
        self._authorization = Authorization(_PREFIX, self._partitions)
        self.allowed: list[AccessRequest] = []
        self.denied: list[AccessRequest] = []

    def __getattr__(self, operation: str) -> Any:  # noqa: ANN401 - a method of the client
        if operation.startswith("_"):
            raise AttributeError(operation)
        method = getattr(self._client, operation)
        if not callable(method) or operation == "close":  # such as `exceptions`
            return method

        def call(**parameters: Any) -> Any:  # noqa: ANN401 - as the client's method
            needed = list(self._authorization.needed(operation, parameters))
            self._check(operation, needed)
            answer = method(**parameters)
            self._authorization.answered(operation, parameters, answer)
            return answer

        return call

    def _check(self, operation: str, needed: Iterable[AccessRequest]) -> None:
        for each in needed:
            if not is_allowed(each, self._documents):
                self.denied.append(each)
                message = (
                    f"User is not authorized to perform: {each.action} on resource: {each.resource} because no "
                    "identity-based policy allows the action"
                )
                raise ClientError({"Error": {"Code": DENIED, "Message": message}}, operation)
            self.allowed.append(each)

    def _partitions(self, table: str) -> Partitions:
        if table not in self._known:
            client: Any = self._client
            described = client.describe_table(TableName=table)["Table"]
            indexes = [
                *(described.get("GlobalSecondaryIndexes") or ()),
                *(described.get("LocalSecondaryIndexes") or ()),
            ]
            found: dict[str | None, tuple[str, ...]] = {None: _hash(described)}
            self._known[table] = Partitions(found | {each["IndexName"]: _hash(each) for each in indexes})
        return self._known[table]


def _hash(described: dict[str, Any]) -> tuple[str, ...]:
    return tuple(each["AttributeName"] for each in described["KeySchema"] if each["KeyType"] == "HASH")
