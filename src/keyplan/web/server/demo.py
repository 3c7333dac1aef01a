"""Demo data: each system is filled once."""

from typing import Any

from keyplan.design import HOUSEKEEPING
from keyplan.web.system.running import Progress, Running


def filled(running: Running[Any], progress: Progress) -> bool:
    """Fill a system with demo data, unless that was done before. Returns whether it was filled now.

    If it was interrupted, the next call continues.
    """
    if running.system.demo is None:
        return False
    client: Any = running.store.client
    table = running.design.table_name(HOUSEKEEPING)
    mark = {"pk": {"S": "DEMO"}, "sk": {"S": "filled"}}
    if "Item" in client.get_item(TableName=table, Key=mark, ConsistentRead=True):
        return False
    running.system.demo(running, progress)
    client.put_item(TableName=table, Item=mark)
    return True
