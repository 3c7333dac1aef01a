"""How much a person may upload and keep.

`UploadUse` is one item for each person, in the system's housekeeping table: the uploads that they asked for, and the
bytes of their kept files. An upload is asked for in a transaction with this item, in the version that was read, so the
limits hold across processes. Asking reserves the most bytes that may be sent; a confirmed file counts with its own size
(`KeptFile`), until it is deleted. An upload that was refused or has expired no longer counts, nor does one for which
nothing was sent while its form could be used.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from pydantic import Field

from keyplan.design import HOUSEKEEPING, Count, Entity, Fields, Id, Ref, Version, counts, key, ref
from keyplan.web.models.problems import InConflict
from keyplan.web.models.values import size_text

MB = 1024 * 1024
CONFIRM_WITHIN = timedelta(hours=1)
"""How long an upload can be confirmed after its form can't be used any more; also how long sending a file may take."""


@dataclass(frozen=True)
class Quota:
    """How much a person may upload. 0 is no limit."""

    pending: int = 5
    """How many uploads may be unfinished."""
    pending_bytes: int = 200 * MB
    kept_bytes: int = 1024 * MB

    def times(self, factor: int) -> "Quota":
        """A quota for people who upload for others, too."""
        return Quota(self.pending * factor, self.pending_bytes * factor, self.kept_bytes * factor)

    def check(self, use: "UploadUse", wanted: int, now: datetime) -> None:
        """Refuse another upload of so many bytes if it doesn't fit."""
        if self.pending and len(use.pending) >= self.pending:
            uploads = "upload" if len(use.pending) == 1 else "uploads"
            raise _over(f"You have {len(use.pending)} unfinished {uploads}. {_wait(use, now)}")
        reserved = sum(each.most for each in use.pending) + wanted
        if self.pending_bytes and reserved > self.pending_bytes:
            limit = size_text(self.pending_bytes)
            if not use.pending:
                raise _over(f"The file is larger than {limit}, which is the most that you may upload at once.")
            raise _over(f"Your unfinished uploads may have up to {limit}. {_wait(use, now)}")
        if self.kept_bytes and use.kept_bytes + reserved > self.kept_bytes:
            used, most = size_text(use.kept_bytes), size_text(self.kept_bytes)
            raise _over(f"Your pictures use {used} of {most}. Delete pictures that you no longer need, and try again.")


class Pending(Fields):
    """An upload that isn't finished: the most bytes that it may have, and when it expires."""

    upload_id: str
    most: int
    due_at: datetime


class UploadUse(Entity, table=HOUSEKEEPING):
    """What a person uploads and keeps."""

    owner: Id
    pending: list[Pending] = Field(default_factory=list)
    kept_bytes: Count = 0
    version: Version = 0

    primary = key("UPLOAD_USE", "{owner}")


class KeptFile(Entity, table=HOUSEKEEPING):
    """Whose file it is, and how large."""

    name: str
    owner: Id
    size: int

    primary = key("KEPT_FILE#{name}", "KEPT_FILE")

    @counts("kept_bytes")
    def used(self) -> Ref[UploadUse]:
        """Its bytes count for its owner."""
        return ref(UploadUse, owner=self.owner).adding(self.size)


def owner_id(owner: str) -> str:
    """What a person is stored as: names of users and subjects of tokens may contain anything."""
    return hashlib.blake2b(owner.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def still_pending(pending: Sequence[Pending], open_ids: set[str], now: datetime) -> list[Pending]:
    """Those that can still be finished."""
    return [each for each in pending if each.upload_id in open_ids and each.due_at > now]


def _over(detail: str) -> InConflict:
    return InConflict("upload-quota", detail)


def _wait(use: UploadUse, now: datetime) -> str:
    ends = [time for each in use.pending for time in (each.due_at - CONFIRM_WITHIN, each.due_at) if time > now]
    minutes = ceil((min(ends) - now) / timedelta(minutes=1))
    return f"Finish one of them, or try again in {minutes} {'minute' if minutes == 1 else 'minutes'}."
