"""funkedupshift's pages: the catalogue for everybody, groups for managers, and squash for who is in it."""

from keyplan.apps.funkedupshift.pages import catalogue, people, squash
from keyplan.apps.funkedupshift.pages.shared import pages

__all__ = ["catalogue", "pages", "people", "squash"]
