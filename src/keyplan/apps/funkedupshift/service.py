"""The rules of funkedupshift, all together."""

from keyplan.apps.funkedupshift.catalogue import Catalogue
from keyplan.apps.funkedupshift.people import People
from keyplan.apps.funkedupshift.squash import Squash


class FunkedUpShift(Catalogue, People, Squash):
    """Everything that can be done with funkedupshift."""
