"""Made-up data for funkedupshift: a catalog of sites, people with opinions, and a year of squash. Always the same."""

import random
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from itertools import product
from uuid import UUID

from keyplan.apps.funkedupshift.design import FunkedUpShiftDesign
from keyplan.apps.funkedupshift.entities import (
    Comment,
    Group,
    Membership,
    Profile,
    Rating,
    Site,
    SquashMatch,
    SquashPlayer,
)
from keyplan.apps.funkedupshift.fields import STARS, Permission
from keyplan.apps.funkedupshift.pages.shared import PEOPLE
from keyplan.apps.funkedupshift.service.access import SQUASH
from keyplan.data import Refused, create, update
from keyplan.design import Entity
from keyplan.web import Progress, Running

FIRST = "Ada Bram Cora Dan Eli Fay Gus Hana Ivo Jule Kim Lars"
LAST = "Abel Brandt Celik Dorn Engel Falk Grau Hahn Iben Jansen"
KINDS = (
    "Atlas of|Maps of|Letters on|A guide to|The museum of|Notes on|Photographs of|The archive of|Games about|Radio from"
)
SUBJECTS = (
    "bridges|moss|night trains|typefaces|tides|lighthouses|old computers|bicycles|bread|clouds|beetles|staircases|chess"
)
TAGS = "maps history science photography music c# javascript python design games nature food travel archives".split()
OPINIONS = (
    "I lost a whole evening here.",
    "The index alone is worth the visit.",
    "Slow on my phone, but the content is worth it.",
    "Found it years ago and still come back every month.",
    "Needs a search, otherwise splendid.",
    "The pictures are wonderful, the text is thin.",
    "Exactly what I was looking for.",
    "Not updated in a while, sadly.",
    "My students use it, and so do I.",
    "Read the page about how it was made first.",
)
PLACES = "north south east west harbour hill river market station park old-town mill island".split()
CLUBS = "walkers readers bakers gardeners chess choir runners cyclists".split()
OTHER_PEOPLE, MATCHES, TOURNAMENT_MATCHES = 108, 220, 104
"""Enough for every list to have more than two pages of 50."""
_BEGAN = datetime(2025, 9, 1, 8, 0, tzinfo=UTC)


class _Random:
    """Random choices that are the same each time, and ids in order of creation."""

    def __init__(self) -> None:
        self.random = random.Random(1848)
        self.now = _BEGAN

    def id(self) -> str:
        """A version 7 UUID, later than the one before."""
        self.advance()
        milliseconds = int(self.now.timestamp() * 1000)
        rest = self.random.getrandbits(62)
        return str(UUID(int=milliseconds << 80 | 0x7 << 76 | self.random.getrandbits(12) << 64 | 0b10 << 62 | rest))

    def advance(self) -> None:
        self.now += timedelta(minutes=self.random.randrange(3, 90))

    def opinion(self) -> str:
        return " ".join(self.random.sample(OPINIONS, self.random.randint(1, 3)))


def fill(running: Running[FunkedUpShiftDesign], progress: Progress) -> None:
    """Create items of all kinds. Items that exist already stay, so that an interrupted run can continue."""
    made = _Random()
    users = [f"user-{number:03}" for number in range(OTHER_PEOPLE)]
    names = [f"{first} {last}" for first, last in product(FIRST.split(), LAST.split())]
    sites = list(_sites(made))
    entities: list[Entity] = [*sites, *_profiles(made, users, names), *_groups(made), *_memberships(made, users)]
    entities += [*_ratings(made, sites, users), *_comments(made, sites, users, names), *_squash(made, names)]
    for done, entity in enumerate(entities):
        with suppress(Refused):
            running.store.run(create(entity))
        progress(done, len(entities) + 1)
    _add_avatar(running)
    progress(len(entities) + 1, len(entities) + 1)


def _sites(made: _Random) -> Iterator[Site]:
    for number, (kind, subject) in enumerate(product(KINDS.split("|"), SUBJECTS.split("|"))):
        name = f"{kind} {subject}".lower().replace(" ", "-")
        tags = ["web", *made.random.sample(TAGS, made.random.randint(1, 4))]
        about = f"{kind} {subject}, kept by a few people since {made.random.randrange(1996, 2024)}. {made.opinion()}"
        yield Site(
            id=made.id(),
            url=f"https://{name}.example/",
            title=f"{kind} {subject}",
            description=about,
            scraped_content=f"Welcome.\n{about}" if number % 3 == 0 else None,
            tags=tags,
            created_at=made.now,
            updated_at=made.now,
        )


def _profiles(made: _Random, users: list[str], names: list[str]) -> Iterator[Profile]:
    for person in PEOPLE:
        about = person.about[:100]
        yield Profile(user_id=person.sub, display_name=person.name, description=about, updated_at=made.now)
    for user, name in zip(users, names, strict=False):
        yield Profile(user_id=user, display_name=name, updated_at=made.now)


def _groups(made: _Random) -> Iterator[Group]:
    def group(name: str, about: str, *permissions: Permission) -> Group:
        return Group(
            name=name, description=about, permissions=list(permissions), created_at=made.now, updated_at=made.now
        )

    yield group(SQUASH, "The Thursday circle.", "squash:read")
    yield group("editors", "They keep the catalogue.", "sites:write")
    yield group("keepers", "They help managers with groups.", "groups:write")
    for club, place in product(CLUBS, PLACES):
        yield group(f"{club}-{place}", f"The {club} of the {place.replace('-', ' ')}.")


def _memberships(made: _Random, users: list[str]) -> Iterator[Membership]:
    for user in ("mia", "moe", *users):
        yield Membership(user_id=user, group_name=SQUASH, added_by="sam", added_at=made.now)
    for user in users:
        yield Membership(user_id=user, group_name="walkers-north", added_by="max", added_at=made.now)
    for club, place in product(CLUBS, PLACES):
        yield Membership(user_id="ada", group_name=f"{club}-{place}", added_by="max", added_at=made.now)


def _ratings(made: _Random, sites: list[Site], users: list[str]) -> Iterator[Rating]:
    def rating(user: str, site: Site) -> Rating:
        stars = made.random.choices(STARS, (2, 2, 3, 4, 5))[0]
        note = made.opinion() if made.random.random() < 0.3 else None
        made.advance()
        return Rating(user_id=user, site_id=site.id, stars=stars, note=note, updated_at=made.now)

    yield from (rating("ada", site) for site in sites)
    yield from (rating(user, sites[-1]) for user in users)
    for site in sites[:-1]:
        yield from (rating(user, site) for user in made.random.sample(users, made.random.randrange(3, 9)))


def _comments(made: _Random, sites: list[Site], users: list[str], names: list[str]) -> Iterator[Comment]:
    for number in range(160):
        who = number % len(users)
        # Most are about the newest site.
        site = sites[-1] if number < 110 else made.random.choice(sites)
        yield Comment(
            site_id=site.id,
            comment_id=made.id(),
            user_id=users[who],
            display_name=names[who],
            body=made.opinion(),
            created_at=made.now,
            updated_at=made.now,
        )


def _squash(made: _Random, names: list[str]) -> Iterator[SquashPlayer | SquashMatch]:
    players = []
    for number, name in enumerate(names[:OTHER_PEOPLE]):
        email = f"{name.lower().replace(' ', '.')}@example.org" if number % 2 else None
        user = f"user-{number:03}" if number % 3 == 0 else None
        player = SquashPlayer(
            id=made.id(), name=name, email=email, user_id=user, created_at=made.now, updated_at=made.now
        )
        players.append(player.id)
        yield player
    day = _BEGAN.date()
    for number in range(MATCHES):
        if number % 4 == 0:
            day += timedelta(days=made.random.choice((2, 5)))
        # A few people play most matches, and one of them plays every one.
        four = [players[0], *made.random.sample(players[1:24] if number % 3 else players[1:], 3)]
        yield _match(made, day, four)
    # Once a year there is a tournament for everybody.
    for _ in range(TOURNAMENT_MATCHES):
        yield _match(made, day + timedelta(days=3), made.random.sample(players, 4))


def _match(made: _Random, day: date, four: list[str]) -> SquashMatch:
    made.now = max(made.now, datetime.combine(day, time(20), UTC))
    made.random.shuffle(four)
    wins, lost = made.random.random() < 0.5, made.random.randrange(3)
    return SquashMatch(
        match_id=made.id(),
        date=day,
        team_a_player1_id=four[0],
        team_a_player2_id=four[1],
        team_b_player1_id=four[2],
        team_b_player2_id=four[3],
        winning_team="A" if wins else "B",
        team_a_games=3 if wins else lost,
        team_b_games=lost if wins else 3,
        created_at=made.now,
        updated_at=made.now,
    )


def _add_avatar(running: Running[FunkedUpShiftDesign]) -> None:
    file = running.media.put(_face(), "image/png", under=["profile", "avatars", "ada"], key="demo")
    profile = running.store.run(running.design.profile("ada"))
    if profile is not None and profile.avatar_key is None:
        profile.avatar_key = file.name
        with suppress(Refused):
            running.store.run(update(profile))


def _face() -> bytes:
    """A PNG image of a simple face."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    def color(x: int, y: int) -> bytes:
        if (x - 48) ** 2 + (y - 48) ** 2 > 40**2:
            return bytes((110, 60, 120))
        eye = min((x - 34) ** 2, (x - 62) ** 2) + (y - 38) ** 2 < 25
        mouth = 18**2 < (x - 48) ** 2 + (y - 50) ** 2 < 22**2 and y > 56
        return bytes((60, 40, 30)) if eye or mouth else bytes((250, 210, 120))

    rows = b"".join(b"\0" + b"".join(color(x, y) for x in range(96)) for y in range(96))
    header = struct.pack(">IIBBBBB", 96, 96, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
