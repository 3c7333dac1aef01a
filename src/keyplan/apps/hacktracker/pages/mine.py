"""The front page with the caller's teams, their account and statistics, invitations, and the lists for admins."""

from typing import TypeVar

from starlette.responses import Response

from keyplan.apps.hacktracker.models import Accepted, AccountChange, Secret
from keyplan.apps.hacktracker.pages.shared import HackView, Named, pages, show
from keyplan.web import Cursor, Listing, OfVersion, Paging, all_of, turn

T = TypeVar("T")
_LISTED = 50


class Profile(AccountChange, OfVersion):
    """The caller's account, as it is typed."""


@pages.get("/")
def front(view: HackView, cursor: Cursor = None) -> Response:
    if view.caller is None:
        return show(view, "welcome.html")
    teams = view.service.my_teams(Paging(limit=_LISTED, cursor=cursor))
    return show(
        view,
        "front.html",
        teams=teams.items,
        deleted=all_of(view.service.my_deleted_teams) if cursor is None else [],
        turn=turn(view.site.url("/"), cursor, teams.next),
    )


@pages.get("/me")
def me(view: HackView) -> Response:
    account = view.service.me_get()
    view.form.asking(Profile).starting_from(account)
    return show(
        view,
        "me.html",
        account=account,
        numbers=view.service.my_statistics(),
        chart=view.service.my_spray_chart(),
    )


@pages.post("/me")
def change_me(view: HackView, profile: Profile) -> Response:
    view.service.me_change(profile, profile.seen)
    return view.redirect("/me", notice="Account saved")


@pages.post("/me/delete", again=me)
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
    return view.redirect("/teams/{team_id}", team_id=team.team_id, notice=f"You joined {team.name}")


def _listing(view: HackView, what: str, listing: Listing[T], cursor: str | None) -> Response:
    at = view.site.url(f"/all/{what}")
    return show(view, "all.html", what=what, items=listing.items, turn=turn(at, cursor, listing.next))


@pages.get("/all/users")
def all_users(view: HackView, cursor: Cursor = None) -> Response:
    return _listing(view, "users", view.service.all_users(Paging(limit=_LISTED, cursor=cursor)), cursor)


@pages.get("/all/teams")
def all_teams(view: HackView, cursor: Cursor = None) -> Response:
    return _listing(view, "teams", view.service.all_teams(Paging(limit=_LISTED, cursor=cursor)), cursor)


@pages.get("/all/games")
def all_games(view: HackView, cursor: Cursor = None) -> Response:
    return _listing(view, "games", view.service.all_games(Paging(limit=_LISTED, cursor=cursor)), cursor)
