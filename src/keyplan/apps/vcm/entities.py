"""The club's tables and what is in them: seven of the document, two that SAMS fills, and three of ours."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, TypeVar

from pydantic import Field

from keyplan.apps.vcm import fields
from keyplan.design import (
    HIDDEN,
    HOUSEKEEPING,
    Created,
    CreatedAt,
    Entity,
    Id,
    Ref,
    Refusal,
    Stamped,
    Table,
    Ttl,
    Updated,
    UpdatedAt,
    belongs_to,
    created,
    index,
    key,
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
    indexes={
        "GSI-PublishedDate": index(key("status", "publishedDate"), why="News by date: published ones, or drafts."),
        "GSI-Slug": index(key("slug"), why="The article at an address of the site."),
    },
    why="News articles. Each kind of content has a table of its own, as it had a collection before: that is simple to "
    "understand, to migrate and to change, and at this size the cost is the same.",
)
events = Table(
    "vcm-events",
    key("id"),
    case="camel",
    indexes={"GSI-StartDate": index(key("status", "startDate"), why="Events by date: those to come, or past ones.")},
    why="Events and dates of the club.",
)
teams = Table(
    "vcm-teams",
    key("id"),
    case="camel",
    indexes={
        "GSI-Slug": index(key("slug"), why="The team at an address of the site."),
        "GSI-Status": index(key("status", "name"), why="Teams by name: published ones, or drafts."),
        "GSI-SamsTeam": index(key("sbvvTeamId"), why="The club's team for a team of SAMS."),
    },
    why="Teams, with coaches, contacts and training times.",
)
members = Table(
    "vcm-members", key("id"), case="camel", why="Coaches, contacts and others. There are few: a scan is enough."
)
media = Table(
    "vcm-media",
    key("id"),
    case="camel",
    stream="NEW_AND_OLD_IMAGES",
    why="About uploaded files, which are in object storage. The stream has a file deleted after its item.",
)
sponsors = Table(
    "vcm-sponsors",
    key("id"),
    case="camel",
    ttl="expiryTimestamp",
    stream="NEW_AND_OLD_IMAGES",
    why="Sponsors, until their contract ends: DynamoDB deletes them then, and the stream has their logo deleted.",
)
roles = Table("vcm-roles", key("id"), case="camel", why="What members do in the club.")
sams_clubs = Table("vcm-sams-clubs", key("samsClubId"), case="camel", why="Clubs as SAMS has them.")
sams_teams = Table("vcm-sams-teams", key("samsTeamId"), case="camel", why="Teams as SAMS has them.")

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

_NO_SUCH_MEDIA = "Media item not found."
NO_SUCH_IMAGE = Refusal("no-such-media", _NO_SUCH_MEDIA, "imageIds")
NO_SUCH_AVATAR = Refusal("no-such-media", _NO_SUCH_MEDIA, "avatarId")
NO_SUCH_LOGO = Refusal("no-such-media", _NO_SUCH_MEDIA, "logoId")
NO_SUCH_ROLE = Refusal("no-such-role", "Role not found.", "roleIds")
NO_SUCH_LOCATION = Refusal("no-such-location", "Location not found.", "schedules")


def uses(content: fields.Content, content_id: str, media_ids: Sequence[str | None]) -> "list[MediaRef]":
    """The reference items of something that shows these media items."""
    return [MediaRef(media_id=each, content=content, content_id=content_id) for each in media_ids if each is not None]


def each_once(entity: type[E], ids: Iterable[str]) -> list[Ref[E]]:
    """The items with these ids."""
    return [ref(entity, id=id) for id in dict.fromkeys(ids)]


class News(
    fields.NewsFields, fields.NewsShown, fields.Migrated, Stamped, Entity, table=news, noun="article", claims=("slug",)
):
    """A news article."""

    primary = key("{id}")
    by_published_date = news["GSI-PublishedDate"]("{status}", "{published_date}")
    by_slug = news["GSI-Slug"]("{slug}")
    slug_guard = unique("news#{slug}", carries="id", table=slugs)

    @reference
    def images(self) -> "list[MediaRef]":
        return uses("news", self.id, self.image_ids)

    @belongs_to(on_delete="refuse", count="references", missing=NO_SUCH_IMAGE)
    def shown(self) -> "list[Ref[Media]]":
        return each_once(Media, self.image_ids)


class Event(fields.EventFields, fields.EventShown, fields.Migrated, Stamped, Entity, table=events, claims=("slug",)):
    """A club event."""

    primary = key("{id}")
    by_start_date = events["GSI-StartDate"]("{status}", "{start_date}")
    slug_guard = unique("events#{slug}", carries="id", table=slugs)

    @reference
    def images(self) -> "list[MediaRef]":
        return uses("events", self.id, self.image_ids)

    @belongs_to(on_delete="refuse", count="references", missing=NO_SUCH_IMAGE)
    def shown(self) -> "list[Ref[Media]]":
        return each_once(Media, self.image_ids)


class Team(fields.TeamFields, fields.TeamShown, Stamped, Entity, table=teams, claims=("slug",)):
    """A team, with its coaches, contacts and training times."""

    primary = key("{id}")
    by_slug = teams["GSI-Slug"]("{slug}")
    by_status = teams["GSI-Status"]("{status}", "{name}")
    by_sams_team = teams["GSI-SamsTeam"]("{sbvv_team_id}")
    slug_guard = unique("teams#{slug}", carries="id", table=slugs)

    @reference
    def images(self) -> "list[MediaRef]":
        return uses("teams", self.id, self.image_ids)

    @belongs_to(on_delete="refuse", count="references", missing=NO_SUCH_IMAGE)
    def shown(self) -> "list[Ref[Media]]":
        return each_once(Media, self.image_ids)

    @belongs_to(on_delete="refuse", count="teams", missing=NO_SUCH_LOCATION)
    def places(self) -> "list[Ref[Location]]":
        return each_once(Location, (schedule.locationId for schedule in self.schedules))


class Member(fields.MemberFields, fields.MemberShown, Stamped, Entity, table=members):
    """A club member: coach, contact person, board."""

    primary = key("{id}")

    @reference
    def images(self) -> "list[MediaRef]":
        return uses("members", self.id, [self.avatar_id])

    @belongs_to(on_delete="refuse", count="references", missing=NO_SUCH_AVATAR)
    def avatar(self) -> "Ref[Media] | None":
        return ref(Media, id=self.avatar_id) if self.avatar_id else None

    @belongs_to(on_delete="refuse", count="members", missing=NO_SUCH_ROLE)
    def roles(self) -> "list[Ref[Role]]":
        return each_once(Role, self.role_ids)


class Media(fields.MediaShown, Entity, table=media, noun="media item"):
    """Metadata of a media file; the file itself is in object storage."""

    s3_key: Annotated[str, HIDDEN]
    s3_bucket: Annotated[str, HIDDEN]

    primary = key("{id}")


class Sponsor(fields.SponsorShown, Stamped, Entity, table=sponsors):
    """A sponsor; without an expiry it never expires."""

    primary = key("{id}")

    @reference
    def images(self) -> "list[MediaRef]":
        return uses("sponsors", self.id, [self.logo_id])

    @belongs_to(on_delete="refuse", count="references", missing=NO_SUCH_LOGO)
    def logo(self) -> Ref[Media] | None:
        return ref(Media, id=self.logo_id) if self.logo_id else None


class SamsClub(fields.SamsClubFields, UpdatedAt, Entity, table=sams_clubs, noun="club"):
    """A club as SAMS knows it."""

    primary = key("{sams_club_id}")


class SamsTeam(fields.SamsTeamFields, UpdatedAt, Entity, table=sams_teams, noun="team"):
    """A team as SAMS knows it."""

    primary = key("{sams_team_id}")


class Role(fields.RoleShown, CreatedAt, Entity, table=roles):
    """What a member can be in the club: Trainer, Vorstand."""

    primary = key("{id}")


class Location(fields.LocationShown, Stamped, Entity, table=locations):
    """Where a team trains."""

    primary = key("{id}")


class MediaRef(Entity, table=media_refs):
    """Something uses a media item."""

    media_id: Id
    content: fields.Content
    content_id: Id

    primary = key("{media_id}", "{content}#{content_id}")


class Import(Entity, table=HOUSEKEEPING):
    """How far the migration of a collection has come; a run that was stopped continues from there."""

    export_id: Id
    """The export that is migrated."""
    collection: fields.Collection
    done: Annotated[int, Field(ge=0)] = 0
    """Records that are done, in the order of the export."""
    started_at: Created = created()
    updated_at: Updated = updated()
    finished_at: datetime | None = None
    expires_at: Ttl

    primary = key("IMPORT#{export_id}", "{collection}")
