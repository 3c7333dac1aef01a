"""The caller's leagues: what is in them, who may do what, and who plays."""

from starlette.responses import Response

from keyplan.apps.threefc.fields import GrantRole, GrantUser, ItemId, LeagueFields, PlayerFields, Role
from keyplan.apps.threefc.models import Grant, LeagueChange, NewLeague, NewPlayer, NewSeason, PlayerChange
from keyplan.apps.threefc.pages.shared import LISTED, FootballView, Place, only, pages
from keyplan.web import Cursor, In, OfVersion, Paging, turn

_ROLES: dict[Role, str] = {"viewer": "a viewer", "scorekeeper": "a scorekeeper", "admin": "an admin"}


class EditedLeague(LeagueFields, OfVersion):
    """A league as it should be."""


class Granted(GrantRole, GrantUser, In):
    """A role for somebody."""

    version: int | None = None
    """Of the grant that the caller saw, if it is changed."""


class Revoked(GrantUser, OfVersion):
    """Somebody who is removed from a league."""


class EditedPlayer(PlayerFields, OfVersion):
    """A player as it should be."""


@pages.get("/")
def home(view: FootballView, cursor: Cursor = None) -> Response:
    if view.caller is None:
        return view.render("welcome.html")
    found = view.service.my_leagues(Paging(limit=LISTED, cursor=cursor))
    return view.render("home.html", leagues=found.items, turn=turn(view.site.url("/"), cursor, found.next))


@pages.get("/new-league")
def new_league(view: FootballView) -> Response:
    view.service.me  # noqa: B018 - visitors have to sign in first
    view.form.asking(NewLeague)
    return view.render("new_league.html")


@pages.post("/new-league")
def create_league(view: FootballView, new: NewLeague) -> Response:
    made = view.service.create_league(new)
    return view.redirect("/leagues/{league_id}", league_id=made.league_id, notice=f"{made.name} created")


@pages.get("/leagues/{league_id}")
def league(view: FootballView, league_id: ItemId, cursor: Cursor = None) -> Response:
    found = view.service.league(league_id)
    seasons = view.service.seasons(league_id, Paging(limit=LISTED, cursor=cursor))
    at = view.site.url("/leagues/{league_id}", league_id=league_id)
    view.form.asking(NewSeason)
    return view.render("league.html", place=Place(found), seasons=seasons.items, turn=turn(at, cursor, seasons.next))


@pages.get("/leagues/{league_id}/edit")
def edit_league(view: FootballView, league_id: ItemId) -> Response:
    place = Place(view.service.league(league_id))
    only(place.admin)
    view.form.asking(EditedLeague).starting_from(place.league)
    return view.render("edit_league.html", place=place)


@pages.post("/leagues/{league_id}/edit")
def rename_league(view: FootballView, league_id: ItemId, edited: EditedLeague) -> Response:
    view.service.rename_league(league_id, LeagueChange.from_fields(edited), edited.seen)
    return view.redirect("/leagues/{league_id}", league_id=league_id, notice="League saved")


@pages.post("/leagues/{league_id}/delete", again=edit_league)
def delete_league(view: FootballView, league_id: ItemId, which: OfVersion) -> Response:
    view.service.delete_league(league_id, which.seen)
    return view.redirect("/", notice="League deleted")


@pages.post("/leagues/{league_id}/seasons", again=league)
def create_season(view: FootballView, league_id: ItemId, new: NewSeason) -> Response:
    made = view.service.create_season(league_id, new)
    return view.redirect("/seasons/{season_id}", season_id=made.season_id, notice=f"{made.name} created")


# People


@pages.get("/leagues/{league_id}/people")
def people(view: FootballView, league_id: ItemId, cursor: Cursor = None) -> Response:
    grants = view.service.grants(league_id, Paging(limit=LISTED, cursor=cursor))
    at = view.site.url("/leagues/{league_id}/people", league_id=league_id)
    view.form.asking(Granted).starting_from({"role": "viewer"})
    return view.render(
        "people.html",
        place=Place(view.service.league(league_id)),
        grants=grants.items,
        turn=turn(at, cursor, grants.next),
    )


@pages.post("/leagues/{league_id}/people")
def grant(view: FootballView, league_id: ItemId, granted: Granted) -> Response:
    seen = None if granted.version is None else frozenset({granted.version})
    view.service.grant(league_id, granted.user_id, Grant.from_fields(granted), seen)
    notice = f"{granted.user_id} is now {_ROLES[granted.role]}"
    return view.redirect("/leagues/{league_id}/people", league_id=league_id, notice=notice)


@pages.post("/leagues/{league_id}/people/revoke", again=people)
def revoke(view: FootballView, league_id: ItemId, revoked: Revoked) -> Response:
    view.service.revoke(league_id, revoked.user_id, revoked.seen)
    if view.caller is not None and revoked.user_id == view.caller.sub:
        return view.redirect("/", notice="You left the league")
    notice = f"{revoked.user_id} removed"
    return view.redirect("/leagues/{league_id}/people", league_id=league_id, notice=notice)


# Players


@pages.get("/leagues/{league_id}/players")
def players(view: FootballView, league_id: ItemId, cursor: Cursor = None) -> Response:
    found = view.service.players(league_id, Paging(limit=LISTED, cursor=cursor))
    at = view.site.url("/leagues/{league_id}/players", league_id=league_id)
    view.form.asking(NewPlayer)
    return view.render(
        "players.html",
        place=Place(view.service.league(league_id)),
        players=found.items,
        turn=turn(at, cursor, found.next),
    )


@pages.post("/leagues/{league_id}/players")
def create_player(view: FootballView, league_id: ItemId, new: NewPlayer) -> Response:
    made = view.service.create_player(league_id, new)
    return view.redirect("/leagues/{league_id}/players", league_id=league_id, notice=f"{made.display_name} added")


@pages.get("/players/{player_id}")
def player(view: FootballView, player_id: ItemId) -> Response:
    found = view.service.player(player_id)
    place = Place(view.service.league(found.league_id))
    only(place.admin)
    view.form.asking(EditedPlayer).starting_from(found)
    return view.render("player.html", place=place, player=found)


@pages.post("/players/{player_id}")
def change_player(view: FootballView, player_id: ItemId, edited: EditedPlayer) -> Response:
    changed = view.service.change_player(player_id, PlayerChange.from_fields(edited), edited.seen)
    return view.redirect("/leagues/{league_id}/players", league_id=changed.league_id, notice="Player saved")
