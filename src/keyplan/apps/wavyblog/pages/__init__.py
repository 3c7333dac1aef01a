"""WavyBlog's pages: reading for everyone, writing for authors, and managing users and categories for admins."""

from keyplan.apps.wavyblog.pages import accounts, admin, images, reading, writing
from keyplan.apps.wavyblog.pages.shared import pages

__all__ = ["accounts", "admin", "images", "pages", "reading", "writing"]
