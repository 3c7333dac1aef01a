"""What WavyBlog's pages have in common."""

from collections.abc import Sequence
from typing import TypeAlias

from starlette.responses import Response

from keyplan.apps.wavyblog.models import CategoryOut
from keyplan.apps.wavyblog.service import Blog
from keyplan.web import all_of
from keyplan.web.pages import Pages, View

BlogView: TypeAlias = View[Blog]

# Authors show pictures from elsewhere in the web, too; the reader's address is all that is told there.
pages = Pages("keyplan.apps.wavyblog", title="WavyBlog", sign_in="/sign-in", images=["https:"])

POSTS = 12
"""Posts on a page: as many as somebody scrolls through."""


def is_admin(view: BlogView) -> bool:
    """Whether the caller is an admin, as of now."""
    return view.caller is not None and "admin" in view.service.my_roles


def show(
    view: BlogView, template: str, /, *, status: int = 200, sends_to: Sequence[str] = (), **values: object
) -> Response:
    """A page, with what all of them need to know."""
    return view.render(template, status=status, sends_to=sends_to, admin=is_admin(view), **values)


def all_categories(view: BlogView) -> list[CategoryOut]:
    """The categories by name, to choose from."""
    return sorted(all_of(view.service.categories), key=lambda category: category.name.casefold())
