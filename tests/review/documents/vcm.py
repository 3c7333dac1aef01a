"""The club's site, as its design document wrote it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, JsonValue

from keyplan.design import (
    BatchGet,
    Created,
    Design,
    Entity,
    Get,
    Id,
    Query,
    Scan,
    Table,
    Ttl,
    Updated,
    batch_get,
    created,
    expect,
    get,
    key,
    less_than,
    more_than,
    pattern,
    query,
    scan,
    updated,
)
from keyplan.review.declaring import errors_recorded

Status = Literal["draft", "published"]


class Address(BaseModel):
    name: str
    street: str
    postal_code: str
    city: str


class Schedule(BaseModel):
    day: list[str]
    start_time: str
    end_time: str
    location_id: str


with errors_recorded() as ERRORS:
    news = Table(
        "vcm-news",
        key("id", "id"),
        case="camel",
        indexes={"GSI-PublishedDate": key("status", "publishedDate"), "GSI-Slug": key("slug", "slug")},
    )
    events = Table("vcm-events", key("id", "id"), case="camel", indexes={"GSI-StartDate": key("status", "startDate")})
    teams = Table(
        "vcm-teams",
        key("id", "id"),
        case="camel",
        indexes={
            "GSI-Slug": key("slug", "slug"),
            "GSI-Status": key("status", "name"),
            "GSI-SamsTeam": key("sbvvTeamId", "sbvvTeamId"),
        },
    )
    members = Table("vcm-members", key("id", "id"), case="camel")
    media = Table("vcm-media", key("id", "id"), case="camel", stream="NEW_AND_OLD_IMAGES")
    sponsors = Table("vcm-sponsors", key("id", "id"), case="camel", ttl="expiryTimestamp", stream="NEW_AND_OLD_IMAGES")
    roles = Table("vcm-roles", key("id", "id"), case="camel")

    class News(Entity, table=news):
        id: Id
        title: str
        slug: Id
        content: dict[str, JsonValue]
        excerpt: str
        published_date: datetime
        status: Status
        author_ids: list[Id]
        image_ids: list[Id]
        created_at: Created = created()
        updated_at: Updated = updated()

        primary = key("{id}", "{id}")
        by_published_date = news["GSI-PublishedDate"]("{status}", "{published_date}")
        by_slug = news["GSI-Slug"]("{slug}", "{slug}")

    class Event(Entity, table=events):
        id: Id
        title: str
        slug: Id
        description: dict[str, JsonValue] | None = None
        start_date: datetime
        end_date: datetime | None = None
        address: Address
        image_ids: list[Id]
        author_ids: list[Id]
        status: Status
        created_at: Created = created()
        updated_at: Updated = updated()

        primary = key("{id}", "{id}")
        by_start_date = events["GSI-StartDate"]("{status}", "{start_date}")

    class Team(Entity, table=teams, claims=("slug",)):
        id: Id
        name: str
        slug: Id
        gender: Literal["men", "woman", "mixed"]
        age: int | None = None
        league: str | None = None
        sbvv_team_id: Id | None = None
        description: str
        coach_ids: list[Id]
        contact_person_ids: list[Id]
        schedules: list[Schedule]
        image_ids: list[Id]
        instagram: str | None = None
        status: Status
        created_at: Created = created()
        updated_at: Updated = updated()

        primary = key("{id}", "{id}")
        by_slug = teams["GSI-Slug"]("{slug}", "{slug}")
        by_status = teams["GSI-Status"]("{status}", "{name}")
        by_sams_team = teams["GSI-SamsTeam"]("{sbvv_team_id}", "{sbvv_team_id}")

    class Member(Entity, table=members, expected=expect(items=14)):
        id: Id
        name: str
        email: str | None = None
        phone: str | None = None
        role_ids: list[Id]
        avatar_id: Id | None = None
        created_at: Created = created()
        updated_at: Updated = updated()

        primary = key("{id}", "{id}")

    class Media(Entity, table=media):
        id: Id
        filename: str
        s3_key: str
        s3_bucket: str
        url: str
        alt: str | None = None
        created_at: Created = created()
        updated_at: Updated = updated()

        primary = key("{id}", "{id}")

    class Sponsor(Entity, table=sponsors):
        id: Id
        name: str
        website: str | None = None
        logo_id: Id | None = None
        expiry_timestamp: Ttl
        created_at: Created = created()
        updated_at: Updated = updated()

        primary = key("{id}", "{id}")

    class Role(Entity, table=roles):
        id: Id
        name: str
        created_at: Created = created()

        primary = key("{id}", "{id}")

    class Vcm(Design):
        """One table for each kind of item, simple to understand and to migrate."""

        tables = (news, events, teams, members, media, sponsors, roles)
        entities = (News, Event, Team, Member, Media, Sponsor, Role)

        @pattern("Get news by ID")
        def news(self, id: str) -> Get[News]:
            return get(News, id=id)

        @pattern("Get news by slug", returns=1)
        def news_by_slug(self, slug: str) -> Query[News]:
            return query(News.by_slug, slug=slug)

        @pattern("List published news")
        def published_news(self) -> Query[News]:
            return query(News.by_published_date, status="published", newest_first=True)

        @pattern("List all news (admin)")
        def all_news(self) -> Scan[News]:
            return scan(News)

        @pattern("Get event by ID")
        def event(self, id: str) -> Get[Event]:
            return get(Event, id=id)

        @pattern("List upcoming events")
        def upcoming_events(self, now: datetime) -> Query[Event]:
            return query(Event.by_start_date, status="published", start_date=more_than(now))

        @pattern("List past events")
        def past_events(self, now: datetime) -> Query[Event]:
            return query(Event.by_start_date, status="published", start_date=less_than(now), newest_first=True)

        @pattern("Get team by ID")
        def team(self, id: str) -> Get[Team]:
            return get(Team, id=id)

        @pattern("Get team by slug", returns=1)
        def team_by_slug(self, slug: str) -> Query[Team]:
            return query(Team.by_slug, slug=slug)

        @pattern("List all published teams")
        def published_teams(self) -> Query[Team]:
            return query(Team.by_status, status="published")

        @pattern("Find team by SAMS ID")
        def team_by_sams_id(self, sbvv_team_id: str) -> Query[Team]:
            return query(Team.by_sams_team, sbvv_team_id=sbvv_team_id)

        @pattern("Get member by ID")
        def member(self, id: str) -> Get[Member]:
            return get(Member, id=id)

        @pattern("List all members")
        def all_members(self) -> Scan[Member]:
            return scan(Member)

        @pattern("Get multiple members by IDs")
        def members(self, ids: Sequence[str]) -> BatchGet[Member]:
            return batch_get(Member, ids)

        @pattern("Get media by ID")
        def media(self, id: str) -> Get[Media]:
            return get(Media, id=id)

        @pattern("List all media (admin)")
        def all_media(self) -> Scan[Media]:
            return scan(Media)

        @pattern("Get multiple media by IDs")
        def media_by_ids(self, ids: Sequence[str]) -> BatchGet[Media]:
            return batch_get(Media, ids)

        @pattern("Get sponsor by ID")
        def sponsor(self, id: str) -> Get[Sponsor]:
            return get(Sponsor, id=id)

        @pattern("List all sponsors: filter expiryDate > now")
        def current_sponsors(self, now: datetime) -> Scan[Sponsor]:
            return scan(Sponsor, filter=lambda sponsor: sponsor.expiry_date > now)  # type: ignore[attr-defined]  # as written

        @pattern("Get role by ID")
        def role(self, id: str) -> Get[Role]:
            return get(Role, id=id)

        @pattern("List all roles")
        def all_roles(self) -> Scan[Role]:
            return scan(Role)


DESIGN = Vcm
