"""Editors: members, roles, locations and sponsors."""

from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Any

from keyplan.apps.vcm.models import (
    LocationChange,
    LocationOut,
    MemberChange,
    MemberOut,
    NewLocation,
    NewMember,
    NewSponsor,
    RoleIn,
    RoleOut,
    SponsorChange,
    SponsorOut,
)
from keyplan.apps.vcm.pages.forms import Field
from keyplan.apps.vcm.pages.shared import BERLIN, ClubView
from keyplan.apps.vcm.pages.things import Thing, ThingForm, add_pages
from keyplan.apps.vcm.service import Club
from keyplan.design import Id
from keyplan.web import all_of


class RoleForm(ThingForm):
    """A role, as it was typed."""

    name: str = ""


class LocationForm(ThingForm):
    """A location, as it was typed."""

    name: str = ""
    street: str = ""
    postal_code: str = ""
    city: str = ""


class MemberForm(ThingForm):
    """A member, as they were typed."""

    name: str = ""
    email: str | None = None
    phone: str | None = None
    show_contact: bool = False
    role_ids: list[Id]
    avatar_id: Id | None = None


class SponsorForm(ThingForm):
    """A sponsor, as it was typed; it expires when the last day is over."""

    name: str = ""
    website: str | None = None
    logo_id: Id | None = None
    last_day: datetime | None = None

    def values(self, before: object) -> dict[str, Any]:
        """As the service takes it."""
        values = self.model_dump(exclude={"version", "last_day"})
        if self.last_day is None:
            return {**values, "expiry_timestamp": None}
        over = datetime.combine(self.last_day.date() + timedelta(days=1), time(), BERLIN)
        return {**values, "expiry_timestamp": int(over.timestamp())}


def _role_fields(view: ClubView) -> Sequence[Field]:
    return [name_field()]


def name_field() -> Field:
    """The name of something."""
    return Field("line", "name", "Name", attrs={"required": True, "maxlength": 100, "autocomplete": "off"})


def _location_fields(view: ClubView) -> Sequence[Field]:
    needed = {"required": True, "maxlength": 200, "autocomplete": "off"}
    labels = (("street", "Straße"), ("postalCode", "Postleitzahl"), ("city", "Stadt"))
    return [name_field(), *(Field("line", name, label, attrs=needed) for name, label in labels)]


def _member_fields(view: ClubView) -> Sequence[Field]:
    roles = sorted((each.name, each.id) for each in all_of(view.service.roles_of_members))
    return [
        name_field(),
        Field("line", "email", "E-Mail", attrs={"type": "email", "autocomplete": "off"}),
        Field("line", "phone", "Telefon", attrs={"type": "tel", "autocomplete": "off"}),
        Field("tick", "showContact", "E-Mail und Telefon zeigen", hint="Bei Teams, die sie trainieren oder betreuen."),
        Field("many", "roleIds", "Rollen", options=[(id, name) for name, id in roles]),
        Field("image", "avatarId", "Bild"),
    ]


def _sponsor_fields(view: ClubView) -> Sequence[Field]:
    return [
        name_field(),
        Field("line", "website", "Webseite", attrs={"type": "url", "placeholder": "https://"}),
        Field("line", "lastDay", "Letzter Tag", hint="Leer: ohne Ende.", attrs={"type": "date"}),
        Field("image", "logoId", "Logo"),
    ]


def _member_before(member: MemberOut) -> dict[str, object]:
    return {
        "name": member.name,
        "email": member.email,
        "phone": member.phone,
        "showContact": member.show_contact,
        "roleIds": member.role_ids,
        "avatarId": member.avatar_id,
    }


def _sponsor_before(sponsor: SponsorOut) -> dict[str, object]:
    expiry = sponsor.expiry_timestamp
    last = None if expiry is None else (expiry.astimezone(BERLIN) - timedelta(seconds=1)).date().isoformat()
    return {"name": sponsor.name, "website": sponsor.website, "logoId": sponsor.logo_id, "lastDay": last}


def _dumped(thing: RoleOut | LocationOut) -> Mapping[str, object]:
    return thing.model_dump(by_alias=True)


THINGS = (
    Thing(
        "mitglieder", "Mitglieder", "Neues Mitglied", MemberForm, _member_fields, _member_before,
        Club.members, Club.member, (NewMember, Club.create_member), (MemberChange, Club.change_member),
        Club.delete_member,
    ),
    Thing(
        "sponsoren", "Sponsoren", "Neuer Sponsor", SponsorForm, _sponsor_fields, _sponsor_before,
        Club.sponsors, Club.sponsor, (NewSponsor, Club.create_sponsor), (SponsorChange, Club.change_sponsor),
        Club.delete_sponsor,
    ),
    Thing(
        "rollen", "Rollen", "Neue Rolle", RoleForm, _role_fields, _dumped,
        Club.roles_of_members, Club.role, (RoleIn, Club.create_role), (RoleIn, Club.change_role), Club.delete_role,
    ),
    Thing(
        "orte", "Orte", "Neuer Ort", LocationForm, _location_fields, _dumped,
        Club.locations, Club.location, (NewLocation, Club.create_location), (LocationChange, Club.change_location),
        Club.delete_location,
    ),
)  # fmt: skip

for _thing in THINGS:
    add_pages(_thing)
