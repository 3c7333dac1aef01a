"""The club's tables and what is in them: seven of the document, two that SAMS fills, and three of ours."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, TypeVar

from pydantic import Field

from keyplan.apps.vcm.values import (
    Address,
    Collection,
    Content,
    Gender,
    Images,
    Name,
    RichText,
    Roles,
    Schedules,
    Status,
    Title,
)
from keyplan.design import (
    HOUSEKEEPING,
    Count,
    Created,
    Entity,
    Id,
    Ref,
    Table,
    Ttl,
    Updated,
    Version,
    belongs_to,
    created,
    key,
    new_id,
    ref,
    reference,
    unique,
    updated,
)

E = TypeVar("E", bound=Entity)

news = Table(
    "vcm-news",
    key("id"),
    case="camel",
    indexes={"GSI-PublishedDate": key("status", "publishedDate"), "GSI-Slug": key("slug")},
)
events = Table("vcm-events", key("id"), case="camel", indexes={"GSI-StartDate": key("status", "startDate")})
teams = Table(
    "vcm-teams",
    key("id"),
    case="camel",
    indexes={"GSI-Slug": key("slug"), "GSI-Status": key("status", "name"), "GSI-SamsTeam": key("sbvvTeamId")},
)
members = Table("vcm-members", key("id"), case="camel")
media = Table("vcm-media", key("id"), case="camel", stream="NEW_AND_OLD_IMAGES")
sponsors = Table("vcm-sponsors", key("id"), case="camel", ttl="expiryTimestamp", stream="NEW_AND_OLD_IMAGES")
roles = Table("vcm-roles", key("id"), case="camel")
sams_clubs = Table("vcm-sams-clubs", key("samsClubId"), case="camel")
sams_teams = Table("vcm-sams-teams", key("samsTeamId"), case="camel")

# Ours: which slug is whose, where teams train, and what uses a media item.
slugs = Table("vcm-slugs", key("slug"), case="camel")
locations = Table("vcm-locations", key("id"), case="camel")
media_refs = Table("vcm-media-refs", key("mediaId", "usedBy"), case="camel", stream="KEYS_ONLY")

TABLES = (
    news,
    events,
    teams,
    members,
    media,
    sponsors,
    roles,
    sams_clubs,
    sams_teams,
    slugs,
    locations,
    media_refs,
)


def uses(content: Content, content_id: str, media_ids: Sequence[str | None]) -> "list[MediaRef]":
    """The reference items of something that shows these media items."""
    return [MediaRef(media_id=each, content=content, content_id=content_id) for each in media_ids if each is not None]


def each_once(entity: type[E], ids: Iterable[str]) -> list[Ref[E]]:
    """The items with these ids."""
    return [ref(entity, id=id) for id in dict.fromkeys(ids)]


class News(Entity, table=news):
    """A news article."""

    id: Id = new_id()
    title: Title
    slug: Id
    content: RichText
    excerpt: str = ""
    published_date: datetime
    status: Status = "draft"
    author_ids: list[Id] = Field(default_factory=list)
    image_ids: Images = Field(default_factory=list)
    lexical: RichText | None = None
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("{id}")
    by_published_date = news["GSI-PublishedDate"]("{status}", "{published_date}")
    by_slug = news["GSI-Slug"]("{slug}")
    slug_guard = unique("news#{slug}", carries="id", table=slugs)

    @reference
    def images(self) -> "list[MediaRef]":
        return uses("news", self.id, self.image_ids)

    @belongs_to(on_delete="refuse", count="references")
    def shown(self) -> "list[Ref[Media]]":
        return each_once(Media, self.image_ids)


class Event(Entity, table=events):
    """A club event."""

    id: Id = new_id()
    title: Title
    slug: Id
    description: RichText | None = None
    start_date: datetime
    end_date: datetime | None = None
    address: Address | None = None
    image_ids: Images = Field(default_factory=list)
    author_ids: list[Id] = Field(default_factory=list)
    status: Status = "draft"
    lexical: RichText | None = None
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("{id}")
    by_start_date = events["GSI-StartDate"]("{status}", "{start_date}")
    slug_guard = unique("events#{slug}", carries="id", table=slugs)

    @reference
    def images(self) -> "list[MediaRef]":
        return uses("events", self.id, self.image_ids)

    @belongs_to(on_delete="refuse", count="references")
    def shown(self) -> "list[Ref[Media]]":
        return each_once(Media, self.image_ids)


class Team(Entity, table=teams):
    """A team, with its coaches, contacts and training times."""

    id: Id = new_id()
    name: Name
    slug: Id
    gender: Gender
    age: int | None = None
    league: str | None = None
    sbvv_team_id: Id | None = None
    description: str = ""
    coach_ids: list[Id] = Field(default_factory=list)
    contact_person_ids: list[Id] = Field(default_factory=list)
    schedules: Schedules = Field(default_factory=list)
    image_ids: Images = Field(default_factory=list)
    instagram: str | None = None
    status: Status = "draft"
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("{id}")
    by_slug = teams["GSI-Slug"]("{slug}")
    by_status = teams["GSI-Status"]("{status}", "{name}")
    by_sams_team = teams["GSI-SamsTeam"]("{sbvv_team_id}")
    slug_guard = unique("teams#{slug}", carries="id", table=slugs)

    @reference
    def images(self) -> "list[MediaRef]":
        return uses("teams", self.id, self.image_ids)

    @belongs_to(on_delete="refuse", count="references")
    def shown(self) -> "list[Ref[Media]]":
        return each_once(Media, self.image_ids)

    @belongs_to(on_delete="refuse", count="teams")
    def places(self) -> "list[Ref[Location]]":
        return each_once(Location, (schedule.locationId for schedule in self.schedules))


class Member(Entity, table=members):
    """A club member: coach, contact person, board."""

    id: Id = new_id()
    name: Name
    email: str | None = None
    phone: str | None = None
    show_contact: bool = False
    role_ids: Roles = Field(default_factory=list)
    avatar_id: Id | None = None
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("{id}")

    @reference
    def images(self) -> "list[MediaRef]":
        return uses("members", self.id, [self.avatar_id])

    @belongs_to(on_delete="refuse", count="references")
    def avatar(self) -> "Ref[Media] | None":
        return ref(Media, id=self.avatar_id) if self.avatar_id else None

    @belongs_to(on_delete="refuse", count="members")
    def roles(self) -> "list[Ref[Role]]":
        return each_once(Role, self.role_ids)


class Media(Entity, table=media):
    """Metadata of a media file; the file itself is in object storage."""

    id: Id = new_id()
    filename: str
    s3_key: str
    s3_bucket: str
    url: str
    alt: str | None = None
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0
    references: Count = 0

    primary = key("{id}")


class Sponsor(Entity, table=sponsors):
    """A sponsor; without an expiry it never expires."""

    id: Id = new_id()
    name: Name
    website: str | None = None
    logo_id: Id | None = None
    expiry_timestamp: Ttl | None = None
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0

    primary = key("{id}")

    @reference
    def images(self) -> "list[MediaRef]":
        return uses("sponsors", self.id, [self.logo_id])

    @belongs_to(on_delete="refuse", count="references")
    def logo(self) -> Ref[Media] | None:
        return ref(Media, id=self.logo_id) if self.logo_id else None


class SamsClub(Entity, table=sams_clubs):
    """A club as SAMS knows it."""

    sams_club_id: Id
    name: str
    name_slug: str
    logo_url: str | None = None
    updated_at: Updated = updated()

    primary = key("{sams_club_id}")


class SamsTeam(Entity, table=sams_teams):
    """A team as SAMS knows it."""

    sams_team_id: Id
    name: str
    league_name: str
    league_id: str
    club_id: Id
    season: str
    updated_at: Updated = updated()

    primary = key("{sams_team_id}")


class Role(Entity, table=roles):
    """What a member can be in the club: Trainer, Vorstand."""

    id: Id = new_id()
    name: Name
    created_at: Created = created()
    version: Version = 0
    members: Count = 0

    primary = key("{id}")


class Location(Entity, table=locations):
    """Where a team trains."""

    id: Id = new_id()
    name: Name
    street: str
    postal_code: str
    city: str
    created_at: Created = created()
    updated_at: Updated = updated()
    version: Version = 0
    teams: Count = 0

    primary = key("{id}")


class MediaRef(Entity, table=media_refs):
    """Something uses a media item."""

    media_id: Id
    content: Content
    content_id: Id

    primary = key("{media_id}", "{content}#{content_id}")


class Import(Entity, table=HOUSEKEEPING):
    """How far the migration of a collection came; a run that was stopped goes on from there."""

    export_id: Id
    """Which export of Payload's it is."""
    collection: Collection
    done: Annotated[int, Field(ge=0)] = 0
    """Records that are dealt with, in the order of the export."""
    started_at: Created = created()
    updated_at: Updated = updated()
    finished_at: datetime | None = None
    expires_at: Ttl

    primary = key("IMPORT#{export_id}", "{collection}")
