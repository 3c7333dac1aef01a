"""What funkedupshift's pages have in common."""

from typing import TypeAlias

from keyplan.apps.funkedupshift.service import FunkedUpShift
from keyplan.apps.funkedupshift.service.access import ADMIN
from keyplan.web import Pages, Person, View

FusView: TypeAlias = View[FunkedUpShift]

PEOPLE = (
    Person("sam", "Sam", ["admin"], "SuperAdmin: may do everything"),
    Person("max", "Max", ["manager"], "Looks after groups"),
    Person("mia", "Mia", ["manager"], "Looks after groups, and is in Squash"),
    Person("moe", "Moe", about="Is in Squash"),
    Person("ada", "Ada", about="Rates and comments"),
)
"""The people whom a developer can sign in as; the demo data has them too."""

pages = Pages("keyplan.apps.funkedupshift", people=PEOPLE)

LISTED = 25
"""Items on a page of a list."""


@pages.on_every_page
def for_the_menu(view: FusView) -> dict[str, object]:
    """What the menu depends on."""
    return {"may": view.service.permissions(), "admin": is_admin(view)}


def is_admin(view: FusView) -> bool:
    return view.caller is not None and ADMIN in view.caller.groups
