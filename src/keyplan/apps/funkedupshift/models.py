"""What goes into and out of funkedupshift's API, beside the fields that `fields` declares."""

import datetime
import re
from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field, StringConstraints

from keyplan.apps.funkedupshift import fields
from keyplan.design import Stamped, Versioned
from keyplan.web import Change, In, Out

MAX_AVATAR_BYTES = 5 * 1024 * 1024

SearchText: TypeAlias = Annotated[
    str, StringConstraints(strip_whitespace=True, to_lower=True, min_length=1, max_length=100)
]
ImageType: TypeAlias = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
AverageStars: TypeAlias = Annotated[
    float | None, Field(description="The average number of stars; null without ratings.")
]


def _as_written(value: object) -> object:
    """Numbers are no dates, though pydantic would take them for times."""
    if isinstance(value, str) and not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        raise ValueError("Enter a date as YYYY-MM-DD.")
    return value


Day: TypeAlias = Annotated[datetime.date, BeforeValidator(_as_written)]
"""A date in an address. In JSON, dates are read strictly anyway."""


# Sites


class NewSite(fields.SiteFields, In):
    """A site for the catalog. Without a title, its URL is the title."""


class SiteChange(Change[fields.SiteFields]):
    """What to change of a site. Fields that are left out stay as they are; without a title, the URL is the title."""


class SiteHead(fields.SiteShown, Out):
    """A site in a list."""

    average: AverageStars = None


class SiteOut(Versioned, fields.SiteContent, SiteHead):
    """A site."""


class RatingSummary(fields.RatingTotals, Out):
    """What people think of a site."""

    average: AverageStars
    stars: Annotated[dict[str, int], Field(description="The number of ratings with 1, 2, 3, 4 and 5 stars.")]


# Ratings


class NewRating(fields.RatingFields, In):
    """A number of stars, with a note if you like."""


class RatingOut(Versioned, fields.RatingShown, Out):
    """Your rating of a site."""


class MyRating(fields.RatingShown, fields.SiteLink, Out):
    """Your rating, with the site that it is about."""


class AnyRating(fields.ShownName, fields.RatingAuthor, MyRating):
    """A user's rating, as admins see it."""


# Comments


class CommentText(fields.CommentFields, In):
    """The text of a comment."""


class CommentOut(fields.CommentShown, Out):
    """A comment."""

    mine: bool
    user_id: Annotated[str | None, Field(description="Who wrote the comment; only admins see it.")]


# Groups


class NewGroup(fields.GroupFields, In):
    """A custom group."""


class GroupChange(Change[fields.GroupSettings]):
    """What to change of a group. Fields that are left out stay as they are."""


class GroupOut(Versioned, Stamped, fields.GroupFields, Out):
    """A custom group."""


class NewMember(fields.MembershipFields, In):
    """A user to add to a group: the subject of their token."""


class MembershipOut(fields.MembershipDetails, Out):
    """A user's membership in a group."""


class MemberOut(fields.ShownName, MembershipOut):
    """A member of a group, with their display name."""


class MyMembership(fields.MembershipShown, Out):
    """Your membership in a group."""


# Profiles


class ProfileChange(Change[fields.ProfileFields]):
    """What to change of your profile. Fields that are left out stay as they are."""


class ProfileOut(fields.ProfileDetails, Out):
    """Your profile."""

    avatar_url: str | None
    roles: Annotated[list[str], Field(description="SuperAdmin, manager.")]
    permissions: Annotated[list[fields.Permission], Field(description="What you may do beyond what every user may.")]


class NewAvatar(In):
    """A picture to upload."""

    content_type: ImageType
    size: Annotated[int, Field(ge=1, le=MAX_AVATAR_BYTES)]


class SentAvatar(In):
    """A picture that was uploaded."""

    upload_id: Annotated[str, StringConstraints(max_length=200)]


# Squash


class NewPlayer(fields.PlayerFields, In):
    """A player, perhaps linked to a user by the subject of their token."""


class PlayerChange(Change[fields.PlayerFields]):
    """What to change of a player. Fields that are left out stay as they are."""


class PlayerOut(fields.PlayerDetails, Out):
    """A player. Only those who may change players see the email address and the user."""


class NewMatch(fields.MatchFields, In):
    """A match among four different players. The winning team has 3 games, the other 0, 1 or 2."""


class MatchChange(Change[fields.MatchFields]):
    """What to change of a match. Fields that are left out stay as they are."""


class MatchOut(fields.MatchDetails, Out):
    """A match."""


class Standing(fields.PlayerName, fields.PlayerId, Out):
    """A player's results in a range of dates."""

    matches: int = 0
    wins: int = 0
    games_won: int = 0
    games_lost: int = 0


class Standings(Out):
    """The squash table: most wins first, then the better difference of games."""

    date_from: datetime.date | None
    date_to: datetime.date | None
    matches: int
    rows: list[Standing]
