"""What an access pattern asks DynamoDB for, as text: without the values of examples, and with names spelled out."""

import re
from collections.abc import Mapping
from typing import Any

from keyplan.data import DataError, Store
from keyplan.design import Design, DesignError, InvalidValue, Pattern
from keyplan.design.examples import example_arguments
from keyplan.publish.shapes import logical_id

_NAME, _VALUE = re.compile(r"#\w+"), re.compile(r":\w+")
_EXPRESSIONS = {
    "KeyConditionExpression": "where",
    "FilterExpression": "filter",
    "SearchConditionExpression": "where",
    "ProjectionExpression": "only",
}


def requests_text(design: Design, name: str, pattern: Pattern[..., Any]) -> tuple[str, ...]:
    """The first requests of a pattern; empty if no example can be made of its arguments."""
    store = Store(design, None, secret=b"example")
    try:
        op = getattr(design, name)(**example_arguments(pattern, design=design))
        requests = store.requests(op)
    except (DesignError, InvalidValue, DataError):
        return ()
    ids = {actual: logical_id(declared) for declared, actual in design.table_names.items()}
    return tuple(dict.fromkeys(_text(operation, request, ids) for operation, request in requests))


def _text(operation: str, request: Mapping[str, Any], ids: Mapping[str, str]) -> str:
    action = "".join(word.capitalize() for word in operation.split("_"))
    if "RequestItems" in request:
        return f"{action} {', '.join(ids[each] for each in request['RequestItems'])}"
    if "TransactItems" in request:
        tables = dict.fromkeys(ids[part["TableName"]] for each in request["TransactItems"] for part in each.values())
        return f"{action} {', '.join(tables)}"
    index = f".{request['IndexName']}" if "IndexName" in request else ""
    parts = [f"{action} {ids[request['TableName']]}{index}"]
    names = request.get("ExpressionAttributeNames", {})
    for member, word in _EXPRESSIONS.items():
        if member in request:
            spelled = _NAME.sub(lambda match: names.get(match[0], match[0]), request[member])
            parts.append(f"{word} {_VALUE.sub('?', spelled)}")
    if request.get("ScanIndexForward") is False:
        parts.append("backward")
    if request.get("ConsistentRead"):
        parts.append("consistent")
    if "Select" in request:
        parts.append(f"select {request['Select'].lower()}")
    if "Limit" in request:
        parts.append(f"limit {request['Limit']}")
    return ", ".join(parts)
