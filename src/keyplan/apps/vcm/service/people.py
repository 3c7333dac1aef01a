"""Members, roles, locations and sponsors."""

from datetime import UTC, datetime

from keyplan.apps.vcm.entities import Location, Member, Role, Sponsor
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
from keyplan.apps.vcm.models.content import ImageOut
from keyplan.apps.vcm.service.shared import EDITORS, in_use
from keyplan.apps.vcm.service.teams import Teams
from keyplan.data import InUse, create, delete, update
from keyplan.design import Id
from keyplan.web import ANYONE, IfMatch, Listing, Missing, Paging, Unprocessable, allow


class People(Teams):
    """The people and places of the club, and who pays for it."""

    # Members

    @allow(ANYONE)
    def members(self, page: Paging) -> Listing[MemberOut]:
        """All members, in no order."""
        found = self.listed(self.design.all_members(), page, lambda member: member)
        return Listing[MemberOut](items=self._members_out(found.items), next=found.next)

    @allow(ANYONE)
    def member(self, id: Id) -> MemberOut:
        """A member."""
        return self._members_out([self._member(id)])[0]

    @allow(*EDITORS)
    def create_member(self, new: NewMember) -> MemberOut:
        """Add a member."""
        member = Member(**new.model_dump(exclude={"role_ids"}), role_ids=list(dict.fromkeys(new.role_ids)))
        return self._members_out([self._written(lambda: self.store.run(create(member)))])[0]

    @allow(*EDITORS)
    def change_member(self, id: Id, change: MemberChange, version: IfMatch) -> MemberOut:
        """Change a member."""
        member = self._member(id)
        self.current(member, version)
        self._set(member, self._changes(change, "name", "show_contact", "role_ids"))
        member.role_ids = list(dict.fromkeys(member.role_ids))
        return self._members_out([self._written(lambda: self.store.run(update(member)))])[0]

    @allow(*EDITORS)
    def delete_member(self, id: Id, version: IfMatch) -> None:
        """Delete a member. Teams are shown without them from then on."""
        member = self._member(id)
        self.current(member, version)
        self.store.run(delete(member))

    def _member(self, id: str) -> Member:
        member = self.store.run(self.design.member(id))
        if member is None:
            raise Missing(detail="There is no such member.")
        return member

    # Roles

    @allow(ANYONE)
    def roles_of_members(self, page: Paging) -> Listing[RoleOut]:
        """All roles, in no order."""
        return self.listed(self.design.all_roles(), page, RoleOut.of)

    @allow(ANYONE)
    def role(self, id: Id) -> RoleOut:
        """A role."""
        return RoleOut.of(self._role(id))

    @allow(*EDITORS)
    def create_role(self, new: RoleIn) -> RoleOut:
        """Add a role."""
        return RoleOut.of(self.store.run(create(Role(name=new.name))))

    @allow(*EDITORS)
    def change_role(self, id: Id, change: RoleIn, version: IfMatch) -> RoleOut:
        """Rename a role."""
        role = self._role(id)
        self.current(role, version)
        role.name = change.name
        return RoleOut.of(self.store.run(update(role)))

    @allow(*EDITORS)
    def delete_role(self, id: Id, version: IfMatch) -> None:
        """Delete a role that nobody has."""
        role = self._role(id)
        self.current(role, version)
        try:
            self.store.run(delete(role))
        except InUse as error:
            raise in_use("role") from error

    def _role(self, id: str) -> Role:
        role = self.store.run(self.design.role(id))
        if role is None:
            raise Missing(detail="There is no such role.")
        return role

    # Locations

    @allow(ANYONE)
    def locations(self, page: Paging) -> Listing[LocationOut]:
        """All locations, in no order."""
        return self.listed(self.design.all_locations(), page, LocationOut.of)

    @allow(ANYONE)
    def location(self, id: Id) -> LocationOut:
        """A location."""
        return LocationOut.of(self._location(id))

    @allow(*EDITORS)
    def create_location(self, new: NewLocation) -> LocationOut:
        """Add a location."""
        return LocationOut.of(self.store.run(create(Location(**new.model_dump()))))

    @allow(*EDITORS)
    def change_location(self, id: Id, change: LocationChange, version: IfMatch) -> LocationOut:
        """Change a location."""
        location = self._location(id)
        self.current(location, version)
        self._set(location, self._changes(change, "name", "street", "postal_code", "city"))
        return LocationOut.of(self.store.run(update(location)))

    @allow(*EDITORS)
    def delete_location(self, id: Id, version: IfMatch) -> None:
        """Delete a location where no team trains."""
        location = self._location(id)
        self.current(location, version)
        try:
            self.store.run(delete(location))
        except InUse as error:
            raise in_use("location") from error

    def _location(self, id: str) -> Location:
        location = self.store.run(self.design.location(id))
        if location is None:
            raise Missing(detail="There is no such location.")
        return location

    # Sponsors

    @allow(ANYONE)
    def sponsors(self, page: Paging) -> Listing[SponsorOut]:
        """The sponsors of now, in no order."""
        return self._listed_with(self.design.current_sponsors(self.now), page, lambda each: each.logo_id, _sponsor_out)

    @allow(ANYONE)
    def sponsor(self, id: Id) -> SponsorOut:
        """A sponsor of now."""
        return self._sponsor_out(self._sponsor(id))

    @allow(*EDITORS)
    def create_sponsor(self, new: NewSponsor) -> SponsorOut:
        """Add a sponsor."""
        sponsor = Sponsor(
            name=new.name, website=new.website, logo_id=new.logo_id, expiry_timestamp=self._expiry(new.expiry_timestamp)
        )
        return self._sponsor_out(self._written(lambda: self.store.run(create(sponsor))))

    @allow(*EDITORS)
    def change_sponsor(self, id: Id, change: SponsorChange, version: IfMatch) -> SponsorOut:
        """Change a sponsor. A logo that is replaced goes, unless something else uses it."""
        sponsor = self._sponsor(id)
        self.current(sponsor, version)
        changes = self._changes(change, "name")
        if "expiry_timestamp" in changes:
            changes["expiry_timestamp"] = self._expiry(changes["expiry_timestamp"])
        self._set(sponsor, changes)
        return self._sponsor_out(self._written(lambda: self.store.run(update(sponsor))))

    @allow(*EDITORS)
    def delete_sponsor(self, id: Id, version: IfMatch) -> None:
        """Delete a sponsor. The logo goes, too, unless something else uses it."""
        sponsor = self._sponsor(id)
        self.current(sponsor, version)
        self.store.run(delete(sponsor))

    def _expiry(self, seconds: int | None) -> datetime | None:
        if seconds is None:
            return None
        expiry = datetime.fromtimestamp(seconds, UTC)
        if expiry <= self.now:
            raise Unprocessable("expired", "This is over already: delete the sponsor.", pointer="/expiryTimestamp")
        return expiry

    def _sponsor(self, id: str) -> Sponsor:
        """A sponsor; one that has expired is gone, even while it is still stored."""
        sponsor = self.store.run(self.design.sponsor(id))
        if sponsor is None or (sponsor.expiry_timestamp is not None and sponsor.expiry_timestamp <= self.now):
            raise Missing(detail="There is no such sponsor.")
        return sponsor

    def _sponsor_out(self, sponsor: Sponsor) -> SponsorOut:
        return _sponsor_out(sponsor, self._images([sponsor.logo_id]).get(sponsor.logo_id or ""))


def _sponsor_out(sponsor: Sponsor, logo: ImageOut | None) -> SponsorOut:
    # The entity has something else under this name: what the logo points at.
    return SponsorOut(
        id=sponsor.id,
        name=sponsor.name,
        website=sponsor.website,
        logo_id=sponsor.logo_id,
        logo=logo,
        expiry_timestamp=sponsor.expiry_timestamp,
        version=sponsor.version,
    )
