"""The rules of WavyBlog, by theme: accounts, images, posts, categories, and the users that admins look after."""

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
    """Everything that can be done with WavyBlog."""


__all__ = ["REFRESH_COOKIE", "REFRESH_LASTS", "Blog", "caller_of", "hashed", "own_identity", "wrong_credentials"]
