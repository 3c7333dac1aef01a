"""Random writes, with backups, restores and exports in any state of progress between them, compared with a model.

The model is the content of the table after each write. A step of maintenance copies two rows here, so that writes come
between all of them.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyplan.engine import Engine
from keyplan.engine.background import jobs
from keyplan.engine.operations.backups import restores
from keyplan.engine.operations.exports import collecting, export_requests
from keyplan.engine.operations.exports.collecting import collect_some
from keyplan.engine.operations.exports.export_requests import EXPORT
from keyplan.engine.operations.jobs import all_jobs
from keyplan.engine.storage import copies
from tests.engine.backups.support import GSI, check_indexes, contents
from tests.engine.exports.support import ARN, data_of, items_of
from tests.engine.support import Clock, index, make_table

TABLE = "things"
START = 1_700_000_000
LONG = bool(os.environ.get("KEYPLAN_TEST_LONG"))

keys = st.integers(0, 6)
Step = tuple[str, Any]
steps = st.one_of(
    st.tuples(st.just("put"), keys),
    st.tuples(st.just("put"), keys),
    st.tuples(st.just("update"), keys),
    st.tuples(st.just("delete"), keys),
    st.tuples(st.just("batch"), st.lists(keys, min_size=1, max_size=7, unique=True)),
    st.tuples(st.just("wait"), st.sampled_from([0.3, 0.7, 1.0, 2.5])),
    st.tuples(st.just("wait"), st.just(1.0)),
    st.tuples(st.just("back up"), st.none()),
    st.tuples(st.just("restore"), st.integers(0, 8)),
    st.tuples(st.just("export"), st.integers(0, 8)),
    st.tuples(st.just("export changes"), st.tuples(st.integers(1, 6), st.integers(1, 4))),
    st.tuples(st.just("work"), st.none()),
    st.tuples(st.just("work"), st.none()),
)


class World:
    """A table, its content after each write, and what backups and restores must have."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self.engine, self.clock = engine, clock
        lsi = index("by-rank", "pk", "rank:N", projection="KEYS_ONLY")
        make_table(engine, "pk", "sk:N", name=TABLE, gsis=[GSI], lsis=[lsi])
        engine.update_continuous_backups(
            TableName=TABLE, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        self.now: dict[int, dict[str, Any]] = {}
        self.moments: list[tuple[int, list[dict[str, Any]]]] = [(START, [])]
        self.backups: list[tuple[str, list[dict[str, Any]]]] = []
        self.tables: list[tuple[str, list[dict[str, Any]]]] = []
        self.exports: list[tuple[str, list[dict[str, Any]]]] = []
        self.changes: list[tuple[str, list[dict[str, Any]], list[dict[str, Any]]]] = []
        self.writes = 0

    def run(self, kind: str, argument: Any) -> None:
        match kind:
            case "put":
                self.now[argument] = self.item(argument)
                self.engine.put_item(TableName=TABLE, Item=self.now[argument])
            case "update":
                self.update(argument)
            case "delete":
                self.now.pop(argument, None)
                self.engine.delete_item(TableName=TABLE, Key=key(argument))
            case "batch":
                self.now |= {each: self.item(each) for each in argument}
                puts: Any = [{"PutRequest": {"Item": self.now[each]}} for each in argument]
                self.engine.batch_write_item(RequestItems={TABLE: puts})
            case "wait":
                self.clock.now += argument
            case "back up":
                self.back_up()
            case "restore":
                self.restore(argument)
            case "export":
                self.export(argument)
            case "export changes":
                self.export_changes(*argument)
            case "work":
                self.work()
        if kind in ("put", "update", "delete", "batch"):
            self.moments.append((int(self.clock.now), self.items()))

    def item(self, number: int) -> dict[str, Any]:
        self.writes += 1
        groups = {"grp": {"S": f"g{self.writes % 3}"}} if self.writes % 4 else {}
        return {**key(number), **groups, "rank": {"N": str(self.writes % 5)}, "write": {"N": str(self.writes)}}

    def update(self, number: int) -> None:
        self.writes += 1
        changed = {"write": {"N": str(self.writes)}, "rank": {"N": str(self.writes % 7)}}
        self.now[number] = {**self.now.get(number, key(number)), **changed}
        self.engine.update_item(
            TableName=TABLE,
            Key=key(number),
            UpdateExpression="SET #w = :w, #r = :r",
            ExpressionAttributeNames={"#w": "write", "#r": "rank"},
            ExpressionAttributeValues={":w": changed["write"], ":r": changed["rank"]},
        )

    def items(self) -> list[dict[str, Any]]:
        return sorted(({name: each[name] for name in sorted(each)} for each in self.now.values()), key=repr)

    def back_up(self) -> None:
        if any(job["kind"] == "backup" for job in self.jobs().values()):
            return
        made = self.engine.create_backup(TableName=TABLE, BackupName="made")["BackupDetails"]
        self.backups.append((made["BackupArn"], self.items()))

    def restore(self, seconds: int) -> None:
        """Start restoring to so many seconds ago, or to the beginning."""
        second = max(START, int(self.clock.now) - seconds)
        target = f"restored-{len(self.tables)}"
        self.engine.restore_table_to_point_in_time(
            SourceTableName=TABLE,
            TargetTableName=target,
            RestoreDateTime=second,  # type: ignore[arg-type]
        )
        self.tables.append((target, self.items_before(second + 1)))

    def items_before(self, second: int) -> list[dict[str, Any]]:
        return next((items for at, items in reversed(self.moments) if at < second), [])

    def export(self, seconds: int) -> None:
        """Start a full export of so many seconds ago, or of the beginning."""
        second = max(START, int(self.clock.now) - seconds)
        self.exports.append((self.start_export(ExportTime=second), self.items_before(second + 1)))

    def export_changes(self, seconds: int, length: int) -> None:
        """Start an export of what changed in some seconds."""
        start = max(START, int(self.clock.now) - seconds)
        end = min(start + length, int(self.clock.now))
        if end > start:
            period = {"ExportFromTime": start, "ExportToTime": end}
            arn = self.start_export(ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=period)
            self.changes.append((arn, self.items_before(start), self.items_before(end)))

    def start_export(self, **request: Any) -> str:
        made = self.engine.export_table_to_point_in_time(TableArn=ARN + TABLE, S3Bucket="bucket", **request)
        return made["ExportDescription"]["ExportArn"]

    def jobs(self) -> dict[str, dict[str, object]]:
        return dict(self.engine.database._storage.read(all_jobs))

    def work(self) -> None:
        """One step of each job."""
        for name, job in self.jobs().items():
            step = collect_some if job["kind"] == EXPORT else jobs.STEPS[str(job["kind"])]
            self.engine.database._storage.write(partial(step, name=name))

    def check_exports(self, bucket: Path) -> None:
        for arn, expected in self.exports:
            found = items_of(data_of(bucket, dict(self.engine.describe_export(ExportArn=arn)["ExportDescription"])))
            assert sorted(({name: each[name] for name in sorted(each)} for each in found), key=repr) == expected
        for arn, before, after in self.changes:
            described = dict(self.engine.describe_export(ExportArn=arn)["ExportDescription"])
            records = [json.loads(line) for line in data_of(bucket, described)]
            found_changes = {place(each["Keys"]): (each.get("OldImage"), each.get("NewImage")) for each in records}
            old, new = ({place(each): each for each in items} for items in (before, after))
            for where in old.keys() | new.keys() | found_changes.keys():
                images = old.get(where), new.get(where)
                # An item that was changed back is one of the changes too.
                assert found_changes.get(where, (None, None) if images[0] != images[1] else images) == images

    def check(self) -> None:
        self.engine.database._maintenance._jobs.run(lambda: False)
        for number, (arn, expected) in enumerate(self.backups):
            self.engine.restore_table_from_backup(TargetTableName=f"backup-{number}", BackupArn=arn)
            self.tables.append((f"backup-{number}", expected))
        self.engine.database._maintenance._jobs.run(lambda: False)
        assert not self.jobs()
        for table, expected in self.tables:
            found = [{name: each[name] for name in sorted(each)} for each in contents(self.engine, table)]
            assert sorted(found, key=repr) == expected, table
            check_indexes(self.engine, table)


def place(item: dict[str, Any]) -> int:
    return int(item["sk"]["N"])


def key(number: int) -> dict[str, Any]:
    return {"pk": {"S": f"p{number % 2}"}, "sk": {"N": str(number)}}


@contextmanager
def small_steps() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copies, "STEP_ROWS", 2)
        patch.setattr(copies, "SMALL_ROWS", 2)
        patch.setattr(restores, "FEW_CHANGES", 1)
        patch.setattr(collecting, "STEP_ROWS", 2)
        patch.setattr(export_requests, "SHORTEST_SECONDS", 1)
        patch.setattr(jobs, "PAUSE_SECONDS", 0)
        yield


@settings(max_examples=400 if LONG else 40, deadline=None)
@given(st.lists(steps, min_size=20, max_size=60))
def test_moments(made: list[Step]) -> None:
    clock = Clock(START)
    with small_steps(), TemporaryDirectory() as folder, Engine(clock=clock, s3=folder) as engine:
        bucket = Path(folder) / "bucket"
        bucket.mkdir()
        engine.database._maintenance.start = lambda: None  # type: ignore[method-assign]
        world = World(engine, clock)
        for kind, argument in made:
            world.run(kind, argument)
        world.check()
        world.check_exports(bucket)
