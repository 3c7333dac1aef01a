"""What goes into and out of funkedupshift's API."""

from collections.abc import Collection
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints

from keyplan.apps.funkedupshift.access import ADMIN, ALLOWS
from keyplan.apps.funkedupshift.entities import Comment, Group, Membership, Profile, Rating, Site
from keyplan.apps.funkedupshift.values import (
    GroupName,
    Note,
    Permission,
    ProfileText,
    ScrapedContent,
    Stars,
    Tags,
)
from keyplan.design import Id
from keyplan.web import In, Link, Out, Time

MOST_AVATAR = 5 * 1024 * 1024
_PLAIN = r"[^\x00-\x20\x7f\\]"
_WEB = rf"^https?://[^\x00-\x20\x7f\\/?#@:\[\]]+(:[0-9]{{1,5}})?([/?#]{_PLAIN}*)?$"
"""What the address of a site looks like: a link, but no mailbox and no file of ours."""


def name_of(profile: Profile | None) -> str:
    """The name that somebody is shown with."""
    return (profile.display_name if profile else None) or "Somebody"


def _in_the_web(link: str) -> str:
    if not link.startswith(("https://", "http://")):
        raise ValueError("the address of a site begins with https:// or http://")
    return link


ItemId: TypeAlias = Id
Url: TypeAlias = Annotated[Link, AfterValidator(_in_the_web), Field(json_schema_extra={"pattern": _WEB})]
Title: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Description: TypeAlias = Annotated[str, StringConstraints(max_length=5000)]
Body: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=5000)]
GroupText: TypeAlias = Annotated[str, StringConstraints(max_length=500)]
AnyGroup: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
"""The name of a group, in an address."""
SearchText: TypeAlias = Annotated[
    str, StringConstraints(strip_whitespace=True, to_lower=True, min_length=1, max_length=100)
]
ImageType: TypeAlias = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]


# Sites


class NewSite(In):
    """A site for the catalogue. Without a title, its url is the title."""

    url: Url
    title: Title | None = None
    description: Description | None = None
    scraped_content: Annotated[ScrapedContent | None, Field(description="At most 100 KB. It is never fetched.")] = None
    tags: Tags = Field(default_factory=list)


class SiteChange(In):
    """What is to be changed of a site; what is not named stays."""

    url: Url | None = None
    title: Title | None = None
    description: Description | None = None
    scraped_content: ScrapedContent | None = None
    tags: Tags | None = None


class SiteHead(Out):
    """A site in a list."""

    site_id: Annotated[str, Field(validation_alias="id")]
    url: str
    title: str
    description: str | None
    tags: list[str]
    rating_count: int
    average: Annotated[float | None, Field(description="Of its stars; none without ratings.")] = None
    created_at: Time
    updated_at: Time

    @classmethod
    def of(cls, site: Site) -> Self:
        return cls.model_validate(site).model_copy(update={"average": average(site)})


class SiteOut(SiteHead):
    """A site."""

    scraped_content: str | None
    version: int


def average(site: Site) -> float | None:
    """The average of a site's stars, with two decimals."""
    return round(site.rating_sum / site.rating_count, 2) if site.rating_count else None


class RatingSummary(Out):
    """What people think of a site."""

    rating_count: int
    rating_sum: int
    average: float | None
    stars: Annotated[dict[str, int], Field(description="How many ratings there are of each number of stars.")]


# Ratings


class NewRating(In):
    """Stars, and why."""

    stars: Stars
    note: Note | None = None


class RatingOut(Out):
    """A rating of one's own."""

    site_id: str
    stars: int
    note: str | None
    updated_at: Time
    version: int

    @classmethod
    def of(cls, rating: Rating) -> "RatingOut":
        return cls.model_validate(rating)


class MyRating(Out):
    """A rating of one's own, with what it is of."""

    site_id: str
    title: str
    url: str
    stars: int
    note: str | None
    updated_at: Time

    @classmethod
    def of(cls, rating: Rating, site: Site) -> "MyRating":
        return cls(
            site_id=site.id,
            title=site.title,
            url=site.url,
            stars=rating.stars,
            note=rating.note,
            updated_at=rating.updated_at,
        )


class AnyRating(MyRating):
    """Somebody's rating, as admins see it."""

    user_id: str
    display_name: str

    @classmethod
    def by(cls, rating: Rating, site: Site, profile: Profile | None) -> "AnyRating":
        return cls(user_id=rating.user_id, display_name=name_of(profile), **MyRating.of(rating, site).model_dump())


# Comments


class CommentText(In):
    """What one has to say."""

    body: Body


class CommentOut(Out):
    """A comment."""

    comment_id: str
    display_name: str
    body: str
    mine: bool
    user_id: Annotated[str | None, Field(description="Whose it is, for admins.")]
    created_at: Time
    updated_at: Time
    version: int

    @classmethod
    def of(cls, comment: Comment, reader: str | None, admin: bool) -> "CommentOut":
        return cls(
            comment_id=comment.comment_id,
            display_name=comment.display_name,
            body=comment.body,
            mine=comment.user_id == reader,
            user_id=comment.user_id if admin else None,
            created_at=comment.created_at,
            updated_at=comment.updated_at,
            version=comment.version,
        )


# Groups


class NewGroup(In):
    """A custom group."""

    name: GroupName
    description: GroupText | None = None
    permissions: list[Permission] = Field(default_factory=list, max_length=len(ALLOWS))


class GroupChange(In):
    """What is to be changed of a group; what is not named stays."""

    description: GroupText | None = None
    permissions: Annotated[list[Permission], Field(max_length=len(ALLOWS))] | None = None


class GroupOut(Out):
    """A custom group."""

    name: str
    description: str | None
    permissions: list[Permission]
    created_at: Time
    updated_at: Time
    version: int

    @classmethod
    def of(cls, group: Group) -> "GroupOut":
        return cls.model_validate(group)


class NewMember(In):
    """Who is to be in a group: the subject of their token."""

    user_id: Id


class MembershipOut(Out):
    """That somebody is in a group."""

    group_name: str
    user_id: str
    added_at: Time
    added_by: str

    @classmethod
    def of(cls, membership: Membership) -> "MembershipOut":
        return cls.model_validate(membership)


class MemberOut(MembershipOut):
    """A member of a group, with the name they gave themselves."""

    display_name: str

    @classmethod
    def named(cls, membership: Membership, profile: Profile | None) -> "MemberOut":
        return cls(display_name=name_of(profile), **MembershipOut.of(membership).model_dump())


class MyMembership(Out):
    """A group that one is in."""

    group_name: str
    added_at: Time

    @classmethod
    def of(cls, membership: Membership) -> "MyMembership":
        return cls.model_validate(membership)


# Profiles


class ProfileChange(In):
    """What is to be changed of a profile; what is not named stays."""

    display_name: ProfileText | None = None
    description: ProfileText | None = None


class ProfileOut(Out):
    """One's own profile."""

    user_id: str
    display_name: str | None
    description: str | None
    avatar_url: str | None
    roles: Annotated[list[str], Field(description="SuperAdmin, manager.")]
    permissions: Annotated[list[Permission], Field(description="What one may do beside what everybody may.")]
    last_login_at: Time | None
    last_login_ip: str | None
    updated_at: Time
    version: int

    @classmethod
    def of(
        cls, profile: Profile, avatar: str | None, roles: Collection[str], powers: Collection[Permission]
    ) -> "ProfileOut":
        return cls(
            avatar_url=avatar,
            roles=sorted("SuperAdmin" if role == ADMIN else role for role in roles),
            permissions=sorted(powers),
            **profile.model_dump(exclude={"avatar_key"}),
        )


class NewAvatar(In):
    """A picture to be uploaded."""

    content_type: ImageType
    size: Annotated[int, Field(ge=1, le=MOST_AVATAR)]


class SentAvatar(In):
    """A picture that was uploaded."""

    upload_id: Annotated[str, StringConstraints(max_length=200)]
