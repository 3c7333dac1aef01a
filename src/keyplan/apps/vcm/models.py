"""What callers send to the club's API and get from it, under the names of the tables' attributes."""

from typing import Annotated

from pydantic import AliasGenerator, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from keyplan.apps.vcm import fields
from keyplan.design import CreatedAt, Stamped, UpdatedAt, about
from keyplan.web import Change, In, Out
from keyplan.web.media import Ticket

MOST_IMAGE = 10 * 1024 * 1024


class Taken(In):
    """Base of what callers send."""

    model_config = ConfigDict(alias_generator=to_camel)


class Shown(Out):
    """Base of what callers get."""

    model_config = ConfigDict(alias_generator=AliasGenerator(serialization_alias=to_camel))


# Media


class NewUpload(Taken):
    """An image to be uploaded."""

    content_type: str
    size: Annotated[int, Field(ge=1, le=MOST_IMAGE)]


class UploadTicket(Ticket, Shown):
    """How to send an image: POST `fields`, in any order, and then the field `file`, as multipart/form-data."""


class NewMedia(fields.MediaFields, Taken):
    """An image that was uploaded, to be kept."""

    upload_id: Annotated[str, StringConstraints(max_length=200)]


class MediaChange(Change[fields.MediaFields], Taken):
    """Another alternative text."""


class ImageOut(fields.ImageShown, Shown):
    """A media item, as far as it is needed to show it."""


class MediaOut(fields.MediaShown, Shown):
    """A media item."""


class MediaFound(Shown):
    """Media items, in the order in which they were asked for. Items that don't exist are left out."""

    items: list[ImageOut]


class WithImage(Shown):
    """Something in a list, with the first of its images."""

    image: Annotated[ImageOut | None, Field(description="The first of its images.")] = None


# News


class NewNews(fields.NewsContent, fields.NewsText, Taken):
    """An article. Its slug is made of its title, and its excerpt of its content unless it is given."""

    published_date: Annotated[fields.Moment | None, about("Publish from", "If empty, from now on.")] = None
    author_ids: Annotated[fields.People | None, Field(description="The caller, if not given.")] = None
    publish: bool = False


class NewsChange(Change[fields.NewsFields], Taken):
    """A change of an article. Fields that are left out stay as they are. Another title gives another slug."""

    excerpt: Annotated[fields.Excerpt | None, Field(description="If empty, the beginning of the text is used.")] = None


class NewsSummary(fields.NewsShown, WithImage):
    """An article in a list."""


class NewsOut(fields.NewsContent, Stamped, NewsSummary):
    """An article."""

    html: Annotated[str, Field(description="The content as safe HTML.")]
    images: list[ImageOut]
    author_ids: Annotated[list[str] | None, Field(description="For editors only.")] = None


# Events


class NewEvent(fields.EventDescription, fields.EventText, Taken):
    """An event. It lasts 31 days at most."""

    author_ids: Annotated[fields.People | None, Field(description="The caller, if not given.")] = None
    publish: bool = False


class EventChange(Change[fields.EventFields], Taken):
    """A change of an event. Fields that are left out stay as they are. Another title gives another slug."""


class EventSummary(fields.EventShown, WithImage):
    """An event in a list."""


class EventOut(fields.EventDescription, CreatedAt, EventSummary):
    """An event."""

    html: Annotated[str, Field(description="The description as safe HTML.")]
    images: list[ImageOut]
    author_ids: Annotated[list[str] | None, Field(description="For editors only.")] = None


# Members, roles, locations


class NewMember(fields.MemberFields, Taken):
    """A member."""


class MemberChange(Change[fields.MemberFields], Taken):
    """A change of a member. Fields that are left out stay as they are."""


class MemberOut(fields.MemberShown, Shown):
    """A member. E-mail address and phone are null where the caller may not see them."""

    show_contact: Annotated[bool | None, Field(description="For editors only.")] = None
    roles: Annotated[list[str], Field(description="The names of the roles.")]
    avatar: ImageOut | None = None


class RoleIn(fields.RoleFields, Taken):
    """What a member can be in the club."""


class RoleOut(fields.RoleShown, Shown):
    """What a member can be in the club."""


class NewLocation(fields.LocationFields, Taken):
    """Where teams train."""


class LocationChange(Change[fields.LocationFields], Taken):
    """A change of a location. Fields that are left out stay as they are."""


class LocationOut(fields.LocationShown, Shown):
    """Where teams train."""


# Teams


class NewTeam(fields.TeamFields, Taken):
    """A team. Its slug is made of its name."""

    publish: bool = False


class TeamChange(Change[fields.TeamFields], Taken):
    """A change of a team. Fields that are left out stay as they are. Another name gives another slug."""


class TeamSummary(fields.TeamShown, WithImage):
    """A team in a list."""


class TeamOut(fields.TeamDetails, Stamped, TeamSummary):
    """A team, with who and what it points at."""

    coaches: list[MemberOut]
    contact_people: list[MemberOut]
    locations: Annotated[list[LocationOut], Field(description="Those of the training times, each once.")]
    images: list[ImageOut]


# Sponsors


class NewSponsor(fields.SponsorFields, Taken):
    """A sponsor; without an expiry it stays."""


class SponsorChange(Change[fields.SponsorFields], Taken):
    """A change of a sponsor. Fields that are left out stay as they are."""


class SponsorOut(fields.SponsorShown, Shown):
    """A sponsor."""

    logo: ImageOut | None = None


# SAMS


class SamsClubIn(fields.SamsClubFields, Taken):
    """A club as SAMS knows it."""


class SamsTeamIn(fields.SamsTeamFields, Taken):
    """A team as SAMS knows it."""


class SamsFile(Taken):
    """All clubs, all teams, or both, as they are to be from now on. Those that are not in the file are removed."""

    clubs: Annotated[list[SamsClubIn], Field(max_length=5000)] | None = None
    teams: Annotated[list[SamsTeamIn], Field(max_length=5000)] | None = None
    remove_many: Annotated[bool, Field(description="Remove even more than a fifth of what is stored.")] = False


class Counts(Shown):
    """What an import did."""

    inserted: int = 0
    updated: int = 0
    removed: int = 0
    unchanged: int = 0


class SamsImported(Shown):
    """What an import did with clubs and teams."""

    clubs: Counts
    teams: Counts


class SamsClubOut(fields.SamsClubFields, UpdatedAt, Shown):
    """A club as SAMS knows it."""


class SamsTeamOut(fields.SamsTeamFields, UpdatedAt, Shown):
    """A team as SAMS knows it."""
