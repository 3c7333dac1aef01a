"""The people of a team: the roster, a player's page, and the members with their roles."""

from typing import get_args

from starlette.responses import Response

from keyplan.apps.hacktracker.fields import ItemId, Position
from keyplan.apps.hacktracker.models import InvitationOut, NewOwner, NewPlayer, RoleChange
from keyplan.apps.hacktracker.pages.shared import OF_TEAM, HackView, pages, roster_of, show
from keyplan.apps.hacktracker.service import HackTracker
from keyplan.web import Confirm, Listed, Nothing

_ROSTER, _MEMBERS = "/teams/{team_id}/roster", "/teams/{team_id}/members"
_PLAYER = "/teams/{team_id}/players/{player_id}"


pages.show(
    _ROSTER,
    "roster.html",
    asks=NewPlayer,
    players=roster_of,
    positions=[("", "Any"), *((each, each) for each in get_args(Position))],
    **OF_TEAM,
)
pages.form(_ROSTER, HackTracker.add_player, to=_ROSTER, notice="{first_name} {last_name} added to the roster")


@pages.get(_PLAYER)
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


pages.show(
    f"{_PLAYER}/edit",
    "edit_player.html",
    asks=NewPlayer,
    starts_from="player",
    player=HackTracker.player,
    positions=get_args(Position),
    **OF_TEAM,
)
pages.form(f"{_PLAYER}/edit", HackTracker.change_player, to=_PLAYER, notice="Player saved")
pages.form(
    f"{_PLAYER}/remove",
    HackTracker.remove_player,
    to=_ROSTER,
    notice="Player removed",
    again=player,
    confirm=Confirm(
        "Remove {first_name} {last_name} from the roster?",
        "Remove player",
        "This deletes the player's record.",
        about=HackTracker.player,
    ),
)
pages.form(
    f"{_PLAYER}/unlink",
    HackTracker.unlink_player,
    to=_PLAYER,
    notice="Account unlinked",
    again=player,
    confirm=Confirm(
        "Unlink the account of {first_name} {last_name}?",
        "Unlink account",
        "They need an invitation to link it again.",
        about=HackTracker.player,
    ),
)


@pages.post(f"{_PLAYER}/invite", again=player)
def invite_player(view: HackView, team_id: ItemId, player_id: ItemId, which: Nothing) -> Response:
    return _invited(view, team_id, view.service.invite_to_link(team_id, player_id))


def _invited(view: HackView, team_id: str, invitation: InvitationOut) -> Response:
    """The page with the link to share. It is shown only once, so it has no address of its own."""
    url = view.request.url
    base = "" if "://" in invitation.link else f"{url.scheme}://{url.netloc}"
    team = view.service.team(team_id)
    return show(view, "invited.html", team=team, address=base + invitation.link, expires_at=invitation.expires_at)


# Members


members = pages.show(_MEMBERS, "members.html", members=Listed(HackTracker.members, "Sorted by user ID"), **OF_TEAM)


@pages.post(f"{_MEMBERS}/invite", again=members)
def invite(view: HackView, team_id: ItemId, new: RoleChange) -> Response:
    return _invited(view, team_id, view.service.invite_member(team_id, new))


pages.form(
    f"{_MEMBERS}/role",
    HackTracker.change_role,
    to=_MEMBERS,
    notice="{name} is now a {role}",
    again=members,
    confirm=Confirm(
        "Make {name} a manager?",
        "Make manager",
        "Managers can change the team, its roster and its members.",
        about=HackTracker.member,
        when=lambda given: given.role == "manager",
    ),
)
pages.form(
    "/teams/{team_id}/leave",
    HackTracker.leave_team,
    to="/",
    notice="You left the team",
    again=members,
    confirm=Confirm("Leave {name}?", "Leave team", "You need an invitation to come back.", about=HackTracker.team),
)


class Chosen(NewOwner):
    """A member, by an id that may not fit into an address."""


@pages.post(
    f"{_MEMBERS}/remove",
    again=members,
    confirm=Confirm(
        "Remove {name} from the team?",
        "Remove member",
        "They need an invitation to come back.",
        about=HackTracker.member,
    ),
)
def remove_member(view: HackView, team_id: ItemId, which: Chosen) -> Response:
    view.service.remove_member(team_id, which.user_id, None)
    return view.redirect(_MEMBERS, team_id=team_id, notice="Member removed")
