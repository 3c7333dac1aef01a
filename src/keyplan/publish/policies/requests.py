"""What a call of a DynamoDB client needs to be allowed: actions on resources, with the partition keys in the request.

AWS: "Actions, resources, and condition keys for Amazon DynamoDB" lists the actions, and "Using IAM with DynamoDB
transactions" which of them the parts of a transaction need. A query is about the partition key that its key condition
names, in the table or in the index that it reads.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keyplan.publish.policies.evaluation import AccessRequest

LEADING_KEYS = "dynamodb:LeadingKeys"

Call = Mapping[str, Any]
"""The parameters of a call."""

_EQUAL = re.compile(r"([#\w.:-]+)\s*=\s*(:\w+)")
_PART_ACTIONS = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
    "Get": "GetItem",
}
_WITHOUT_RESOURCE = ("list_tables", "describe_limits", "list_streams")


@dataclass(frozen=True)
class Partitions:
    """The hash attributes of a table and its indexes, by the name of the index; None stands for the table."""

    attributes: Mapping[str | None, tuple[str, ...]]


class Authorization:
    """Works out what calls need to be allowed, with ARNs of one account and region."""

    def __init__(self, arn_prefix: str, partitions: Callable[[str], Partitions]) -> None:
        self._prefix = arn_prefix
        self._partitions = partitions
        self._streams: dict[str, str] = {}
        """The stream that each iterator reads."""

    def needed(self, operation: str, call: Call) -> Iterator[AccessRequest]:
        """What a call needs. All of it must be allowed."""
        match operation:
            case "get_item" | "delete_item" | "update_item":
                yield self._item(_action(operation), call["TableName"], call["Key"])
            case "put_item":
                yield self._item("PutItem", call["TableName"], call["Item"])
            case "query":
                yield self._query(call)
            case "scan":
                yield self._request("Scan", call["TableName"], call.get("IndexName"))
            case "search_vectors":
                yield self._request("SearchVectors", call["TableName"], call["IndexName"])
            case "batch_get_item":
                for table, wanted in call["RequestItems"].items():
                    yield self._items("BatchGetItem", table, wanted["Keys"])
            case "batch_write_item":
                for table, writes in call["RequestItems"].items():
                    items = [
                        each["Item"] if "Item" in each else each["Key"] for write in writes for each in write.values()
                    ]
                    yield self._items("BatchWriteItem", table, items)
            case "transact_write_items" | "transact_get_items":
                for each in call["TransactItems"]:
                    for kind, part in each.items():
                        yield self._item(_PART_ACTIONS[kind], part["TableName"], part.get("Key") or part["Item"])
            case _ if operation in _WITHOUT_RESOURCE:
                yield AccessRequest(f"dynamodb:{_action(operation)}", "*")
            case "describe_stream" | "get_shard_iterator":
                yield AccessRequest(f"dynamodb:{_action(operation)}", call["StreamArn"])
            case "get_records":
                yield AccessRequest("dynamodb:GetRecords", self._streams[call["ShardIterator"]])
            case _ if "TableName" in call:
                yield self._request(_action(operation), call["TableName"])
            case _:
                raise ValueError(f"it isn't known what {operation} needs to be allowed")

    def answered(self, operation: str, call: Call, answer: Mapping[str, Any]) -> None:
        """Remember which stream the iterators in an answer read."""
        if operation == "get_shard_iterator":
            self._streams[answer["ShardIterator"]] = call["StreamArn"]
        elif operation == "get_records" and answer.get("NextShardIterator"):
            self._streams[answer["NextShardIterator"]] = self._streams[call["ShardIterator"]]

    def _item(self, action: str, table: str, item: Mapping[str, Any]) -> AccessRequest:
        return self._items(action, table, [item])

    def _items(self, action: str, table: str, items: list[Mapping[str, Any]]) -> AccessRequest:
        (name,) = self._partitions(table).attributes[None]
        return self._request(action, table, keys=[_text(item[name]) for item in items])

    def _query(self, call: Call) -> AccessRequest:
        index = call.get("IndexName")
        names, values = call.get("ExpressionAttributeNames", {}), call.get("ExpressionAttributeValues", {})
        equal = {names.get(name, name): value for name, value in _EQUAL.findall(call.get("KeyConditionExpression", ""))}
        wanted = self._partitions(call["TableName"]).attributes[index]
        missing = [name for name in wanted if name not in equal]
        if missing:
            raise ValueError(f"the query's KeyConditionExpression doesn't name {', '.join(missing)}")
        # A key of several attributes has no single leading key, and AWS doesn't say what it would be.
        keys = [_text(values[equal[wanted[0]]])] if len(wanted) == 1 else None
        return self._request("Query", call["TableName"], index, keys)

    def _request(
        self, action: str, table: str, index: str | None = None, keys: list[str] | None = None
    ) -> AccessRequest:
        resource = f"{self._prefix}:table/{table}" + (f"/index/{index}" if index else "")
        return AccessRequest(f"dynamodb:{action}", resource, {} if keys is None else {LEADING_KEYS: keys})


def _action(operation: str) -> str:
    return "".join(word.capitalize() for word in operation.split("_"))


def _text(value: Mapping[str, Any]) -> str:
    """A key's value as a condition key has it."""
    (content,) = value.values()
    return content if isinstance(content, str) else str(content)
