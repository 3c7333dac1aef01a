"""An export of Payload's: a JSON file for each collection, as `payload.find()` returns it, and the media files."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, get_args

import orjson
from pydantic import JsonValue

from keyplan.apps.vcm.fields import Collection

COLLECTIONS: tuple[Collection, ...] = get_args(Collection)
"""In the order in which one needs the other."""
Record: TypeAlias = dict[str, JsonValue]


class ExportError(Exception):
    """The export can't be read."""


@dataclass(frozen=True)
class Export:
    """What was exported."""

    id: str
    """The same for the same export, so that a run that was stopped is recognized."""
    records: Mapping[Collection, list[Record]]
    media: Path
    missing: tuple[str, ...]
    """Collections of which there is no file."""


def read_export(folder: Path, media: Path | None = None) -> Export:
    """The export in a folder; its media files are in the folder `media` in it, unless another one is named."""
    if not folder.is_dir():
        raise ExportError(f"Folder not found: {folder}.")
    digest = hashlib.sha256()
    records: dict[Collection, list[Record]] = {}
    missing = []
    for name in COLLECTIONS:
        path = folder / f"{name}.json"
        if not path.is_file():
            missing.append(name)
            records[name] = []
            continue
        data = path.read_bytes()
        digest.update(name.encode() + hashlib.sha256(data).digest())
        records[name] = _records(path, data)
    if len(missing) == len(COLLECTIONS):
        raise ExportError(f"There is none of {', '.join(f'{name}.json' for name in COLLECTIONS)} in {folder}.")
    return Export(digest.hexdigest()[:32], records, media or folder / "media", tuple(missing))


def _records(path: Path, data: bytes) -> list[Record]:
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ExportError(f"{path.name} is not JSON: {error}.") from error
    docs = found.get("docs") if isinstance(found, dict) else found
    if not isinstance(docs, list) or not all(isinstance(each, dict) for each in docs):
        raise ExportError(f"{path.name} is not what payload.find() returns: it has no list of docs.")
    total = found.get("totalDocs", len(docs)) if isinstance(found, dict) else len(docs)
    if isinstance(total, int) and total > len(docs):
        raise ExportError(f"{path.name} holds {len(docs)} of {total} records: export it with pagination: false.")
    return docs
