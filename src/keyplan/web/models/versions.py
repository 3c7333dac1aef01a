"""Versions as entity tags: `ETag` when reading, `If-Match` when changing."""

import re
from dataclasses import dataclass
from typing import Annotated, TypeAlias
from zlib import crc32

from keyplan.web.models.problems import BadRequest, PreconditionRequired

_TAG = r'(W/)?"[!#-+.-~-]*"'
TAGS = rf"^(\*|{_TAG}([ \t]*,[ \t]*{_TAG})*)$"
"""The pattern of `If-Match`: entity tags (RFC 9110, but without commas in them), or `*`."""
Versions: TypeAlias = frozenset[int] | None
"""The versions that the caller wants to change; None for any version."""


@dataclass(frozen=True)
class FromIfMatch:
    """Marks a parameter that is read from `If-Match`."""

    required: bool


IfMatch: TypeAlias = Annotated[Versions, FromIfMatch(required=True)]
"""The versions in `If-Match`, which is required; None for `*`."""
MayMatch: TypeAlias = Annotated[Versions, FromIfMatch(required=False)]
"""The versions in `If-Match`; None for `*` or without the header."""


def etag(version: int, body: bytes) -> str:
    """The entity tag of a version as it is shown. Counts and the caller can change the body without a new version."""
    return f'"{version}-{crc32(body):08x}"'


def versions_in(if_match: str | None, *, required: bool) -> Versions:
    """The versions in an `If-Match` header. A weak tag, or one that isn't ours, matches no version."""
    if if_match is None and required:
        raise PreconditionRequired("if-match-missing", "Send If-Match with the ETag of the version you want to change.")
    if if_match is None or if_match == "*":
        return None
    if not re.fullmatch(TAGS, if_match):
        raise BadRequest("bad-if-match", 'If-Match must be a quoted entity tag, such as "3".')
    tags = [part.strip() for part in if_match.split(",")]
    found = (re.fullmatch('"([0-9]{1,18})(-[0-9a-f]{8})?"', tag) for tag in tags)
    return frozenset(int(each[1]) for each in found if each)


def not_modified(if_none_match: str | None, tag: str) -> bool:
    """Whether `If-None-Match` contains this tag."""
    if if_none_match is None:
        return False
    return if_none_match.strip() == "*" or tag in (part.strip().removeprefix("W/") for part in if_none_match.split(","))
