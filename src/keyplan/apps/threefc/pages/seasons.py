"""A season: its table and scorers, its sessions and their games."""

from starlette.responses import Response

from keyplan.apps.threefc.fields import ItemId
from keyplan.apps.threefc.models import NewSession
from keyplan.apps.threefc.pages.shared import OF_SEASON, FootballView, admins, pages, place_of
from keyplan.apps.threefc.service import Football
from keyplan.web import Listed, Paging, all_of, form_of

_AT_THE_TOP = 5


_SEASON, _SESSION = "/seasons/{season_id}", "/sessions/{session_id}"


@pages.get(_SEASON)
def season(view: FootballView, season_id: ItemId) -> Response:
    sessions = view.page(lambda page: view.service.sessions(season_id, page), "Sorted by date")
    view.form.asking(NewSession)
    return view.render(
        "season.html",
        place=place_of(view, season_id),
        table=view.service.season_table(season_id),
        colours={team.team_id: team.colour for team in all_of(lambda page: view.service.teams(season_id, page))},
        scorers=view.service.scorers(season_id, Paging(limit=_AT_THE_TOP)).items,
        next=view.service.next_session(season_id),
        sessions=sessions.items,
        turn=sessions.turn,
    )


scorers = Listed(Football.scorers, "Sorted by goals, assists and name")
pages.show(f"{_SEASON}/scorers", "scorers.html", scorers=scorers, **OF_SEASON)
edit_season = pages.show(
    f"{_SEASON}/edit",
    "edit_season.html",
    asks=Football.change_season,
    starts_from="season",
    requires=admins,
    **OF_SEASON,
)
pages.form(f"{_SEASON}/edit", Football.change_season, to=_SEASON, notice="Season saved")
pages.delete(
    f"{_SEASON}/delete",
    Football.delete_season,
    "season",
    "This also deletes its teams. A season that has sessions can't be deleted.",
    one=Football.season,
    to="/leagues/{league_id}",
    again=edit_season,
)


# Sessions

pages.form(f"{_SEASON}/sessions", Football.create_session, to=_SESSION, notice="Session added", again=season)


@pages.get(_SESSION)
def session(view: FootballView, session_id: ItemId) -> Response:
    found = view.service.session(session_id)
    results = view.page(lambda page: view.service.results(session_id, page), "Sorted by start")
    view.form.asking(form_of(Football.create_game)).starting_from({"game_start_ts": f"{found.session_date}T18:00"})
    return view.render(
        "session.html",
        place=place_of(view, found.season_id),
        session=found,
        results=results.items,
        teams={team.team_id: team for team in all_of(lambda page: view.service.teams(found.season_id, page))},
        turn=results.turn,
    )


pages.form(f"{_SESSION}/games", Football.create_game, to="/games/{game_id}", notice="Game scheduled", again=session)
pages.delete(
    f"{_SESSION}/delete",
    Football.delete_session,
    "session",
    "A session that has games can't be deleted.",
    one=Football.session,
    name="of {session_date}",
    to=_SEASON,
    again=session,
)
