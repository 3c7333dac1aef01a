"""Who somebody is in hacktracker: an account, and a role in each team. All rules begin here."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property

from pydantic import ValidationError

from keyplan.apps.hacktracker.design import HackTrackerDesign
from keyplan.apps.hacktracker.entities import Game, Membership, Player, Team, User
from keyplan.apps.hacktracker.fields import Role
from keyplan.apps.hacktracker.models import AccountChange
from keyplan.data import AlreadyExists, Check, ConditionFailed, ItemChanged, NotFound, ParentMissing, check, create
from keyplan.design import Refusal, absent, get, ref
from keyplan.web import (
    ANYONE,
    SIGNED_IN,
    Caller,
    Missing,
    Permission,
    Running,
    Service,
    Unauthorized,
    Unprocessable,
    Versions,
)

MEMBERS: tuple[Role, ...] = ("owner", "manager", "player", "scorekeeper")
SCORERS: tuple[Role, ...] = ("owner", "manager", "scorekeeper")
MANAGERS: tuple[Role, ...] = ("owner", "manager")
OWNER: tuple[Role, ...] = ("owner",)

A_MEMBER = "you are a member of the team"
A_SCORER = "you are the owner, a manager or a scorekeeper of the team"
A_MANAGER = "you are the owner or a manager of the team"
THE_OWNER = "you are the owner of the team"

RACES = (ItemChanged, AlreadyExists, ConditionFailed, NotFound, ParentMissing)
"""What a write fails with if something was changed since it was read: the method runs again, with all its rules."""

_CLAIMS = {"email": "email", "first_name": "given_name", "last_name": "family_name", "phone_number": "phone_number"}
"""What a new account takes from a token, by the fields of an account."""


@dataclass(frozen=True)
class Seat:
    """The caller's place in a team."""

    team: Team
    membership: Membership

    @property
    def role(self) -> Role:
        return self.membership.role

    @property
    def manages(self) -> bool:
        """Whether the caller manages the roster and the members."""
        return self.role in MANAGERS


def sign_up(running: Running[HackTrackerDesign], caller: Caller) -> User:
    """The caller's account. It is created by their first call, or by a trigger of the sign-up; twice does no harm."""
    found = running.store.run(running.design.user(caller.sub))
    if found is not None:
        return found
    user = User(user_id=caller.sub, cognito_sub=caller.sub)
    for field, claim in _CLAIMS.items():
        with suppress(ValidationError):  # what an account can't have is left out
            AccountChange.model_validate({field: caller.claims.get(claim)}).apply_to(user)
    try:
        return running.store.run(create(user))
    except AlreadyExists:
        found = running.store.run(get(User, user_id=caller.sub, consistent=True))
        assert found is not None, "accounts are never removed"
        return found


def display_name(user: User | None) -> str:
    """What somebody is called; never their id or address."""
    names = (user.first_name, user.last_name) if user is not None else ()
    return " ".join(name for name in names if name) or ("Former user" if user is None or user.deleted_at else "Unnamed")


def not_deleted(team_id: str) -> Check[Team]:
    """As part of a transaction: the team is not deleted."""
    return check(ref(Team, team_id=team_id), lambda team: absent(team.deleted_at))


def still_here(user_id: str, refusal: Refusal | None = None) -> Check[User]:
    """As part of a transaction: the account is not deleted."""
    return check(ref(User, user_id=user_id), lambda user: absent(user.deleted_at), refusal=refusal)


class Access(Service[HackTrackerDesign]):
    """What all rules need: the caller's account, and the caller's role in a team."""

    all_roles = (ANYONE, SIGNED_IN, "admin")

    @cached_property
    def user(self) -> User:
        """The caller's account."""
        user = sign_up(self.running, self.me)
        if user.deleted_at is not None:
            raise Unauthorized("bad-token", "This account was deleted.")
        return user

    def roles(self) -> frozenset[str]:
        return frozenset() if self.caller is None else self.caller.groups & {"admin"}

    @contextmanager
    def _entered(self, permission: Permission) -> Iterator[None]:
        """Everybody who is signed in has an account, whatever they ask for first, unless they deleted it."""
        if self.caller is not None:
            _ = self.user
        with super()._entered(permission):
            yield

    def _seat(
        self, team_id: str, roles: Sequence[Role] = MEMBERS, versions: Versions = None, *, deleted: bool = False
    ) -> Seat:
        """The team in a version that the caller has seen, and the caller's place in it, if the role is one of `roles`.

        For those who are not active members, the team does not exist. With `deleted`, it may be a deleted one.
        """
        mine: list[Membership] = []

        def allowed(team: Team) -> bool:
            membership = self.store.run(self.design.membership(self.me.sub, team_id))
            if membership is not None and membership.status == "active" and (deleted or team.deleted_at is None):
                mine.append(membership)
            return any(each.role in roles for each in mine)

        team = self.find(self.design.team(team_id), versions, allowed=allowed, hidden=lambda team: not mine)
        return Seat(team, mine[0])

    def _game(self, game_id: str, roles: Sequence[Role] = MEMBERS, versions: Versions = None) -> tuple[Game, Seat]:
        """The game in a version that the caller has seen, and the caller's place in its team."""
        seats: list[Seat] = []

        def allowed(game: Game) -> bool:
            with suppress(Missing):
                seats.append(self._seat(game.team_id, roles))
            return bool(seats)

        game = self.find(self.design.game(game_id), versions, allowed=allowed, hidden=True)
        return game, seats[0]

    def _player(self, team_id: str, player_id: str, versions: Versions = None) -> Player:
        return self.find(self.design.player(team_id, player_id), versions)


def refuse_personal(seat: Seat) -> None:
    """Refuse what can't be done in a personal team."""
    if seat.team.team_type == "PERSONAL":
        raise Unprocessable("personal-team", "A personal team has one member and one player: its owner.")
