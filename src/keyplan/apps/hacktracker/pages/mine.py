"""The front page with the caller's teams, their account and statistics, invitations, and the lists for admins."""

from collections.abc import Callable
from typing import TypeVar

from starlette.responses import Response

from keyplan.apps.hacktracker.models import Accepted, Secret
from keyplan.apps.hacktracker.pages.shared import HackView, Named, pages, show
from keyplan.apps.hacktracker.service import HackTracker
from keyplan.web import Confirm, Listing, OfVersion, Paging, all_of, form_of, isolated

T = TypeVar("T")


@pages.get("/")
def front(view: HackView) -> Response:
    if view.caller is None:
        return show(view, "welcome.html")
    teams = view.page(view.service.my_teams, "Oldest teams first")
    deleted = all_of(view.service.my_deleted_teams) if teams.is_first else []
    return show(view, "front.html", teams=teams.items, deleted=deleted, turn=teams.turn)


@pages.get("/me")
def me(view: HackView) -> Response:
    account = view.service.me_get()
    view.form.asking(form_of(HackTracker.me_change)).starting_from(account)
    return show(
        view,
        "me.html",
        account=account,
        numbers=view.service.my_statistics(),
        chart=view.service.my_spray_chart(),
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


@pages.get("/join/{secret}")
def join(view: HackView, secret: Secret) -> Response:
    view.form.asking(Named)
    return show(view, "join.html", account=view.service.me_get(), offer=view.service.offer(secret), secret=secret)


@pages.post("/join/{secret}")
def accept(view: HackView, secret: Secret, guest: Named) -> Response:
    guest.save_name(view)
    team = view.service.accept_invitation(Accepted(secret=secret))
    return view.redirect("/teams/{team_id}", team_id=team.team_id, notice=f"You joined {isolated(team.name)}")


def _listing(view: HackView, what: str, listing: Callable[[Paging], Listing[T]]) -> Response:
    found = view.page(listing, "Sorted by ID")
    return show(view, "all.html", what=what, items=found.items, turn=found.turn)


@pages.get("/all/users")
def all_users(view: HackView) -> Response:
    return _listing(view, "users", view.service.all_users)


@pages.get("/all/teams")
def all_teams(view: HackView) -> Response:
    return _listing(view, "teams", view.service.all_teams)


@pages.get("/all/games")
def all_games(view: HackView) -> Response:
    return _listing(view, "games", view.service.all_games)
