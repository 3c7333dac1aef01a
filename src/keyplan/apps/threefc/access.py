"""Who may do what in a league: the caller's grant, found through the lookup mirrors or the item itself.

Each way is two reads at most: what says which league something is of, and the caller's grant there. What can not be
resolved and what is somebody else's look the same: they are not there.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from keyplan.apps.threefc.design import GOALS, ThreeFC
from keyplan.apps.threefc.entities import (
    Game,
    Goal,
    PlayerProfile,
    Role,
    Season,
    SeasonLookup,
    SessionGame,
    SessionLookup,
)
from keyplan.apps.threefc.models import GameOut
from keyplan.data import ConditionFailed, check, create
from keyplan.design import Entity, Ref, batch_get, ref
from keyplan.web import ANYONE, SIGNED_IN, In, InConflict, Missing, Service, Unprocessable

E = TypeVar("E", bound=Entity)
P = TypeVar("P", bound=Entity)

READERS: tuple[Role, ...] = ("viewer", "scorekeeper", "admin")
SCOREKEEPERS: tuple[Role, ...] = ("scorekeeper", "admin")
ADMINS: tuple[Role, ...] = ("admin",)

READ = "you have a grant in the league"
SCORE = "you are a scorekeeper or admin of the league"
ADMIN = "you are an admin of the league"


class Access(Service[ThreeFC]):
    """Base of 3FC's service: every method but those about one's own leagues begins here."""

    all_roles = (ANYONE, SIGNED_IN)

    def _in_league(self, league_id: str, roles: Sequence[Role]) -> Role:
        """The caller's role in a league, which has to be one of these."""
        grant = self.store.run(self.design.grant(league_id, self.me.sub))
        if grant is None:
            raise Missing
        self.permit(grant.role in roles)
        return grant.role

    def _in_season(self, season_id: str, roles: Sequence[Role]) -> SeasonLookup:
        """Where a season is, for who has one of these roles in its league."""
        scope = self.store.run(self.design.season_scope(season_id))
        if scope is None:
            raise Missing
        self._in_league(scope.league_id, roles)
        return scope

    def _in_session(self, session_id: str, roles: Sequence[Role]) -> SessionLookup:
        """Where a session is."""
        scope = self.store.run(self.design.session_scope(session_id))
        if scope is None:
            raise Missing
        self._in_league(scope.league_id, roles)
        return scope

    def _in_game(self, game_id: str, roles: Sequence[Role]) -> tuple[Game, Role]:
        """A game, and the caller's role in its league."""
        game = self.store.run(self.design.game(game_id))
        if game is None:
            raise Missing
        return game, self._in_league(game.league_id, roles)

    def _of_player(self, player_id: str, roles: Sequence[Role]) -> tuple[PlayerProfile, Role]:
        """A player, and the caller's role in the player's league."""
        profile = self.store.run(self.design.profile(player_id))
        if profile is None:
            raise Missing
        return profile, self._in_league(profile.league_id, roles)

    def _create_in(self, parent: Ref[P], room: Callable[[P], object], new: E, *, full: InConflict) -> E:
        """Create something where its parent has room; decided by the write, so that nobody slips in beside it."""
        try:
            self.store.transact(create(new), check(parent, room))
        except ConditionFailed as error:
            raise full from error
        return new

    def _still_there(self, found: Sequence[SessionGame]) -> list[Game]:
        """The games of these index items, without those whose deletion is under way: their index item goes last."""
        games = self.store.run(batch_get(Game, [each.game_id for each in found])) if found else []
        return [game for game in games if game is not None]

    def _goals(self, game: Game | GameOut) -> list[Goal]:
        """All goals of a game, as the timeline has them."""
        return list(self.store.run(self.design.timeline(game.game_id).limit(GOALS)).items) if game.goal_count else []


def season_of(scope: SeasonLookup | SessionLookup) -> Ref[Season]:
    """The season itself, to be written or checked."""
    return ref(Season, league_id=scope.league_id, season_id=scope.season_id)


def take(entity: Entity, change: In, *, may_be_none: Sequence[str] = ()) -> None:
    """Change the fields of an entity that a change names."""
    for name in change.model_fields_set:
        value = getattr(change, name)
        if value is None and name not in may_be_none:
            raise Unprocessable("required", "This can not be left empty.", pointer=f"/{name}")
        setattr(entity, name, value)
