"""hacktracker served over HTTP, with a team in it whose members have every role."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from keyplan.apps.hacktracker.api import SYSTEM
from keyplan.engine import Engine
from keyplan.web.settings import Settings
from tests.web.site import Site, settings_of, site

ANY = {"If-Match": "*"}
ROLES = ("owner", "manager", "scorekeeper", "player")
"""The members of the team are called by their roles."""
OUTSIDERS = ("left", "stranger", "root")
"""Who has left, who has a team of their own, and an admin."""
PLAY = {"result": "1B", "inning": 1, "outs": 0}


def settings(folder: Path, **given: Any) -> Settings:
    """Settings for a test, which ignore the environment."""
    fixed = {"dev": True, "rate_identity": 0, "rate_address": 0, "request_seconds": 60}
    return settings_of(path=folder / "hack.db", **{**fixed, **given})


@contextmanager
def league(folder: Path, engine: Engine | None = None, **given: Any) -> Iterator[Site]:
    """hacktracker without any users."""
    with site(SYSTEM, settings(folder, **given), engine) as served:
        yield served


class Team:
    """A team with a member of every role, three ghosts, and games."""

    def __init__(self, served: Site, name: str = "Sluggers") -> None:
        self.site = served
        self._clients: dict[str, httpx.Client] = {}
        self.owner = self.as_("owner")
        self.id: str = made(self.owner.post("/teams", json={"name": name}))["team_id"]
        self.path = f"/teams/{self.id}"
        for role in ROLES[1:]:
            self.join(role, role)
        self.mine: str = self.players()[0]["player_id"]
        self.ghosts = [self.add(number) for number in (7, 8, 9)]

    def as_(self, who: str) -> httpx.Client:
        """A client that is signed in as this user; without a name, a visitor's."""
        if who not in self._clients:
            groups = ("admin",) if who == "root" else ()
            # Loading certificates for each client is slow, and none is needed.
            self._clients[who] = self.site.as_(who or None, *groups, verify=False)
        return self._clients[who]

    def join(self, user: str, role: str) -> None:
        secret = made(self.owner.post(f"{self.path}/invitations", json={"role": role}))["secret"]
        made(self.as_(user).post("/invitations/accept", json={"secret": secret}), 200)

    def with_outsiders(self) -> "Team":
        """Also a user who left the team, and one with a team of their own."""
        self.join("left", "player")
        self.as_("left").post(f"{self.path}/leave")
        made(self.as_("stranger").post("/teams", json={"name": "Others"}))
        return self

    def players(self, **filters: Any) -> list[dict[str, Any]]:
        answer = self.owner.get(f"{self.path}/players", params={"limit": 100, **filters})
        items: list[dict[str, Any]] = made(answer, 200)["items"]
        return items

    def add(self, number: int | None, **fields: Any) -> str:
        body = {"first_name": "Ghost", "last_name": f"No {number}", "player_number": number, **fields}
        player_id: str = made(self.owner.post(f"{self.path}/players", json=body))["player_id"]
        return player_id

    def link(self, player_id: str, user: str) -> None:
        secret = made(self.owner.post(f"{self.path}/players/{player_id}/invitations"))["secret"]
        made(self.as_(user).post("/invitations/accept", json={"secret": secret}), 200)

    def game(self, *, lineup: list[str] | None = None, play: bool = False, **fields: Any) -> str:
        game_id: str = made(self.owner.post(f"{self.path}/games", json=fields))["game_id"]
        if play or lineup is not None:
            made(self.owner.put(f"/games/{game_id}/lineup", json={"lineup": lineup or self.ghosts}), 200)
        if play:
            self.move(game_id, "IN_PROGRESS")
        return game_id

    def move(self, game_id: str, status: str) -> dict[str, Any]:
        return made(self.owner.post(f"/games/{game_id}/status", json={"status": status}), 200)

    def bat(self, game_id: str, player_id: str | None = None, **play: Any) -> dict[str, Any]:
        body = {"player_id": player_id or self.ghosts[0], **PLAY, **play}
        return made(self.owner.post(f"/games/{game_id}/at-bats", json=body))


def made(answer: httpx.Response, status: int = 201) -> dict[str, Any]:
    """The JSON of a successful response."""
    assert answer.status_code == status, answer.text
    body: dict[str, Any] = answer.json()
    return body
