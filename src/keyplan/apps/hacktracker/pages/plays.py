"""A game play by play, and correcting a play."""

from starlette.responses import Response

from keyplan.apps.hacktracker.fields import ItemId
from keyplan.apps.hacktracker.models import AtBatChange, AtBatOut
from keyplan.apps.hacktracker.pages.scoring import PLACES, RESULTS, Place, location_of
from keyplan.apps.hacktracker.pages.shared import HackView, pages, player_label, roster_of, show
from keyplan.apps.hacktracker.service import HackTracker
from keyplan.web import Confirm, OfVersion, isolated

_PLAYS, _PLAY = "/games/{game_id}/plays", "/games/{game_id}/plays/{at_bat_id}"
_AS_IT_WAS = "as it was"


class Corrected(AtBatChange, OfVersion):
    """A corrected at-bat, as it is typed."""

    place: Place = ""

    def change(self) -> AtBatChange:
        """The change, with the place where the ball went."""
        if self.place == _AS_IT_WAS:
            return self
        return self.model_copy(update={"hit_location": location_of(self.place)})


@pages.get(_PLAYS)
def plays(view: HackView, game_id: ItemId) -> Response:
    game = view.service.game(game_id)
    found = view.page(lambda page: view.service.at_bats(game_id, page), "In the order of play")
    return show(
        view,
        "plays.html",
        team=view.service.team(game.team_id),
        game=game,
        plays=found.items,
        names={each.player_id: f"{each.first_name} {each.last_name}" for each in roster_of(view.service, game.team_id)},
        turn=found.turn,
    )


@pages.get(_PLAY)
def play(view: HackView, game_id: ItemId, at_bat_id: ItemId) -> Response:
    game = view.service.game(game_id)
    found = view.service.at_bat(game_id, at_bat_id)
    players = {each.player_id: each for each in roster_of(view.service, game.team_id)}
    batters = dict.fromkeys([found.player_id, *game.lineup])
    marked = [(_AS_IT_WAS, "Keep the marked spot")] if found.hit_location else []
    view.form.asking(Corrected).starting_from({**found.model_dump(), "place": marked[0][0] if marked else ""})
    return show(
        view,
        "edit_play.html",
        team=view.service.team(game.team_id),
        game=game,
        play=found,
        results=[(value, f"{value} · {text}") for value, text in RESULTS],
        places=[*marked, ("", "–"), *((each, each) for each in PLACES)],
        batters=[(each, player_label(players[each])) for each in batters if each in players],
    )


@pages.post(_PLAY)
def correct(view: HackView, game_id: ItemId, at_bat_id: ItemId, corrected: Corrected) -> Response:
    view.service.change_at_bat(game_id, at_bat_id, corrected.change(), corrected.seen)
    return view.redirect("/games/{game_id}/score", game_id=game_id, notice="Play corrected")


def _question(view: HackView, play: AtBatOut) -> str:
    batter = view.service.player(view.service.game(play.game_id).team_id, play.player_id)
    name = isolated(f"{batter.first_name} {batter.last_name}")
    return f"Remove the play of {name} in inning {play.inning} ({dict(RESULTS)[play.result].lower()})?"


pages.form(
    f"{_PLAY}/remove",
    HackTracker.remove_at_bat,
    to="/games/{game_id}/score",
    notice="Play removed",
    again=play,
    confirm=Confirm(_question, "Remove play", "The play and its runs no longer count.", about=HackTracker.at_bat),
)
