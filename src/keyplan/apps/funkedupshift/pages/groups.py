"""The pages on which managers manage groups and their members."""

from contextlib import suppress
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from keyplan.apps.funkedupshift.fields import AnyGroup
from keyplan.apps.funkedupshift.models import NewGroup, NewMember
from keyplan.apps.funkedupshift.pages.shared import LISTED, FusView, pages
from keyplan.apps.funkedupshift.service import FunkedUpShift
from keyplan.apps.funkedupshift.service.access import ALLOWS
from keyplan.web import Confirm, Forbidden, Listed, form_of

_GROUP = "/groups/{name}"


pages.show("/groups", "groups.html", groups=Listed(FunkedUpShift.groups, "Sorted by name", LISTED))
pages.show(
    "/new-group",
    "new_group.html",
    asks=NewGroup,
    requires=FunkedUpShift.create_group,
    allows=ALLOWS,
    gives=FunkedUpShift.gives,
)
pages.form("/new-group", FunkedUpShift.create_group, to=_GROUP, notice="Group created")


@pages.get(_GROUP)
def group(view: FusView, name: AnyGroup) -> Response:
    found = view.service.group(name)
    view.form.asking(form_of(FunkedUpShift.change_group)).starting_from(found)
    view.forms("member").asking(NewMember)
    members = None
    with suppress(Forbidden):  # Squash, for managers
        members = view.page(lambda page: view.service.members(name, page), "Sorted by user ID", LISTED)
    return view.render(
        "group.html",
        group=found,
        members=members and members.items,
        turn=members and members.turn,
        rights=view.service.keeping(name),
        gives=view.service.gives(),
        allows=ALLOWS,
    )


pages.form(_GROUP, FunkedUpShift.change_group, to=_GROUP, notice="Group saved")
pages.form(
    f"{_GROUP}/delete",
    FunkedUpShift.delete_group,
    to="/groups",
    notice="Group {name} deleted",
    again=group,
    confirm=Confirm(
        "Delete the group {name}?",
        "Delete group",
        "This deletes the group and removes all its members. They lose its permissions at once.",
    ),
)


pages.form(f"{_GROUP}/members", FunkedUpShift.add_member, to=_GROUP, notice="{user_id} added", again=group)
pages.form(
    f"{_GROUP}/members/remove",
    FunkedUpShift.remove_member,
    to=_GROUP,
    notice="{user_id} removed",
    again=group,
    confirm=Confirm(
        "Remove {display_name} from {name}?",
        "Remove member",
        "They lose the permissions of the group at once.",
        about=FunkedUpShift.member,
    ),
)


@pages.get("/memberships")
def memberships(view: FusView, user_id: Annotated[str, Query(max_length=128, pattern="^[^#]*$")] = "") -> Response:
    view.service.require(FunkedUpShift.memberships)
    found = (
        view.page(lambda page: view.service.memberships(user_id, page), "Sorted by group", LISTED) if user_id else None
    )
    items, turn = (found.items, found.turn) if found else ([], None)
    return view.render("memberships.html", user_id=user_id, memberships=items, turn=turn)
