"""Members, roles, locations and sponsors."""

from datetime import datetime

from keyplan.apps.vcm.entities import Location, Member, Role, Sponsor
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
from keyplan.apps.vcm.service.shared import EDITORS
from keyplan.apps.vcm.service.teams import Teams
from keyplan.data import create, delete
from keyplan.design import Id
from keyplan.web import ANYONE, IfMatch, Listing, Paging, Unprocessable, Versions, allow


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
        return self._members_out([self.find(self.design.member(id))])[0]

    @allow(*EDITORS)
    def create_member(self, new: NewMember) -> MemberOut:
        """Add a member."""
        member = Member.from_fields(new, role_ids=list(dict.fromkeys(new.role_ids)))
        return self._members_out([self.store.run(create(member))])[0]

    @allow(*EDITORS)
    def change_member(self, id: Id, change: MemberChange, version: IfMatch) -> MemberOut:
        """Change a member."""
        member = self.find(self.design.member(id), version)
        change.apply_to(member)
        member.role_ids = list(dict.fromkeys(member.role_ids))
        return self._members_out([self.save(member)])[0]

    @allow(*EDITORS, one_way=True)
    def delete_member(self, id: Id, version: IfMatch) -> None:
        """Delete a member. Teams are shown without them from then on."""
        self.store.run(delete(self.find(self.design.member(id), version)))

    # Roles

    @allow(ANYONE)
    def roles_of_members(self, page: Paging) -> Listing[RoleOut]:
        """All roles, in no order."""
        return self.listed(self.design.all_roles(), page, RoleOut.from_fields)

    @allow(ANYONE)
    def role(self, id: Id) -> RoleOut:
        """A role."""
        return RoleOut.from_fields(self.find(self.design.role(id)))

    @allow(*EDITORS)
    def create_role(self, new: RoleIn) -> RoleOut:
        """Add a role."""
        return RoleOut.from_fields(self.store.run(create(Role.from_fields(new))))

    @allow(*EDITORS)
    def change_role(self, id: Id, change: RoleIn, version: IfMatch) -> RoleOut:
        """Rename a role."""
        role = self.find(self.design.role(id), version)
        role.name = change.name
        return RoleOut.from_fields(self.save(role))

    @allow(*EDITORS, one_way=True)
    def delete_role(self, id: Id, version: IfMatch) -> None:
        """Delete a role that nobody has."""
        self.store.run(delete(self.find(self.design.role(id), version)))

    # Locations

    @allow(ANYONE)
    def locations(self, page: Paging) -> Listing[LocationOut]:
        """All locations, in no order."""
        return self.listed(self.design.all_locations(), page, LocationOut.from_fields)

    @allow(ANYONE)
    def location(self, id: Id) -> LocationOut:
        """A location."""
        return LocationOut.from_fields(self.find(self.design.location(id)))

    @allow(*EDITORS)
    def create_location(self, new: NewLocation) -> LocationOut:
        """Add a location."""
        return LocationOut.from_fields(self.store.run(create(Location.from_fields(new))))

    @allow(*EDITORS)
    def change_location(self, id: Id, change: LocationChange, version: IfMatch) -> LocationOut:
        """Change a location."""
        return LocationOut.from_fields(self.save(self.find(self.design.location(id), version), change))

    @allow(*EDITORS, one_way=True)
    def delete_location(self, id: Id, version: IfMatch) -> None:
        """Delete a location where no team trains."""
        self.store.run(delete(self.find(self.design.location(id), version)))

    # Sponsors

    @allow(ANYONE)
    def sponsors(self, page: Paging) -> Listing[SponsorOut]:
        """The current sponsors, in no order."""
        found = self.listed(self.design.current_sponsors(), page, lambda sponsor: sponsor)
        return Listing[SponsorOut](items=self._sponsors_out(found.items), next=found.next)

    @allow(ANYONE)
    def sponsor(self, id: Id) -> SponsorOut:
        """A current sponsor."""
        return self._sponsors_out([self._sponsor(id)])[0]

    @allow(*EDITORS)
    def create_sponsor(self, new: NewSponsor) -> SponsorOut:
        """Add a sponsor."""
        self._check_expiry(new.expiry_timestamp)
        return self._sponsors_out([self.store.run(create(Sponsor.from_fields(new)))])[0]

    @allow(*EDITORS)
    def change_sponsor(self, id: Id, change: SponsorChange, version: IfMatch) -> SponsorOut:
        """Change a sponsor. A logo that is replaced is deleted, unless something else uses it."""
        sponsor = self._sponsor(id, version)
        self._check_expiry(change.get(lambda each: each.expiry_timestamp, None))
        return self._sponsors_out([self.save(sponsor, change)])[0]

    @allow(*EDITORS, one_way=True)
    def delete_sponsor(self, id: Id, version: IfMatch) -> None:
        """Delete a sponsor, and the logo unless something else uses it."""
        self.store.run(delete(self._sponsor(id, version)))

    def _check_expiry(self, expiry: datetime | None) -> None:
        if expiry is not None and expiry <= self.now:
            raise Unprocessable(
                "expired", "This is in the past. Enter a later time, or delete the sponsor.", pointer="/expiryTimestamp"
            )

    def _sponsor(self, id: str, version: Versions = None) -> Sponsor:
        return self.find(self.design.sponsor(id), version)

    def _sponsors_out(self, sponsors: list[Sponsor]) -> list[SponsorOut]:
        images = self._images(each.logo_id for each in sponsors)
        return [SponsorOut.from_fields(each, logo=images.get(each.logo_id or "")) for each in sponsors]
