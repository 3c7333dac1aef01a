"""3FC served over HTTP, with a league and people of every role in it."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import httpx

from keyplan.apps.threefc.api import SYSTEM
from keyplan.apps.threefc.design import ThreeFC
from keyplan.apps.threefc.entities import Acl, Game, League, Player, Roster, Season, Session, Team
from keyplan.data import Store, create
from keyplan.engine import Engine
from keyplan.web import Caller
from keyplan.web.identity.sessions import SESSION, Sessions
from keyplan.web.settings import Settings
from tests.web.site import Site, settings_of, site

TABLE = "3fc-dev-app"
ANY = {"If-Match": "*"}
TEAMS = ("red", "blue", "gold")
START = "2026-05-01T18:00:00Z"
GAME: dict[str, Any] = {"game_start_ts": START, "team_ids": TEAMS}
ROLES = {"admin": "olga", "scorekeeper": "sam", "viewer": "vera", "stranger": "eve"}
"""Who is what in the league `north`; eve has a league of her own, `south`."""


def settings(folder: Path, **given: Any) -> Settings:
    """Settings for a test, which ignore the environment."""
    fixed = {"dev": True, "rate_identity": 0, "rate_address": 0, "request_seconds": 60}
    return settings_of(path=folder / "threefc.db", **{**fixed, **given})


def ok(answer: httpx.Response) -> dict[str, Any]:
    """The JSON of a successful response."""
    assert answer.is_success, answer.text
    held: dict[str, Any] = answer.json() if answer.content else {}
    return held


@dataclass
class Reader:
    """A browser without a screen."""

    client: httpx.Client

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(path.removeprefix("/threefc"), headers=headers)

    def send(self, to: str, /, at: str = "/new-league", **values: object) -> httpx.Response:
        """Send a form, with the token of a page that has one."""
        found = re.search(r'name="csrf" value="([^"]*)"', self.get(at).text)
        assert found
        return self.client.post(to, data={"csrf": found[1], "form": "main", "confirmed": "yes", **values})

    def follow(self, answer: httpx.Response) -> httpx.Response:
        assert answer.status_code == 303, answer.text
        return self.get(answer.headers["location"])


@dataclass
class Club:
    """A served 3FC."""

    site: Site
    browsers: ExitStack

    def __post_init__(self) -> None:
        self.olga, self.sam, self.vera, self.eve = (self.site.as_(name) for name in ROLES.values())
        self.nobody = self.site.as_()

    def as_(self, role: str) -> httpx.Client:
        return self.site.as_(ROLES[role]) if role in ROLES else self.nobody

    def browser(self, role: str) -> "Reader":
        """A browser without JavaScript, signed in as this user."""
        client = self.browsers.enter_context(httpx.Client(base_url=f"{self.site.url}/threefc", timeout=30))
        if role in ROLES:
            proof = Sessions(self.site.running.store).open(Caller(ROLES[role]))
            client.cookies.set(SESSION, proof, domain="127.0.0.1", path="/threefc/")
        return Reader(client)

    def clean(self) -> bool:
        """Whether everything that is stored agrees with the design."""
        findings = self.site.running.store.verify()
        assert findings == []
        return True

    def reset(self) -> None:
        """Reset everything to the initial state."""
        store = self.site.running.store
        for item in self.changed():
            self.site.engine.delete_item(TableName=TABLE, Key={"pk": item["pk"], "sk": item["sk"]})
        fill(store)

    def game(self, game_id: str = "g1", status: str = "live", **more: Any) -> dict[str, Any]:
        """A game of the session `may-1`, with two players on each team."""
        store = self.site.running.store
        place = {"session_id": "may-1", "season_id": "spring", "league_id": "north"}
        store.run(create(Game.model_validate({"game_id": game_id, "status": status, **GAME, **place, **more})))
        for number in range(6):
            entry = Roster(game_id=game_id, player_id=f"p{number}", team_id=TEAMS[number % 3])
            store.run(create(entry))
        return ok(self.olga.get(f"/games/{game_id}"))

    def goal(self, conceding: str = "red", scoring: str | None = "blue", game_id: str = "g1", **more: Any) -> Any:
        """A goal; without a scoring team, an own goal."""
        body = {"third": 1, "minute": 5, "conceding_team_id": conceding, "own_goal": scoring is None}
        return ok(self.sam.post(f"/games/{game_id}/goals", json={**body, "scoring_team_id": scoring, **more}))

    def changed(self) -> list[dict[str, Any]]:
        """Everything that is stored in the design's own table."""
        found: list[dict[str, Any]] = list(self.site.engine.scan(TableName=TABLE)["Items"])
        return found


@contextmanager
def club(folder: Path, engine: Engine | None = None, **given: Any) -> Iterator[Club]:
    """The league `north` with a season, four teams, a session and players; and eve's league `south`."""
    with site(SYSTEM, settings(folder, **given), engine) as served, ExitStack() as browsers:
        made = Club(served, browsers)
        made.reset()
        yield made


def fill(store: Store[ThreeFC]) -> None:
    """The data that every test starts with, written directly through the store."""
    for league_id, admin, name in (("north", "olga", "Northern League"), ("south", "eve", "Southern League")):
        league = League(league_id=league_id, name=name, slug=league_id)
        store.transact(create(league), create(Acl(league_id=league_id, user_id=admin, role="admin")))
    store.run(create(Acl(league_id="north", user_id="sam", role="scorekeeper")))
    store.run(create(Acl(league_id="north", user_id="vera", role="viewer")))
    store.run(create(Season(season_id="spring", league_id="north", name="Spring")))
    for team_id in (*TEAMS, "green"):
        team = Team(team_id=team_id, season_id="spring", league_id="north", name=team_id.title(), colour=team_id)
        store.run(create(team))
    day = date(2026, 5, 1)
    store.run(create(Session(session_id="may-1", season_id="spring", league_id="north", session_date=day)))
    for number in range(8):
        known = {"player_id": f"p{number}", "display_name": f"Player {number}", "user_id": f"user-{number}"}
        store.run(create(Player.model_validate({"league_id": "north", **known})))
