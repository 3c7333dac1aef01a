"""The values that the fields of funkedupshift take, where the type alone does not say it."""

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from keyplan.design import Id, limit

__all__ = [
    "RESERVED_GROUPS",
    "STARS",
    "GroupName",
    "Note",
    "Permission",
    "ProfileText",
    "ScrapedContent",
    "Stars",
    "Tag",
    "Tags",
]

RESERVED_GROUPS = frozenset({"admin", "manager", "user"})
"""Names of token groups, which no custom group may have in any case of letters."""
MOST_SCRAPED = 100 * 1024
"""Bytes of scraped content that a site may have."""


def _not_reserved(name: str) -> None:
    if name.lower() in RESERVED_GROUPS:
        raise ValueError(f"{name!r} is the name of a token group")


def _tidy(tag: object) -> object:
    # Before its length is looked at: some capitals are two letters when they are small.
    return tag.strip().lower() if isinstance(tag, str) else tag


def _each_once(tags: list[str]) -> list[str]:
    return list(dict.fromkeys(tags))


def _not_too_large(content: str) -> str:
    size = len(content.encode())
    if size > MOST_SCRAPED:
        raise ValueError(f"{size} bytes are more than {MOST_SCRAPED}")
    return content


GroupName: TypeAlias = Annotated[Id, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$"), limit(_not_reserved)]
Permission: TypeAlias = Literal["squash:read", "squash:write", "sites:write", "groups:write"]
STARS = (1, 2, 3, 4, 5)
Stars: TypeAlias = Annotated[int, Field(ge=STARS[0], le=STARS[-1])]
Note: TypeAlias = Annotated[str, StringConstraints(max_length=2000)]
ScrapedContent: TypeAlias = Annotated[str, AfterValidator(_not_too_large)]
ProfileText: TypeAlias = Annotated[str, StringConstraints(max_length=100)]
Tag: TypeAlias = Annotated[str, BeforeValidator(_tidy), StringConstraints(min_length=1, max_length=50)]
"""Any characters, `c#` too."""
Tags: TypeAlias = Annotated[list[Tag], Field(max_length=20), AfterValidator(_each_once)]
