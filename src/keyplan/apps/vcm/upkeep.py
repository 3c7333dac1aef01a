"""What follows when something goes: a sponsor takes its logo along, and a media item its file.

    sponsor -> reference -> media item -> file

Each arrow is a handler of a stream, so each step is finished whatever becomes of the process that began it. A handler
may see a change twice, and a second time long after: each looks at how things are, and does what is still to be done.
"""

from contextlib import suppress

from keyplan.apps.vcm.design import VcmDesign
from keyplan.apps.vcm.entities import Media, MediaRef, Sponsor
from keyplan.data import InUse, NotFound, clean_up_expired, delete
from keyplan.data.streams import Change, on
from keyplan.design import get
from keyplan.web import Running


@on(Sponsor, "REMOVE")
def release_logo(change: Change[Sponsor], club: Running[VcmDesign]) -> None:
    """A sponsor that this service did not delete left its reference behind: its time was over, or somebody deleted it
    in the table itself."""
    if change.before is not None:
        club.store.run(clean_up_expired(change.before))


@on(MediaRef, "REMOVE")
def remove_unused(change: Change[MediaRef], club: Running[VcmDesign]) -> None:
    """Something stopped using a media item. Was it the last?"""
    media = club.store.run(get(Media, id=change.keys["media_id"], consistent=True))
    if media is None or media.references:
        return
    with suppress(NotFound, InUse):  # another handler was faster, or somebody uses it again
        club.store.run(delete(media))


@on(Media, "REMOVE")
def remove_file(change: Change[Media], club: Running[VcmDesign]) -> None:
    """The file of a media item that is gone. A media item that was brought back (by an import) keeps it."""
    gone = change.before
    if gone is None or gone.s3_bucket != club.media.bucket:
        return
    now = club.store.run(get(Media, id=gone.id, consistent=True))
    if now is None or now.s3_key != gone.s3_key:
        club.media.delete(gone.s3_key)


HANDLERS = (release_logo, remove_unused, remove_file)
