"""What WavyBlog's pages have in common."""

from collections.abc import Iterable
from typing import TypeAlias

from keyplan.apps.wavyblog.models import CategoryOut, PostHead
from keyplan.apps.wavyblog.service import Blog
from keyplan.web import Pages, View, all_of

BlogView: TypeAlias = View[Blog]

# Authors show pictures from elsewhere in the web, too; the reader's address is all that is told there.
pages = Pages("keyplan.apps.wavyblog", title="WavyBlog", sign_in="/sign-in", images=["https:"])

POSTS = 12
"""Posts on a page: as many as somebody scrolls through."""


def is_admin(view: BlogView) -> bool:
    """Whether the caller is an admin, as of now."""
    return view.caller is not None and "admin" in view.service.my_roles


@pages.on_every_page
def known(view: BlogView) -> dict[str, object]:
    """What the menu depends on."""
    return {"admin": is_admin(view)}


def names_of(view: BlogView, posts: Iterable[PostHead]) -> dict[str, str]:
    """What the categories of some posts are called; but for one that was renamed and whose posts still follow."""
    return view.service.category_names({post.category for post in posts})


def all_categories(view: BlogView) -> list[CategoryOut]:
    """The categories by name, to choose from."""
    return sorted(all_of(view.service.categories), key=lambda category: category.name.casefold())
