"""The rules of the club's site: who may do what, and what has to hold."""

from keyplan.apps.vcm.service.content import Content
from keyplan.apps.vcm.service.library import Library
from keyplan.apps.vcm.service.people import People
from keyplan.apps.vcm.service.sams import Sams

__all__ = ["Club"]


class Club(Content, People, Library, Sams):
    """Everything that can be done with the club's site."""
