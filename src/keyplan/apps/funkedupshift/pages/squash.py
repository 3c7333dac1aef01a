"""The squash section's pages. Callers who may not see it get 404 for all of them."""

import datetime
from typing import Annotated, Literal

from fastapi import Query
from starlette.responses import Response

from keyplan.apps.funkedupshift.fields import MatchEntry, Team
from keyplan.apps.funkedupshift.models import MatchChange, MatchOut, NewMatch, NewPlayer, PlayerOut, Standings
from keyplan.apps.funkedupshift.pages.shared import LISTED, FusView, pages
from keyplan.apps.funkedupshift.service import FunkedUpShift
from keyplan.design import Id
from keyplan.web import In, Listed, OfVersion, ShownPage, Unprocessable, all_of

Chosen = Annotated[list[str] | None, Query()]
"""Players as a form sends them: empty where none was chosen."""


class MatchForm(MatchEntry, In):
    """The form that adds a match; the games say who won."""

    @property
    def winning_team(self) -> Team:
        return "A" if self.team_a_games > self.team_b_games else "B"


class MatchEdit(MatchForm, OfVersion):
    """The form that changes a match."""


def _day(text: str, name: str) -> datetime.date | None:
    """A date as a form sends it: empty where none was chosen."""
    if not text:
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError as error:
        raise Unprocessable("not-a-date", "Enter a date as YYYY-MM-DD.", pointer=f"?{name}") from error


def _all_players(view: FusView) -> list[PlayerOut]:
    """The players by name."""
    return sorted(all_of(view.service.players), key=lambda player: player.name.casefold())


def _options(view: FusView) -> list[tuple[str, str]]:
    return [("", "Choose…"), *((player.id, player.name) for player in _all_players(view))]


@pages.get("/squash")
def table(view: FusView, date_from: str = "", date_to: str = "") -> Response:
    view.service.may_see_squash()
    standings: Standings | None = None
    refused: str | None = None
    try:
        standings = view.service.table(_day(date_from, "date_from"), _day(date_to, "date_to"))
    except Unprocessable as problem:  # another range can be chosen on the same page
        refused = problem.detail
    asked = {"date_from": date_from or None, "date_to": date_to or None}
    status = 422 if refused else 200
    return view.render("squash_table.html", status=status, standings=standings, refused=refused, asked=asked)


@pages.get("/squash/matches")
def matches(view: FusView, date_from: str = "", date_to: str = "", player: Chosen = None, how: str = "all") -> Response:
    view.service.may_see_squash()
    chosen = [each for each in player or () if each][:2]
    found, refused = ShownPage[MatchOut]([]), None
    try:
        first, last = _day(date_from, "date_from"), _day(date_to, "date_to")
        both: Literal["any", "all"] = "any" if how == "any" else "all"
        found = view.page(
            lambda page: view.service.matches(page, None, first, last, chosen or None, both), "Latest first", LISTED
        )
    except Unprocessable as problem:  # another range can be chosen on the same page
        refused = problem.detail
    players = _all_players(view)
    asked = {"date_from": date_from or None, "date_to": date_to or None, "player": chosen, "how": how}
    return view.render(
        "squash_matches.html",
        status=422 if refused else 200,
        matches=found.items,
        refused=refused,
        players=players,
        names={each.id: each.name for each in players},
        asked=asked,
        turn=found.turn,
    )


pages.show(
    "/squash/players",
    "squash_players.html",
    players=Listed(
        FunkedUpShift.players, "Sorted by name", LISTED, by=lambda each: f"{each.name.casefold()}\0{each.id}"
    ),
)


# Managing players


def _managers(service: FunkedUpShift) -> None:
    service.may_change_squash()


pages.show("/squash/new-player", "squash_player.html", asks=NewPlayer, requires=_managers, player=None)
pages.form("/squash/new-player", FunkedUpShift.add_player, to="/squash/players", notice="{name} added")


player = pages.show(
    "/squash/players/{player_id}",
    "squash_player.html",
    asks=FunkedUpShift.change_player,
    starts_from="player",
    requires=_managers,
    player=FunkedUpShift.player,
)
pages.form("/squash/players/{player_id}", FunkedUpShift.change_player, to="/squash/players", notice="{name} saved")
pages.delete(
    "/squash/players/{player_id}/delete",
    FunkedUpShift.delete_player,
    "player",
    "Players who have matches can't be deleted.",
    one=FunkedUpShift.player,
    to="/squash/players",
    again=player,
)


# Managing matches


@pages.get("/squash/new-match")
def new_match(view: FusView) -> Response:
    view.service.may_change_squash()
    view.form.asking(MatchForm).starting_from({"date": view.service.now.date()})
    return view.render("squash_match.html", match=None, options=_options(view))


@pages.post("/squash/new-match")
def add_match(view: FusView, new: MatchForm) -> Response:
    view.service.add_match(NewMatch.from_fields(new, winning_team=new.winning_team))
    return view.redirect("/squash/matches", notice="Match added")


@pages.get("/squash/matches/{match_id}")
def match(view: FusView, match_id: Id) -> Response:
    view.service.may_change_squash()
    found = view.service.match(match_id)
    view.form.asking(MatchEdit).starting_from(found)
    return view.render("squash_match.html", match=found, options=_options(view))


@pages.post("/squash/matches/{match_id}")
def change_match(view: FusView, match_id: Id, edited: MatchEdit) -> Response:
    change = MatchChange.from_fields(edited, winning_team=edited.winning_team)
    view.service.change_match(match_id, change, edited.seen)
    return view.redirect("/squash/matches", notice="Match saved")


pages.delete(
    "/squash/matches/{match_id}/delete",
    FunkedUpShift.delete_match,
    "match",
    "It no longer counts in the table.",
    one=FunkedUpShift.match,
    name="of {date}",
    to="/squash/matches",
    again=match,
)
