"""3FC's routes."""

from keyplan.apps.threefc.demo import fill
from keyplan.apps.threefc.design import ThreeFC
from keyplan.apps.threefc.pages import pages
from keyplan.apps.threefc.service import Football
from keyplan.web import Api, System

api = Api(Football)

api.get("/leagues", Football.my_leagues)
api.post("/leagues", Football.create_league)
api.get("/leagues/{league_id}", Football.league)
api.patch("/leagues/{league_id}", Football.rename_league)
api.delete("/leagues/{league_id}", Football.delete_league)

# A user's id is the subject of a token, which may contain anything but #.
api.get("/leagues/{league_id}/acl", Football.grants)
api.put("/leagues/{league_id}/acl/{user_id:path}", Football.grant)
api.delete("/leagues/{league_id}/acl/{user_id:path}", Football.revoke)

api.get("/leagues/{league_id}/players", Football.players)
api.post("/leagues/{league_id}/players", Football.create_player)
api.get("/players/{player_id}", Football.player)
api.patch("/players/{player_id}", Football.change_player)

api.get("/leagues/{league_id}/seasons", Football.seasons)
api.post("/leagues/{league_id}/seasons", Football.create_season)
api.get("/seasons/{season_id}", Football.season)
api.patch("/seasons/{season_id}", Football.change_season)
api.delete("/seasons/{season_id}", Football.delete_season)
api.get("/seasons/{season_id}/table", Football.season_table)
api.get("/seasons/{season_id}/scorers", Football.scorers)

api.get("/seasons/{season_id}/teams", Football.teams)
api.post("/seasons/{season_id}/teams", Football.create_team)
api.get("/seasons/{season_id}/teams/{team_id}", Football.team)
api.patch("/seasons/{season_id}/teams/{team_id}", Football.change_team)
api.delete("/seasons/{season_id}/teams/{team_id}", Football.delete_team)

api.get("/seasons/{season_id}/sessions", Football.sessions)
api.post("/seasons/{season_id}/sessions", Football.create_session)
api.get("/sessions/{session_id}", Football.session)
api.delete("/sessions/{session_id}", Football.delete_session)

api.get("/sessions/{session_id}/games", Football.games)
api.post("/sessions/{session_id}/games", Football.create_game)
api.get("/sessions/{session_id}/results", Football.results)
api.get("/games/{game_id}", Football.game)
api.patch("/games/{game_id}", Football.change_game)
api.put("/games/{game_id}/status", Football.change_status)
api.delete("/games/{game_id}", Football.delete_game)
api.get("/games/{game_id}/sheet", Football.sheet)
api.get("/games/{game_id}/result", Football.result)

api.get("/games/{game_id}/roster", Football.roster)
api.post("/games/{game_id}/roster", Football.assign)
api.put("/games/{game_id}/roster/{player_id}", Football.move_player)
api.delete("/games/{game_id}/roster/{player_id}", Football.remove_player)

api.get("/games/{game_id}/goals", Football.timeline)
api.post("/games/{game_id}/goals", Football.add_goal)
api.post("/games/{game_id}/goals/undo", Football.undo_goal, status=200)
api.patch("/games/{game_id}/goals/{event_id}", Football.change_goal)

SYSTEM = System(
    name="threefc",
    title="3FC",
    summary="Scoring for three-sided football.",
    design=ThreeFC,
    api=api,
    pages=pages,
    demo=fill,
)
