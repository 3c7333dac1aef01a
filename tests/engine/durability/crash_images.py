"""A program that writes items and keeps the files as a kill would leave them: `... crash_images FOLDER SEED COUNT`.

Main file and log are copied at random writes to the disk, before, after and in the middle of them. Each image
is a pair of files `N.main` and `N.wal`, and `images.json` has for each of them how many items were acknowledged, and
where the database was closed in an orderly way before.
"""

import json
import os
import random
import sys
import threading
from pathlib import Path

import apsw
import apsw.sqlite_extra

FOLDER = Path(sys.argv[1])
CHANCE = random.Random(int(sys.argv[2]))
COUNT = int(sys.argv[3])
PATH = FOLDER / "data.db"
TABLE = "Counted"

writing = threading.Lock()
"""The thread that makes checkpoints writes beside the one that commits."""
images: list[int] = []
acknowledged = 0


def take() -> None:
    number = len(images)
    for suffix, kind in (("", "main"), ("-wal", "wal")):
        file = Path(f"{PATH}{suffix}")
        (FOLDER / f"{number}.{kind}").write_bytes(file.read_bytes() if file.exists() else b"")
    images.append(acknowledged)


class File(apsw.VFSFile):
    """A file whose writes are observed."""

    def __init__(self, name: object, flags: list[int]) -> None:
        super().__init__("unix", name, flags)  # type: ignore[arg-type]
        self._ours = bool(flags[0] & (apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_WAL))

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        # Copying a page into the main file is rare, and what this is about.
        # Copying a page into the main file is rare, and what this is about.
        likely = 0.3 if len(data) == 4096 and offset % 4096 == 0 else 0.02
        with writing:
            if self._ours and PATH.exists() and CHANCE.random() < likely:
                if CHANCE.random() < 0.3 and len(data) > 1:
                    super().xWrite(data[: len(data) // 2], offset)
                take()
            super().xWrite(data, offset)


class Files(apsw.VFS):
    """The operating system's files, observed."""

    def __init__(self) -> None:
        super().__init__("observed", "unix", makedefault=True)

    def xOpen(self, name: object, flags: list[int]) -> File:  # noqa: N802 - SQLite's name
        return File(name, flags)


def main() -> None:
    global acknowledged
    files = Files()
    from keyplan.engine import Engine
    from keyplan.engine.storage import wal_checkpoints

    wal_checkpoints.CHECKPOINT_PAGES = 60
    wal_checkpoints.QUIET_SECONDS = 0.001
    wal_checkpoints.OPENING_SECONDS = 0.002
    number = 0
    while number < COUNT:
        with Engine(str(PATH)) as engine:
            if not number:
                engine.create_table(
                    TableName=TABLE,
                    BillingMode="PAY_PER_REQUEST",
                    KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                    AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "other")],
                    GlobalSecondaryIndexes=[
                        {
                            "IndexName": "by-other",
                            "KeySchema": [{"AttributeName": "other", "KeyType": "HASH"}],
                            "Projection": {"ProjectionType": "KEYS_ONLY"},
                        }
                    ],
                )
            for _ in range(CHANCE.choice((1, 30, 150))):
                number += 1
                name = f"{CHANCE.random()}-{number}"
                engine.transact_write_items(
                    TransactItems=[
                        {
                            "Put": {
                                "TableName": TABLE,
                                "Item": {
                                    "pk": {"S": name},
                                    "other": {"S": name[::-1]},
                                    "text": {"S": "x" * CHANCE.randrange(3000)},
                                },
                            }
                        },
                        {"Put": {"TableName": TABLE, "Item": {"pk": {"S": "counter"}, "n": {"N": str(number)}}}},
                    ]
                )
                acknowledged = number
            with writing:
                take()
        with writing:
            take()
    del files
    (FOLDER / "images.json").write_text(json.dumps(images))
    sys.stdout.flush()
    os._exit(0)


main()
