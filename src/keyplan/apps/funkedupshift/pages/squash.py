"""The squash section's pages. To those who may not see it, none of them is there."""

import datetime
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from keyplan.apps.funkedupshift.models import ItemId
from keyplan.apps.funkedupshift.pages.shared import LISTED, FusView, pages
from keyplan.apps.funkedupshift.squash_models import (
    MatchChange,
    MatchOut,
    NewMatch,
    NewPlayer,
    Played,
    PlayerChange,
    PlayerOut,
    Standings,
    Team,
)
from keyplan.web import Cursor, Listing, OfVersion, Paging, Unprocessable, all_of, turn

Chosen = Annotated[list[str] | None, Query()]
"""Players as a form sends them: empty where none was chosen."""


class PlayerEdit(NewPlayer, OfVersion):
    """A player as they are to be."""


class MatchForm(Played):
    """A match as it is typed: who has won, the games say."""

    @property
    def winning_team(self) -> Team:
        return "A" if self.team_a_games > self.team_b_games else "B"


class MatchEdit(MatchForm, OfVersion):
    """A match as it is to be."""


def _day(text: str, name: str) -> datetime.date | None:
    """A date as a form sends it: empty where none was chosen."""
    if not text:
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError as error:
        raise Unprocessable("not-a-date", "This is not a date.", pointer=f"?{name}") from error


def _all_players(view: FusView) -> list[PlayerOut]:
    """The players by name."""
    return sorted(all_of(view.service.players), key=lambda player: player.name.casefold())


def _options(view: FusView) -> list[tuple[str, str]]:
    return [("", "Choose …"), *((player.player_id, player.name) for player in _all_players(view))]


@pages.get("/squash")
def table(view: FusView, date_from: str = "", date_to: str = "") -> Response:
    view.service.may_see_squash()
    standings: Standings | None = None
    refused: str | None = None
    try:
        standings = view.service.table(_day(date_from, "date_from"), _day(date_to, "date_to"))
    except Unprocessable as problem:  # other days can be chosen on the same page
        refused = problem.detail
    asked = {"date_from": date_from or None, "date_to": date_to or None}
    status = 422 if refused else 200
    return view.render("squash_table.html", status=status, standings=standings, refused=refused, asked=asked)


@pages.get("/squash/matches")
def matches(
    view: FusView,
    date_from: str = "",
    date_to: str = "",
    player: Chosen = None,
    how: str = "all",
    cursor: Cursor = None,
) -> Response:
    view.service.may_see_squash()
    chosen = [each for each in player or () if each][:2]
    found, refused = Listing[MatchOut](items=[]), None
    try:
        found = view.service.matches(
            Paging(limit=LISTED, cursor=cursor),
            date_from=_day(date_from, "date_from"),
            date_to=_day(date_to, "date_to"),
            player=chosen or None,
            how="any" if how == "any" else "all",
        )
    except Unprocessable as problem:  # other days can be chosen on the same page
        refused = problem.detail
    players = _all_players(view)
    asked = {"date_from": date_from or None, "date_to": date_to or None, "player": chosen, "how": how}
    return view.render(
        "squash_matches.html",
        status=422 if refused else 200,
        matches=found.items,
        refused=refused,
        players=players,
        names={each.player_id: each.name for each in players},
        asked=asked,
        turn=turn(view.site.url("/squash/matches", **asked), cursor, found.next),
    )


@pages.get("/squash/players")
def players(view: FusView, cursor: Cursor = None) -> Response:
    found = view.service.players(Paging(limit=LISTED, cursor=cursor))
    return view.render(
        "squash_players.html",
        players=found.items,
        turn=turn(view.site.url("/squash/players"), cursor, found.next),
    )


# Keeping players


@pages.get("/squash/new-player")
def new_player(view: FusView) -> Response:
    view.service.may_change_squash()
    return view.render("squash_player.html", player=None)


@pages.post("/squash/new-player")
def add_player(view: FusView, new: NewPlayer) -> Response:
    made = view.service.add_player(new)
    return view.redirect("/squash/players", notice=f"{made.name} is there.")


@pages.get("/squash/players/{player_id}")
def player(view: FusView, player_id: ItemId) -> Response:
    view.service.may_change_squash()
    found = view.service.player(player_id)
    view.form.starting_from(found)
    return view.render("squash_player.html", player=found)


@pages.post("/squash/players/{player_id}")
def change_player(view: FusView, player_id: ItemId, edited: PlayerEdit) -> Response:
    view.service.change_player(player_id, PlayerChange(**edited.model_dump(exclude={"version"})), edited.seen)
    return view.redirect("/squash/players", notice=f"{edited.name} is changed.")


@pages.post("/squash/players/{player_id}/delete", again=player)
def delete_player(view: FusView, player_id: ItemId, which: OfVersion) -> Response:
    view.service.delete_player(player_id, which.seen)
    return view.redirect("/squash/players", notice="The player is deleted.")


# Keeping matches


@pages.get("/squash/new-match")
def new_match(view: FusView) -> Response:
    view.service.may_change_squash()
    view.form.starting_from({"date": view.service.now.date()})
    return view.render("squash_match.html", match=None, options=_options(view))


@pages.post("/squash/new-match")
def add_match(view: FusView, new: MatchForm) -> Response:
    view.service.add_match(NewMatch(**new.model_dump(), winning_team=new.winning_team))
    return view.redirect("/squash/matches", notice="The match is there.")


@pages.get("/squash/matches/{match_id}")
def match(view: FusView, match_id: ItemId) -> Response:
    view.service.may_change_squash()
    found = view.service.match(match_id)
    view.form.starting_from(found)
    return view.render("squash_match.html", match=found, options=_options(view))


@pages.post("/squash/matches/{match_id}")
def change_match(view: FusView, match_id: ItemId, edited: MatchEdit) -> Response:
    change = MatchChange(**edited.model_dump(exclude={"version"}), winning_team=edited.winning_team)
    view.service.change_match(match_id, change, edited.seen)
    return view.redirect("/squash/matches", notice="The match is changed.")


@pages.post("/squash/matches/{match_id}/delete", again=match)
def delete_match(view: FusView, match_id: ItemId, which: OfVersion) -> Response:
    view.service.delete_match(match_id, which.seen)
    return view.redirect("/squash/matches", notice="The match is deleted.")
