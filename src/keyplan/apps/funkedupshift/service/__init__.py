"""The rules of funkedupshift, by theme; `access` says who may do what."""

from keyplan.apps.funkedupshift.service.catalog import Catalog
from keyplan.apps.funkedupshift.service.groups import Groups
from keyplan.apps.funkedupshift.service.profiles import Profiles
from keyplan.apps.funkedupshift.service.squash import Squash


class FunkedUpShift(Catalog, Groups, Profiles, Squash):
    """Everything that callers can do with funkedupshift."""
