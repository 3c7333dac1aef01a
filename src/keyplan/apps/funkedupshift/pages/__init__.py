"""funkedupshift's pages: the catalog for everybody, groups for managers, and squash for its members."""

from keyplan.apps.funkedupshift.pages import catalog, groups, profile, squash
from keyplan.apps.funkedupshift.pages.shared import pages

__all__ = ["catalog", "groups", "pages", "profile", "squash"]
