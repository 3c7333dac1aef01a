"""Media items: images that the club's pages show."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from keyplan.apps.vcm.entities import Media
from keyplan.apps.vcm.models import MediaChange, MediaFound, MediaOut, NewMedia, NewUpload, UploadTicket
from keyplan.apps.vcm.service.shared import EDITORS, Shared
from keyplan.data import create, delete
from keyplan.design import Id
from keyplan.web import ANYONE, IfMatch, Listing, Paging, Unprocessable, allow

FOLDER = "media"
FOR_THE_CLUB = 20
"""Editors upload for everybody, so they may upload this many times as much as a person elsewhere."""


class Library(Shared):
    """The club's images."""

    @allow(ANYONE)
    def media_by_ids(self, ids: Annotated[list[Id], Query(), Field(min_length=1, max_length=100)]) -> MediaFound:
        """Media items by their ids, in the order of the ids, each once."""
        found = self._images(ids)
        return MediaFound(items=[found[id] for id in dict.fromkeys(ids) if id in found])

    @allow(*EDITORS)
    def all_media(self, page: Paging) -> Listing[MediaOut]:
        """All media items, in no order."""
        return self.listed(self.design.all_media(), page, MediaOut.from_fields)

    @allow(*EDITORS)
    def media_item(self, id: Id) -> MediaOut:
        """A media item."""
        return MediaOut.from_fields(self.find(self.design.media(id)))

    @allow(*EDITORS)
    def upload_media(self, new: NewUpload) -> UploadTicket:
        """Ask for an upload. Send the file as the answer says, then add it.

        Refused with `upload-quota` if too many uploads are unfinished, or yours have too many bytes: delete some.
        """
        try:
            ticket = self.media.ask(
                new.content_type,
                owner=self.me.sub,
                purpose=self._purpose,
                max_bytes=new.size,
                under=[FOLDER],
                quota=self.media.quota.times(FOR_THE_CLUB),
            )
        except Unprocessable as error:
            # The field has another name here than in the kit.
            raise Unprocessable(error.code, error.detail, pointer="/contentType") from error
        return UploadTicket.model_validate(ticket)

    @property
    def _purpose(self) -> str:
        return f"media item by {self.me.sub}"

    @allow(*EDITORS)
    def add_media(self, sent: NewMedia) -> MediaOut:
        """Add an image that was sent."""
        checked = self.media.check(sent.upload_id, purpose=self._purpose)
        name = checked.file.name
        media = Media.from_fields(
            sent,
            filename=name.rpartition("/")[2],
            s3_key=name,
            s3_bucket=self.media.bucket,
            url=self.media.url(name),
            alt=sent.alt or None,
        )
        self.store.transact(create(media), *checked.keep)
        return MediaOut.from_fields(media)

    @allow(*EDITORS)
    def change_media(self, id: Id, change: MediaChange, version: IfMatch) -> MediaOut:
        """Give a media item another alternative text."""
        media = self.find(self.design.media(id), version)
        media.alt = change.get(lambda each: each.alt, None) or None
        return MediaOut.from_fields(self.save(media))

    @allow(*EDITORS, one_way=True)
    def delete_media(self, id: Id, version: IfMatch) -> None:
        """Delete a media item that nothing uses; its file follows."""
        self.store.run(delete(self.find(self.design.media(id), version)))
