"""Demo data: each system is filled once."""

from typing import Any

from keyplan.data import put
from keyplan.design import HOUSEKEEPING, Entity, get, key
from keyplan.web.system.running import Progress, Running


class DemoMark(Entity, table=HOUSEKEEPING):
    """Says that a system has its demo data."""

    primary = key("DEMO", "filled")


def filled(running: Running[Any], progress: Progress) -> bool:
    """Fill a system with demo data, unless that was done before. Returns whether it was filled now.

    If it was interrupted, the next call continues.
    """
    if running.system.demo is None:
        return False
    if running.store.run(get(DemoMark, consistent=True)) is not None:
        return False
    running.system.demo(running, progress)
    running.store.run(put(DemoMark()))
    return True
