"""Funkedupshift, as its design document wrote it."""

import datetime
from typing import Annotated, Literal

from pydantic import Field

from keyplan.design import (
    Created,
    Design,
    Entity,
    Follow,
    Get,
    Id,
    Query,
    Table,
    Updated,
    created,
    derived,
    follow,
    get,
    key,
    pattern,
    query,
    ref,
    updated,
    within,
)
from keyplan.review.declaring import errors_recorded

Games = Annotated[int, Field(ge=0, le=3)]

with errors_recorded() as ERRORS:
    fus = Table(
        "fus-main",
        key("PK", "SK"),
        case="camel",
        indexes={
            "byEntity": key("entityType", "entitySk"),
            "byTag": key("tag", "siteId"),
            "byStars": key("starRating:N", "siteId"),
            "byGroup": key("groupName", "userId"),
            "bySquashDate": key("squashDate", "matchId"),
        },
    )

    class SiteTag(Entity, table=fus):
        id: Id
        tag: str

        primary = key("SITE#{id}", "TAG#{tag}")
        by_tag = fus.byTag("{tag}", "SITE#{id}")

    class Site(Entity, table=fus):
        id: Id
        url: str
        title: str
        description: str
        scraped_content: str
        tags: list[str]
        created_at: Created = created()
        updated_at: Updated = updated()

        primary = key("SITE#{id}", "METADATA")
        by_entity = fus.byEntity("SITE", "SITE#{id}")

        @derived
        def site_tags(self) -> list[SiteTag]:
            return [SiteTag(id=self.id, tag=tag) for tag in self.tags]

    class Rating(Entity, table=fus):
        user_id: Id
        site_id: Id
        stars: Annotated[int, Field(ge=1, le=5)]
        note: str
        updated_at: Updated = updated()

        primary = key("USER#{user_id}", "SITE#{site_id}")
        by_stars = fus.byStars("{stars}", "SITE#{site_id}")

    class Comment(Entity, table=fus):
        user_id: Id
        site_id: Id
        comment_id: Id
        body: str
        created_at: Created = created()
        updated_at: Updated = updated()

        primary = key("USER#{user_id}", "SITE#{site_id}#COMMENT#{comment_id}")

    class Group(Entity, table=fus):
        name: Id
        description: str
        permissions: list[str]
        created_at: Created = created()
        updated_at: Updated = updated()

        primary = key("GROUP#{name}", "METADATA")
        by_entity = fus.byEntity("GROUP", "GROUP#{name}")

    class Membership(Entity, table=fus):
        group_name: Id
        user_id: Id
        added_at: Created = created()
        added_by: Id

        primary = key("USER#{user_id}", "MEMBERSHIP#{group_name}")
        by_group = fus.byGroup("{group_name}", "{user_id}")

    class Profile(Entity, table=fus):
        user_id: Id
        avatar_key: str
        description: str
        updated_at: Updated = updated()
        last_login_at: str
        last_login_ip: str

        primary = key("USER#{user_id}", "PROFILE")

    class SquashPlayer(Entity, table=fus):
        id: Id
        name: str
        email: str | None = None
        user_id: Id | None = None
        created_at: Created = created()
        updated_at: Updated = updated()

        primary = key("SQUASH#PLAYER#{id}", "METADATA")
        by_entity = fus.byEntity("SQUASH_PLAYER", "SQUASH#PLAYER#{id}")

    class SquashMatch(Entity, table=fus):
        date: datetime.date
        squash_date: datetime.date
        match_id: Id
        team_a_player1_id: Id
        team_a_player2_id: Id
        team_b_player1_id: Id
        team_b_player2_id: Id
        winning_team: Literal["A", "B"]
        team_a_games: Games
        team_b_games: Games
        created_at: Created = created()
        updated_at: Updated = updated()

        primary = key("SQUASH#MATCH#{match_id}", "METADATA")
        by_entity = fus.byEntity("SQUASH_MATCH")  # the document leaves entitySk open
        by_squash_date = fus.bySquashDate("{squash_date}", "{match_id}")

    class Participation(Entity, table=fus):
        player_id: Id
        match_id: Id
        squash_date: datetime.date

        primary = key("SQUASH#PLAYER#{player_id}", "MATCH#{match_id}")

    class FunkedUpShift(Design):
        tables = (fus,)
        entities = (
            Site,
            SiteTag,
            Rating,
            Comment,
            Group,
            Membership,
            Profile,
            SquashPlayer,
            SquashMatch,
            Participation,
        )

        @pattern("Get site")
        def site(self, id: str) -> Get[Site]:
            return get(Site, id=id)

        @pattern("List all sites")
        def sites(self) -> Query[Site]:
            return query(Site.by_entity)

        @pattern("Sites by tag")
        def sites_by_tag(self, tag: str) -> Follow[Site]:
            return follow(query(SiteTag.by_tag, tag=tag), lambda item: ref(Site, id=item.id), Site)

        @pattern("My rating for a site")
        def my_rating(self, user_id: str, site_id: str) -> Get[Rating]:
            return get(Rating, user_id=user_id, site_id=site_id)

        @pattern("My ratings")
        def my_ratings(self, user_id: str) -> Query[Rating]:
            return query(Rating.primary, user_id=user_id)

        @pattern("All 5-star ratings")
        def ratings_by_stars(self, stars: int) -> Query[Rating]:
            return query(Rating.by_stars, stars=stars)

        @pattern("Comments for a site")
        def comments_for_site(self, site_id: str) -> Query[Comment]:
            return query(Comment.primary, site_id=site_id)

        @pattern("List all groups")
        def groups(self) -> Query[Group]:
            return query(Group.by_entity)

        @pattern("Get group")
        def group(self, name: str) -> Get[Group]:
            return get(Group, name=name)

        @pattern("User's custom groups")
        def memberships(self, user_id: str) -> Query[Membership]:
            return query(Membership.primary, user_id=user_id)

        @pattern("Group members")
        def group_members(self, group_name: str) -> Query[Membership]:
            return query(Membership.by_group, group_name=group_name)

        @pattern("Get profile")
        def profile(self, user_id: str) -> Get[Profile]:
            return get(Profile, user_id=user_id)

        @pattern("List players")
        def players(self) -> Query[SquashPlayer]:
            return query(SquashPlayer.by_entity)

        @pattern("Get player")
        def player(self, id: str) -> Get[SquashPlayer]:
            return get(SquashPlayer, id=id)

        @pattern("List by date")
        def matches_by_date(self, squash_date: datetime.date) -> Query[SquashMatch]:
            return query(SquashMatch.by_squash_date, squash_date=squash_date)

        @pattern("List by date range")
        def matches_by_date_range(self, date_from: datetime.date, date_to: datetime.date) -> Query[SquashMatch]:
            return query(SquashMatch.by_squash_date, squash_date=within(date_from, date_to))

        @pattern("Matches for a player")
        def participations(self, player_id: str) -> Query[Participation]:
            return query(Participation.primary, player_id=player_id)


DESIGN = FunkedUpShift
