"""The table of funkedupshift and its items, in the order and words of its document."""

import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from keyplan.apps.funkedupshift.values import (
    STARS,
    GroupName,
    Note,
    Permission,
    ProfileText,
    ScrapedContent,
    Stars,
    Tag,
    Tags,
)
from keyplan.design import (
    HOUSEKEEPING,
    Count,
    Created,
    Entity,
    Id,
    Ref,
    Table,
    Updated,
    Version,
    belongs_to,
    counts,
    created,
    derived,
    key,
    mirror,
    new_id,
    ref,
    stored,
    updated,
)

fus = Table(
    "{dynamo_table_name=fus-main}",
    key("PK", "SK"),
    billing="PAY_PER_REQUEST",
    case="camel",
    indexes={
        "byEntity": key("entityType", "entitySk"),
        "byTag": key("tag", "siteId"),
        "byStars": key("starRating:N", "siteId"),
        "byGroup": key("groupName", "userId"),
        "bySquashDate": key("squashDate", "matchId"),
    },
)


# 1. Site (catalog entry)


class Site(Entity, table=fus):
    """A site, which admins keep and everyone may read."""

    id: Annotated[Id, stored("PK")] = new_id()
    url: str
    title: str
    description: str | None = None
    scraped_content: ScrapedContent | None = None
    tags: Tags = Field(default_factory=list)
    search_text: str = ""
    """Title, url and description in lower case: where a search by text looks."""
    rating_count: Count = 0
    rating_sum: Count = 0
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("SITE#{id}", "METADATA")
    all = fus.byEntity("SITE", "SITE#{id}")

    @derived
    def tag_items(self) -> "list[SiteTag]":
        return [SiteTag(site_id=self.id, tag=tag) for tag in self.tags]

    @model_validator(mode="after")
    def _keep_search_text(self) -> Self:
        # Written past the validation of assignments, of which this is a part.
        self.__dict__["search_text"] = "\n".join((self.title, self.url, self.description or "")).lower()
        return self


# 2. Site-tag (for query by tag)


class SiteTag(Entity, table=fus):
    """A tag of a site; follows the site's list of tags."""

    site_id: Id
    tag: Tag

    primary = key("SITE#{site_id}", "TAG#{tag}")
    by_tag = fus.byTag("{tag}", "SITE#{site_id}")


# 3. User rating (stars + note)


class Rating(Entity, table=fus):
    """What a user thinks of a site, at most once for each."""

    user_id: Annotated[Id, stored("PK")]
    site_id: Id
    stars: Stars
    note: Note | None = None
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("USER#{user_id}", "SITE#{site_id}")
    by_stars = fus.byStars("{stars}", "SITE#{site_id}")

    @belongs_to(on_delete="cascade", via="by_stars", over={"stars": STARS})
    def site(self) -> Ref[Site]:
        return ref(Site, id=self.site_id)

    @counts("rating_count")
    def counted(self) -> Ref[Site]:
        return ref(Site, id=self.site_id)

    @counts("rating_sum")
    def summed(self) -> Ref[Site]:
        return ref(Site, id=self.site_id).adding(self.stars)


# 4. Comment (per user per site)


class Comment(Entity, table=fus):
    """A comment as it stands under its site, where it can be found by id; the user's item follows from it."""

    site_id: Annotated[Id, stored("PK")]
    comment_id: Annotated[Id, stored("SK")] = new_id()
    user_id: Id
    display_name: str
    """The name that the user had when the comment was written."""
    body: Annotated[str, Field(min_length=1)]
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("SITE#{site_id}", "COMMENT#{comment_id}")

    @belongs_to(on_delete="cascade")
    def site(self) -> Ref[Site]:
        return ref(Site, id=self.site_id)

    @mirror
    def under_user(self) -> "UserComment":
        return UserComment(
            user_id=self.user_id,
            site_id=self.site_id,
            comment_id=self.comment_id,
            body=self.body,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )


class UserComment(Entity, table=fus):
    """The comment under its user."""

    user_id: Annotated[Id, stored("PK")]
    site_id: Annotated[Id, stored("SK")]
    comment_id: Id
    body: str
    created_at: datetime.datetime
    updated_at: datetime.datetime

    primary = key("USER#{user_id}", "SITE#{site_id}#COMMENT#{comment_id}")


# 5. Custom RBAC group (DynamoDB)


class Group(Entity, table=fus):
    """A custom group. It never counts as a group of the token."""

    name: GroupName
    description: str | None = None
    permissions: list[Permission] = Field(default_factory=list)
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("GROUP#{name}", "METADATA")
    all = fus.byEntity("GROUP", "GROUP#{name}")


# 6. User membership in custom group


class Membership(Entity, table=fus):
    """A user in a custom group."""

    user_id: Id
    group_name: Id
    added_at: Created = created()
    added_by: Id

    primary = key("USER#{user_id}", "MEMBERSHIP#{group_name}")
    by_group = fus.byGroup("{group_name}", "{user_id}")

    @belongs_to(on_delete="cascade", via="by_group")
    def group(self) -> Ref[Group]:
        return ref(Group, name=self.group_name)


# 7. User profile (avatar, description, last login)


class Profile(Entity, table=fus):
    """What a user says of themselves, and when they were last seen."""

    user_id: Annotated[Id, stored("PK")]
    display_name: ProfileText | None = None
    avatar_key: str | None = None
    description: ProfileText | None = None
    last_login_at: datetime.datetime | None = None
    last_login_ip: str | None = None
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("USER#{user_id}", "PROFILE")


class LeftoverFile(Entity, table=HOUSEKEEPING):
    """The file of an avatar that was replaced, to be deleted: written together with the profile that names another."""

    file: str
    created_at: Created = created()

    primary = key("LEFTOVERS", "{file}")


# 8. Squash player


class SquashPlayer(Entity, table=fus):
    """A player, perhaps linked to a user."""

    id: Annotated[Id, stored("PK")] = new_id()
    name: Annotated[str, Field(min_length=1)]
    email: str | None = None
    user_id: Id | None = None
    match_count: Count = 0
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("SQUASH#PLAYER#{id}", "METADATA")
    all = fus.byEntity("SQUASH_PLAYER", "SQUASH#PLAYER#{id}")


# 9. Squash match


class SquashMatch(Entity, table=fus):
    """A match of doubles among four players, which ends when a team has won 3 games."""

    match_id: Id = new_id()
    date: datetime.date
    team_a_player1_id: Id
    team_a_player2_id: Id
    team_b_player1_id: Id
    team_b_player2_id: Id
    winning_team: Literal["A", "B"]
    team_a_games: Annotated[int, Field(ge=0, le=3)]
    team_b_games: Annotated[int, Field(ge=0, le=3)]
    entity_type: Literal["SQUASH_MATCH"] = "SQUASH_MATCH"
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("SQUASH#MATCH#{match_id}", "METADATA")
    by_squash_date = fus.bySquashDate("{date}", "{match_id}")
    all = fus.byEntity("{entity_type}", "{date}#{match_id}")

    @derived
    def participations(self) -> "list[Participation]":
        return [Participation(player_id=id, match_id=self.match_id, squash_date=self.date) for id in four(self)]

    @belongs_to(on_delete="refuse", count="match_count")
    def players(self) -> list[Ref[SquashPlayer]]:
        """All four: none of them can be deleted."""
        return [ref(SquashPlayer, id=id) for id in four(self)]


def four(match: SquashMatch) -> tuple[str, str, str, str]:
    """The ids of a match's players."""
    return (match.team_a_player1_id, match.team_a_player2_id, match.team_b_player1_id, match.team_b_player2_id)


# 10. Squash match participation (for player search)


class Participation(Entity, table=fus):
    """That a player was in a match; four of them follow every match."""

    player_id: Annotated[Id, stored("PK")]
    match_id: Id
    squash_date: datetime.date

    primary = key("SQUASH#PLAYER#{player_id}", "MATCH#{match_id}")
    by_squash_date = fus.bySquashDate("{squash_date}", "{match_id}")
