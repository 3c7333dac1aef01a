"""Teams, with their coaches, contacts and training times."""

from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from keyplan.apps.vcm.entities import Member, Role, Team
from keyplan.apps.vcm.models.base import SlugText
from keyplan.apps.vcm.models.club import LocationOut, MemberOut, NewTeam, TeamChange, TeamOut, TeamSummary
from keyplan.apps.vcm.models.content import ImageOut
from keyplan.apps.vcm.service.shared import EDITORS, Shared, first
from keyplan.apps.vcm.values import Schedule
from keyplan.data import delete
from keyplan.design import Id, Merge, Query, batch_get, together
from keyplan.web import ANYONE, IfMatch, Listing, MayMatch, Missing, Paging, Unprocessable, allow

_MOST_TEAMS = 1000
"""Teams that are looked at to find out whose contact data is public."""


class Teams(Shared):
    """The club's teams."""

    @allow(ANYONE)
    def published_teams(self, page: Paging) -> Listing[TeamSummary]:
        """Published teams, by name."""
        return self._team_list(self.design.published_teams(), page)

    @allow(*EDITORS)
    def all_teams(self, page: Paging) -> Listing[TeamSummary]:
        """All teams, drafts included, by name."""
        return self._team_list(self.design.all_teams(), page)

    @allow(ANYONE)
    def team(self, id: Id) -> TeamOut:
        """A team with its coaches, contacts, locations and images; a draft is there for editors only."""
        return self._team_out(self._visible_team(self.store.run(self.design.team(id))))

    @allow(ANYONE)
    def team_by_slug(self, slug: SlugText) -> TeamOut:
        """A team by its slug."""
        found = self.store.run(self.design.team_by_slug(slug).limit(1)).items
        return self._team_out(self._visible_team(found[0] if found else None))

    @allow(ANYONE)
    def teams_by_sams_id(self, sams_team_id: Id, page: Paging) -> Listing[TeamSummary]:
        """The teams that are this team of SAMS; nearly always one. Drafts are there for editors only."""
        if self.is_editor:
            return self._team_list(self.design.teams_by_sams_id(sams_team_id), page)
        return self._team_list(self.design.published_teams_by_sams_id(sams_team_id), page)

    @allow(*EDITORS)
    def create_team(self, new: NewTeam) -> TeamOut:
        """Add a team, as a draft or published at once."""
        values = new.model_dump(exclude={"publish", "schedules", "image_ids"})
        team = Team(
            **values,
            slug="-",
            schedules=_checked(new.schedules),
            image_ids=self._all_images(new.image_ids, None),
            status="published" if new.publish else "draft",
        )
        self._check_people(team, {"coach_ids", "contact_person_ids"})
        return self._team_out(self._created(team, new.name))

    @allow(*EDITORS)
    def change_team(self, id: Id, change: TeamChange, version: IfMatch) -> TeamOut:
        """Change a team."""
        team = self._team(id)
        self.current(team, version)
        required = ("name", "gender", "description", "coach_ids", "contact_person_ids", "schedules", "image_ids")
        changes = self._changes(change, *required)
        before = team.name
        if "schedules" in changes:
            changes["schedules"] = _checked(changes["schedules"])
        self._set(team, changes)
        team.image_ids = self._all_images(team.image_ids, None)
        self._check_people(team, set(changes))
        return self._team_out(self._saved(team, before, team.name))

    @allow(*EDITORS)
    def publish_team(self, id: Id, version: MayMatch) -> TeamOut:
        """Show a team to everybody."""
        return self._team_out(self._with_status(self._team(id), version, "published"))

    @allow(*EDITORS)
    def unpublish_team(self, id: Id, version: MayMatch) -> TeamOut:
        """Make a team a draft again."""
        return self._team_out(self._with_status(self._team(id), version, "draft"))

    @allow(*EDITORS)
    def delete_team(self, id: Id, version: IfMatch) -> None:
        """Delete a team. Images that nothing else uses go, too."""
        team = self._team(id)
        self.current(team, version)
        self.store.run(delete(team))

    def _team(self, id: str) -> Team:
        team = self.store.run(self.design.team(id))
        if team is None:
            raise Missing(detail="There is no such team.")
        return team

    def _visible_team(self, team: Team | None) -> Team:
        if team is None or not (team.status == "published" or self.is_editor):
            raise Missing(detail="There is no such team.")
        return team

    def _check_people(self, team: Team, fields: set[str]) -> None:
        """Coaches and contacts are members. A member who goes later is left out where the team is shown."""
        for name, pointer in (("coach_ids", "/coachIds"), ("contact_person_ids", "/contactPersonIds")):
            ids = list(dict.fromkeys(getattr(team, name)))
            setattr(team, name, ids)
            if name in fields and ids and None in self.store.run(self.design.members(ids)):
                raise Unprocessable("no-such-member", "There is no such member.", pointer=pointer)

    def _team_list(self, op: Query[Team] | Merge[Team], page: Paging) -> Listing[TeamSummary]:
        return self._listed_with(op, page, lambda each: first(each.image_ids), _summary)

    def _team_out(self, team: Team) -> TeamOut:
        people = list(dict.fromkeys([*team.coach_ids, *team.contact_person_ids]))
        places = list(dict.fromkeys(each.locationId for each in team.schedules))
        members, locations, media = self.store.run(
            together(
                self.design.members(people), self.design.locations(places), self.design.media_by_ids(team.image_ids)
            )
        )
        present = [each for each in members if each]
        shown = {each.id: each for each in self._members_out(present, public=team.status == "published")}
        images = {each.id: ImageOut.of(each) for each in media if each}
        return TeamOut(
            **_values(team, images.get(first(team.image_ids) or "")),
            description=team.description,
            coach_ids=team.coach_ids,
            coaches=[shown[id] for id in team.coach_ids if id in shown],
            contact_person_ids=team.contact_person_ids,
            contact_people=[shown[id] for id in team.contact_person_ids if id in shown],
            schedules=team.schedules,
            locations=[LocationOut.of(each) for each in locations if each],
            images=[images[id] for id in dict.fromkeys(team.image_ids) if id in images],
            created_at=team.created_at,
            updated_at=team.updated_at,
        )

    # How members are shown, here and in their own lists

    @cached_property
    def _contacts(self) -> frozenset[str]:
        """Who is a coach or contact of a published team; of more teams than one request reads, of the first ones."""
        teams = islice(self.store.each(self.design.published_teams().limit(100)), _MOST_TEAMS)
        return frozenset(id for team in teams for id in (*team.coach_ids, *team.contact_person_ids))

    def _members_out(self, members: list[Member], *, public: bool | None = None) -> list[MemberOut]:
        """Members as the caller may see them. `public`: whether they are shown as coaches of a published team."""
        images = self._images(each.avatar_id for each in members)
        role_ids = list(dict.fromkeys(id for each in members for id in each.role_ids))
        found = self.store.run(batch_get(Role, role_ids)) if role_ids else []
        roles = {each.id: each.name for each in found if each}
        return [self._member_out(each, roles, images, public) for each in members]

    def _member_out(
        self, member: Member, roles: dict[str, str], images: dict[str, ImageOut], public: bool | None
    ) -> MemberOut:
        shows = self.is_editor
        if not shows and member.show_contact:
            shows = member.id in self._contacts if public is None else public
        return MemberOut(
            id=member.id,
            name=member.name,
            email=member.email if shows else None,
            phone=member.phone if shows else None,
            show_contact=member.show_contact if self.is_editor else None,
            role_ids=member.role_ids,
            roles=[roles[id] for id in member.role_ids if id in roles],
            avatar_id=member.avatar_id,
            avatar=images.get(member.avatar_id or ""),
            version=member.version,
        )


def _checked(schedules: Sequence[Schedule]) -> list[Schedule]:
    """Training times that can be: on some day, and from earlier to later."""
    for number, each in enumerate(schedules):
        if not each.day:
            raise Unprocessable("no-day", "A training is on a day of the week.", pointer=f"/schedules/{number}/day")
        if each.endTime <= each.startTime:
            raise Unprocessable(
                "ends-too-early", "A training ends after it begins.", pointer=f"/schedules/{number}/endTime"
            )
    return [Schedule(**{**each.model_dump(), "day": sorted(set(each.day))}) for each in schedules]


def _values(team: Team, image: ImageOut | None) -> dict[str, Any]:
    return {name: getattr(team, name) for name in TeamSummary.model_fields if name != "image"} | {"image": image}


def _summary(team: Team, image: ImageOut | None) -> TeamSummary:
    return TeamSummary(**_values(team, image))
