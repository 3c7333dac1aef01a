"""What funkedupshift's pages have in common."""

from typing import TypeAlias

from keyplan.apps.funkedupshift.service import FunkedUpShift
from keyplan.apps.funkedupshift.values import Permission
from keyplan.web import Forbidden, Pages, Person, Unauthorized, View

FusView: TypeAlias = View[FunkedUpShift]

PEOPLE = (
    Person("sam", "Sam", ["admin"], "SuperAdmin: may do everything"),
    Person("max", "Max", ["manager"], "Looks after groups"),
    Person("mia", "Mia", ["manager"], "Looks after groups, and is in Squash"),
    Person("moe", "Moe", about="Is in Squash"),
    Person("ada", "Ada", about="Rates and comments"),
)
"""Whom a developer can be; the made-up data has them, too."""

pages = Pages("keyplan.apps.funkedupshift", people=PEOPLE)

LISTED = 25
"""Items on a page of a list."""


@pages.on_every_page
def known(view: FusView) -> dict[str, object]:
    """What the menu depends on."""
    return {"may": view.service.permissions(), "admin": is_admin(view)}


def is_admin(view: FusView) -> bool:
    return view.caller is not None and "admin" in view.caller.groups


def only(view: FusView, permission: Permission) -> None:
    """For pages that show no more than everybody knows, but lead to what only some may do."""
    if view.caller is None:
        raise Unauthorized
    if permission not in view.service.permissions():
        raise Forbidden
