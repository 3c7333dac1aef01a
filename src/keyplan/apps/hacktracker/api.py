"""hacktracker's routes."""

from keyplan.apps.hacktracker.demo import fill
from keyplan.apps.hacktracker.design import HackTrackerDesign
from keyplan.apps.hacktracker.pages import pages
from keyplan.apps.hacktracker.service import HackTracker
from keyplan.apps.hacktracker.upkeep import HANDLERS
from keyplan.web import Api, System

api = Api(HackTracker)

api.get("/me", HackTracker.me_get)
api.patch("/me", HackTracker.me_change)
api.delete("/me", HackTracker.me_delete)
api.get("/me/statistics", HackTracker.my_statistics)
api.get("/me/spray-chart", HackTracker.my_spray_chart)

api.get("/teams", HackTracker.my_teams)
api.post("/teams", HackTracker.create_team)
api.get("/teams/deleted", HackTracker.my_deleted_teams)
api.get("/teams/{team_id}", HackTracker.team)
api.patch("/teams/{team_id}", HackTracker.change_team)
api.delete("/teams/{team_id}", HackTracker.delete_team)
api.post("/teams/{team_id}/restore", HackTracker.restore_team, status=200)
api.post("/teams/{team_id}/transfer", HackTracker.transfer_team, status=200)
api.get("/teams/{team_id}/statistics", HackTracker.team_statistics)
api.get("/teams/{team_id}/seasons", HackTracker.seasons)
api.get("/teams/{team_id}/spray-chart", HackTracker.team_spray_chart)

api.get("/teams/{team_id}/members", HackTracker.members)
# A user's id is a token's subject, which may contain anything but #.
api.get("/teams/{team_id}/members/{user_id:path}", HackTracker.member)
api.put("/teams/{team_id}/members/{user_id:path}/role", HackTracker.change_role)
api.delete("/teams/{team_id}/members/{user_id:path}", HackTracker.remove_member)
api.post("/teams/{team_id}/leave", HackTracker.leave_team)
# Not kept for repeated requests: the secret of an invitation is never stored.
api.post("/teams/{team_id}/invitations", HackTracker.invite_member, once=False)
api.get("/invitations/{secret}", HackTracker.offer)
api.post("/invitations/accept", HackTracker.accept_invitation, status=200)

api.get("/teams/{team_id}/players", HackTracker.players)
api.post("/teams/{team_id}/players", HackTracker.add_player)
api.get("/teams/{team_id}/players/{player_id}", HackTracker.player)
api.patch("/teams/{team_id}/players/{player_id}", HackTracker.change_player)
api.delete("/teams/{team_id}/players/{player_id}", HackTracker.remove_player)
api.post("/teams/{team_id}/players/{player_id}/invitations", HackTracker.invite_to_link, once=False)
api.post("/teams/{team_id}/players/{player_id}/unlink", HackTracker.unlink_player, status=200)
api.get("/teams/{team_id}/players/{player_id}/statistics", HackTracker.player_statistics)
api.get("/teams/{team_id}/players/{player_id}/spray-chart", HackTracker.player_spray_chart)

api.get("/teams/{team_id}/games", HackTracker.games)
api.post("/teams/{team_id}/games", HackTracker.create_game)
api.get("/games/{game_id}", HackTracker.game)
api.patch("/games/{game_id}", HackTracker.change_game)
api.delete("/games/{game_id}", HackTracker.delete_game)
api.put("/games/{game_id}/lineup", HackTracker.set_lineup)
api.post("/games/{game_id}/status", HackTracker.move_game, status=200)
api.get("/games/{game_id}/box-score", HackTracker.box_score)
api.get("/games/{game_id}/spray-chart", HackTracker.game_spray_chart)

api.get("/games/{game_id}/at-bats", HackTracker.at_bats)
api.post("/games/{game_id}/at-bats", HackTracker.add_at_bat)
api.post("/games/{game_id}/at-bats/undo", HackTracker.undo, status=200)
api.get("/games/{game_id}/at-bats/{at_bat_id}", HackTracker.at_bat)
api.patch("/games/{game_id}/at-bats/{at_bat_id}", HackTracker.change_at_bat)
api.delete("/games/{game_id}/at-bats/{at_bat_id}", HackTracker.remove_at_bat)

api.get("/users", HackTracker.all_users)
api.get("/all-teams", HackTracker.all_teams)
api.get("/all-games", HackTracker.all_games)

SYSTEM = System(
    name="hacktracker",
    title="HackTracker",
    summary="Softball teams, their games and their statistics.",
    design=HackTrackerDesign,
    api=api,
    pages=pages,
    demo=fill,
    handlers=HANDLERS,
)
