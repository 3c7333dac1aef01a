"""The pages on which managers manage groups and their members."""

from contextlib import suppress
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from keyplan.apps.funkedupshift.fields import AnyGroup, GroupSettings
from keyplan.apps.funkedupshift.models import GroupChange, NewGroup, NewMember
from keyplan.apps.funkedupshift.pages.shared import LISTED, FusView, only, pages
from keyplan.apps.funkedupshift.service.access import ALLOWS
from keyplan.web import Cursor, Forbidden, OfVersion, Paging, turn


class GroupEdit(GroupSettings, OfVersion):
    """The form that changes a group."""


@pages.get("/groups")
def groups(view: FusView, cursor: Cursor = None) -> Response:
    found = view.service.groups(Paging(limit=LISTED, cursor=cursor))
    return view.render("groups.html", groups=found.items, turn=turn(view.site.url("/groups"), cursor, found.next))


@pages.get("/new-group")
def new_group(view: FusView) -> Response:
    only(view, "groups:write")
    view.form.asking(NewGroup)
    return view.render("new_group.html", allows=ALLOWS, gives=view.service.gives())


@pages.post("/new-group")
def create_group(view: FusView, new: NewGroup) -> Response:
    made = view.service.create_group(new)
    return view.redirect("/groups/{name}", name=made.name, notice="Group created")


@pages.get("/groups/{name}")
def group(view: FusView, name: AnyGroup, cursor: Cursor = None) -> Response:
    found = view.service.group(name)
    view.form.asking(GroupEdit).starting_from(found)
    view.forms("member").asking(NewMember)
    members, around = None, None
    with suppress(Forbidden):  # Squash, for managers
        listed = view.service.members(name, Paging(limit=LISTED, cursor=cursor))
        members, around = listed.items, turn(view.site.url("/groups/{name}", name=name), cursor, listed.next)
    return view.render(
        "group.html",
        group=found,
        members=members,
        turn=around,
        rights=view.service.keeping(name),
        gives=view.service.gives(),
        allows=ALLOWS,
    )


@pages.post("/groups/{name}", again=group)
def change_group(view: FusView, name: AnyGroup, edited: GroupEdit) -> Response:
    view.service.change_group(name, GroupChange.from_fields(edited), edited.seen)
    return view.redirect("/groups/{name}", name=name, notice="Group saved")


@pages.post("/groups/{name}/delete", again=group)
def delete_group(view: FusView, name: AnyGroup, which: OfVersion) -> Response:
    view.service.delete_group(name, which.seen)
    return view.redirect("/groups", notice=f"Group {name} deleted")


@pages.post("/groups/{name}/members", again=group)
def add_member(view: FusView, name: AnyGroup, new: NewMember) -> Response:
    view.service.add_member(name, new)
    return view.redirect("/groups/{name}", name=name, notice=f"{new.user_id} added.")


@pages.post("/groups/{name}/members/remove", again=group)
def remove_member(view: FusView, name: AnyGroup, which: NewMember) -> Response:
    view.service.remove_member(name, which.user_id)
    return view.redirect("/groups/{name}", name=name, notice=f"{which.user_id} removed.")


@pages.get("/memberships")
def memberships(
    view: FusView, user_id: Annotated[str, Query(max_length=128, pattern="^[^#]*$")] = "", cursor: Cursor = None
) -> Response:
    only(view, "groups:write")
    found = view.service.memberships(user_id, Paging(limit=LISTED, cursor=cursor)) if user_id else None
    around = turn(view.site.url("/memberships", user_id=user_id), cursor, found.next) if found else None
    items = found.items if found else []
    return view.render("memberships.html", user_id=user_id, memberships=items, turn=around)
