"""The club's design: its access patterns, table by table in the document's order."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import cast

from keyplan.apps.vcm.departures import ACCEPTED, DEPARTURES
from keyplan.apps.vcm.entities import (
    TABLES,
    Event,
    Import,
    Location,
    Media,
    MediaRef,
    Member,
    News,
    Role,
    SamsClub,
    SamsTeam,
    Sponsor,
    Team,
)
from keyplan.apps.vcm.fields import LONGEST_EVENT, STATUSES, Status
from keyplan.design import (
    BatchGet,
    Design,
    Get,
    Lookup,
    Merge,
    Query,
    Scan,
    absent,
    accept,
    at_least,
    at_most,
    batch_get,
    get,
    less_than,
    lookup,
    merge,
    pattern,
    query,
    scan,
    within,
)

OPERATION = "whoever runs the system decides how it is backed up; on one file, `keyplan backup` copies everything"
"""Why the tables don't say how they are protected."""


class VcmDesign(Design):
    """The website of a volleyball club: news, events, teams, people, sponsors and pictures.

    Each kind of content has a table of its own. News, events and teams are drafts until they are published. A slug is
    the address of a page; a table of ours knows whose it is. What uses a picture is recorded, so that no picture in
    use can be deleted, and one that is deleted takes its file with it. Sign-in is not part of the design.

    The access patterns follow table by table.
    """

    tables = TABLES
    entities = (News, Event, Team, Member, Media, Sponsor, SamsClub, SamsTeam, Role, Location, MediaRef, Import)
    departures = DEPARTURES
    accepted = (
        accept("not-protected", "VcmDesign", because=OPERATION),
        accept("no-recovery", "VcmDesign", because=OPERATION),
        *ACCEPTED,
    )

    # News

    @pattern("Get news by ID")
    def news(self, id: str) -> Get[News]:
        return get(News, id=id)

    @pattern("Get news by slug")
    def news_by_slug(self, slug: str) -> Query[News]:
        return query(News.by_slug, slug=slug)

    @pattern("List published news")
    def published_news(self, now: datetime) -> Query[News]:
        return query(News.by_published_date, status="published", published_date=at_most(now), newest_first=True)

    @pattern("List all news (admin): Query by status")
    def news_by_status(self, status: Status) -> Query[News]:
        return query(News.by_published_date, status=status, newest_first=True)

    @pattern("List all news (admin)")
    def all_news(self) -> Merge[News]:
        return merge(
            [query(News.by_published_date, status=status) for status in STATUSES],
            lambda article: article.published_date,
            newest_first=True,
        )

    # Events

    @pattern("Get event by ID")
    def event(self, id: str) -> Get[Event]:
        return get(Event, id=id)

    @pattern("Get event by slug")
    def event_by_slug(self, slug: str) -> Lookup[Event]:
        return lookup(Event.slug_guard, slug=slug)

    @pattern("List upcoming events")
    def upcoming_events(self, now: datetime) -> Merge[Event]:
        running = query(
            Event.by_start_date,
            status="published",
            start_date=within(now - LONGEST_EVENT, now - timedelta(milliseconds=1)),
            filter=lambda event: cast(datetime, event.end_date) >= now,
        )
        coming = query(Event.by_start_date, status="published", start_date=at_least(now))
        return merge([running, coming], lambda event: event.start_date)

    @pattern("List past events")
    def past_events(self, now: datetime) -> Query[Event]:
        return query(
            Event.by_start_date,
            status="published",
            start_date=less_than(now),
            filter=lambda event: absent(event.end_date) | (cast(datetime, event.end_date) < now),
            newest_first=True,
        )

    @pattern("List all events (admin)")
    def all_events(self) -> Merge[Event]:
        return merge(
            [query(Event.by_start_date, status=status) for status in STATUSES],
            lambda event: event.start_date,
            newest_first=True,
        )

    # Teams

    @pattern("Get team by ID")
    def team(self, id: str) -> Get[Team]:
        return get(Team, id=id)

    @pattern("Get team by slug")
    def team_by_slug(self, slug: str) -> Query[Team]:
        return query(Team.by_slug, slug=slug)

    @pattern("List all published teams")
    def published_teams(self) -> Query[Team]:
        return query(Team.by_status, status="published")

    @pattern("Find team by SAMS ID")
    def teams_by_sams_id(self, sbvv_team_id: str) -> Query[Team]:
        return query(Team.by_sams_team, sbvv_team_id=sbvv_team_id)

    @pattern("Find team by SAMS ID: published teams only")
    def published_teams_by_sams_id(self, sbvv_team_id: str) -> Query[Team]:
        return query(Team.by_sams_team, sbvv_team_id=sbvv_team_id, filter=lambda team: team.status == "published")

    @pattern("Get Instagram handle: Just read from team item")
    def instagram_handle(self, id: str) -> Get[Team]:
        return get(Team, id=id)

    @pattern("List all teams (admin)")
    def all_teams(self) -> Merge[Team]:
        return merge([query(Team.by_status, status=status) for status in STATUSES], lambda team: team.name)

    # Members

    @pattern("Get member by ID")
    def member(self, id: str) -> Get[Member]:
        return get(Member, id=id)

    @pattern("List all members")
    def all_members(self) -> Scan[Member]:
        return scan(Member)

    @pattern("Get multiple members by IDs")
    def members(self, ids: Sequence[str]) -> BatchGet[Member]:
        return batch_get(Member, ids)

    # Media

    @pattern("Get media by ID")
    def media(self, id: str) -> Get[Media]:
        return get(Media, id=id)

    @pattern("List all media (admin)")
    def all_media(self) -> Scan[Media]:
        return scan(Media)

    @pattern("Get multiple media by IDs")
    def media_by_ids(self, ids: Sequence[str]) -> BatchGet[Media]:
        return batch_get(Media, ids)

    @pattern("List what uses a media item", decides="whether the media item is still used")
    def media_references(self, media_id: str) -> Query[MediaRef]:
        return query(MediaRef.primary, media_id=media_id, consistent=True)

    # Sponsors: reads leave out those that have expired.

    @pattern("Get sponsor by ID")
    def sponsor(self, id: str) -> Get[Sponsor]:
        return get(Sponsor, id=id)

    @pattern("List all sponsors")
    def current_sponsors(self) -> Scan[Sponsor]:
        return scan(Sponsor)

    # SAMS

    @pattern("Get SAMS club by ID")
    def sams_club(self, sams_club_id: str) -> Get[SamsClub]:
        return get(SamsClub, sams_club_id=sams_club_id)

    @pattern("List all SAMS clubs")
    def all_sams_clubs(self) -> Scan[SamsClub]:
        return scan(SamsClub)

    @pattern("Get SAMS team by ID")
    def sams_team(self, sams_team_id: str) -> Get[SamsTeam]:
        return get(SamsTeam, sams_team_id=sams_team_id)

    @pattern("List all SAMS teams")
    def all_sams_teams(self) -> Scan[SamsTeam]:
        return scan(SamsTeam)

    # Roles

    @pattern("Get role by ID")
    def role(self, id: str) -> Get[Role]:
        return get(Role, id=id)

    @pattern("List all roles")
    def all_roles(self) -> Scan[Role]:
        return scan(Role)

    # Locations

    @pattern("Get location by ID")
    def location(self, id: str) -> Get[Location]:
        return get(Location, id=id)

    @pattern("List all locations")
    def all_locations(self) -> Scan[Location]:
        return scan(Location)

    @pattern("Get multiple locations by IDs")
    def locations(self, ids: Sequence[str]) -> BatchGet[Location]:
        return batch_get(Location, ids)

    # Migration

    @pattern("How far a migration came", decides="where the migration continues")
    def imports(self, export_id: str) -> Query[Import]:
        return query(Import.primary, export_id=export_id, consistent=True)


DESIGN = VcmDesign
