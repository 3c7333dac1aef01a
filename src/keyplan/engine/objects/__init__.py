"""What stands for Amazon S3: where exports are written, and imports are read.

By default it is a folder, whose subfolders are the buckets (`folder`); with a URL it is an S3 endpoint (`s3`). What
both have in common is in `store`. Names of buckets and objects come from requests, so a folder store accepts none that
could lead out of its folder. It knows nothing else of the engine.

The main types are `ObjectStore`, `StoredObject` and `StoreError`; `open_store` makes a store from the setting.
"""

from pathlib import Path

from keyplan.engine.objects.folder import FolderStore
from keyplan.engine.objects.store import ObjectStore, StoredObject, StoreError

__all__ = ["ObjectStore", "StoreError", "StoredObject", "open_store"]


def open_store(setting: str | Path) -> ObjectStore:
    """Return the store for a folder, which must exist, or for the URL of an S3 endpoint."""
    if isinstance(setting, str) and setting.startswith(("http://", "https://")):
        from keyplan.engine.objects.s3 import S3Store  # boto3 is slow to import

        return S3Store(setting)
    return FolderStore(Path(setting))
