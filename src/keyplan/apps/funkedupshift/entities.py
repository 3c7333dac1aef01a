"""The table of funkedupshift and its items, in the order and words of its document."""

import datetime
from typing import Annotated, Literal, Self

from pydantic import model_validator

from keyplan.apps.funkedupshift import fields
from keyplan.design import (
    HIDDEN,
    HOUSEKEEPING,
    READ_ONLY,
    Created,
    Entity,
    Id,
    Ref,
    Refusal,
    Stamped,
    Table,
    Versioned,
    belongs_to,
    counts,
    created,
    derived,
    index,
    key,
    mirror,
    ref,
    stored,
)

fus = Table(
    "{dynamo_table_name=fus-main}",
    key("PK", "SK"),
    billing="PAY_PER_REQUEST",
    case="camel",
    indexes={
        "byEntity": index(key("entityType", "entitySk"), why="All sites, groups, players or matches."),
        "byTag": index(key("tag", "siteId"), why="The sites with a tag."),
        "byStars": index(key("starRating:N", "siteId"), why="Ratings by their number of stars."),
        "byGroup": index(key("groupName", "userId"), why="The members of a group."),
        "bySquashDate": index(key("squashDate", "matchId"), why="The squash matches of a day."),
    },
    why="One table with general keys, whose prefixes say what an item is. What belongs to a site or user is under it.",
)
_NOT_FOUND = Refusal("not-found")
"""What a write below an address whose site or group doesn't exist is refused with."""


# 1. Site (catalog entry)


class Site(Versioned, fields.RatingTotals, fields.SiteContent, fields.SiteShown, Entity, table=fus):
    """A site, which admins keep and everyone may read."""

    search_text: Annotated[str, HIDDEN] = ""
    """Title, url and description in lower case: where a search by text looks."""

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
    tag: fields.Tag

    primary = key("SITE#{site_id}", "TAG#{tag}")
    by_tag = fus.byTag("{tag}", "SITE#{site_id}")


# 3. User rating (stars + note)


class Rating(Versioned, fields.RatingShown, fields.RatingAuthor, Entity, table=fus):
    """What a user thinks of a site, at most once for each."""

    primary = key("USER#{user_id}", "SITE#{site_id}")
    by_stars = fus.byStars("{stars}", "SITE#{site_id}")

    @belongs_to(on_delete="cascade", via="by_stars", over={"stars": fields.STARS}, missing=_NOT_FOUND)
    def site(self) -> Ref[Site]:
        return ref(Site, id=self.site_id)

    @counts("rating_count")
    def counted(self) -> Ref[Site]:
        return ref(Site, id=self.site_id)

    @counts("rating_sum")
    def summed(self) -> Ref[Site]:
        return ref(Site, id=self.site_id).adding(self.stars)


# 4. Comment (per user per site)


class Comment(fields.CommentShown, Entity, table=fus):
    """A comment as it is stored under its site, where it can be found by id; the user's item follows from it."""

    site_id: Annotated[Id, stored("PK"), READ_ONLY]
    user_id: Annotated[Id, READ_ONLY]

    primary = key("SITE#{site_id}", "COMMENT#{comment_id}")

    @belongs_to(on_delete="cascade", missing=_NOT_FOUND)
    def site(self) -> Ref[Site]:
        return ref(Site, id=self.site_id)

    @mirror
    def under_user(self) -> "UserComment":
        return UserComment.from_fields(self)


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


class Group(
    Versioned,
    Stamped,
    fields.GroupFields,
    Entity,
    table=fus,
    exists=Refusal("name-taken", "A group with this name already exists."),
):
    """A custom group. It never counts as a group of the token."""

    primary = key("GROUP#{name}", "METADATA")
    all = fus.byEntity("GROUP", "GROUP#{name}")


# 6. User membership in custom group


class Membership(
    fields.MembershipDetails,
    Entity,
    table=fus,
    exists=Refusal("member-already", "This user is already a member of the group."),
):
    """A user in a custom group."""

    primary = key("USER#{user_id}", "MEMBERSHIP#{group_name}")
    by_group = fus.byGroup("{group_name}", "{user_id}")

    @belongs_to(on_delete="cascade", via="by_group", missing=_NOT_FOUND)
    def group(self) -> Ref[Group]:
        return ref(Group, name=self.group_name)


# 7. User profile (avatar, description, last login)


class Profile(fields.ProfileDetails, Entity, table=fus):
    """What a user says about themselves, and when they last logged in."""

    avatar_key: Annotated[str | None, HIDDEN] = None

    primary = key("USER#{user_id}", "PROFILE")


class LeftoverFile(Entity, table=HOUSEKEEPING):
    """The file of an avatar that was replaced, to be deleted: written together with the profile that names another."""

    file: str
    created_at: Created = created()

    primary = key("LEFTOVERS", "{file}")


# 8. Squash player


class SquashPlayer(fields.PlayerDetails, Entity, table=fus, noun="player"):
    """A player, perhaps linked to a user."""

    primary = key("SQUASH#PLAYER#{id}", "METADATA")
    all = fus.byEntity("SQUASH_PLAYER", "SQUASH#PLAYER#{id}")


# 9. Squash match


class SquashMatch(fields.MatchDetails, Entity, table=fus, noun="match"):
    """A match of doubles among four players, which ends when a team has won 3 games."""

    entity_type: Annotated[Literal["SQUASH_MATCH"], HIDDEN] = "SQUASH_MATCH"

    primary = key("SQUASH#MATCH#{match_id}", "METADATA")
    by_squash_date = fus.bySquashDate("{date}", "{match_id}")
    all = fus.byEntity("{entity_type}", "{date}#{match_id}")

    @derived
    def participations(self) -> "list[Participation]":
        return [
            Participation(player_id=id, match_id=self.match_id, squash_date=self.date) for id in fields.player_ids(self)
        ]

    @belongs_to(
        on_delete="refuse",
        count="match_count",
        in_use=Refusal("has-matches", "Can't delete this player: they have played at least one match."),
    )
    def players(self) -> list[Ref[SquashPlayer]]:
        """All four: none of them can be deleted."""
        return [ref(SquashPlayer, id=id) for id in fields.player_ids(self)]


# 10. Squash match participation (for player search)


class Participation(Entity, table=fus):
    """That a player was in a match; four of them follow every match."""

    player_id: Annotated[Id, stored("PK")]
    match_id: Id
    squash_date: datetime.date

    primary = key("SQUASH#PLAYER#{player_id}", "MATCH#{match_id}")
    by_squash_date = fus.bySquashDate("{squash_date}", "{match_id}")
