"""The page on which users see and change their profile."""

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from keyplan.apps.funkedupshift.models import MAX_AVATAR_BYTES, NewAvatar
from keyplan.apps.funkedupshift.pages.shared import FusView, pages
from keyplan.apps.funkedupshift.service import FunkedUpShift
from keyplan.apps.funkedupshift.service.access import ALLOWS
from keyplan.web import Confirm, all_of, form_of


class AskedAvatar(NewAvatar):
    """A picture to upload whose size is not known yet."""

    size: Annotated[int, Field(ge=1, le=MAX_AVATAR_BYTES)] = MAX_AVATAR_BYTES


@pages.get("/profile")
def profile(view: FusView) -> Response:
    found = view.service.profile()
    view.form.asking(form_of(FunkedUpShift.change_profile)).starting_from(found)
    groups = all_of(view.service.my_memberships)
    return view.render(
        "profile.html", sends_files=True, profile=found, groups=groups, allows=ALLOWS, max_bytes=MAX_AVATAR_BYTES
    )


pages.form("/profile", FunkedUpShift.change_profile, to="/profile", notice="Profile saved")
pages.form("/profile/avatar", FunkedUpShift.put_avatar, to="/profile", notice="Picture saved", again=profile)
pages.form(
    "/profile/avatar/delete",
    FunkedUpShift.delete_avatar,
    to="/profile",
    notice="Picture removed",
    again=profile,
    confirm=Confirm("Remove your picture?", "Remove picture"),
)


@pages.post("/profile/avatar/new", again=profile)
def ask_for_upload(view: FusView, asked: AskedAvatar) -> Response:
    ticket = view.service.upload_avatar(asked)
    return view.render("send_avatar.html", sends_files=True, ticket=ticket, content_type=asked.content_type)
