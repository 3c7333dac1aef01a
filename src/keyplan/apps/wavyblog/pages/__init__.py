"""WavyBlog's pages: reading for everybody, writing for authors, and what admins look after."""

from keyplan.apps.wavyblog.pages import accounts, admin, images, reading, writing
from keyplan.apps.wavyblog.pages.shared import pages

__all__ = ["accounts", "admin", "images", "pages", "reading", "writing"]
