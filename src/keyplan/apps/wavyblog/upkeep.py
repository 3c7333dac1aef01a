"""What WavyBlog sees to by itself: what always exists, and what was begun and has to be finished."""

from contextlib import suppress
from datetime import timedelta

from keyplan.apps.wavyblog.design import WavyBlog
from keyplan.apps.wavyblog.entities import Admins, Category, Image
from keyplan.apps.wavyblog.fields import UNCATEGORIZED
from keyplan.data import InUse, NotFound, Refused, StaleVersion, create, delete
from keyplan.design import get
from keyplan.web import Running

_PATIENCE = timedelta(hours=1)
"""How long a deletion of an image may be under way before it counts as given up."""


def finish_rename(running: Running[WavyBlog], category: Category) -> None:
    """Move the posts of a category that is being renamed, and delete it. One may begin it and another end it."""
    assert category.renamed_to is not None
    with suppress(NotFound, StaleVersion, InUse):  # posts kept coming meanwhile: the next sweep takes them along
        running.store.run(running.design.move_posts(category.slug, category.renamed_to))


def sweep_files(running: Running[WavyBlog]) -> None:
    """Delete the files of images that are gone."""
    for leftover in running.store.each(running.design.leftovers()):
        image = get(Image, username=leftover.username, image_id=leftover.image_id, consistent=True)
        if running.store.run(image) is None:
            running.media.delete(leftover.file)
        elif running.store.clock() - leftover.created_at < _PATIENCE:
            continue  # it is being deleted
        with suppress(Refused):  # somebody else was faster
            running.store.run(delete(leftover))


def sweep(running: Running[WavyBlog]) -> None:
    """Finish what was begun."""
    sweep_files(running)
    for category in running.store.each(running.design.renamed_categories()):
        finish_rename(running, category)


def prepare(running: Running[WavyBlog]) -> None:
    """What always exists."""
    for entity in (Admins(), Category(slug=UNCATEGORIZED, name="Uncategorized")):
        with suppress(Refused):
            running.store.run(create(entity))
