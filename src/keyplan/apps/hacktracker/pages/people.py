"""The people of a team: the roster, a player's page, and the members with their roles."""

from typing import get_args

from starlette.responses import Response

from keyplan.apps.hacktracker.fields import ItemId, Position
from keyplan.apps.hacktracker.models import InvitationOut, NewOwner, NewPlayer, PlayerChange, RoleChange
from keyplan.apps.hacktracker.pages.shared import HackView, pages, roster_of, show
from keyplan.web import Cursor, Nothing, OfVersion, Paging, turn

_LISTED = 50


class EditedPlayer(PlayerChange, OfVersion):
    """A player, as it is typed. Players who edit themselves are not asked for number and status."""


class Chosen(NewOwner):
    """A member, by an id that may not fit into an address."""


class OtherRole(Chosen, RoleChange):
    """Another role for a member."""


@pages.get("/teams/{team_id}/roster")
def roster(view: HackView, team_id: ItemId) -> Response:
    team = view.service.team(team_id)
    view.form.asking(NewPlayer)
    positions = [("", "Any"), *((each, each) for each in get_args(Position))]
    return show(view, "roster.html", team=team, players=roster_of(view, team_id), positions=positions)


@pages.post("/teams/{team_id}/roster")
def add(view: HackView, team_id: ItemId, new: NewPlayer) -> Response:
    made = view.service.add_player(team_id, new)
    notice = f"{made.first_name} {made.last_name} added to the roster"
    return view.redirect("/teams/{team_id}/roster", team_id=team_id, notice=notice)


@pages.get("/teams/{team_id}/players/{player_id}")
def player(view: HackView, team_id: ItemId, player_id: ItemId, season_id: str | None = None) -> Response:
    season = season_id or None
    return show(
        view,
        "player.html",
        team=view.service.team(team_id),
        player=view.service.player(team_id, player_id),
        season=season,
        numbers=view.service.player_statistics(team_id, player_id, season).statistics,
        chart=view.service.player_spray_chart(team_id, player_id, season),
    )


@pages.get("/teams/{team_id}/players/{player_id}/edit")
def edit(view: HackView, team_id: ItemId, player_id: ItemId) -> Response:
    found = view.service.player(team_id, player_id)
    view.form.asking(NewPlayer).starting_from(found)
    return show(view, "edit_player.html", team=view.service.team(team_id), player=found, positions=get_args(Position))


@pages.post("/teams/{team_id}/players/{player_id}/edit")
def change(view: HackView, team_id: ItemId, player_id: ItemId, edited: EditedPlayer) -> Response:
    view.service.change_player(team_id, player_id, edited, edited.seen)
    return view.redirect(_PLAYER, team_id=team_id, player_id=player_id, notice="Player saved")


_PLAYER = "/teams/{team_id}/players/{player_id}"


@pages.post("/teams/{team_id}/players/{player_id}/remove", again=player)
def remove(view: HackView, team_id: ItemId, player_id: ItemId, which: OfVersion) -> Response:
    view.service.remove_player(team_id, player_id, which.seen)
    return view.redirect("/teams/{team_id}/roster", team_id=team_id, notice="Player removed")


@pages.post("/teams/{team_id}/players/{player_id}/unlink", again=player)
def unlink(view: HackView, team_id: ItemId, player_id: ItemId, which: OfVersion) -> Response:
    view.service.unlink_player(team_id, player_id, which.seen)
    return view.redirect(_PLAYER, team_id=team_id, player_id=player_id, notice="Account unlinked")


@pages.post("/teams/{team_id}/players/{player_id}/invite", again=player)
def invite_player(view: HackView, team_id: ItemId, player_id: ItemId, which: Nothing) -> Response:
    return _invited(view, team_id, view.service.invite_to_link(team_id, player_id))


def _invited(view: HackView, team_id: str, invitation: InvitationOut) -> Response:
    """The page with the link to share. It is shown only once, so it has no address of its own."""
    url = view.request.url
    base = "" if "://" in invitation.link else f"{url.scheme}://{url.netloc}"
    team = view.service.team(team_id)
    return show(view, "invited.html", team=team, address=base + invitation.link, expires_at=invitation.expires_at)


# Members


@pages.get("/teams/{team_id}/members")
def members(view: HackView, team_id: ItemId, cursor: Cursor = None) -> Response:
    team = view.service.team(team_id)
    found = view.service.members(team_id, Paging(limit=_LISTED, cursor=cursor))
    at = view.site.url("/teams/{team_id}/members", team_id=team_id)
    return show(view, "members.html", team=team, members=found.items, turn=turn(at, cursor, found.next))


@pages.post("/teams/{team_id}/members/invite", again=members)
def invite(view: HackView, team_id: ItemId, new: RoleChange) -> Response:
    return _invited(view, team_id, view.service.invite_member(team_id, new))


@pages.post("/teams/{team_id}/members/role", again=members)
def change_role(view: HackView, team_id: ItemId, new: OtherRole) -> Response:
    changed = view.service.change_role(team_id, new.user_id, new, None)
    return view.redirect("/teams/{team_id}/members", team_id=team_id, notice=f"{changed.name} is now a {changed.role}")


@pages.post("/teams/{team_id}/members/remove", again=members)
def remove_member(view: HackView, team_id: ItemId, which: Chosen) -> Response:
    view.service.remove_member(team_id, which.user_id, None)
    return view.redirect("/teams/{team_id}/members", team_id=team_id, notice="Member removed")


@pages.post("/teams/{team_id}/leave", again=members)
def leave(view: HackView, team_id: ItemId, which: Nothing) -> Response:
    view.service.leave_team(team_id)
    return view.redirect("/", notice="You left the team")
