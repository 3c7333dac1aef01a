"""A process that is killed while it backs up or restores: `python -m tests.engine.backups.killed PATH TASK`."""

import sys
import time

from keyplan.engine import Engine
from keyplan.engine.storage import copies
from tests.engine.backups.support import item, make_indexed_table, put_items

TABLE = "Things"
ITEMS = 2_000


def main(path: str, task: str) -> None:
    """Fill a table, start the task, say so, and write until the end."""
    copies.STEP_ROWS = copies.SMALL_ROWS = 20  # a hundred steps
    with Engine(path) as engine:
        make_indexed_table(engine, name=TABLE)
        put_items(engine, TABLE, range(ITEMS))
        if task == "backup":
            print(engine.create_backup(TableName=TABLE, BackupName="killed")["BackupDetails"]["BackupArn"], flush=True)
        else:
            restore(engine)
        for number in range(10**9):
            engine.put_item(TableName=TABLE, Item=item(number, changed={"BOOL": True}))
            engine.delete_item(TableName=TABLE, Key={name: item(number * 7)[name] for name in ("pk", "sk")})


def restore(engine: Engine) -> None:
    engine.update_continuous_backups(
        TableName=TABLE, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    second = int(time.time())
    time.sleep(second + 1 - time.time())
    put_items(engine, TABLE, range(ITEMS, ITEMS + 200))
    engine.restore_table_to_point_in_time(
        SourceTableName=TABLE,
        TargetTableName="restored",
        RestoreDateTime=second,  # type: ignore[arg-type]
    )
    print("restored", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
