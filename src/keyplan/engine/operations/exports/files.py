"""The files of an export: names, content, manifests and checksums, as AWS writes them."""

import gzip
import hashlib
from base64 import b32encode, b64encode
from datetime import UTC, datetime
from typing import NamedTuple, TypedDict, cast

import orjson

from keyplan.engine.formats import dynamodb_json, ion_writer
from keyplan.engine.operations.exports.collecting import Collection
from keyplan.engine.operations.exports.filters import ExportFilter, filter_of
from keyplan.engine.storage.copies import STEP_ROWS
from keyplan.engine.storage.records import Record
from keyplan.engine.storage.transaction import Transaction
from keyplan.engine.values.attribute_values import Item
from keyplan.engine.values.row_keys import KeySchema


class DataFile(TypedDict):
    """A line of the files manifest."""

    itemCount: int
    md5Checksum: str
    etag: str
    dataFileS3Key: str


class Part(NamedTuple):
    """What the next file has: lines, their number, the size of the items, and the last row."""

    content: bytes
    items: int
    size: int
    last: int
    complete: bool
    """Whether nothing comes after it."""


class Rows(NamedTuple):
    """Some collected rows as lines."""

    lines: list[bytes]
    size: int
    last: int
    complete: bool


def collected_lines(
    transaction: Transaction, collection: Collection, export: Record, schema: KeySchema, after: int
) -> Rows:
    """Return the lines of some rows after this one."""
    chosen = filter_of(export.get("FilterSpecification"), schema)
    ion = export["ExportFormat"] == "ION"
    if "copy" in collection:
        found = transaction.sql(
            f"SELECT id, size, key, item FROM {collection['copy']['target']} WHERE id > ? ORDER BY id LIMIT ?",
            (after, STEP_ROWS),
        ).fetchall()
        full = cast("list[tuple[int, int, bytes, bytes]]", found)
        lines = [_full_line(key, stored, chosen, ion=ion) for _, _, key, stored in full]
        return _rows(lines, [(number, size) for number, size, _, _ in full], after)
    found = transaction.sql(
        f"SELECT id, size + coalesce(length(new), 0), key, at, old, new FROM {collection['changes']['target']} "
        "WHERE id > ? ORDER BY id LIMIT ?",
        (after, STEP_ROWS),
    ).fetchall()
    changed = cast("list[tuple[int, int, bytes, float, bytes | None, bytes | None]]", found)
    view = cast("dict[str, object]", export["IncrementalExportSpecification"])["ExportViewType"]
    both = view == "NEW_AND_OLD_IMAGES"
    lines = [_change_line(schema, key, at, old, new, chosen, ion=ion, both=both) for _, _, key, at, old, new in changed]
    return _rows(lines, [(number, size) for number, size, *_ in changed], after)


def _rows(lines: list[bytes | None], rows: list[tuple[int, int]], after: int) -> Rows:
    kept = [line for line in lines if line is not None]
    last = rows[-1][0] if rows else after
    return Rows(kept, sum(size for _, size in rows), last, len(rows) < STEP_ROWS)


def _full_line(key: bytes, stored: bytes, chosen: ExportFilter | None, *, ion: bool) -> bytes | None:
    if chosen is None and not ion:
        return dynamodb_json.item_line(stored)
    item: Item = orjson.loads(stored)
    if chosen is not None:
        if not chosen.accepts(key, item):
            return None
        item = chosen.project(item)
    return ion_writer.item_line(item) if ion else dynamodb_json.item_line(orjson.dumps(item))


def _change_line(
    schema: KeySchema,
    key: bytes,
    at: float,
    old: bytes | None,
    new: bytes | None,
    chosen: ExportFilter | None,
    *,
    ion: bool,
    both: bool,
) -> bytes | None:
    """Return the line of a changed item. One that was created and deleted in the period has none."""
    before: Item | None = None if old is None else orjson.loads(old)
    after: Item | None = None if new is None else orjson.loads(new)
    newest = after if after is not None else before
    if newest is None or (chosen is not None and not chosen.accepts(key, newest)):
        return None
    keys = {name: newest[name] for name in schema.names}
    micros = str(int(at * 1_000_000))
    images = {"OldImage": before if both else None, "NewImage": after}
    shown = {
        name: image if chosen is None else chosen.project(image) for name, image in images.items() if image is not None
    }
    if ion:
        metadata = f"{{WriteTimestampMicros:{micros}.}}"
        structs = {name: ion_writer.struct(image) for name, image in shown.items()}
        return ion_writer.record_line({"Keys": ion_writer.struct(keys), "Metadata": metadata, **structs})
    return orjson.dumps({"Metadata": {"WriteTimestampMicros": {"N": micros}}, "Keys": keys, **shown}) + b"\n"


def folder_of(export: Record) -> str:
    """Return the key under which all files of an export are."""
    return f"{_root(export)}{_id(export)}/"


def data_file(export: Record, number: int, part: Part) -> tuple[DataFile, bytes]:
    """Return a data file's line in the manifest, and its content, which are always the same for a part."""
    content = gzip.compress(part.content, mtime=0)
    digest = hashlib.md5(content, usedforsecurity=False)
    name = b32encode(hashlib.sha256(f"{_id(export)}/{number}".encode()).digest())[:26].decode().lower()
    folder = folder_of(export) if export["ExportType"] == "FULL_EXPORT" else _root(export)
    extension = "ion" if export["ExportFormat"] == "ION" else "json"
    line: DataFile = {
        "itemCount": part.items,
        "md5Checksum": b64encode(digest.digest()).decode(),
        "etag": f"{digest.hexdigest()}-1",
        "dataFileS3Key": f"{folder}data/{name}.{extension}.gz",
    }
    return line, content


def manifests(export: Record, files: list[DataFile], end: float) -> dict[str, bytes]:
    """Return the contents of the manifests and of their checksums, by name, in the order of writing."""
    listed = b"".join(orjson.dumps(file) + b"\n" for file in files)
    summary = orjson.dumps(_summary(export, end))
    return {
        "manifest-files.json": listed,
        "manifest-files.md5": _checksum(listed),
        "manifest-summary.json": summary,
        "manifest-summary.md5": _checksum(summary),
    }


def _summary(export: Record, end: float) -> dict[str, object]:
    incremental = cast("dict[str, object]", export.get("IncrementalExportSpecification", {}))
    shared: dict[str, object] = {
        "version": "2023-08-01" if incremental else "2020-06-30",
        "exportArn": export["ExportArn"],
        "startTime": _iso(export["StartTime"]),
        "endTime": _iso(end),
        "tableArn": export["TableArn"],
        "tableId": export["TableId"],
    }
    if incremental:
        shared["exportFromTime"] = _iso(incremental["ExportFromTime"])
        shared["exportToTime"] = _iso(incremental["ExportToTime"])
    else:
        shared["exportTime"] = _iso(export["ExportTime"])
    summary = {
        **shared,
        "s3Bucket": export["S3Bucket"],
        "s3Prefix": export.get("S3Prefix"),
        "s3SseAlgorithm": export["S3SseAlgorithm"],
        "s3SseKmsKeyId": export.get("S3SseKmsKeyId"),
        "manifestFilesS3Key": f"{folder_of(export)}manifest-files.json",
        "billedSizeBytes": export["BilledSizeBytes"],
        "itemCount": export["ItemCount"],
        "outputFormat": export["ExportFormat"],
    }
    if incremental:
        summary |= {"outputView": incremental["ExportViewType"], "exportType": "INCREMENTAL_EXPORT"}
    return summary


def _checksum(content: bytes) -> bytes:
    return b64encode(hashlib.md5(content, usedforsecurity=False).digest())


def _iso(seconds: object) -> str:
    return datetime.fromtimestamp(cast(float, seconds), UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _root(export: Record) -> str:
    prefix = cast(str, export.get("S3Prefix", "")).strip("/")
    return f"{prefix}/AWSDynamoDB/" if prefix else "AWSDynamoDB/"


def _id(export: Record) -> str:
    return cast(str, export["ExportArn"]).rpartition("/")[2]
