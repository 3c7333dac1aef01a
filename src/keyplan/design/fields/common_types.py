"""Types that many designs use: links and user ids."""

import re
from typing import Annotated, TypeAlias

from pydantic import StringConstraints

from keyplan.design.fields.declarations import NoSeparator, about
from keyplan.design.values.limits import limit

_TEXT = r"[^\x00-\x20\x7f\\]"
_HOST = r"[^\x00-\x20\x7f\\/?#@:\[\]]+"
_WEBSITE = rf"https?://{_HOST}(:[0-9]{{1,5}})?([/?#]{_TEXT}*)?"
_UPLOADED = f"/media/{_TEXT}*"
LINK = f"^({_WEBSITE}|mailto:{_TEXT}*@{_TEXT}*|{_UPLOADED})$"
"""The pattern of a link. A user name before the host isn't allowed, since it could be mistaken for the host."""


def _is_link(text: str) -> None:
    if not re.fullmatch(LINK, text):
        raise ValueError("A link starts with https://, http:// or mailto:")


Link: TypeAlias = Annotated[str, StringConstraints(max_length=2048), limit(_is_link, pattern=LINK)]
"""A link to a website, an e-mail address or an uploaded file. It is never fetched."""
_IMAGE_LINK = f"^({_WEBSITE}|{_UPLOADED})$"


def _is_image_link(text: str) -> None:
    if not re.fullmatch(_IMAGE_LINK, text):
        raise ValueError("The address of an image starts with https:// or http://")


ImageLink: TypeAlias = Annotated[str, StringConstraints(max_length=2048), limit(_is_image_link, pattern=_IMAGE_LINK)]
"""The address of an image on a website, or of an uploaded one. It is never fetched."""


UserId: TypeAlias = Annotated[
    str,
    NoSeparator(),
    StringConstraints(strip_whitespace=False, min_length=1, max_length=128, pattern=r"^[^#]+$"),
    about("User", "The subject of the user's token."),
]
