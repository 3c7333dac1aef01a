"""Racers that compete for the same values in the five designs, in threads and in processes on one file."""

import random
from collections import Counter
from datetime import UTC, datetime
from typing import TypeVar

from keyplan.apps.funkedupshift.design import FunkedUpShiftDesign
from keyplan.apps.funkedupshift.entities import Rating, Site
from keyplan.apps.hacktracker.design import HackTrackerDesign
from keyplan.apps.hacktracker.entities import Player
from keyplan.apps.hacktracker.entities import Team as SoftballTeam
from keyplan.apps.hacktracker.entities import User as SoftballUser
from keyplan.apps.threefc.design import ThreeFC
from keyplan.apps.threefc.entities import Acl, League
from keyplan.apps.vcm.design import VcmDesign
from keyplan.apps.vcm.entities import Media, News
from keyplan.apps.wavyblog.design import WavyBlog
from keyplan.apps.wavyblog.entities import Admins, Category
from keyplan.data import Conflict, NotFound, Refused, Store, create, delete, move, update
from keyplan.design import Design
from keyplan.engine import Engine
from tests.apps.wavyblog_data import post, user
from tests.data.fighters import ready

D = TypeVar("D", bound=Design)

VALUES = 8
"""How many there are to be had of each."""
CONTESTS = ("email", "slug", "rename", "news", "number", "admin", "rating")
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


class Arena:
    """The five designs on one database."""

    def __init__(self, engine: Engine) -> None:
        self.blog = Store(WavyBlog(), engine)
        self.club = Store(VcmDesign(), engine)
        self.softball = Store(HackTrackerDesign(), engine)
        self.football = Store(ThreeFC(), engine)
        self.sites = Store(FunkedUpShiftDesign(), engine)

    def prepare(self, racers: list[str]) -> None:
        """The items that exist before the race."""
        for store in (self.blog, self.club, self.softball, self.football, self.sites):
            store.create_tables()
        self.blog.transact(create(Admins()), create(user("john_doe")), create(Category(slug="technology", name="T")))
        for name in racers:
            for number in range(VALUES):
                self.blog.run(create(post(f"own-{name}-{number}", content="")))
        self.club.run(create(Media(id="photo", filename="f", s3_key="k", s3_bucket="b", url="u")))
        team = SoftballTeam(team_id="team", name="Team", owner_id="owner")
        self.softball.transact(create(SoftballUser(user_id="owner")), create(team))
        admins = [Acl(league_id="north", user_id=f"admin-{number}", role="admin") for number in range(VALUES)]
        self.football.transact(create(League(league_id="north", name="N", slug="n")), *map(create, admins))
        self.sites.run(create(Site(id="site", url="https://site.example", title="t")))

    def turn(self, name: str, contest: str, number: int) -> None:
        """One racer tries to get one thing, and is refused if another was first."""
        match contest:
            case "email":
                # Racers write the same address differently.
                address = f"mail{number}@example.com"
                self.blog.run(create(user(f"{name}_{number}", email=address.upper() if len(name) % 2 else address)))
            case "slug":
                self.blog.run(create(post(f"slug-{number}", content=name)))
            case "rename":
                mine = self.blog.run(self.blog.design.post(f"own-{name}-{number}"))
                assert mine is not None
                self.blog.run(move(mine, slug=f"renamed-{number}"))
            case "news":
                text = {"title": name, "content": {}, "published_date": MOMENT, "image_ids": ["photo"]}
                self.club.run(create(News.model_validate({"slug": f"slug-{number}", **text})))
            case "number":
                names = {"first_name": "Jo", "last_name": "Doe", "team_id": "team"}
                self.softball.run(create(Player.model_validate({"player_number": number, **names})))
            case "admin":
                grant = self.football.run(self.football.design.grant("north", f"admin-{number}"))
                if grant is None:
                    raise NotFound("Acl", "primary", {})
                self.football.run(delete(grant))
            case "rating":
                self._rate(f"{name}-{number}", number)

    def _rate(self, user_id: str, number: int) -> None:
        """Each racer has their own rating, and all share the counters. Every other rating is removed again."""
        rating = _insist(self.sites, Rating(user_id=user_id, site_id="site", stars=1 + number % 5))
        rating.stars = 5
        while True:
            try:
                self.sites.run(update(rating))
                if number % 2:
                    self.sites.run(delete(rating))
                return
            except Conflict:
                continue  # all retries failed, and nothing was written


def _insist(store: Store[D], rating: Rating) -> Rating:
    while True:
        try:
            return store.run(create(rating))
        except Conflict:
            continue


def race(path: str, name: str) -> Counter[str]:
    """Run a racer in its own process. Returns what it won."""
    with Engine(path) as engine:
        return race_in(Arena(engine), path, name)


def race_in(arena: Arena, path: str, name: str) -> Counter[str]:
    """Run a racer. Returns what it won."""
    won: Counter[str] = Counter()
    turns = [(contest, number) for contest in CONTESTS for number in range(VALUES)]
    random.Random(name).shuffle(turns)
    ready(path, name)
    for contest, number in turns:
        while True:
            try:
                arena.turn(name, contest, number)
                won[f"{contest} {number}"] += 1
            except Refused:
                pass
            except Conflict:
                continue
            break
    return won
