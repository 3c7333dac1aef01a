"""Who may do what in a league: the caller's grant, found through the lookup mirrors or the item itself.

Each way takes two reads at most: one that says which league something belongs to, and one for the caller's grant
there. What doesn't exist and what belongs to a league without a grant get the same answer: not found.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from keyplan.apps.threefc.design import ThreeFC
from keyplan.apps.threefc.entities import (
    Game,
    Goal,
    League,
    PlayerProfile,
    Season,
    SeasonLookup,
    Session,
    SessionGame,
    SessionLookup,
)
from keyplan.apps.threefc.fields import GOALS, Role, SeasonScope
from keyplan.apps.threefc.models import GameOut
from keyplan.data import check, create
from keyplan.design import Entity, Op, Ref, Refusal, batch_get, ref
from keyplan.web import ANYONE, SIGNED_IN, Service, Versions

E = TypeVar("E", bound=Entity)
P = TypeVar("P", bound=Entity)
S = TypeVar("S", SeasonLookup, SessionLookup, Game, PlayerProfile)

READERS: tuple[Role, ...] = ("viewer", "scorekeeper", "admin")
SCOREKEEPERS: tuple[Role, ...] = ("scorekeeper", "admin")
ADMINS: tuple[Role, ...] = ("admin",)

READ = "you have a grant in the league"
SCORE = "you are a scorekeeper or admin of the league"
ADMIN = "you are an admin of the league"


class Access(Service[ThreeFC]):
    """Base of 3FC's service: every method starts here, except those about the caller's own leagues."""

    all_roles = (ANYONE, SIGNED_IN)

    def _in_league(self, league_id: str, roles: Sequence[Role], sought: type[Entity] = League) -> Role:
        """The caller's role in a league, which has to be one of `roles`. Without any, what was `sought` isn't found."""
        grant = self.design.grant(league_id, self.me.sub)
        return self.find(grant, allowed=lambda found: found.role in roles, sought=sought).role

    def _found(self, op: Op[S | None], roles: Sequence[Role], version: Versions = None) -> tuple[S, Role]:
        """What says which league it belongs to, and the caller's role there."""
        found = self.find(op)
        role = self._in_league(found.league_id, roles, type(found))
        self.current(found, version)
        return found, role

    def _league(self, league_id: str, roles: Sequence[Role], version: Versions = None) -> tuple[League, Role]:
        """A league, and the caller's role in it."""
        role = self._in_league(league_id, roles)
        return self.find(self.design.league(league_id), version), role

    def _in_season(self, season_id: str, roles: Sequence[Role]) -> SeasonLookup:
        """The league that a season belongs to, if the caller has one of these roles there."""
        return self._found(self.design.season_scope(season_id), roles)[0]

    def _season(self, season_id: str, roles: Sequence[Role], version: Versions = None) -> Season:
        """A season, if the caller has one of these roles in its league."""
        scope = self._in_season(season_id, roles)
        return self.find(self.design.season(scope.league_id, season_id), version)

    def _in_session(self, session_id: str, roles: Sequence[Role]) -> SessionLookup:
        """The season and league that a session belongs to."""
        return self._found(self.design.session_scope(session_id), roles)[0]

    def _session(self, session_id: str, roles: Sequence[Role], version: Versions = None) -> Session:
        """A session."""
        scope = self._in_session(session_id, roles)
        return self.find(self.design.session(scope.season_id, session_id), version)

    def _game(self, game_id: str, roles: Sequence[Role], version: Versions = None) -> tuple[Game, Role]:
        """A game, and the caller's role in its league."""
        return self._found(self.design.game(game_id), roles, version)

    def _profile(self, player_id: str, roles: Sequence[Role]) -> tuple[PlayerProfile, Role]:
        """A player, and the caller's role in the player's league."""
        return self._found(self.design.profile(player_id), roles)

    def _create_in(self, parent: Ref[P], has_room: Callable[[P], object], new: E, *, full: Refusal) -> E:
        """Create something if its parent has room. The write decides it, so that two at once can't both get in."""
        self.store.transact(create(new), check(parent, has_room, refusal=full))
        return new

    def _existing_games(self, found: Sequence[SessionGame]) -> list[Game]:
        """The games of these index items, without those that are being deleted: their index item goes last."""
        games = self.store.run(batch_get(Game, [each.game_id for each in found])) if found else []
        return [game for game in games if game is not None]

    def _goals(self, game: Game | GameOut) -> list[Goal]:
        """All goals of a game, in the order of the timeline."""
        return list(self.store.run(self.design.timeline(game.game_id).limit(GOALS)).items) if game.goal_count else []


def season_of(scope: SeasonScope) -> Ref[Season]:
    """The season itself, to be written or checked."""
    return ref(Season, league_id=scope.league_id, season_id=scope.season_id)
