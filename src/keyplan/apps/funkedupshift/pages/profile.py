"""The page on which users see and change their profile."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from keyplan.apps.funkedupshift.fields import ProfileFields
from keyplan.apps.funkedupshift.models import MAX_AVATAR_BYTES, NewAvatar, ProfileChange, SentAvatar
from keyplan.apps.funkedupshift.pages.shared import FusView, pages
from keyplan.apps.funkedupshift.service.access import ALLOWS
from keyplan.web import Nothing, OfVersion, all_of


class ProfileEdit(ProfileFields, OfVersion):
    """The form that changes a profile."""


class AskedAvatar(NewAvatar):
    """A picture to upload whose size is not known yet."""

    size: Annotated[int, Field(ge=1, le=MAX_AVATAR_BYTES)] = MAX_AVATAR_BYTES


@pages.get("/profile")
def profile(view: FusView) -> Response:
    found = view.service.profile()
    view.form.asking(ProfileEdit).starting_from(found)
    groups = all_of(view.service.my_memberships)
    return view.render(
        "profile.html", sends_files=True, profile=found, groups=groups, allows=ALLOWS, max_bytes=MAX_AVATAR_BYTES
    )


@pages.post("/profile")
def change_profile(view: FusView, edited: ProfileEdit) -> Response:
    view.service.change_profile(ProfileChange.from_fields(edited), edited.seen)
    return view.redirect("/profile", notice="Profile saved")


@pages.post("/profile/avatar/new", again=profile)
def ask_for_upload(view: FusView, asked: AskedAvatar) -> Response:
    ticket = view.service.upload_avatar(asked)
    return view.render("send_avatar.html", sends_files=True, ticket=ticket, content_type=asked.content_type)


@pages.post("/profile/avatar", again=profile)
def put_avatar(view: FusView, sent: SentAvatar) -> Response:
    view.service.put_avatar(sent, None)
    return view.redirect("/profile", notice="Picture saved")


@pages.post("/profile/avatar/delete", again=profile)
def delete_avatar(view: FusView, pressed: Nothing) -> Response:
    view.service.delete_avatar(None)
    return view.redirect("/profile", notice="Picture removed")
