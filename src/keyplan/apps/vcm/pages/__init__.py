"""The club's pages, in German: the public site, and what editors work with."""

from keyplan.apps.vcm.pages import desk, editing, files, public
from keyplan.apps.vcm.pages.shared import pages

__all__ = ["desk", "editing", "files", "pages", "public"]
