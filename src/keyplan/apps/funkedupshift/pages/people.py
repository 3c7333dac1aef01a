"""One's own profile, and the groups that managers look after."""

from contextlib import suppress
from typing import Annotated

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from keyplan.apps.funkedupshift.access import ALLOWS
from keyplan.apps.funkedupshift.models import (
    MOST_AVATAR,
    AnyGroup,
    GroupChange,
    GroupText,
    NewAvatar,
    NewGroup,
    NewMember,
    ProfileChange,
    SentAvatar,
)
from keyplan.apps.funkedupshift.pages.shared import LISTED, FusView, only, pages
from keyplan.apps.funkedupshift.values import Permission, ProfileText
from keyplan.web import Cursor, Forbidden, Nothing, OfVersion, Paging, all_of, turn


class ProfileEdit(OfVersion):
    """A profile as it is to be."""

    display_name: ProfileText | None = None
    description: ProfileText | None = None


class AskedAvatar(NewAvatar):
    """A picture to be uploaded; how large it is nobody knows before."""

    size: Annotated[int, Field(ge=1, le=MOST_AVATAR)] = MOST_AVATAR


class GroupEdit(OfVersion):
    """A group as it is to be."""

    description: GroupText | None = None
    permissions: list[Permission] = Field(default_factory=list)


# Profile


@pages.get("/profile")
def profile(view: FusView) -> Response:
    found = view.service.profile()
    view.form.starting_from(found)
    groups = all_of(view.service.my_memberships)
    return view.render("profile.html", sends_files=True, profile=found, groups=groups, allows=ALLOWS, most=MOST_AVATAR)


@pages.post("/profile")
def change_profile(view: FusView, edited: ProfileEdit) -> Response:
    change = ProfileChange(display_name=edited.display_name, description=edited.description)
    view.service.change_profile(change, edited.seen)
    return view.redirect("/profile", notice="Your profile is changed.")


@pages.post("/profile/avatar/new", again=profile)
def ask_for_upload(view: FusView, asked: AskedAvatar) -> Response:
    ticket = view.service.upload_avatar(asked)
    return view.render("send_avatar.html", sends_files=True, ticket=ticket, content_type=asked.content_type)


@pages.post("/profile/avatar", again=profile)
def put_avatar(view: FusView, sent: SentAvatar) -> Response:
    view.service.put_avatar(sent, None)
    return view.redirect("/profile", notice="Your picture is there.")


@pages.post("/profile/avatar/delete", again=profile)
def delete_avatar(view: FusView, pressed: Nothing) -> Response:
    view.service.delete_avatar(None)
    return view.redirect("/profile", notice="Your picture is removed.")


# Groups


@pages.get("/groups")
def groups(view: FusView, cursor: Cursor = None) -> Response:
    found = view.service.groups(Paging(limit=LISTED, cursor=cursor))
    return view.render("groups.html", groups=found.items, turn=turn(view.site.url("/groups"), cursor, found.next))


@pages.get("/new-group")
def new_group(view: FusView) -> Response:
    only(view, "groups:write")
    return view.render("new_group.html", allows=ALLOWS, gives=view.service.gives())


@pages.post("/new-group")
def create_group(view: FusView, new: NewGroup) -> Response:
    made = view.service.create_group(new)
    return view.redirect("/groups/{name}", name=made.name, notice="The group is there.")


@pages.get("/groups/{name}")
def group(view: FusView, name: AnyGroup, cursor: Cursor = None) -> Response:
    found = view.service.group(name)
    view.form.starting_from(found)
    members, around = None, None
    with suppress(Forbidden):  # Squash, for managers
        listed = view.service.members(name, Paging(limit=LISTED, cursor=cursor))
        members, around = listed.items, turn(view.site.url("/groups/{name}", name=name), cursor, listed.next)
    return view.render(
        "group.html",
        group=found,
        members=members,
        turn=around,
        keeping=view.service.keeping(name),
        gives=view.service.gives(),
        allows=ALLOWS,
    )


@pages.post("/groups/{name}", again=group)
def change_group(view: FusView, name: AnyGroup, edited: GroupEdit) -> Response:
    change = GroupChange(description=edited.description, permissions=edited.permissions)
    view.service.change_group(name, change, edited.seen)
    return view.redirect("/groups/{name}", name=name, notice="The group is changed.")


@pages.post("/groups/{name}/delete", again=group)
def delete_group(view: FusView, name: AnyGroup, which: OfVersion) -> Response:
    view.service.delete_group(name, which.seen)
    return view.redirect("/groups", notice="The group is deleted.")


@pages.post("/groups/{name}/members", again=group)
def add_member(view: FusView, name: AnyGroup, new: NewMember) -> Response:
    view.service.add_member(name, new)
    return view.redirect("/groups/{name}", name=name, notice=f"{new.user_id} is in the group.")


@pages.post("/groups/{name}/members/remove", again=group)
def remove_member(view: FusView, name: AnyGroup, which: NewMember) -> Response:
    view.service.remove_member(name, which.user_id)
    return view.redirect("/groups/{name}", name=name, notice=f"{which.user_id} is out of the group.")


@pages.get("/memberships")
def memberships(
    view: FusView, user_id: Annotated[str, Query(max_length=128, pattern="^[^#]*$")] = "", cursor: Cursor = None
) -> Response:
    only(view, "groups:write")
    found = view.service.memberships(user_id, Paging(limit=LISTED, cursor=cursor)) if user_id else None
    around = turn(view.site.url("/memberships", user_id=user_id), cursor, found.next) if found else None
    items = found.items if found else []
    return view.render("memberships.html", user_id=user_id, memberships=items, turn=around)
