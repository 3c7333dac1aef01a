"""Shared parts of WavyBlog's pages."""

from collections.abc import Sequence
from typing import TypeAlias

from keyplan.apps.wavyblog.demo import PEOPLE
from keyplan.apps.wavyblog.fields import PostHeadFields
from keyplan.apps.wavyblog.models import CategoryOut
from keyplan.apps.wavyblog.service import Blog
from keyplan.web import Pages, View, all_of

BlogView: TypeAlias = View[Blog]

pages = Pages("keyplan.apps.wavyblog", title="WavyBlog", sign_in="/sign-in", people=PEOPLE)

POSTS = 12
"""Posts on a page."""


def is_admin(view: BlogView) -> bool:
    """Whether the caller is an admin now."""
    return view.caller is not None and "admin" in view.service.my_roles


@pages.on_every_page
def for_menu(view: BlogView) -> dict[str, object]:
    """The values that the menu depends on."""
    return {"admin": is_admin(view)}


def names_of(service: Blog, posts: Sequence[PostHeadFields]) -> dict[str, str]:
    """The names of the posts' categories. A renamed category has none while its posts are moving."""
    return service.category_names({post.category for post in posts})


def all_categories(view: BlogView) -> list[CategoryOut]:
    """All categories, sorted by name."""
    return sorted(all_of(view.service.categories), key=lambda category: category.name.casefold())
