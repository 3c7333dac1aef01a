"""The caller's leagues: what is in them, who may do what, and who plays."""

from starlette.responses import Response

from keyplan.apps.threefc.fields import GrantRole, GrantUser, ItemId, Role
from keyplan.apps.threefc.models import GrantOut, NewLeague, NewPlayer, NewSeason
from keyplan.apps.threefc.pages.shared import OF_LEAGUE, FootballView, Place, admins, only, pages
from keyplan.apps.threefc.service import Football
from keyplan.web import Confirm, In, Listed, OfVersion, form_of, isolated

_LEAGUE, _PEOPLE, _PLAYERS = "/leagues/{league_id}", "/leagues/{league_id}/people", "/leagues/{league_id}/players"
_ROLES: dict[Role, str] = {"viewer": "a viewer", "scorekeeper": "a scorekeeper", "admin": "an admin"}


class Granted(GrantRole, GrantUser, In):
    """A role for somebody."""


class Revoked(GrantUser, OfVersion):
    """Somebody who is removed from a league."""


@pages.get("/")
def home(view: FootballView) -> Response:
    if view.caller is None:
        return view.render("welcome.html")
    found = view.page(
        view.service.my_leagues, "Sorted by name", by=lambda each: f"{each.name.casefold()}\0{each.league_id}"
    )
    return view.render("home.html", leagues=found.items, turn=found.turn)


pages.show("/new-league", "new_league.html", asks=NewLeague, requires=Football.create_league)
pages.form("/new-league", Football.create_league, to=_LEAGUE, notice="{name} created")
seasons = Listed(
    Football.seasons, "Latest first", by=lambda each: f"{each.starts_on or '9999'} {each.season_id}", newest_first=True
)
league = pages.show(_LEAGUE, "league.html", asks=NewSeason, seasons=seasons, **OF_LEAGUE)
edit_league = pages.show(
    f"{_LEAGUE}/edit",
    "edit_league.html",
    asks=Football.rename_league,
    starts_from="league",
    requires=admins,
    **OF_LEAGUE,
)
pages.form(f"{_LEAGUE}/edit", Football.rename_league, to=_LEAGUE, notice="League saved")
pages.delete(
    f"{_LEAGUE}/delete",
    Football.delete_league,
    "league",
    "This also deletes its players and everybody's roles. A league that has seasons can't be deleted.",
    one=Football.league,
    to="/",
    again=edit_league,
)
pages.form(
    f"{_LEAGUE}/seasons", Football.create_season, to="/seasons/{season_id}", notice="{name} created", again=league
)


# People


grants = Listed(Football.grants, "Sorted by user ID")
people = pages.show(_PEOPLE, "people.html", asks=Granted, starts_from={"role": "viewer"}, grants=grants, **OF_LEAGUE)


def _granted(grant: GrantOut) -> str:
    return f"{isolated(grant.user_id)} is now {_ROLES[grant.role]}"


pages.form(
    _PEOPLE,
    Football.grant,
    to=_PEOPLE,
    notice=_granted,
    confirm=Confirm(
        "Make {user_id} an admin?",
        "Make admin",
        "Admins can change and delete everything in the league, and remove you from it.",
        when=lambda given: given.role == "admin",
    ),
)


@pages.post(
    f"{_PEOPLE}/revoke",
    again=people,
    confirm=Confirm("Remove {user_id} from the league?", "Remove person", "Only an admin can add them again."),
)
def revoke(view: FootballView, league_id: ItemId, revoked: Revoked) -> Response:
    view.service.revoke(league_id, revoked.user_id, revoked.seen)
    if view.caller is not None and revoked.user_id == view.caller.sub:
        return view.redirect("/", notice="You left the league")
    return view.redirect(_PEOPLE, league_id=league_id, notice=f"{isolated(revoked.user_id)} removed")


# Players


players = Listed(
    Football.players, "Sorted by name", by=lambda each: f"{each.display_name.casefold()}\0{each.player_id}"
)
pages.show(_PLAYERS, "players.html", asks=NewPlayer, players=players, **OF_LEAGUE)
pages.form(_PLAYERS, Football.create_player, to=_PLAYERS, notice="{display_name} added")


@pages.get("/players/{player_id}")
def player(view: FootballView, player_id: ItemId) -> Response:
    found = view.service.player(player_id)
    place = Place(view.service.league(found.league_id))
    only(place.admin)
    view.form.asking(form_of(Football.change_player)).starting_from(found)
    return view.render("player.html", place=place, player=found)


pages.form("/players/{player_id}", Football.change_player, to=_PLAYERS, notice="Player saved")
