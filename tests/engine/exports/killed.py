"""A process that is killed while it exports or imports: `python -m tests.engine.exports.killed PATH S3 TASK`."""

import sys
from typing import Any

from keyplan.engine import Engine
from keyplan.engine.background import exporting, importing
from tests.engine.backups.support import item, make_indexed_table, put_items, set_recovery
from tests.engine.exports.support import ARN, parameters

TABLE = "Things"
ITEMS = 3_000


def main(path: str, s3: str, task: str) -> None:
    """Start the task, say so, and write until the end."""
    exporting.FILE_BYTES = 20_000
    importing.BATCH_RECORDS = 25
    with Engine(path, s3=s3) as engine:
        made: Any = make_indexed_table(engine, name=TABLE)
        set_recovery(engine, TABLE)
        if task == "export":
            put_items(engine, TABLE, range(ITEMS))
            made = engine.export_table_to_point_in_time(TableArn=ARN + TABLE, S3Bucket="bucket")
            print(made["ExportDescription"]["ExportArn"], flush=True)
        else:
            given: Any = {
                "S3BucketSource": {"S3Bucket": "bucket"},
                "InputFormat": "DYNAMODB_JSON",
                "TableCreationParameters": parameters("imported", "pk", "sk:N"),
            }
            print(engine.import_table(**given)["ImportTableDescription"]["ImportArn"], flush=True)
        for number in range(10**9):
            engine.put_item(TableName=TABLE, Item=item(number, changed={"BOOL": True}))


if __name__ == "__main__":
    main(*sys.argv[1:])
