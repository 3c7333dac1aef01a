"""Runs the job of an export: collects in transactions, and writes files between them."""

from functools import partial
from typing import cast

from keyplan.engine.objects import ObjectStore, StoreError
from keyplan.engine.operations.exports.collecting import Collection, collect_some, end_export
from keyplan.engine.operations.exports.export_requests import EXPORT
from keyplan.engine.operations.exports.files import (
    DataFile,
    Part,
    collected_lines,
    data_file,
    folder_of,
    manifests,
)
from keyplan.engine.operations.jobs import get_job, save_job
from keyplan.engine.storage.catalog import key_schema
from keyplan.engine.storage.records import Record, get_record, put_record
from keyplan.engine.storage.storage import Storage
from keyplan.engine.storage.transaction import Transaction

FILE_BYTES = 16_000_000
"""What a file has at least before the next one is begun, before compression."""


def export_some(storage: Storage, store: ObjectStore, name: str) -> None:
    """Run one step of an export: collect some rows, or write a file, or the manifests."""
    job = storage.read(partial(get_job, name=name))
    if job is None:
        return
    if job["table"] is not None:
        storage.write(partial(collect_some, name=name))
        return
    export = storage.read(lambda transaction: get_record(transaction, EXPORT, cast(str, job["export"])))
    assert export is not None
    try:
        if job.get("complete"):
            _write_manifests(storage, store, name, job, export)
        else:
            _write_file(storage, store, name, job, export)
    except StoreError as error:
        storage.write(partial(fail_export, name=name, failure=(error.code, error.message)))


def _write_file(storage: Storage, store: ObjectStore, name: str, job: Record, export: Record) -> None:
    files, bucket = cast("list[DataFile]", job.get("files", [])), cast(str, export["S3Bucket"])
    if not files:
        store.put(bucket, f"{folder_of(export)}_started", b"")
    part = _next_part(storage, job, export)
    file, content = data_file(export, len(files), part)
    store.put(bucket, file["dataFileS3Key"], content)

    def note(transaction: Transaction) -> None:
        now = get_job(transaction, name)
        if now is None or len(cast("list[DataFile]", now.get("files", []))) != len(files):
            return  # another process has noted it
        now["files"] = [*files, file]
        now["after"], now["complete"] = part.last, part.complete
        now["items"] = cast(int, now.get("items", 0)) + part.items
        now["bytes"] = cast(int, now.get("bytes", 0)) + part.size
        save_job(transaction, name, now)

    storage.write(note)


def _next_part(storage: Storage, job: Record, export: Record) -> Part:
    """Return the lines of the next file, which are read in several transactions."""
    schema = key_schema(cast("list[dict[str, str]]", job["key"]), cast("list[dict[str, str]]", job["attributes"]))
    lines: list[bytes] = []
    length, size, after, complete = 0, 0, cast(int, job.get("after", 0)), False
    while length < FILE_BYTES and not complete:
        rows = storage.read(
            partial(
                collected_lines,
                collection=cast(Collection, job["collection"]),
                export=export,
                schema=schema,
                after=after,
            )
        )
        lines += rows.lines
        length += sum(map(len, rows.lines))
        size, after, complete = size + rows.size, rows.last, rows.complete
    return Part(b"".join(lines), len(lines), size, after, complete)


def _write_manifests(storage: Storage, store: ObjectStore, name: str, job: Record, export: Record) -> None:
    end = storage.read(lambda transaction: transaction.now)
    export["ItemCount"], export["BilledSizeBytes"] = job["items"], job["bytes"]
    folder, bucket = folder_of(export), cast(str, export["S3Bucket"])
    for file, content in manifests(export, cast("list[DataFile]", job["files"]), end).items():
        store.put(bucket, folder + file, content)
    export |= {"ExportStatus": "COMPLETED", "EndTime": end, "ExportManifest": f"{folder}manifest-summary.json"}

    def complete(transaction: Transaction) -> None:
        if get_job(transaction, name) is not None:
            put_record(transaction, EXPORT, cast(str, job["export"]), export)
            end_export(transaction, name)

    storage.write(complete)


def fail_export(transaction: Transaction, name: str, failure: tuple[str, str]) -> None:
    """End an export that can't be completed."""
    job = get_job(transaction, name)
    if job is None:
        return
    arn = cast(str, job["export"])
    export = cast(Record, get_record(transaction, EXPORT, arn))
    code, message = failure
    export |= {"ExportStatus": "FAILED", "EndTime": transaction.now, "FailureCode": code, "FailureMessage": message}
    put_record(transaction, EXPORT, arn, export)
    end_export(transaction, name)
