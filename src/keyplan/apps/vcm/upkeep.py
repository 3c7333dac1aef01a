"""What follows a deletion: the logo of a sponsor is deleted too, and the file of a media item.

    sponsor -> reference -> media item -> file

Each arrow is a handler of a stream, so each step is completed even if the process that started it stops. A handler may
see a change twice, the second time long after: each reads the current state and does what is left to do.
"""

from contextlib import suppress

from keyplan.apps.vcm.design import VcmDesign
from keyplan.apps.vcm.entities import Media, MediaRef, Sponsor
from keyplan.data import InUse, NotFound, clean_up_expired, delete
from keyplan.data.streams import ItemChange, on
from keyplan.design import get
from keyplan.web import Running


@on(Sponsor, "REMOVE")
def release_logo(change: ItemChange[Sponsor], club: Running[VcmDesign]) -> None:
    """Delete the reference of a sponsor that this service did not delete: it expired, or somebody deleted it in the
    table itself."""
    if change.before is not None:
        club.store.run(clean_up_expired(change.before))


@on(MediaRef, "REMOVE")
def remove_unused(change: ItemChange[MediaRef], club: Running[VcmDesign]) -> None:
    """Delete a media item when nothing uses it any more."""
    media = club.store.run(get(Media, id=change.keys["media_id"], consistent=True))
    if media is None or media.references:
        return
    with suppress(NotFound, InUse):  # another handler was faster, or something uses it again
        club.store.run(delete(media))


@on(Media, "REMOVE")
def remove_file(change: ItemChange[Media], club: Running[VcmDesign]) -> None:
    """Delete the file of a deleted media item, unless the media item was stored again (by an import)."""
    gone = change.before
    if gone is None or gone.s3_bucket != club.media.bucket:
        return
    now = club.store.run(get(Media, id=gone.id, consistent=True))
    if now is None or now.s3_key != gone.s3_key:
        club.media.delete(gone.s3_key)


HANDLERS = (release_logo, remove_unused, remove_file)
