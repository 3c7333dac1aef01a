"""The HTTP kit: what all systems share, so that each of them is only a design, rules and routes.

It knows designs, stores and HTTP; it doesn't know which systems there are, or which DynamoDB it talks to. A `Service`
has a system's rules: it is made for one request, and each of its methods says who may call it. An `Api` puts these
methods on paths, one line each; `Pages` shows them to people. A `System` puts design, service and routes together, and
`Running` runs one: on a store, with an identity, files and limits. Every error is a `Problem`.

Systems import from here, and from three folders with public names of their own: `media` (uploaded files), `identity`
(tokens and sessions) and `server` (all systems on one port). Each part knows only the ones before it: `settings`,
`compat` (private interfaces of other libraries), `models`, `media`, `system`, `identity`, `routes`, `pages`, `server`.
"""

from keyplan.web.models.bodies import Change, In, Out
from keyplan.web.models.paging import Listing, Paging, ShownPage, all_of, page_of
from keyplan.web.models.problems import (
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
from keyplan.web.models.refusals import missing
from keyplan.web.models.slugs import slug_of
from keyplan.web.models.values import Time
from keyplan.web.models.versions import IfMatch, MayMatch, Versions, not_modified
from keyplan.web.pages.editors import Editor, Paths
from keyplan.web.pages.forms import Nothing, OfVersion
from keyplan.web.pages.headings import Headings
from keyplan.web.pages.inputs import Choice, Choices, Input, Line, LongText, WallTime
from keyplan.web.pages.reading import invalid
from keyplan.web.pages.rendering import Site, folder_of
from keyplan.web.pages.views import View
from keyplan.web.pages.zones import is_shown_twice, local_time
from keyplan.web.settings import IssuerSettings, Settings
from keyplan.web.system.access import ANYONE, SIGNED_IN, Caller, Permission
from keyplan.web.system.api_routes import Api, SetCookie
from keyplan.web.system.confirm import Confirm
from keyplan.web.system.directions import isolated
from keyplan.web.system.german import GERMAN
from keyplan.web.system.hashing import check_place
from keyplan.web.system.language import Language
from keyplan.web.system.page_forms import form_of
from keyplan.web.system.page_routes import Pages, Person
from keyplan.web.system.page_views import Listed
from keyplan.web.system.rates import RateLimit
from keyplan.web.system.running import Progress, Running, System
from keyplan.web.system.service import Service, allow
from keyplan.web.system.turns import takes_long

__all__ = [
    "ANYONE",
    "GERMAN",
    "SIGNED_IN",
    "Api",
    "BadRequest",
    "Caller",
    "Change",
    "Choice",
    "Choices",
    "Confirm",
    "Editor",
    "Forbidden",
    "Headings",
    "IfMatch",
    "In",
    "InConflict",
    "Input",
    "IssuerSettings",
    "Language",
    "Line",
    "Listed",
    "Listing",
    "LongText",
    "MayMatch",
    "Missing",
    "Nothing",
    "OfVersion",
    "Out",
    "Pages",
    "Paging",
    "Paths",
    "Permission",
    "Person",
    "Problem",
    "Progress",
    "RateLimit",
    "Running",
    "Service",
    "SetCookie",
    "Settings",
    "ShownPage",
    "Site",
    "Stale",
    "System",
    "Time",
    "TooManyRequests",
    "Unauthorized",
    "Unprocessable",
    "Versions",
    "View",
    "WallTime",
    "all_of",
    "allow",
    "check_place",
    "folder_of",
    "form_of",
    "invalid",
    "is_shown_twice",
    "isolated",
    "local_time",
    "missing",
    "not_modified",
    "page_of",
    "slug_of",
    "takes_long",
]
