"""The fields of the club's site: their types, limits and labels, in the order of its document.

Where a class has several bases, the fields of the last one come first.
"""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal, TypeAlias

from pydantic import (
    Field,
    PlainSerializer,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import PydanticCustomError, PydanticKnownError

from keyplan.apps.vcm.richtext import RichText
from keyplan.design import (
    HIDDEN,
    OPEN,
    READ_ONLY,
    Count,
    Fields,
    Id,
    Link,
    OneLine,
    Refusal,
    Stamped,
    Ttl,
    UpdatedAt,
    Versioned,
    about,
    check_address,
    limit,
    limits,
    new_id,
)

LONGEST_EVENT = timedelta(days=31)
"""How long an event may last: how far back one that is still running can have begun."""
MOST_IMAGES = 20
"""Every image is a reference item in the same transaction, so there is a limit."""
MOST_SCHEDULES = 7
"""Like images, places and roles are counted where they are used, in the same transaction of at most 100 items."""
_FIRST, _LAST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def _can_be_stored(moment: datetime) -> None:
    if moment.tzinfo is None:
        raise PydanticCustomError("timezone_aware", "Input should have timezone info")
    if not _FIRST <= moment < _LAST:
        raise ValueError("Enter a time between 1900 and 2200.")


_SECONDS: TypeAdapter[int] = TypeAdapter(Annotated[int, Field(ge=0, le=int(_LAST.timestamp()))])


def _from_seconds(value: object, check: ValidatorFunctionWrapHandler) -> object:
    if isinstance(value, datetime):
        return check(value)
    try:
        return datetime.fromtimestamp(_SECONDS.validate_python(value, strict=True), UTC)
    except ValidationError as error:
        found = error.errors(include_url=False)[0]
        raise PydanticKnownError(found["type"], found.get("ctx")) from error  # type: ignore[arg-type]  # one of pydantic's


# Types of values

Status: TypeAlias = Literal["draft", "published"]
STATUSES: tuple[Status, ...] = ("draft", "published")
Gender: TypeAlias = Literal["men", "woman", "mixed"]
"""As the document spells them."""
Content: TypeAlias = Literal["news", "events", "teams", "members", "sponsors"]
"""What may use a media item; the first three have slugs."""
Collection: TypeAlias = Literal["media", "roles", "locations", "members", "teams", "news", "events", "sponsors"]
"""What is migrated from Payload, in the order in which one needs the other."""
Title: TypeAlias = Annotated[str, OneLine(max_length=200), about("Title")]
Name: TypeAlias = Annotated[str, OneLine(max_length=100), about("Name")]
Short: TypeAlias = Annotated[str, OneLine(max_length=200)]
SamsText: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""What SAMS knows something by, taken as it is."""
Excerpt: TypeAlias = Annotated[str, StringConstraints(max_length=1000)]
Moment: TypeAlias = Annotated[datetime, limit(_can_be_stored)]
Seconds: TypeAlias = Annotated[
    Ttl,
    OPEN,
    WrapValidator(_from_seconds),
    PlainSerializer(lambda moment: int(moment.timestamp()), return_type=int, when_used="json"),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": int(_LAST.timestamp())}, mode="validation"),
    WithJsonSchema({"type": "integer"}, mode="serialization"),
]
"""A time that callers give and get as a Unix timestamp."""
Email: TypeAlias = Annotated[
    str,
    StringConstraints(pattern=r"^[^@\s]{1,64}@[^@\s.]+(\.[^@\s.]+)+$", max_length=254),
    limit(check_address),
]
Phone: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9+()/ .-]{3,40}$")]
Handle: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._]{1,30}$")]
SlugText: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,128}$")]
TimeOfDay: TypeAlias = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
Images: TypeAlias = Annotated[list[Id], Field(max_length=MOST_IMAGES)]
People: TypeAlias = Annotated[list[Id], Field(max_length=20)]

# What several tables have


class Identified(Fields):
    """What has an id."""

    id: Id = new_id()


class Illustrated(Fields):
    """What shows images."""

    image_ids: Annotated[Images, about("Images")] = Field(default_factory=list)


class Authored(Fields):
    """What somebody wrote."""

    author_ids: Annotated[People, about("Authors", "The subjects of their tokens.")] = Field(default_factory=list)


class Published(Identified, Versioned):
    """What is a draft until it is published, and has an address."""

    slug: Annotated[Id, READ_ONLY]
    status: Annotated[Status, READ_ONLY] = "draft"


class Migrated(Fields):
    """What may keep its original rich text during the migration from Payload."""

    lexical: Annotated[RichText | None, HIDDEN] = None


# News


class NewsText(Illustrated):
    """What an article shows in a list."""

    title: Title
    excerpt: Annotated[Excerpt, about("Excerpt", "If empty, the beginning of the text is used.")] = ""


class NewsContent(Fields):
    """The text of an article."""

    content: Annotated[RichText, about("Text")]


class NewsDate(Fields):
    """When an article is public."""

    published_date: Annotated[Moment, about("Publish from", "If empty, from now on.")]


class NewsFields(Authored, NewsDate, NewsContent, NewsText):
    """What editors decide about an article."""


class NewsShown(NewsDate, NewsText, Published):
    """What everybody sees of an article in a list."""


# Events


class Address(Fields):
    """Where an event is. The names are those of the stored map."""

    name: Annotated[Short | None, about("Place")] = None
    street: Annotated[Short | None, about("Street")] = None
    postalCode: Annotated[Short | None, about("Postal code")] = None  # noqa: N815 - stored under this name
    city: Annotated[Short | None, about("City")] = None


class EventText(Illustrated):
    """What an event shows in a list."""

    title: Title
    start_date: Annotated[Moment, about("Start")]
    end_date: Annotated[Moment | None, about("End", "At most 31 days after the start.")] = None
    address: Annotated[Address | None, about("Address")] = None

    @limits("start_date", "end_date")
    def ends_in_time(self) -> Refusal | None:
        """An event ends after it starts, and within 31 days."""
        if self.end_date is not None and self.end_date < self.start_date:
            return Refusal("ends-too-early", "The event ends before it starts. Enter a later end.", field="endDate")
        if self.end_date is not None and self.end_date - self.start_date > LONGEST_EVENT:
            return Refusal("too-long", "An event can last 31 days at most. Enter an earlier end.", field="endDate")
        return None


class EventDescription(Fields):
    """The text of an event."""

    description: Annotated[RichText | None, about("Description")] = None


class EventFields(Authored, EventDescription, EventText):
    """What editors decide about an event."""


class EventShown(EventText, Published, UpdatedAt):
    """What everybody sees of an event in a list."""


# Teams


class Schedule(Fields):
    """When and where a team trains: days 0 to 6, wall time in Europe/Berlin. The names are those of the stored map."""

    day: list[Annotated[int, Field(ge=0, le=6)]]
    startTime: TimeOfDay  # noqa: N815 - stored under this name
    endTime: TimeOfDay  # noqa: N815 - stored under this name
    locationId: Id  # noqa: N815 - stored under this name


class TeamText(Illustrated):
    """What a team shows in a list."""

    name: Name
    gender: Annotated[Gender, about("Players")]
    age: Annotated[int | None, Field(ge=0, le=120), about("Minimum age")] = None
    league: Annotated[Short | None, about("League")] = None
    sbvv_team_id: Annotated[Id | None, about("SAMS ID")] = None
    instagram: Annotated[Handle | None, about("Instagram", "Without the @.")] = None


class TeamDetails(Fields):
    """What the page of a team shows."""

    description: Annotated[str, StringConstraints(max_length=20_000), about("Description")] = ""
    coach_ids: Annotated[People, about("Coaches")] = Field(default_factory=list)
    contact_person_ids: Annotated[People, about("Contacts")] = Field(default_factory=list)
    schedules: Annotated[list[Schedule], Field(max_length=MOST_SCHEDULES), about("Training times")] = Field(
        default_factory=list
    )

    @limits("schedules")
    def trains_on_some_day(self) -> Refusal | None:
        """Each training is on some day, and ends after it starts."""
        for number, each in enumerate(self.schedules):
            if not each.day:
                sentence, at = "Choose at least one day of the week.", f"schedules/{number}/day"
                return Refusal("no-day", sentence, field=at)
            if each.endTime <= each.startTime:
                sentence, at = "The training ends before it starts. Enter a later end.", f"schedules/{number}/endTime"
                return Refusal("ends-too-early", sentence, field=at)
        return None


class TeamFields(TeamDetails, TeamText):
    """What editors decide about a team."""


class TeamShown(TeamText, Published):
    """What everybody sees of a team in a list."""


# Members


class MemberPublic(Fields):
    """What everybody sees of a member."""

    name: Name
    email: Annotated[Email | None, about("E-mail address")] = None
    phone: Annotated[Phone | None, about("Phone")] = None
    role_ids: Annotated[People, about("Roles")] = Field(default_factory=list)
    avatar_id: Annotated[Id | None, about("Picture")] = None


class MemberFields(MemberPublic):
    """What editors decide about a member."""

    show_contact: Annotated[
        bool, about("Show e-mail address and phone", "Everybody sees them with the teams that they coach or speak for.")
    ] = False


class MemberShown(MemberPublic, Identified, Versioned):
    """A member as everybody sees them."""


# Media


class MediaFields(Fields):
    """What editors say about a media item."""

    alt: Annotated[Excerpt | None, about("Description", "For people who don't see the image.")] = None


class ImageShown(MediaFields, Identified):
    """What is needed to show a media item."""

    url: Annotated[str, READ_ONLY]


class MediaShown(ImageShown, Stamped, Versioned):
    """What editors see of a media item."""

    filename: Annotated[str, READ_ONLY]
    references: Annotated[Count, about("References", "The number of things that use it.")] = 0


# Sponsors


class SponsorFields(Fields):
    """What editors decide about a sponsor; one without an expiry stays."""

    name: Name
    website: Annotated[Link | None, about("Website")] = None
    logo_id: Annotated[Id | None, about("Logo")] = None
    expiry_timestamp: Annotated[Seconds | None, about("Expiry", "Unix timestamp. If empty, the sponsor stays.")] = None


class SponsorShown(SponsorFields, Identified, Versioned):
    """A sponsor as everybody sees it."""


# SAMS


class SamsClubFields(Fields):
    """A club as SAMS knows it."""

    sams_club_id: Id
    name: Short
    name_slug: SamsText
    logo_url: Link | None = None


class SamsTeamFields(Fields):
    """A team as SAMS knows it."""

    sams_team_id: Id
    name: Short
    league_name: Short
    league_id: SamsText
    club_id: Id
    season: Short


# Roles and locations


class RoleFields(Fields):
    """What a member can be in the club."""

    name: Name


class RoleShown(RoleFields, Identified, Versioned):
    """A role as everybody sees it."""

    members: Annotated[Count, about("Members", "The number of members who have it.")] = 0


class LocationFields(Fields):
    """Where teams train."""

    name: Name
    street: Annotated[Short, about("Street")]
    postal_code: Annotated[Short, about("Postal code")]
    city: Annotated[Short, about("City")]


class LocationShown(LocationFields, Identified, Versioned):
    """A location as everybody sees it."""

    teams: Annotated[Count, about("Teams", "The number of teams that train there.")] = 0
