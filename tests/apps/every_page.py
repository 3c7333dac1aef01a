"""Every page of every system, filled with its demo data, as several people see it.

    with toured(TOUR, folder) as tour:
        for shown in tour.pages: ...

A tour follows the links of each page, to one address for each page route, and tries the addresses that one person found
as everybody else. `more` are addresses that no page links to. A page route that a tour doesn't come to fails the tests.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from starlette.routing import compile_path

from keyplan.apps.funkedupshift.api import SYSTEM as FUNKEDUPSHIFT
from keyplan.apps.hacktracker.api import SYSTEM as HACKTRACKER
from keyplan.apps.hacktracker.demo import HERONS, PLAYING
from keyplan.apps.threefc.api import SYSTEM as THREEFC
from keyplan.apps.vcm.api import SYSTEM as VCM
from keyplan.apps.wavyblog.api import SYSTEM as WAVYBLOG
from keyplan.apps.wavyblog.service.accounts import caller_of
from keyplan.web import Caller, Running, System
from keyplan.web.identity.sessions import SESSION, Sessions
from tests.web.site import Site, settings_of, site

NOBODY = "nobody"
_LINK = re.compile(r'<a\s[^>]*?href="([^"]*)"')
_TAG = re.compile(r"<[a-z][^>]*>")
_CONTENT = re.compile(r'\s(?!class=|type=|style=)([\w-]+)="[^"]*"')
_MAIN = re.compile(r"<main.*?</main>", re.DOTALL)


@dataclass(frozen=True)
class Tour:
    """A system, who looks at it (those who may do most first), and where no link leads."""

    system: System[Any]
    people: Callable[[Running[Any]], Mapping[str, Caller]]
    more: Callable[[Site], Sequence[str]] = lambda served: ()
    parts: frozenset[str] = frozenset()
    """The routes that answer with a part of a page, for scripts."""


@dataclass(frozen=True)
class Shown:
    """A page as somebody got it."""

    who: str
    route: str
    address: str
    status: int
    html: str

    @property
    def shape(self) -> frozenset[str]:
        """The kinds of elements that the page is made of, whatever is in them."""
        found = _MAIN.search(self.html)
        return frozenset(_CONTENT.sub(r" \1", tag) for tag in _TAG.findall(found[0] if found else self.html))


@dataclass
class Toured:
    """A system that is served with demo data, and its pages."""

    tour: Tour
    served: Site
    proofs: Mapping[str, str]
    """The session of each person; nobody has none."""
    more: Sequence[str]
    _found: dict[str, str] = field(default_factory=dict)

    @property
    def prefix(self) -> str:
        return f"/{self.tour.system.name}"

    @property
    def routes(self) -> list[str]:
        """The paths of all pages that the system declares."""
        assert self.tour.system.pages is not None
        return [each.path for each in self.tour.system.pages.routes if each.verb == "GET"]

    @cached_property
    def pages(self) -> list[Shown]:
        """What everybody got at every address."""
        return [shown for who in (*self.proofs, NOBODY) for shown in self._as(who)]

    def _as(self, who: str) -> Iterator[Shown]:
        cookies = {SESSION: self.proofs[who]} if who in self.proofs else {}
        with httpx.Client(base_url=self.served.url, cookies=cookies, follow_redirects=True, timeout=30) as client:
            waiting, known = [f"{self.prefix}/", *self.more], {"/"}
            while waiting:
                shown = self._got(client, who, waiting.pop(0))
                yield shown
                for address in _LINK.findall(shown.html):
                    route = self.route_of(unescape(address))
                    if route is not None and route not in known:
                        known.add(route)
                        waiting.append(self._found.setdefault(route, unescape(address)))
                if not waiting:
                    waiting = [address for route, address in self._found.items() if route not in known]
                    known |= self._found.keys()

    def _got(self, client: httpx.Client, who: str, address: str) -> Shown:
        answer = client.get(address)
        html = answer.text if answer.headers["Content-Type"].startswith("text/html") else ""
        came_to = answer.url.path  # somebody who has to sign in first comes to another page
        return Shown(who, self.route_of(came_to) or came_to, address, answer.status_code, html)

    def route_of(self, address: str) -> str | None:
        """The path of the page route with this address; None for an address of something else."""
        path = urlsplit(address).path
        if not address.startswith(f"{self.prefix}/"):
            return None
        return next((each for each in self.routes if _pattern(each).match(path.removeprefix(self.prefix))), None)


def _pattern(route: str) -> re.Pattern[str]:
    return compile_path(route)[0]


@contextmanager
def toured(tour: Tour, folder: Path) -> Iterator[Toured]:
    """The system, served with its demo data."""
    settings = settings_of(dev=True, path=folder / "tour.db", rate_identity=0, rate_address=0, request_seconds=60)
    with site(tour.system, settings) as served:
        assert tour.system.demo is not None
        tour.system.demo(served.running, lambda done, of: None)
        sessions = Sessions(served.running.store)
        proofs = {who: sessions.open(each) for who, each in tour.people(served.running).items()}
        yield Toured(tour, served, proofs, tour.more(served))


def _of_the_demo(*names: str) -> Callable[[Running[Any]], Mapping[str, Caller]]:
    """The people that developers can sign in as."""

    def people(running: Running[Any]) -> Mapping[str, Caller]:
        known = {each.sub: each.caller() for each in running.system.pages.people}  # type: ignore[union-attr]  # it has pages
        return {name: known[name] for name in names}

    return people


def _bloggers(running: Running[Any]) -> Mapping[str, Caller]:
    users = running.store.run(running.design.users().limit(100)).items
    return {role: caller_of(next(user for user in users if user.role == role)) for role in ("admin", "user")}


# Where no link leads


def _a_comment(served: Site) -> Sequence[str]:
    """A comment of Ada's, which only she may edit."""
    ada = served.as_("ada")
    site_id = ada.get("/sites").json()["items"][0]["site_id"]
    comment = ada.post(f"/sites/{site_id}/comments", json={"body": "Worth a visit."}).json()
    return [f"/funkedupshift/sites/{site_id}/comments/{comment['comment_id']}/edit"]


def _an_invitation(served: Site) -> Sequence[str]:
    """An invitation to the Herons, and games that are being played and that are not."""
    secret = served.as_("casey").post(f"/teams/{HERONS}/invitations", json={"role": "player"}).json()["secret"]
    games = [f"/hacktracker/games/{PLAYING}", f"/hacktracker/games/{PLAYING}/score", "/hacktracker/games/demo-game-000"]
    return [f"/hacktracker/join/{secret}", f"/hacktracker/games/{PLAYING}/live", *games]


def _games(served: Site) -> Sequence[str]:
    """A live game and one that is not yet played."""
    live = "/threefc/games/demo-game-027-02"
    return [live, f"{live}/live", "/threefc/games/demo-game-027-00", "/threefc/players/demo-player-000"]


TOURS = (
    Tour(FUNKEDUPSHIFT, _of_the_demo("sam", "ada"), _a_comment),
    Tour(HACKTRACKER, _of_the_demo("casey", "demo-005", "admin"), _an_invitation, frozenset({"/games/{game_id}/live"})),
    Tour(THREEFC, _of_the_demo("olga", "vera"), _games, frozenset({"/games/{game_id}/live"})),
    Tour(VCM, _of_the_demo("anja", "gast")),
    Tour(WAVYBLOG, _bloggers),
)
"""All of them. A new system has to be listed here; a test fails without it."""
