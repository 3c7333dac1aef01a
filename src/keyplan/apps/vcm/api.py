"""The club's routes."""

from keyplan.apps.vcm.demo import fill
from keyplan.apps.vcm.design import VcmDesign
from keyplan.apps.vcm.pages import pages
from keyplan.apps.vcm.service import Club
from keyplan.apps.vcm.upkeep import HANDLERS
from keyplan.web import Api, System

api = Api(Club)

api.get("/news", Club.published_news)
api.post("/news", Club.create_news)
api.get("/news/all", Club.all_news)
api.get("/news/by-slug/{slug}", Club.news_by_slug)
api.get("/news/{id}", Club.news)
api.patch("/news/{id}", Club.change_news)
api.delete("/news/{id}", Club.delete_news)
api.post("/news/{id}/publish", Club.publish_news, status=200)
api.post("/news/{id}/unpublish", Club.unpublish_news, status=200)

api.get("/events", Club.upcoming_events)
api.post("/events", Club.create_event)
api.get("/events/past", Club.past_events)
api.get("/events/all", Club.all_events)
api.get("/events/by-slug/{slug}", Club.event_by_slug)
api.get("/events/{id}", Club.event)
api.patch("/events/{id}", Club.change_event)
api.delete("/events/{id}", Club.delete_event)
api.post("/events/{id}/publish", Club.publish_event, status=200)
api.post("/events/{id}/unpublish", Club.unpublish_event, status=200)

api.get("/teams", Club.published_teams)
api.post("/teams", Club.create_team)
api.get("/teams/all", Club.all_teams)
api.get("/teams/by-slug/{slug}", Club.team_by_slug)
api.get("/teams/by-sams-id/{sams_team_id}", Club.teams_by_sams_id)
api.get("/teams/{id}", Club.team)
api.patch("/teams/{id}", Club.change_team)
api.delete("/teams/{id}", Club.delete_team)
api.post("/teams/{id}/publish", Club.publish_team, status=200)
api.post("/teams/{id}/unpublish", Club.unpublish_team, status=200)

api.get("/members", Club.members)
api.post("/members", Club.create_member)
api.get("/members/{id}", Club.member)
api.patch("/members/{id}", Club.change_member)
api.delete("/members/{id}", Club.delete_member)

api.get("/media", Club.all_media)
api.post("/media", Club.add_media)
api.post("/media/upload", Club.upload_media)
api.get("/media/by-ids", Club.media_by_ids)
api.get("/media/{id}", Club.media_item)
api.patch("/media/{id}", Club.change_media)
api.delete("/media/{id}", Club.delete_media)

api.get("/sponsors", Club.sponsors)
api.post("/sponsors", Club.create_sponsor)
api.get("/sponsors/{id}", Club.sponsor)
api.patch("/sponsors/{id}", Club.change_sponsor)
api.delete("/sponsors/{id}", Club.delete_sponsor)

api.get("/roles", Club.roles_of_members)
api.post("/roles", Club.create_role)
api.get("/roles/{id}", Club.role)
api.patch("/roles/{id}", Club.change_role)
api.delete("/roles/{id}", Club.delete_role)

api.get("/locations", Club.locations)
api.post("/locations", Club.create_location)
api.get("/locations/{id}", Club.location)
api.patch("/locations/{id}", Club.change_location)
api.delete("/locations/{id}", Club.delete_location)

api.get("/sams/clubs", Club.sams_clubs)
api.get("/sams/clubs/{sams_club_id}", Club.sams_club)
api.get("/sams/teams", Club.sams_teams)
api.get("/sams/teams/{sams_team_id}", Club.sams_team)
api.post("/sams/import", Club.import_sams, status=200, once=False)

SYSTEM = System(
    name="vcm",
    title="VC Musterstadt",
    summary="The website of a volleyball club, with pages for its editors.",
    design=VcmDesign,
    api=api,
    pages=pages,
    handlers=HANDLERS,
    demo=fill,
)
