"""Who somebody is in hacktracker: an account, and a role in each team. All rules begin here."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from keyplan.apps.hacktracker.design import HackTrackerDesign
from keyplan.apps.hacktracker.entities import Game, Membership, Player, Role, Team, User
from keyplan.data import AlreadyExists, Check, StaleVersion, check, create
from keyplan.design import absent, get, ref
from keyplan.web import (
    ANYONE,
    SIGNED_IN,
    Caller,
    InConflict,
    Missing,
    Permission,
    Running,
    Service,
    Unauthorized,
    Unprocessable,
)

MEMBERS: tuple[Role, ...] = ("owner", "manager", "player", "scorekeeper")
SCORERS: tuple[Role, ...] = ("owner", "manager", "scorekeeper")
MANAGERS: tuple[Role, ...] = ("owner", "manager")
OWNER: tuple[Role, ...] = ("owner",)

A_MEMBER = "you are a member of the team"
A_SCORER = "you are the owner, a manager or a scorekeeper of the team"
A_MANAGER = "you are the owner or a manager of the team"
THE_OWNER = "you are the owner of the team"

T = TypeVar("T")


@dataclass(frozen=True)
class Seat:
    """The caller in a team."""

    team: Team
    membership: Membership

    @property
    def role(self) -> Role:
        return self.membership.role

    @property
    def manages(self) -> bool:
        """Whether the caller looks after roster and members."""
        return self.role in MANAGERS


class LookAgain(InConflict):
    """What was read is no longer so: it is to be read and tried again."""

    def __init__(self) -> None:
        super().__init__("changed-meanwhile", "Others are changing the same just now. Try again.")


def sign_up(running: Running[HackTrackerDesign], caller: Caller) -> User:
    """The caller's account; made when they are first seen, by a call or by a trigger of the sign-up. Again is fine."""
    found = running.store.run(running.design.user(caller.sub))
    if found is not None:
        return found
    claims = caller.claims
    user = User(
        user_id=caller.sub,
        cognito_sub=caller.sub,
        email=_said(claims, "email", 254),
        first_name=_said(claims, "given_name", 30),
        last_name=_said(claims, "family_name", 30),
        phone_number=_said(claims, "phone_number", 30),
    )
    try:
        return running.store.run(create(user))
    except AlreadyExists:
        found = running.store.run(get(User, user_id=caller.sub, consistent=True))
        assert found is not None, "accounts are never removed"
        return found


def _said(claims: Mapping[str, object], name: str, longest: int) -> str | None:
    """What a token says of somebody, where it says it and it is nothing odd."""
    value = claims.get(name)
    return value.strip() if isinstance(value, str) and 0 < len(value.strip()) <= longest else None


def display_name(user: User | None) -> str:
    """How somebody is called; never by their id or address."""
    names = (user.first_name, user.last_name) if user is not None else ()
    return " ".join(name for name in names if name) or ("Former user" if user is None or user.deleted_at else "Unnamed")


def not_deleted(team_id: str) -> Check[Team]:
    """As part of a transaction: the team is there for everybody."""
    return check(ref(Team, team_id=team_id), lambda team: absent(team.deleted_at))


def still_here(user_id: str) -> Check[User]:
    """As part of a transaction: the account is not deleted."""
    return check(ref(User, user_id=user_id), lambda user: absent(user.deleted_at))


class Access(Service[HackTrackerDesign]):
    """What all rules need: the caller's account, the caller's role in a team, and lists that leave something out."""

    all_roles = (ANYONE, SIGNED_IN, "admin")

    @cached_property
    def user(self) -> User:
        """The caller's account."""
        user = sign_up(self.running, self.me)
        if user.deleted_at is not None:
            raise Unauthorized("bad-token", "This account is gone.")
        return user

    def roles(self) -> frozenset[str]:
        return frozenset() if self.caller is None else self.caller.groups & {"admin"}

    @contextmanager
    def _entered(self, permission: Permission) -> Iterator[None]:
        """Everybody who is signed in has an account, whatever they ask for first; who has deleted theirs is nobody."""
        if self.caller is not None:
            _ = self.user
        with super()._entered(permission):
            yield

    def _seat(self, team_id: str, roles: Sequence[Role] = MEMBERS) -> Seat:
        """The team and the caller's place in it; to those who have none the team is not there."""
        team = self.store.run(self.design.team(team_id))
        membership = self.store.run(self.design.membership(self.me.sub, team_id))
        if team is None or team.deleted_at is not None or membership is None or membership.status != "active":
            raise Missing(detail="There is no such team.")
        self.permit(membership.role in roles)
        return Seat(team, membership)

    def _game(self, game_id: str, roles: Sequence[Role] = MEMBERS) -> tuple[Game, Seat]:
        game = self.store.run(self.design.game(game_id))
        if game is None:
            raise Missing(detail="There is no such game.")
        try:
            return game, self._seat(game.team_id, roles)
        except Missing as error:
            raise Missing(detail="There is no such game.") from error

    def _player(self, team_id: str, player_id: str) -> Player:
        player = self.store.run(self.design.player(team_id, player_id))
        if player is None:
            raise Missing(detail="There is no such player.")
        return player

    def _persist(self, act: Callable[[], T]) -> T:
        """Do it, and again where somebody else changed the same at the same moment."""
        return self.persist(act, StaleVersion, LookAgain)


def managed(seat: Seat) -> None:
    """Refuse what a personal team has no use for."""
    if seat.team.team_type == "PERSONAL":
        raise Unprocessable("personal-team", "A personal team has one member and one player, its owner.")


def needed(change: Mapping[str, object], *names: str) -> None:
    """Refuse to take away what has to be there."""
    for name in names:
        if change.get(name, ...) is None:
            raise Unprocessable("required", "It has to be there.", pointer=f"/{name}")
