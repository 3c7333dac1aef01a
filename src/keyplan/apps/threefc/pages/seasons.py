"""A season: its table and scorers, its sessions and their games."""

from starlette.responses import Response

from keyplan.apps.threefc.fields import GameTeams, ItemId, SeasonFields
from keyplan.apps.threefc.models import NewGame, NewSession, SeasonChange
from keyplan.apps.threefc.pages.shared import LISTED, FootballView, StartInUtc, only, pages, place_of
from keyplan.web import Cursor, OfVersion, Paging, all_of, turn

_AT_THE_TOP = 5


class EditedSeason(SeasonFields, OfVersion):
    """A season as it should be."""


class Scheduled(GameTeams, StartInUtc):
    """A new game of three teams."""


@pages.get("/seasons/{season_id}")
def season(view: FootballView, season_id: ItemId, cursor: Cursor = None) -> Response:
    sessions = view.service.sessions(season_id, Paging(limit=LISTED, cursor=cursor))
    at = view.site.url("/seasons/{season_id}", season_id=season_id)
    view.form.asking(NewSession)
    return view.render(
        "season.html",
        place=place_of(view, season_id),
        table=view.service.season_table(season_id),
        colours={team.team_id: team.colour for team in all_of(lambda page: view.service.teams(season_id, page))},
        scorers=view.service.scorers(season_id, Paging(limit=_AT_THE_TOP)).items,
        next=view.service.next_session(season_id),
        sessions=sessions.items,
        turn=turn(at, cursor, sessions.next),
    )


@pages.get("/seasons/{season_id}/scorers")
def scorers(view: FootballView, season_id: ItemId, cursor: Cursor = None) -> Response:
    found = view.service.scorers(season_id, Paging(limit=LISTED, cursor=cursor))
    at = view.site.url("/seasons/{season_id}/scorers", season_id=season_id)
    return view.render(
        "scorers.html", place=place_of(view, season_id), scorers=found.items, turn=turn(at, cursor, found.next)
    )


@pages.get("/seasons/{season_id}/edit")
def edit_season(view: FootballView, season_id: ItemId) -> Response:
    place = place_of(view, season_id)
    only(place.admin)
    view.form.asking(EditedSeason).starting_from(place.season or {})
    return view.render("edit_season.html", place=place)


@pages.post("/seasons/{season_id}/edit")
def change_season(view: FootballView, season_id: ItemId, edited: EditedSeason) -> Response:
    view.service.change_season(season_id, SeasonChange.from_fields(edited), edited.seen)
    return view.redirect("/seasons/{season_id}", season_id=season_id, notice="Season saved")


@pages.post("/seasons/{season_id}/delete", again=edit_season)
def delete_season(view: FootballView, season_id: ItemId, which: OfVersion) -> Response:
    league_id = view.service.season(season_id).league_id
    view.service.delete_season(season_id, which.seen)
    return view.redirect("/leagues/{league_id}", league_id=league_id, notice="Season deleted")


# Sessions


@pages.post("/seasons/{season_id}/sessions", again=season)
def create_session(view: FootballView, season_id: ItemId, new: NewSession) -> Response:
    made = view.service.create_session(season_id, new)
    return view.redirect("/sessions/{session_id}", session_id=made.session_id, notice="Session added")


@pages.get("/sessions/{session_id}")
def session(view: FootballView, session_id: ItemId, cursor: Cursor = None) -> Response:
    found = view.service.session(session_id)
    results = view.service.results(session_id, Paging(limit=LISTED, cursor=cursor))
    place = place_of(view, found.season_id)
    at = view.site.url("/sessions/{session_id}", session_id=session_id)
    view.form.asking(Scheduled).starting_from({"game_start_ts": f"{found.session_date}T18:00"})
    return view.render(
        "session.html",
        place=place,
        session=found,
        results=results.items,
        teams={team.team_id: team for team in all_of(lambda page: view.service.teams(found.season_id, page))},
        turn=turn(at, cursor, results.next),
    )


@pages.post("/sessions/{session_id}/games", again=session)
def create_game(view: FootballView, session_id: ItemId, new: Scheduled) -> Response:
    made = view.service.create_game(session_id, NewGame.from_fields(new, game_start_ts=new.start))
    return view.redirect("/games/{game_id}", game_id=made.game_id, notice="Game scheduled")


@pages.post("/sessions/{session_id}/delete", again=session)
def delete_session(view: FootballView, session_id: ItemId, which: OfVersion) -> Response:
    season_id = view.service.session(session_id).season_id
    view.service.delete_session(session_id, which.seen)
    return view.redirect("/seasons/{season_id}", season_id=season_id, notice="Session deleted")
