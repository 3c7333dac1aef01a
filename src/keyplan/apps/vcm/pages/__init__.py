"""The club's pages, in German: the public site, and what editors work with."""

from keyplan.apps.vcm.pages import club, content, desk, files, public, teams
from keyplan.apps.vcm.pages.shared import pages

__all__ = ["club", "content", "desk", "files", "pages", "public", "teams"]
