"""Teams, members, roles, locations, sponsors, and what SAMS knows."""

from datetime import datetime
from typing import Annotated, TypeAlias

from pydantic import ConfigDict, Field, PlainSerializer, WithJsonSchema

from keyplan.apps.vcm.entities import Location, Role, SamsClub, SamsTeam, Sponsor
from keyplan.apps.vcm.models.base import Age, Email, Handle, People, Phone, Seconds, Short, Shown, Taken, Text
from keyplan.apps.vcm.models.content import ImageOut
from keyplan.apps.vcm.values import MOST_SCHEDULES, Gender, Images, Name, Roles, Schedule, Schedules, Status
from keyplan.design import Id
from keyplan.web import Link, Time

# Teams


class ScheduleIn(Schedule):
    """When and where a team trains."""

    model_config = ConfigDict(extra="forbid")


SchedulesIn: TypeAlias = Annotated[list[ScheduleIn], Field(max_length=MOST_SCHEDULES)]


class NewTeam(Taken):
    """A team. Its slug is made of its name."""

    name: Name
    gender: Gender
    age: Age | None = None
    league: Short | None = None
    sbvv_team_id: Id | None = None
    description: Text = ""
    coach_ids: People = Field(default_factory=list)
    contact_person_ids: People = Field(default_factory=list)
    schedules: SchedulesIn = Field(default_factory=list)
    image_ids: Images = Field(default_factory=list)
    instagram: Handle | None = None
    publish: bool = False


class TeamChange(Taken):
    """What is to be changed of a team; what is not named stays. Another name gives another slug."""

    name: Name | None = None
    gender: Gender | None = None
    age: Age | None = None
    league: Short | None = None
    sbvv_team_id: Id | None = None
    description: Text | None = None
    coach_ids: People | None = None
    contact_person_ids: People | None = None
    schedules: SchedulesIn | None = None
    image_ids: Images | None = None
    instagram: Handle | None = None


class TeamSummary(Shown):
    """A team in a list."""

    id: str
    name: str
    slug: str
    gender: Gender
    age: int | None
    league: str | None
    sbvv_team_id: str | None
    instagram: str | None
    status: Status
    image_ids: list[str]
    image: Annotated[ImageOut | None, Field(description="The first of its images.")] = None
    version: int


# Members, roles, locations, sponsors


class NewMember(Taken):
    """A member."""

    name: Name
    email: Email | None = None
    phone: Phone | None = None
    show_contact: Annotated[
        bool, Field(description="Whether e-mail and phone are public once one is a coach or contact of a team.")
    ] = False
    role_ids: Roles = Field(default_factory=list)
    avatar_id: Id | None = None


class MemberChange(Taken):
    """What is to be changed of a member; what is not named stays."""

    name: Name | None = None
    email: Email | None = None
    phone: Phone | None = None
    show_contact: bool | None = None
    role_ids: Roles | None = None
    avatar_id: Id | None = None


class MemberOut(Shown):
    """A member. E-mail and phone are there for editors, and for all where they are public."""

    id: str
    name: str
    email: str | None = None
    phone: str | None = None
    show_contact: Annotated[bool | None, Field(description="For editors only.")] = None
    role_ids: list[str]
    roles: Annotated[list[str], Field(description="The names of the roles.")]
    avatar_id: str | None
    avatar: ImageOut | None = None
    version: int


class RoleIn(Taken):
    """What a member can be in the club."""

    name: Name


class RoleOut(Shown):
    """What a member can be in the club."""

    id: str
    name: str
    members: Annotated[int, Field(description="How many have it.")]
    version: int

    @classmethod
    def of(cls, role: Role) -> "RoleOut":
        return cls.model_validate(role)


class NewLocation(Taken):
    """Where teams train."""

    name: Name
    street: Short
    postal_code: Short
    city: Short


class LocationChange(Taken):
    """What is to be changed of a location; what is not named stays."""

    name: Name | None = None
    street: Short | None = None
    postal_code: Short | None = None
    city: Short | None = None


class LocationOut(Shown):
    """Where teams train."""

    id: str
    name: str
    street: str
    postal_code: str
    city: str
    teams: Annotated[int, Field(description="How many teams train there.")]
    version: int

    @classmethod
    def of(cls, location: Location) -> "LocationOut":
        return cls.model_validate(location)


class TeamOut(TeamSummary):
    """A team, with who and what it points at."""

    description: str
    coach_ids: list[str]
    coaches: list[MemberOut]
    contact_person_ids: list[str]
    contact_people: list[MemberOut]
    schedules: Schedules
    locations: Annotated[list[LocationOut], Field(description="Those of the training times, each once.")]
    images: list[ImageOut]
    created_at: Time
    updated_at: Time


class NewSponsor(Taken):
    """A sponsor; without an expiry it stays."""

    name: Name
    website: Link | None = None
    logo_id: Id | None = None
    expiry_timestamp: Seconds | None = None


class SponsorChange(Taken):
    """What is to be changed of a sponsor; what is not named stays."""

    name: Name | None = None
    website: Link | None = None
    logo_id: Id | None = None
    expiry_timestamp: Seconds | None = None


class SponsorOut(Shown):
    """A sponsor."""

    id: str
    name: str
    website: str | None
    logo_id: str | None
    logo: ImageOut | None = None
    expiry_timestamp: Annotated[
        datetime | None,
        PlainSerializer(lambda value: None if value is None else int(value.timestamp()), return_type=int | None),
        WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "Unix timestamp."}),
    ]
    version: int

    @classmethod
    def of(cls, sponsor: Sponsor) -> "SponsorOut":
        return cls.model_validate(sponsor)


# SAMS


class SamsClubIn(Taken):
    """A club as SAMS knows it."""

    sams_club_id: Id
    name: Short
    name_slug: Short
    logo_url: Link | None = None


class SamsTeamIn(Taken):
    """A team as SAMS knows it."""

    sams_team_id: Id
    name: Short
    league_name: Short
    league_id: Short
    club_id: Id
    season: Short


class SamsFile(Taken):
    """All clubs, all teams, or both, as they are to be from now on; what is not named is removed."""

    clubs: Annotated[list[SamsClubIn], Field(max_length=5000)] | None = None
    teams: Annotated[list[SamsTeamIn], Field(max_length=5000)] | None = None
    remove_many: Annotated[bool, Field(description="Remove even more than a fifth of what is there.")] = False


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


class SamsClubOut(Shown):
    """A club as SAMS knows it."""

    sams_club_id: str
    name: str
    name_slug: str
    logo_url: str | None
    updated_at: Time

    @classmethod
    def of(cls, club: SamsClub) -> "SamsClubOut":
        return cls.model_validate(club)


class SamsTeamOut(Shown):
    """A team as SAMS knows it."""

    sams_team_id: str
    name: str
    league_name: str
    league_id: str
    club_id: str
    season: str
    updated_at: Time

    @classmethod
    def of(cls, team: SamsTeam) -> "SamsTeamOut":
        return cls.model_validate(team)
