"""The front page with the caller's teams, their account and statistics, invitations, and the lists for admins."""

from starlette.responses import Response

from keyplan.apps.hacktracker.models import Accepted, Secret
from keyplan.apps.hacktracker.pages.shared import HackView, Named, pages
from keyplan.apps.hacktracker.service import HackTracker
from keyplan.web import Confirm, Listed, OfVersion, all_of, isolated


@pages.get("/")
def front(view: HackView) -> Response:
    if view.caller is None:
        return view.render("welcome.html")
    teams = view.page(
        view.service.my_teams, "Sorted by name", by=lambda each: f"{each.name.casefold()}\0{each.team_id}"
    )
    deleted = all_of(view.service.my_deleted_teams) if teams.is_first else []
    return view.render("front.html", teams=teams.items, deleted=deleted, turn=teams.turn)


me = pages.show(
    "/me",
    "me.html",
    asks=HackTracker.me_change,
    starts_from="account",
    account=HackTracker.me_get,
    numbers=HackTracker.my_statistics,
    chart=HackTracker.my_spray_chart,
)
pages.form("/me", HackTracker.me_change, to="/me", notice="Account saved")


@pages.post(
    "/me/delete",
    again=me,
    confirm=Confirm(
        "Delete your account?",
        "Delete account",
        "This removes everything personal, including your name on rosters. Your at-bats stay with your teams.",
    ),
)
def delete_me(view: HackView, which: OfVersion) -> Response:
    view.service.me_delete(which.seen)
    view.sign_out()
    return view.redirect("/", notice="Account deleted")


pages.show("/join/{secret}", "join.html", asks=Named, account=HackTracker.me_get, offer=HackTracker.offer)


@pages.post("/join/{secret}")
def accept(view: HackView, secret: Secret, guest: Named) -> Response:
    guest.save_name(view)
    team = view.service.accept_invitation(Accepted(secret=secret))
    return view.redirect("/teams/{team_id}", team_id=team.team_id, notice=f"You joined {isolated(team.name)}")


pages.show("/all/users", "all.html", what="users", items=Listed(HackTracker.all_users, "Sorted by ID"))
pages.show("/all/teams", "all.html", what="teams", items=Listed(HackTracker.all_teams, "Sorted by ID"))
pages.show("/all/games", "all.html", what="games", items=Listed(HackTracker.all_games, "Sorted by ID"))
