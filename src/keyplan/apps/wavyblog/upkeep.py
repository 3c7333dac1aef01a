"""Background work of WavyBlog: creating what always exists, and finishing renames and deletions."""

from contextlib import suppress
from datetime import timedelta

from keyplan.apps.wavyblog.design import WavyBlog
from keyplan.apps.wavyblog.entities import Admins, Category, Image
from keyplan.apps.wavyblog.fields import UNCATEGORIZED
from keyplan.data import InUse, ItemChanged, NotFound, Refused, create, delete
from keyplan.design import get
from keyplan.web import Running

_PATIENCE = timedelta(hours=1)
"""How long the deletion of an image may take before it counts as abandoned."""


def finish_rename(running: Running[WavyBlog], category: Category) -> None:
    """Move the posts of a category that is being renamed, and delete it. Another process may have started this."""
    assert category.renamed_to is not None
    with suppress(NotFound, ItemChanged, InUse):  # new posts arrived in the meantime: the next sweep moves them
        running.store.run(running.design.move_posts(category.slug, category.renamed_to))


def sweep_files(running: Running[WavyBlog]) -> None:
    """Delete the files of deleted images."""
    for leftover in running.store.each(running.design.leftovers()):
        image = get(Image, username=leftover.username, image_id=leftover.image_id, consistent=True)
        if running.store.run(image) is None:
            running.media.delete(leftover.file)
        elif running.store.clock() - leftover.created_at < _PATIENCE:
            continue  # it is being deleted
        with suppress(Refused):  # another process did it
            running.store.run(delete(leftover))


def sweep(running: Running[WavyBlog]) -> None:
    """Finish interrupted deletions and renames."""
    sweep_files(running)
    for category in running.store.each(running.design.renamed_categories()):
        finish_rename(running, category)


def prepare(running: Running[WavyBlog]) -> None:
    """Create what always exists."""
    for entity in (Admins(), Category(slug=UNCATEGORIZED, name="Uncategorized")):
        with suppress(Refused):
            running.store.run(create(entity))
