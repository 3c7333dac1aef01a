"""The fields of funkedupshift, each declared once, in the order of its document.

Entities, request bodies, forms and answers inherit them. Where an answer shows only some of the fields of a thing,
they are a class of their own. Of several bases, the fields of the last come first.
"""

import datetime
import re
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from keyplan.design import (
    CREATE_ONLY,
    READ_ONLY,
    Count,
    Created,
    Fields,
    Id,
    OneLine,
    Refusal,
    Stamped,
    Updated,
    Versioned,
    about,
    check_address,
    created,
    limit,
    limits,
    new_id,
    public,
    stored,
    updated,
)

# What many items have


class ShownName(Fields):
    """The name that somebody is shown with."""

    display_name: Annotated[str, READ_ONLY]


# 1. Site (catalog entry)

MAX_URL = 2048
MAX_TITLE = 300
MAX_SCRAPED_BYTES = 100 * 1024
_TEXT = r"[^\x00-\x20\x7f\\]"
_WEB_ADDRESS = rf"^https?://[^\x00-\x20\x7f\\/?#@:\[\]]+(:[0-9]{{1,5}})?([/?#]{_TEXT}*)?$"


def _on_the_web(url: str) -> None:
    if not re.fullmatch(_WEB_ADDRESS, url):
        raise ValueError("Enter a URL that starts with https:// or http:// and has no spaces.")


def _short_unless_url(title: str) -> None:
    if len(title) > MAX_TITLE and not title.startswith(("https://", "http://")):
        raise ValueError(f"Use at most {MAX_TITLE} characters.")


def _in_size(content: str) -> None:
    size = len(content.encode())
    if size > MAX_SCRAPED_BYTES:
        raise ValueError(f"This has {size:,} bytes. Use at most {MAX_SCRAPED_BYTES:,}.")


def _tidied(tag: object) -> object:
    # Before its length is checked: some capital letters become two letters in lower case.
    return tag.strip().lower() if isinstance(tag, str) else tag


def _each_once(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


Url: TypeAlias = Annotated[str, StringConstraints(max_length=MAX_URL), limit(_on_the_web, pattern=_WEB_ADDRESS)]
"""The address of a site. It is never fetched."""
Title: TypeAlias = Annotated[str, OneLine(max_length=MAX_TITLE)]
TitleOrUrl: TypeAlias = Annotated[str, OneLine(max_length=MAX_URL), limit(_short_unless_url)]
"""What a site is called: the title that it was given, or its URL."""
Description: TypeAlias = Annotated[str, StringConstraints(max_length=5000)]
ScrapedContent: TypeAlias = Annotated[str, limit(_in_size)]
Tag: TypeAlias = Annotated[str, OneLine(max_length=50), BeforeValidator(_tidied)]
"""Any visible characters, `c#` too."""
AnyTag: TypeAlias = Annotated[str, BeforeValidator(_tidied), StringConstraints(min_length=1, max_length=50)]
"""A tag that sites are looked up by: also one that was stored before tags had to be visible."""
Tags: TypeAlias = Annotated[list[Tag], Field(max_length=20), AfterValidator(_each_once)]


class SiteId(Fields):
    """What a site is known by."""

    id: Annotated[Id, stored("PK"), public("site_id")] = new_id()


class SiteUrl(Fields):
    """Where a site is."""

    url: Annotated[Url, about("URL", example="https://example.org/")]


class SiteLink(SiteUrl):
    """What a link to a site shows."""

    title: TitleOrUrl


class SiteName(SiteUrl):
    """Where a site is, and perhaps what it is called."""

    title: Annotated[Title | None, about("Title", "Leave empty to use the URL.")] = None


class SiteTexts(Fields):
    """What people read about a site."""

    description: Description | None = None
    tags: Annotated[Tags, about("Tags", "Up to 20 tags. They are stored in lower case.")] = Field(default_factory=list)


class SiteEntry(SiteTexts, SiteName):
    """What people type about a site."""


class SiteContent(Fields):
    """What a site says about itself."""

    scraped_content: Annotated[
        ScrapedContent | None, about("Scraped content", "At most 100 KB. It is stored as given; nothing is fetched.")
    ] = None


class SiteFields(SiteContent, SiteEntry):
    """What callers may set of a site."""


class RatingCount(Fields):
    """How many ratings a site has."""

    rating_count: Count = 0


class RatingTotals(RatingCount):
    """The number of a site's ratings, and the sum of their stars."""

    rating_sum: Count = 0


class SiteShown(Stamped, RatingCount, SiteTexts, SiteLink, SiteId):
    """What a list shows of a site."""


# 3. User rating (stars + note)


def _none_if_empty(text: str | None) -> str | None:
    return text or None


STARS = (1, 2, 3, 4, 5)
Stars: TypeAlias = Annotated[int, Field(ge=STARS[0], le=STARS[-1])]
Note: TypeAlias = Annotated[str, StringConstraints(max_length=2000)]


class RatingFields(Fields):
    """What somebody thinks of a site."""

    stars: Stars
    note: Annotated[
        Note | None, AfterValidator(_none_if_empty), about("Note", "Optional. Only you and admins can see it.")
    ] = None


class RatingShown(RatingFields):
    """What a list shows of a rating."""

    site_id: Annotated[Id, READ_ONLY]
    updated_at: Updated = updated()


class RatingAuthor(Fields):
    """Whose rating it is; only admins see it."""

    user_id: Annotated[Id, stored("PK"), READ_ONLY]


# 4. Comment (per user per site)

CommentBody: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=5000)]


class CommentFields(Fields):
    """What somebody says about a site."""

    body: Annotated[CommentBody, about("Comment")]


class CommentId(Fields):
    """What a comment is known by."""

    comment_id: Annotated[Id, stored("SK")] = new_id()


class CommentShown(Versioned, Stamped, CommentFields, ShownName, CommentId):
    """What everybody sees of a comment; the name is the one that its author had when they wrote it."""


# 5. Custom RBAC group (DynamoDB)

RESERVED_GROUPS = frozenset({"admin", "manager", "user"})
"""Names of token groups, which no custom group may have in any case of letters."""
_GROUP_NAME = r"^[A-Za-z0-9_-]{1,64}$"


def _not_reserved(name: str) -> None:
    if name.lower() in RESERVED_GROUPS:
        raise ValueError(f"{name!r} is reserved. Choose another name.")


Permission: TypeAlias = Literal["squash:read", "squash:write", "sites:write", "groups:write"]
Permissions: TypeAlias = Annotated[
    list[Permission], Field(max_length=len(get_args(Permission))), AfterValidator(_each_once)
]
AnyGroup: TypeAlias = Annotated[str, StringConstraints(pattern=_GROUP_NAME)]
"""The name of a group in an address."""
GroupName: TypeAlias = Annotated[Id, StringConstraints(pattern=_GROUP_NAME), limit(_not_reserved)]
"""The name of a group that is to be created."""
GroupText: TypeAlias = Annotated[str, StringConstraints(max_length=500)]


class GroupSettings(Fields):
    """What can be changed of a group."""

    description: Annotated[GroupText | None, AfterValidator(_none_if_empty)] = None
    permissions: Permissions = Field(default_factory=list)


class GroupFields(GroupSettings):
    """What callers set of a group."""

    name: Annotated[
        GroupName,
        CREATE_ONLY,
        about("Name", "1 to 64 letters, digits, hyphens or underscores. You can't change it later.", example="editors"),
    ]


# 6. User membership in custom group


class MembershipShown(Fields):
    """What a member sees of their membership."""

    group_name: Annotated[Id, READ_ONLY]
    added_at: Created = created()


class MembershipFields(Fields):
    """Who is in a group."""

    user_id: Annotated[Id, CREATE_ONLY, about("User ID", "Users find their ID on their profile.")]


class MembershipDetails(MembershipFields, MembershipShown):
    """Who is in which group, since when, and who added them."""

    added_by: Annotated[Id, READ_ONLY]


# 7. User profile (avatar, description, last login)

ProfileText: TypeAlias = Annotated[str, OneLine(min_length=0, max_length=100)]


class ProfileFields(Fields):
    """What users say about themselves."""

    display_name: Annotated[
        ProfileText | None, AfterValidator(_none_if_empty), about("Display name", "Shown with your comments.")
    ] = None
    description: Annotated[ProfileText | None, AfterValidator(_none_if_empty)] = None


class ProfileDetails(Versioned, ProfileFields):
    """What users see of their own profile."""

    user_id: Annotated[Id, stored("PK"), READ_ONLY]
    last_login_at: Annotated[datetime.datetime | None, READ_ONLY] = None
    last_login_ip: Annotated[str | None, READ_ONLY] = None
    updated_at: Updated = updated()


# 8. Squash player

PlayerText: TypeAlias = Annotated[str, OneLine(max_length=100)]
Email: TypeAlias = Annotated[str, StringConstraints(max_length=254, pattern=r"^[^@\s]+@[^@\s]+$"), limit(check_address)]


class PlayerId(Fields):
    """What a player is known by."""

    id: Annotated[Id, stored("PK"), public("player_id")] = new_id()


class PlayerName(Fields):
    """What a player is called."""

    name: PlayerText


class PlayerFields(PlayerName):
    """What callers may set of a player."""

    email: Annotated[Email | None, about("Email address", "Optional.", example="ada@example.org")] = None
    user_id: Annotated[
        Id | None, about("User ID", "Optional. Links the player to a user, who finds the ID on their profile.")
    ] = None


class PlayerDetails(Versioned, Stamped, PlayerFields, PlayerId):
    """What callers see of a player."""

    match_count: Count = 0


# 9. Squash match

Team: TypeAlias = Literal["A", "B"]
Games: TypeAlias = Annotated[int, Field(ge=0, le=3)]


class MatchId(Fields):
    """What a match is known by."""

    match_id: Id = new_id()


class MatchEntry(Fields):
    """What people type about a match: who won follows from the games."""

    date: datetime.date
    team_a_player1_id: Annotated[Id, about("First player of team A")]
    team_a_player2_id: Annotated[Id, about("Second player of team A")]
    team_b_player1_id: Annotated[Id, about("First player of team B")]
    team_b_player2_id: Annotated[Id, about("Second player of team B")]
    team_a_games: Annotated[Games, about("Games won by team A", example=3)]
    team_b_games: Annotated[Games, about("Games won by team B", example=1)]

    @limits("team_a_player1_id", "team_a_player2_id", "team_b_player1_id", "team_b_player2_id")
    def different_players(self) -> Refusal | None:
        """Nobody plays twice in a match."""
        if len(set(player_ids(self))) < 4:
            return Refusal("same-player", "Choose four different players.")
        return None


def player_ids(match: MatchEntry) -> tuple[str, str, str, str]:
    """The ids of a match's players: two of team A, then two of team B."""
    return (match.team_a_player1_id, match.team_a_player2_id, match.team_b_player1_id, match.team_b_player2_id)


class MatchFields(MatchEntry):
    """What callers may set of a match."""

    winning_team: Team

    @limits("winning_team", "team_a_games", "team_b_games")
    def ends_with_three_games(self) -> Refusal | None:
        """A match ends when a team has won 3 games."""
        games = (self.team_a_games, self.team_b_games)
        winner, loser = games if self.winning_team == "A" else reversed(games)
        if winner != 3 or loser == 3:
            return Refusal("wrong-score", "The winning team must have 3 games, and the other 0, 1 or 2.")
        return None


class MatchDetails(Versioned, Stamped, MatchFields, MatchId):
    """What callers see of a match."""
