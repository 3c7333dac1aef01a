"""funkedupshift's routes."""

from keyplan.apps.funkedupshift.demo import fill
from keyplan.apps.funkedupshift.design import FunkedUpShiftDesign
from keyplan.apps.funkedupshift.pages import pages
from keyplan.apps.funkedupshift.service import FunkedUpShift
from keyplan.apps.funkedupshift.upkeep import sweep_files
from keyplan.web import Api, System

api = Api(FunkedUpShift)

api.get("/sites", FunkedUpShift.sites)
api.post("/sites", FunkedUpShift.create_site)
api.get("/sites/{site_id}", FunkedUpShift.site)
api.patch("/sites/{site_id}", FunkedUpShift.change_site)
api.delete("/sites/{site_id}", FunkedUpShift.delete_site)
api.get("/sites/{site_id}/rating-summary", FunkedUpShift.rating_summary)

api.get("/sites/{site_id}/rating", FunkedUpShift.my_rating)
api.put("/sites/{site_id}/rating", FunkedUpShift.rate)
api.delete("/sites/{site_id}/rating", FunkedUpShift.delete_rating)
api.get("/sites/{site_id}/ratings", FunkedUpShift.ratings_of_site)
api.get("/ratings", FunkedUpShift.ratings_by_stars)

api.get("/sites/{site_id}/comments", FunkedUpShift.comments)
api.post("/sites/{site_id}/comments", FunkedUpShift.add_comment)
api.get("/sites/{site_id}/comments/{comment_id}", FunkedUpShift.comment)
api.patch("/sites/{site_id}/comments/{comment_id}", FunkedUpShift.change_comment)
api.delete("/sites/{site_id}/comments/{comment_id}", FunkedUpShift.delete_comment)

api.get("/groups", FunkedUpShift.groups)
api.post("/groups", FunkedUpShift.create_group)
api.get("/groups/{name}", FunkedUpShift.group)
api.patch("/groups/{name}", FunkedUpShift.change_group)
api.delete("/groups/{name}", FunkedUpShift.delete_group)
api.get("/groups/{name}/members", FunkedUpShift.members)
api.post("/groups/{name}/members", FunkedUpShift.add_member)
# The subject of a token may contain a slash.
api.delete("/groups/{name}/members/{user_id:path}", FunkedUpShift.remove_member)
api.get("/users/{user_id:path}/memberships", FunkedUpShift.memberships)

api.get("/me", FunkedUpShift.profile)
api.patch("/me", FunkedUpShift.change_profile)
api.get("/me/ratings", FunkedUpShift.my_ratings)
api.get("/me/memberships", FunkedUpShift.my_memberships)
api.post("/me/avatar/upload", FunkedUpShift.upload_avatar)
api.put("/me/avatar", FunkedUpShift.put_avatar)
api.delete("/me/avatar", FunkedUpShift.delete_avatar)

squash = api.behind(FunkedUpShift.may_see_squash)
squash.get("/squash/players", FunkedUpShift.players)
squash.post("/squash/players", FunkedUpShift.add_player)
squash.get("/squash/players/{player_id}", FunkedUpShift.player)
squash.patch("/squash/players/{player_id}", FunkedUpShift.change_player)
squash.delete("/squash/players/{player_id}", FunkedUpShift.delete_player)
squash.get("/squash/matches", FunkedUpShift.matches)
squash.post("/squash/matches", FunkedUpShift.add_match)
squash.get("/squash/matches/{match_id}", FunkedUpShift.match)
squash.patch("/squash/matches/{match_id}", FunkedUpShift.change_match)
squash.delete("/squash/matches/{match_id}", FunkedUpShift.delete_match)
squash.get("/squash/table", FunkedUpShift.table)

SYSTEM = System(
    name="funkedupshift",
    title="Funked Up Shift",
    summary="Web sites worth sharing, and the results of a circle of squash players.",
    design=FunkedUpShiftDesign,
    api=api,
    pages=pages,
    demo=fill,
    sweep=sweep_files,
)
