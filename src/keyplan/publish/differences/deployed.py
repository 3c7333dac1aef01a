"""Tables that exist, as DynamoDB describes them."""

from collections.abc import Iterable
from typing import Any

from botocore.exceptions import ClientError

from keyplan.publish.differences.snapshots import Snapshot
from keyplan.publish.shapes import TableShape, described_shape

_MISSING = "ResourceNotFoundException"
_UNSUPPORTED = {
    *("UnknownOperationException", "UnknownOperation", "NotImplemented", "NotImplementedException", "501"),
    "ValidationException",
}


def deployed(client: object, names: Iterable[str], place: str = "deployed") -> Snapshot:
    """A snapshot of those of these tables that exist. `client` has the methods of boto3's.

    What the DynamoDB doesn't support (time to live, recovery, tags) isn't known of its tables. Raises `ClientError`.
    """
    found = (_table(client, name) for name in dict.fromkeys(names))
    return Snapshot(place, tuple(each for each in found if each is not None))


def _table(client: object, name: str) -> TableShape | None:
    of_table: Any = client
    try:
        table = of_table.describe_table(TableName=name)["Table"]
    except ClientError as error:
        if error.response["Error"]["Code"] == _MISSING:
            return None
        raise
    ttl = _described(client, "describe_time_to_live", TableName=name)
    backups = _described(client, "describe_continuous_backups", TableName=name)
    tags: list[Any] = []
    if "TableArn" in table:
        token: dict[str, str] = {}
        while True:
            page = _described(client, "list_tags_of_resource", ResourceArn=table["TableArn"], **token) or {}
            tags += page.get("Tags", ())
            if "NextToken" not in page:
                break
            token = {"NextToken": page["NextToken"]}
    return described_shape(
        table,
        None if ttl is None else ttl["TimeToLiveDescription"],
        None if backups is None else backups["ContinuousBackupsDescription"],
        tags,
    )


def _described(client: object, operation: str, **request: str) -> dict[str, Any] | None:
    """An answer; None if the DynamoDB doesn't have the operation."""
    try:
        answer: dict[str, Any] = getattr(client, operation)(**request)
        return answer
    except ClientError as error:
        if error.response["Error"]["Code"] in _UNSUPPORTED:
            return None
        raise
