"""Editors: members, roles, locations and sponsors, each by the same set of pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

from starlette.responses import Response

from keyplan.apps.vcm.models.club import (
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
from keyplan.apps.vcm.pages.forms import Field, Sheet, filled_in, newest_page, taken
from keyplan.apps.vcm.pages.shared import BERLIN, ClubView, FormIn, pages, show
from keyplan.apps.vcm.service import Club
from keyplan.design import Id
from keyplan.web import Cursor, In, Listing, OfVersion, Paging, all_of, turn


class ThingForm(FormIn):
    """Base of these forms."""

    version: int | None = None

    def values(self) -> dict[str, Any]:
        """As the service takes it."""
        return self.model_dump(exclude={"version"})

    @property
    def seen(self) -> frozenset[int]:
        return frozenset() if self.version is None else frozenset({self.version})


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

    def values(self) -> dict[str, Any]:
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


@dataclass(frozen=True)
class Thing:
    """A kind of things that editors look after."""

    path: str
    title: str
    new: str
    form: type[ThingForm]
    fields: Callable[[ClubView], Sequence[Field]]
    before: Callable[[Any], Mapping[str, object]]
    listed: Callable[[Club, Paging], Listing[Any]]
    one: Callable[[Club, str], Any]
    create: tuple[type[In], Callable[[Club, Any], Any]]
    change: tuple[type[In], Callable[[Club, str, Any, frozenset[int]], Any]]
    delete: Callable[[Club, str, frozenset[int]], None]

    def sheet(self, view: ClubView, thing: Any) -> Sheet:  # noqa: ANN401 - one of its kind, or none
        """The page to fill in."""
        return Sheet(
            title=f"{thing.name} bearbeiten" if thing else self.new,
            back=f"/redaktion/{self.path}",
            save_at=f"/redaktion/{self.path}/{thing.id}" if thing else f"/redaktion/{self.path}/neu",
            fields=self.fields(view),
            before=self.before(thing) if thing else {},
            id=thing.id if thing else None,
            version=thing.version if thing else None,
        )


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


def _add_pages(thing: Thing) -> None:
    base = f"/redaktion/{thing.path}"
    form = thing.form

    @pages.get(base)
    def desk(view: ClubView, cursor: Cursor = None) -> Response:
        view.service.begin_editing()
        found = thing.listed(view.service, newest_page(cursor))
        rows = [(each.id, each.name, None, None) for each in found.items]
        around = turn(view.site.url(base), cursor, found.next)
        return show(view, "desk_list.html", kind=thing.path, title=thing.title, rows=rows, turn=around)

    @pages.get(f"{base}/neu")
    def begin(view: ClubView) -> Response:
        view.service.begin_editing()
        return filled_in(view, thing.sheet(view, None))

    @pages.post(f"{base}/neu")
    def create(view: ClubView, typed: form) -> Response:  # type: ignore[valid-type]  # a class all the same
        model, act = thing.create
        values = typed.values()  # type: ignore[attr-defined]  # of ThingForm
        made = act(view.service, taken(model, values))
        return view.redirect(base, notice=f"{made.name} ist angelegt.")

    @pages.get(f"{base}/{{id}}")
    def edit(view: ClubView, id: Id) -> Response:
        view.service.begin_editing()
        return filled_in(view, thing.sheet(view, thing.one(view.service, id)))

    @pages.post(f"{base}/{{id}}")
    def change(view: ClubView, id: Id, typed: form) -> Response:  # type: ignore[valid-type]  # a class all the same
        model, act = thing.change
        changed = act(view.service, id, taken(model, typed.values()), typed.seen)  # type: ignore[attr-defined]
        return view.redirect(base, notice=f"{changed.name} ist gespeichert.")

    @pages.post(f"{base}/{{id}}/loeschen", again=edit)
    def delete(view: ClubView, id: Id, which: OfVersion) -> Response:
        thing.delete(view.service, id, which.seen)
        return view.redirect(base, notice="Gelöscht.")


for _thing in THINGS:
    _add_pages(_thing)
