"""Values for fields and parameters, from pools so small that they often collide."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from keyplan.apps.funkedupshift.design import FunkedUpShiftDesign
from keyplan.apps.funkedupshift.entities import Group, Site, SquashPlayer
from keyplan.apps.hacktracker.design import HackTrackerDesign
from keyplan.apps.hacktracker.entities import AtBat
from keyplan.apps.hacktracker.entities import Game as SoftballGame
from keyplan.apps.hacktracker.entities import Player as SoftballPlayer
from keyplan.apps.hacktracker.entities import Team as SoftballTeam
from keyplan.apps.hacktracker.entities import User as SoftballUser
from keyplan.apps.threefc.design import ThreeFC
from keyplan.apps.threefc.entities import Acl, Game, League, Season, Session, Team
from keyplan.apps.vcm.design import VcmDesign
from keyplan.apps.vcm.entities import Location, Media, Role
from keyplan.apps.vcm.fields import Schedule
from keyplan.apps.wavyblog.design import WavyBlog
from keyplan.apps.wavyblog.entities import Admins, Category, User
from keyplan.design import Design, Entity, Secret

Values: TypeAlias = st.SearchStrategy[Any]

NAMES = ("aaa", "bbb", "ccc")
"""Good as ids, slugs, usernames, names of groups and titles."""
FIVE = ("aaa", "bbb", "ccc", "ddd", "eee")
FUTURE = datetime(2090, 1, 1, tzinfo=UTC)
"""Far enough that nothing expires."""

names = st.sampled_from(NAMES)
links = st.sampled_from([None, "https://example.org/a"])
moments = st.sampled_from([FUTURE + timedelta(days=days) for days in (1, 2, 41)])
"""All of them later than the moments at which anything is written, so that nothing has expired by the store's clock."""
FIRST_DAY = FUTURE.date()
dates = st.sampled_from([FIRST_DAY + timedelta(days=days) for days in (0, 1, 2)])


def _secret() -> object:
    return Secret("hash")


_SIMPLE: dict[object, Values] = {
    str: names,
    bool: st.booleans(),
    float: st.sampled_from([0.25, 1.0]),
    Decimal: st.sampled_from([Decimal(1), Decimal("2.5")]),
    datetime: moments,
    date: dates,
    Secret[str]: st.builds(_secret),
}


def values_of(annotation: object, markers: tuple[object, ...] = ()) -> Values:
    """A few values of a type."""
    if annotation in _SIMPLE:
        return _SIMPLE[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return values_of(arguments[0], (*markers, *arguments[1:]))
    if annotation is int:
        return _numbers(markers)
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, UnionType):
        present = [values_of(each, markers) for each in arguments if each is not NoneType]
        return st.one_of(st.none(), *present) if NoneType in arguments else st.one_of(*present)
    if origin is dict:
        return st.sampled_from([{"type": "doc"}, {"type": "doc", "content": [{"text": "Hi", "size": 1.5}]}])
    if origin is list or (origin is not None and origin is not tuple):
        return st.lists(values_of(arguments[0]), max_size=3)
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=3).map(tuple)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = {name: _field(info) for name, info in annotation.model_fields.items()}
        return st.builds(annotation, **fields)
    raise TypeError(f"no values for {annotation!r}")


def _field(info: FieldInfo) -> Values:
    return values_of(info.annotation, tuple(info.metadata))


def _numbers(markers: tuple[object, ...]) -> Values:
    least = next((int(value) for value in (getattr(each, "ge", None) for each in _flat(markers)) if value), 0)
    most = next((int(value) for value in (getattr(each, "le", None) for each in _flat(markers)) if value), 7)
    return st.sampled_from(sorted({least, least + 1, most}))


def _flat(markers: tuple[object, ...]) -> list[object]:
    """Markers, and those that pydantic keeps inside a FieldInfo."""
    return [inner for each in markers for inner in (each.metadata if isinstance(each, FieldInfo) else [each])]


@dataclass(frozen=True)
class Play:
    """A design, with the values that make its random tests useful."""

    design: Callable[[], Design]
    start: tuple[tuple[Entity, ...], ...] = ()
    """What is there at first, a transaction each."""
    fixed: frozenset[type[Entity]] = frozenset()
    """Entities that are neither made nor deleted."""
    skipped: frozenset[str] = frozenset()
    """Fields that follow from others."""
    pools: Mapping[str, Values] = field(default_factory=dict)
    """Values of fields and parameters by their names."""

    def fields(self, entity: type[Entity]) -> dict[str, Values]:
        """Values for the fields that are given when an entity is created."""
        spec, found = entity.spec, {}
        for name, info in entity.declared_fields.items():
            kind = spec.fields[name].kind
            in_key = any(name in key.fields for key in spec.keys)
            if name in self.skipped or kind in ("count", "version", "updated") or (kind == "created" and not in_key):
                continue
            found[name] = self.pools[name] if name in self.pools else _field(info)
        return found

    def arguments(self, build: Callable[..., object]) -> Values:
        """Arguments of a pattern, by name."""
        hints = get_type_hints(build)
        hints.pop("return")
        values = {name: self.pools[name] if name in self.pools else values_of(kind) for name, kind in hints.items()}
        return st.fixed_dictionaries(values).filter(lambda given: None not in given.values())


def _squash_players() -> tuple[SquashPlayer, ...]:
    return tuple(SquashPlayer(id=name, name=name) for name in FIVE)


def _season(league_id: str) -> tuple[Entity, ...]:
    place = {"season_id": "aaa", "league_id": league_id}
    teams = [Team.model_validate({"team_id": each, "name": each, "colour": each, **place}) for each in FIVE[:4]]
    session = Session.model_validate({"session_id": "aaa", "session_date": FUTURE.date(), **place})
    held = {"session_id": "aaa", "game_start_ts": FUTURE, "status": "scheduled"}
    game = Game.model_validate({"game_id": "aaa", "team_ids": FIVE[:3], **held, **place})
    return (Season.model_validate({"name": "aaa", **place}), *teams, session, game)


def _training(location_id: str) -> Schedule:
    return Schedule(day=[1, 3], startTime="18:00", endTime="20:00", locationId=location_id)


_BATTER = {"team_id": "aaa", "team_name": "aaa", "player_id": "aaa", "result": "HR"}

five = st.sampled_from(FIVE)
PLAYERS = ("team_a_player1_id", "team_a_player2_id", "team_b_player1_id", "team_b_player2_id")

PLAYS = {
    "wavyblog": Play(
        WavyBlog,
        start=(
            (Admins(), User(username="aaa", email="a@x.org", password_hash=Secret("hash"), role="admin")),
            (Category(slug="aaa", name="aaa"),),
        ),
        fixed=frozenset({Admins}),
        pools={
            "email": st.sampled_from(["a@x.org", "A@x.org", "b@x.org", "c@x.org"]),
            "thumbnail_url": st.sampled_from([None, "https://x.org/a.png"]),
        },
    ),
    "threefc": Play(
        ThreeFC,
        start=(
            (League(league_id="aaa", name="a", slug="a"), Acl(league_id="aaa", user_id="aaa", role="admin")),
            *((each,) for each in _season("aaa")),
        ),
        pools={"team_ids": st.permutations(FIVE[:4]).map(lambda ids: tuple(ids[:3])), "team_id": five},
    ),
    "funkedupshift": Play(
        FunkedUpShiftDesign,
        start=((Site(id="aaa", url="https://aaa.example", title="t"), Group(name="aaa")), _squash_players()),
        skipped=frozenset({"search_text", "entity_type"}),
        pools={
            **dict.fromkeys(PLAYERS, five),
            "url": st.sampled_from([f"https://{name}.example" for name in NAMES]),
            "email": st.sampled_from([None, *(f"{name}@example.org" for name in NAMES)]),
            "tags": st.lists(st.sampled_from(["web", "c#", " C# "]), max_size=3),
            "tag": st.sampled_from(["web", "c#"]),
            "player_id": five,
            # A range from a later to an earlier day is the caller's error.
            "date_from": st.just(FIRST_DAY),
        },
    ),
    "hacktracker": Play(
        HackTrackerDesign,
        start=(
            (SoftballUser(user_id="aaa"), SoftballUser(user_id="bbb")),
            (
                SoftballTeam(team_id="aaa", name="aaa", owner_id="aaa"),
                SoftballPlayer(team_id="aaa", player_id="aaa", first_name="a", last_name="a"),
                SoftballGame(game_id="aaa", team_id="aaa"),
            ),
            (
                AtBat.model_validate(
                    {"game_id": "aaa", "at_bat_id": "aaa", "inning": 1, "outs": 0, "runs": 1, **_BATTER}
                ),
            ),
        ),
        pools={
            "player_number": st.sampled_from([None, 0, 7]),
            "email": st.sampled_from([None, "a@x.org", "b@x.org"]),
            "phone_number": st.sampled_from([None, "+1 555 0100"]),
            "positions": st.lists(st.sampled_from(["P", "C", "SS"]), unique=True),
        },
    ),
    "vcm": Play(
        VcmDesign,
        start=(
            (Media(id="aaa", filename="a", s3_key="a", s3_bucket="a", url="a"), Role(id="aaa", name="Trainer")),
            (Location(id="aaa", name="Halle", street="a", postal_code="1", city="a"),),
        ),
        pools={
            "schedules": st.lists(st.builds(_training, names), max_size=2),
            "website": links,
            "logo_url": links,
            "email": st.sampled_from([None, "aaa@example.org"]),
            "phone": st.sampled_from([None, "0621 1"]),
        },
    ),
}
