"""The HTTP kit: what all systems share, so that each of them is a design, rules and routes.

It knows designs and stores, and HTTP; it does not know which systems there are, nor which DynamoDB answers. Three
types carry everything. A `Service` holds a system's rules: it is made for one request, and each of its methods says
who may call it. An `Api` puts those methods on paths, one line each; `Pages` shows them to people. A `System` puts
design, service and routes together, and `Running` is one at work: on a store, with an identity, files and limits.
Everything that goes wrong leaves as a `Problem`.
"""

from keyplan.web.api import Api, SetCookie
from keyplan.web.bodies import In, Link, Out, Time, UserId
from keyplan.web.forms import Nothing, OfVersion
from keyplan.web.language import Language
from keyplan.web.pages import Pages, Person, View
from keyplan.web.paging import Cursor, Listing, Paging, all_of, turn
from keyplan.web.problems import (
    BadRequest,
    Forbidden,
    InConflict,
    Missing,
    Problem,
    Stale,
    TooManyRequests,
    Unauthorized,
    Unprocessable,
)
from keyplan.web.service import ANYONE, SIGNED_IN, Caller, Service, allow
from keyplan.web.slugs import slug_of
from keyplan.web.system import Progress, Running, System
from keyplan.web.versions import IfMatch, MayMatch

__all__ = [
    "ANYONE",
    "SIGNED_IN",
    "Api",
    "BadRequest",
    "Caller",
    "Cursor",
    "Forbidden",
    "IfMatch",
    "In",
    "InConflict",
    "Language",
    "Link",
    "Listing",
    "MayMatch",
    "Missing",
    "Nothing",
    "OfVersion",
    "Out",
    "Pages",
    "Paging",
    "Person",
    "Problem",
    "Progress",
    "Running",
    "Service",
    "SetCookie",
    "Stale",
    "System",
    "Time",
    "TooManyRequests",
    "Unauthorized",
    "Unprocessable",
    "UserId",
    "View",
    "all_of",
    "allow",
    "slug_of",
    "turn",
]
