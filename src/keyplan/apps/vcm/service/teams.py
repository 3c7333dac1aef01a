"""Teams, with their coaches, contacts and training times."""

from collections.abc import Sequence
from functools import cached_property
from itertools import islice

from keyplan.apps.vcm.entities import Member, Role, Team
from keyplan.apps.vcm.fields import Schedule, SlugText
from keyplan.apps.vcm.models import ImageOut, LocationOut, MemberOut, NewTeam, TeamChange, TeamOut, TeamSummary
from keyplan.apps.vcm.service.shared import EDITORS, Shared, first
from keyplan.data import delete
from keyplan.design import Id, batch_get, together
from keyplan.web import ANYONE, IfMatch, Listing, MayMatch, Paging, Unprocessable, allow

_MOST_TEAMS = 1000
"""Teams that are looked at to find out whose contact data is public."""


class Teams(Shared):
    """The club's teams."""

    @allow(ANYONE)
    def published_teams(self, page: Paging) -> Listing[TeamSummary]:
        """Published teams, by name."""
        return self._summaries(self.design.published_teams(), page, TeamSummary)

    @allow(*EDITORS)
    def all_teams(self, page: Paging) -> Listing[TeamSummary]:
        """All teams, drafts included, by name."""
        return self._summaries(self.design.all_teams(), page, TeamSummary)

    @allow(ANYONE)
    def team(self, id: Id) -> TeamOut:
        """A team with its coaches, contacts, locations and images; only editors see drafts."""
        return self._team_out(self._visible(self.design.team(id)))

    @allow(ANYONE)
    def team_by_slug(self, slug: SlugText) -> TeamOut:
        """A team by its slug."""
        return self._team_out(self._visible(self.design.team_by_slug(slug)))

    @allow(ANYONE)
    def teams_by_sams_id(self, sams_team_id: Id, page: Paging) -> Listing[TeamSummary]:
        """The teams that are this team of SAMS; nearly always one. Only editors see drafts."""
        design = self.design
        found = design.teams_by_sams_id if self.is_editor else design.published_teams_by_sams_id
        return self._summaries(found(sams_team_id), page, TeamSummary)

    @allow(*EDITORS)
    def create_team(self, new: NewTeam) -> TeamOut:
        """Add a team, as a draft or published at once."""
        team = Team.from_fields(
            new,
            slug="-",
            schedules=_with_days_in_order(new.schedules),
            image_ids=self._all_images(new.image_ids, None),
            status="published" if new.publish else "draft",
        )
        team.coach_ids = self._people(new.coach_ids, "/coachIds")
        team.contact_person_ids = self._people(new.contact_person_ids, "/contactPersonIds")
        return self._team_out(self._created(team, new.name))

    @allow(*EDITORS)
    def change_team(self, id: Id, change: TeamChange, version: IfMatch) -> TeamOut:
        """Change a team."""
        team = self.find(self.design.team(id), version)
        before = team.name
        change.apply_to(team)
        if change.gives(lambda each: each.schedules):
            team.schedules = _with_days_in_order(team.schedules)
        if change.gives(lambda each: each.coach_ids):
            team.coach_ids = self._people(team.coach_ids, "/coachIds")
        if change.gives(lambda each: each.contact_person_ids):
            team.contact_person_ids = self._people(team.contact_person_ids, "/contactPersonIds")
        team.image_ids = self._all_images(team.image_ids, None)
        return self._team_out(self._saved(team, before, team.name))

    @allow(*EDITORS)
    def publish_team(self, id: Id, version: MayMatch) -> TeamOut:
        """Show a team to everybody."""
        return self._team_out(self._with_status(self.design.team(id), version, "published"))

    @allow(*EDITORS)
    def unpublish_team(self, id: Id, version: MayMatch) -> TeamOut:
        """Make a team a draft again."""
        return self._team_out(self._with_status(self.design.team(id), version, "draft"))

    @allow(*EDITORS, one_way=True)
    def delete_team(self, id: Id, version: IfMatch) -> None:
        """Delete a team, and the images that nothing else uses."""
        self.store.run(delete(self.find(self.design.team(id), version)))

    def _people(self, ids: Sequence[str], pointer: str) -> list[str]:
        """The ids of members, each once. A member who is deleted later is left out where the team is shown."""
        members = list(dict.fromkeys(ids))
        if members and None in self.store.run(self.design.members(members)):
            raise Unprocessable("no-such-member", "Member not found.", pointer=pointer)
        return members

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
        images = {each.id: ImageOut.from_fields(each) for each in media if each}
        return TeamOut.from_fields(
            team,
            image=images.get(first(team.image_ids) or ""),
            coaches=[shown[id] for id in team.coach_ids if id in shown],
            contact_people=[shown[id] for id in team.contact_person_ids if id in shown],
            locations=[LocationOut.from_fields(each) for each in locations if each],
            images=[images[id] for id in dict.fromkeys(team.image_ids) if id in images],
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
        return MemberOut.from_fields(
            member,
            email=member.email if shows else None,
            phone=member.phone if shows else None,
            show_contact=member.show_contact if self.is_editor else None,
            roles=[roles[id] for id in member.role_ids if id in roles],
            avatar=images.get(member.avatar_id or ""),
        )


def _with_days_in_order(schedules: Sequence[Schedule]) -> list[Schedule]:
    return [each.model_copy(update={"day": sorted(set(each.day))}) for each in schedules]
