"""Uploads: ask, send, confirm; and the kept files of a system.

An `Upload` is an item in the system's housekeeping table. Its state decides what happens to the file:

- `pending`: asked for. Confirming checks what was sent, makes it the kept file, and then sets the state to `kept`.
  Before that, the file isn't permanent: an interrupted confirm is repeated, or the sweep deletes the file.
- `kept`: the file is permanent, and the sweep never touches it. The item stays until nothing can be sent anymore, so
  that files that are sent later are deleted, too.
- `dropped`: what was sent isn't what was asked for, or nobody confirmed it. It can never be kept.

Every change of state has the condition that it is `pending`: if a confirm and a sweep run at the same time, one wins
and the other notices. Items have no time to live: one that expired before its file would leave the file behind.
"""

import hashlib
import hmac
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from pydantic import Field

from keyplan.data import AlreadyExists, ItemChanged, Part, Refused, Store, create, delete, update
from keyplan.design import (
    HOUSEKEEPING,
    Created,
    Entity,
    Id,
    Refusal,
    batch_get,
    created,
    get,
    key,
    less_than,
    query,
    ref,
    timestamp_text,
)
from keyplan.web.media.decoder import MEGAPIXELS, Decoder, decoder_of
from keyplan.web.media.hosts import PictureHosts
from keyplan.web.media.kinds import BY_TYPE, HEAD_BYTES, IMAGES, kind_of, not_supported
from keyplan.web.media.names import is_upload_id, kind_by_name, new_name, new_upload_id, time_mark
from keyplan.web.media.objects import File, InMemory, Objects, Received, too_large
from keyplan.web.media.quotas import CONFIRM_WITHIN, KeptFile, Pending, Quota, UploadUse, owner_id, still_pending
from keyplan.web.models.bodies import Out
from keyplan.web.models.problems import InConflict, Missing, Unavailable, Unprocessable
from keyplan.web.models.values import TimeText

SEND_WITHIN = timedelta(minutes=15)
"""How long a form can be used."""
SECOND_LOOK = timedelta(days=1)
"""An upload is swept again after this time: a confirm that ran during the first sweep may have left a file behind."""
_LEFT_OVER = timedelta(days=3)
_TRIES = 20
_USED = Refusal("added-already", "This upload was already used, or has expired. Upload the file again.")


class Upload(Entity, table=HOUSEKEEPING):
    """A file that may be sent, or was sent."""

    upload_id: Id
    purpose: str
    name: str
    content_type: str
    most: int
    owner: str = ""
    state: Literal["pending", "kept", "dropped"] = "pending"
    created_at: Created = created()
    due_at: datetime
    """When the sweep handles it."""

    primary = key("UPLOADS", "{upload_id}")


class Ticket(Out):
    """Permission to send one file: POST `fields`, in any order, and then the field `file`, as multipart/form-data."""

    upload_id: str = Field(description="The ID to confirm the upload with.")
    url: str
    fields: dict[str, str]
    max_bytes: int
    expires_at: TimeText


@dataclass(frozen=True)
class Checked:
    """A valid file that is in its place. It becomes permanent when `keep` is written."""

    file: File
    keep: Sequence[Part]


class Media:
    """The files of a system.

    It writes to the housekeeping table without checking permissions: the service has to check them first.
    """

    def __init__(
        self,
        system: str,
        objects: Objects,
        store: Store[Any],
        *,
        secret: Callable[[], bytes],
        hosts: PictureHosts = PictureHosts(),  # noqa: B008 - it never changes
        decoder: Decoder | None = None,
        quota: Quota = Quota(),  # noqa: B008 - it never changes
    ) -> None:
        self.system = system
        self.objects = objects
        self._store = store
        self._secret = secret
        self.hosts = hosts
        """Whose pictures pages show."""
        self._decoder = decoder or decoder_of(1, MEGAPIXELS)
        self.quota = quota
        """How much a person may upload, unless the service says otherwise."""

    @property
    def bucket(self) -> str:
        """The name of the bucket or folder, for items that store it."""
        return self.objects.bucket

    @property
    def takes_at(self) -> str:
        """The URL that files are sent to."""
        return self.objects.takes_at

    def url(self, name: str) -> str:
        """The URL of a kept file; without a host if the settings have no base URL."""
        return f"{self.hosts.base_url}/media/{self.system}/{name}"

    # Uploads

    def ask(
        self,
        content_type: str,
        *,
        owner: str,
        purpose: str,
        max_bytes: int,
        types: Collection[str] = IMAGES,
        under: Sequence[str] = (),
        quota: Quota | None = None,
    ) -> Ticket:
        """Let a client send one file of this type, up to this size. Refuses a type that isn't in `types`.

        `owner` is the person whose quota it counts against. Over it, the upload is refused with `upload-quota`.
        `purpose` says what the upload is for, and whose it is (`f"avatar of {sub}"`). It can be confirmed for this
        purpose only. `under` are the folders of its name.
        """
        kind = BY_TYPE.get(content_type) if content_type in types else None
        if kind is None:
            raise Unprocessable("type-not-taken", not_supported(types), pointer="/content_type")
        now = self._store.clock()
        expires_at = now + SEND_WITHIN
        upload = Upload(
            upload_id=new_upload_id(expires_at + CONFIRM_WITHIN),
            purpose=purpose,
            name=new_name(kind, under),
            content_type=content_type,
            most=max_bytes,
            owner=owner_id(owner),
            due_at=expires_at + CONFIRM_WITHIN,
        )
        self._record(upload, quota or self.quota)  # before anything can be sent, so that every sent file has a record
        post = self.objects.post(upload.upload_id, content_type, max_bytes, expires_at)
        return Ticket(
            upload_id=upload.upload_id,
            url=post.url,
            fields=dict(post.fields),
            max_bytes=max_bytes,
            expires_at=timestamp_text(expires_at, self._store.design.tables[0].times),
        )

    def _record(self, upload: Upload, quota: Quota) -> None:
        """Store an upload, if it is within the quota of its owner."""
        for _ in range(_TRIES):
            use = self._use(upload.owner)
            quota.check(use, upload.most, self._store.clock())
            use.pending = [*use.pending, Pending(upload_id=upload.upload_id, most=upload.most, due_at=upload.due_at)]
            try:
                self._store.transact(create(upload), update(use))
            except ItemChanged:  # they asked for another one at the same time
                continue
            return
        raise Unavailable

    def _use(self, owner: str) -> UploadUse:
        """What a person uploads and keeps now."""
        found = self._store.run(get(UploadUse, owner=owner, consistent=True))
        if found is None:
            with suppress(AlreadyExists):
                return self._store.run(create(UploadUse(owner=owner)))
            return self._use(owner)
        uploads = self._store.run(batch_get(Upload, [each.upload_id for each in found.pending], consistent=True))
        if any(each is not None and each.state == "kept" for each in uploads):
            # Its bytes are among the kept ones by now, but weren't perhaps when the item was read.
            again = self._store.run(get(UploadUse, owner=owner, consistent=True))
            found = again if again is not None and again.version == found.version else found
        open_ids = {each.upload_id for each in uploads if each is not None and each.state == "pending"}
        pending = still_pending(found.pending, open_ids, self._store.clock())
        found.pending = [each for each in pending if self._may_have_file(each)]
        return found

    def _may_have_file(self, upload: Pending) -> bool:
        """Whether a file was sent, or still can be: its form can be used for a while only."""
        if upload.due_at - CONFIRM_WITHIN > self._store.clock():
            return True
        with self.objects.received(upload.upload_id) as received:
            return received is not None

    def confirm(self, upload_id: str, *, purpose: str) -> File:
        """Make the sent file permanent. Can be repeated.

        A file that isn't what was asked for is deleted and refused. To write an item that names the file, use `check`:
        then both are written together.
        """
        checked = self.check(upload_id, purpose=purpose)
        try:
            self._store.transact(*checked.keep)
        except Refused:
            upload = self._known(upload_id, purpose)
            if upload.state != "kept":
                raise _no_such_upload() from None
        return checked.file

    def check(self, upload_id: str, *, purpose: str) -> Checked:
        """Check the sent file and put it in its place. It becomes permanent when `keep` is written.

            checked = self.media.check(upload_id, purpose=...)
            self.store.transact(create(Image(file=checked.file.name, ...)), *checked.keep)

        In one transaction, so that a file is never kept without its item, or for two items.
        """
        upload = self._known(upload_id, purpose)
        file = self.objects.find(upload.name)
        if file is None and upload.state == "pending":
            self._put_in_place(upload)
            file = self.objects.find(upload.name)
        if file is None:
            raise _no_such_upload()
        upload.state = "kept"
        kept = update(upload, where=lambda stored: stored.state == "pending", refusal=_USED)
        return Checked(file, [kept, *self._counted(upload, file)])

    def cancel(self, upload_id: str, *, owner: str) -> None:
        """End an upload of this person that isn't confirmed: it no longer counts, and what was sent is deleted.

        Nothing happens if it isn't theirs, or has ended.
        """
        upload = self._store.run(get(Upload, upload_id=upload_id, consistent=True)) if is_upload_id(upload_id) else None
        if upload is None or upload.owner != owner_id(owner) or upload.state != "pending":
            return
        if self._drop(upload, self._store.clock() + SECOND_LOOK):
            self._remove(upload)

    def _counted(self, upload: Upload, file: File) -> list[Part]:
        """What counts a kept file against the quota of its owner, if it has one."""
        return [create(KeptFile(name=file.name, owner=upload.owner, size=file.size))] if upload.owner else []

    def _known(self, upload_id: str, purpose: str) -> Upload:
        upload = None
        if is_upload_id(upload_id):
            upload = self._store.run(get(Upload, upload_id=upload_id, consistent=True))
        if upload is None or upload.purpose != purpose or upload.state == "dropped":
            raise _no_such_upload()
        if upload.state == "pending" and upload.due_at <= self._store.clock():
            raise _no_such_upload()
        return upload

    def _put_in_place(self, upload: Upload) -> None:
        with self.objects.received(upload.upload_id) as received:
            if received is None:
                raise InConflict("not-sent", "The file hasn't been uploaded yet.")
            fault = _fault(received, upload) or self._decoder.fault(received, upload.content_type)
            if fault is None:
                received.keep(upload.name, upload.content_type)
                return
        self._drop(upload, upload.due_at)
        self.objects.discard(upload.upload_id)
        raise fault

    def _drop(self, upload: Upload, due_at: datetime) -> bool:
        """Set the state to `dropped`; False if it was changed in the meantime."""
        upload.state, upload.due_at = "dropped", due_at
        try:
            self._store.run(update(upload, where=lambda stored: stored.state == "pending"))
        except Refused:
            return False
        return True

    # Sweeping

    def sweep(self) -> int:
        """Delete files that weren't confirmed in time, and the records of old uploads. Returns the number of files.

        Several processes can run it at once, and can be stopped at any point.
        """
        now = self._store.clock()
        swept = 0
        due = query(Upload.primary, upload_id=less_than(time_mark(now)), filter=lambda each: each.due_at <= now)
        for upload in self._store.each(due):
            swept += self._sweep(upload, now)
        self.objects.tidy(now - _LEFT_OVER)
        return swept

    def _sweep(self, upload: Upload, now: datetime) -> bool:
        if upload.state == "pending":
            if not self._drop(upload, now + SECOND_LOOK):
                return False
            self._remove(upload)
            return True
        if upload.state == "dropped":
            self._remove(upload)
        else:
            self.objects.discard(upload.upload_id)
        with suppress(Refused):  # another process was faster
            self._store.run(delete(upload))
        return upload.state == "dropped"

    def _remove(self, upload: Upload) -> None:
        self.objects.discard(upload.upload_id)
        self.objects.delete(upload.name)

    # Kept files

    def put(self, data: bytes, content_type: str, *, under: Sequence[str] = (), key: str | None = None) -> File:
        """Write a file from the server itself (an import, demo data), checked as one that was sent.

        With a `key`, the same key and bytes give the same name, so that repeating it doesn't leave a second file.
        """
        if (fault := self.fault(data, content_type)) is not None:
            raise fault
        name = new_name(BY_TYPE[content_type], under, None if key is None else self._bits(key, data))
        self.objects.write(name, data, content_type)
        return self._found(name)

    def fault(self, data: bytes, content_type: str) -> Unprocessable | None:
        """What is wrong with the bytes of a file of this type: what `put` refuses."""
        kind = kind_of(data[:HEAD_BYTES], len(data))
        if kind is None or kind.content_type != content_type:
            return _wrong_type(None if kind is None else kind.content_type, content_type)
        return self._decoder.fault(InMemory(data), content_type)

    def _bits(self, key: str, data: bytes) -> bytes:
        """Secret bits for a name: a plain hash could be computed by anybody who knows the key and the bytes."""
        text = b"name\n" + hashlib.sha256(data).digest() + key.encode()
        return hmac.new(self._secret(), text, hashlib.sha256).digest()[:16]

    def copy(self, name: str, *, under: Sequence[str] = ()) -> File:
        """Copy a kept file to a new name."""
        kind = kind_by_name(name)
        if kind is None:
            raise Missing
        to = new_name(kind, under)
        if not self.objects.copy(name, to):
            raise Missing
        return self._found(to)

    def find(self, name: str) -> File | None:
        """A kept file; None if there is none."""
        return self.objects.find(name) if kind_by_name(name) else None

    def exists(self, name: str) -> bool:
        """Whether there is a kept file with this name."""
        return self.find(name) is not None

    def read(self, name: str) -> bytes:
        """All bytes of a kept file."""
        return b"".join(self.chunks(name))

    def chunks(self, name: str) -> Iterator[bytes]:
        """The bytes of a kept file, in chunks."""
        file = self._found(name)
        return self.objects.chunks(file, 0, file.size)

    def delete(self, name: str) -> None:
        """Delete a kept file, if it exists. It no longer counts against the quota of its owner."""
        if not kind_by_name(name):
            return
        self.objects.delete(name)
        with suppress(Refused):  # another process was faster, or it doesn't count
            self._store.run(delete(ref(KeptFile, name=name)))

    def _found(self, name: str) -> File:
        file = self.find(name)
        if file is None:
            raise Missing
        return file


def _fault(received: Received, upload: Upload) -> Unprocessable | None:
    """What is wrong with a sent file, whatever the store checked when it received it."""
    if received.size > upload.most:
        return Unprocessable("file-too-large", too_large(upload.most))
    if received.size == 0:
        return Unprocessable("file-empty", "The file is empty.")
    kind = kind_of(received.head(HEAD_BYTES), received.size)
    if kind is None or kind.content_type != upload.content_type:
        return _wrong_type(None if kind is None else kind.content_type, upload.content_type)
    return None


def _wrong_type(found: str | None, asked: str) -> Unprocessable:
    kind, expected = (BY_TYPE.get(each or "") for each in (found, asked))
    if kind is None and expected is not None:
        return Unprocessable("wrong-type", f"The file is damaged, or isn't {expected.title}.")
    if kind is None or expected is None:
        return Unprocessable("wrong-type", not_supported(IMAGES))
    return Unprocessable("wrong-type", f"The file is {kind.title}, but {expected.title} was expected.")


def _no_such_upload() -> Missing:
    return Missing("no-such-upload", "Upload not found or expired. Start a new one.")
