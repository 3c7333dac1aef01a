"""Runs the jobs of imports and bulk puts: reads files, and has their items written in batches."""

import gzip
import hashlib
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import cast

import orjson

from keyplan.engine.errors import DynamoError
from keyplan.engine.formats.lines import BadFile, BadRecord, Compression, Lines
from keyplan.engine.formats.records import ItemRecord, records
from keyplan.engine.objects import ObjectStore, StoredObject, StoreError
from keyplan.engine.operations.imports import bulk_put_items, import_table
from keyplan.engine.operations.imports.batches import Batch, Position
from keyplan.engine.operations.jobs import get_job
from keyplan.engine.storage.catalog import Table
from keyplan.engine.storage.records import Record, get_record
from keyplan.engine.storage.storage import Storage
from keyplan.engine.storage.transaction import Transaction

BATCH_RECORDS = 50
BATCH_BYTES = 100_000
MAXIMUM_OBJECTS = 50_000
REPORT_LINES = 10_000
"""Items in one file of a report."""


class Source:
    """The objects that an import reads."""

    def __init__(
        self, store: ObjectStore, place: dict[str, str], kind: str, compression: str, csv: dict[str, object]
    ) -> None:
        self._store, self._bucket, self._prefix = store, place["S3Bucket"], place.get("S3KeyPrefix", "")
        self._kind, self._compression = kind, cast(Compression, compression)
        self._csv = csv

    def objects(self) -> list[StoredObject]:
        found = []
        for each in self._store.objects(self._bucket, self._prefix):
            found.append(each)
            if len(found) > MAXIMUM_OBJECTS:
                raise StoreError("S3TooManyObjects", f"There are more than {MAXIMUM_OBJECTS} objects to read")
        if not found:
            raise StoreError("S3NoSuchKey", f"There is no object whose key starts with {self._prefix!r}")
        return found

    def batches(self, position: Position, types: dict[str, str]) -> Iterator[Batch]:
        """Yield the batches from a position on."""
        for found in self.objects():
            if found.key > position["done"]:
                for batch in self._batches_of(found.key, position, types):
                    position = batch.position
                    yield batch

    def _batches_of(self, key: str, start: Position, types: dict[str, str]) -> Iterator[Batch]:
        skip, before = start["records"], start["done_bytes"]
        with closing(self._store.open(self._bucket, key)) as file:
            lines = Lines(file, self._compression)
            taken: list[ItemRecord | BadRecord] = []
            marked = 0
            for number, record in enumerate(self._records(lines, types)):
                if number < skip:
                    marked = lines.bytes
                    continue
                taken.append(record)
                if len(taken) >= BATCH_RECORDS or lines.bytes - marked >= BATCH_BYTES:
                    following: Position = {**start, "records": start["records"] + len(taken)}
                    yield Batch(key, start, taken, following, before + lines.bytes)
                    start, taken, marked = following, [], lines.bytes
            end: Position = {"done": key, "done_bytes": before + lines.bytes, "records": 0}
            yield Batch(key, start, taken, end, before + lines.bytes)

    def _records(self, lines: Lines, types: dict[str, str]) -> Iterator[ItemRecord | BadRecord]:
        """Yield the records of a file; if the rest of it can't be read, the last one says so."""
        try:
            yield from records(
                lines,
                self._kind,
                delimiter=cast(str, self._csv.get("Delimiter", ",")),
                header=cast("list[str] | None", self._csv.get("HeaderList")),
                types=types,
            )
        except BadFile as error:
            yield BadRecord(str(error))


class ImportRun:
    """An import in this process; the position of the next batch is in the job."""

    def __init__(self, storage: Storage, store: ObjectStore, name: str) -> None:
        self._storage, self._store, self._name = storage, store, name
        self._batches: Iterator[Batch] | None = None

    def step(self) -> bool:
        """Import one batch; return whether there is more to do."""
        try:
            if self._batches is None:
                self._batches = self._open()
            batch = next(self._batches, None)
        except StoreError as error:
            self._end((error.code, error.message))
            return False
        if batch is None:
            self._end(None)
            return False
        return self._storage.write(partial(import_table.import_batch, name=self._name, batch=batch))

    def _open(self) -> Iterator[Batch]:
        def read(transaction: Transaction) -> tuple[Record, Record, Table] | None:
            job = get_job(transaction, self._name)
            if job is None:
                return None
            described = import_table.find_import(transaction, cast(str, job["import"]))
            return job, described, transaction.catalog.tables[cast(str, job["target"])]

        found = self._storage.read(read)
        if found is None:
            return iter(())
        job, described, table = found
        options = cast("dict[str, dict[str, object]]", described.get("InputFormatOptions", {})).get("Csv", {})
        source = Source(
            self._store,
            cast("dict[str, str]", described["S3BucketSource"]),
            cast(str, described["InputFormat"]),
            cast(str, described["InputCompressionType"]),
            options,
        )
        types = {each["AttributeName"]: each["AttributeType"] for each in table.description["AttributeDefinitions"]}
        return source.batches(cast(Position, job["position"]), types)

    def _end(self, failure: tuple[str, str] | None) -> None:
        self._storage.write(partial(import_table.end_import, name=self._name, failure=failure))


class BulkRun:
    """A bulk put in this process."""

    def __init__(self, storage: Storage, store: ObjectStore, name: str) -> None:
        self._storage, self._store, self._name = storage, store, name
        self._batches: Iterator[Batch] | None = None
        self._total = 0

    def step(self) -> bool:
        """Put one batch; return whether there is more to do."""
        job = self._storage.read(partial(get_job, name=self._name))
        if job is None:
            return False
        described = self._storage.read(
            lambda transaction: get_record(transaction, bulk_put_items.BULK, cast(str, job["bulk"]))
        )
        assert described is not None
        try:
            if self._batches is None:
                self._batches = self._open(job, described)
            batch = next(self._batches, None) if described["BulkOperationStatus"] == "IN_PROGRESS" else None
            if batch is None:
                self._write_report(described)
                self._end(None)
                return False
            put = partial(bulk_put_items.put_batch, name=self._name, batch=batch, total_bytes=self._total)
            if not self._storage.write(put):
                self._batches = None  # it was cancelled, or another process has put the batch
        except StoreError as error:
            self._end((error.code, error.message))
            return False
        except DynamoError as error:
            if error.status >= 500:
                raise  # the database can't be written now
            self._end((error.code, error.message))
            return False
        return True

    def _open(self, job: Record, described: Record) -> Iterator[Batch]:
        given = cast("dict[str, str]", described["InputS3Configuration"])
        source = Source(self._store, given, given["InputFormat"], given.get("InputCompressionType", "NONE"), {})
        self._total = sum(found.size for found in source.objects())
        return source.batches(cast(Position, job["position"]), {})

    def _write_report(self, described: Record) -> None:
        """Write the items that weren't put, one object for so many of them, and a manifest."""
        output = cast("dict[str, object]", described["OutputS3Configuration"])
        bucket, prefix = cast(str, output["S3Bucket"]), cast(str, output.get("S3KeyPrefix", "")).strip("/")
        arn = cast(str, described["BulkOperationArn"])
        folder = f"{prefix + '/' if prefix else ''}AWSDynamoDB/{arn.rpartition('/')[2]}/"
        files: list[dict[str, object]] = []
        for kind in cast("list[str]", output["OutputType"]):
            after = ""
            while entries := self._entries(kind, after):
                after = entries[-1][0]
                lines = b"".join(orjson.dumps(entry) + b"\n" for _, entry in entries)
                content = gzip.compress(lines, mtime=0)
                key = f"{folder}{kind.lower()}/{len(files):06d}.json.gz"
                self._store.put(bucket, key, content)
                digest = b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode()
                files.append(
                    {"outputType": kind, "itemCount": len(entries), "md5Checksum": digest, "dataFileS3Key": key}
                )
        manifest = {"bulkOperationArn": arn, "files": files}
        self._store.put(bucket, f"{folder}manifest.json", orjson.dumps(manifest))

    def _entries(self, kind: str, after: str) -> list[tuple[str, Record]]:
        read = partial(bulk_put_items.report_entries, name=self._name, kind=kind, after=after, limit=REPORT_LINES)
        return self._storage.read(read)

    def _end(self, failure: tuple[str, str] | None) -> None:
        self._storage.write(partial(bulk_put_items.end_bulk, name=self._name, failure=failure))
