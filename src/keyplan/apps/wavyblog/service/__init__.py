"""The rules of WavyBlog, by topic: accounts, images, posts, categories, and users."""

from keyplan.apps.wavyblog.service.accounts import (
    REFRESH_COOKIE,
    REFRESH_LASTS,
    caller_of,
    hashed,
    own_identity,
    wrong_credentials,
)
from keyplan.apps.wavyblog.service.categories import Categories
from keyplan.apps.wavyblog.service.posts import Posts
from keyplan.apps.wavyblog.service.users import Users


class Blog(Posts, Categories, Users):
    """All operations of WavyBlog."""


__all__ = ["REFRESH_COOKIE", "REFRESH_LASTS", "Blog", "caller_of", "hashed", "own_identity", "wrong_credentials"]
