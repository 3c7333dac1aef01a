"""hacktracker with eight concurrent clients: on one roster, one line-up, one game, one team."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import httpx
import pytest

from keyplan.engine import Engine
from tests.apps.hack_site import ANY, PLAY, Team, league, made
from tests.apps.support import Meanwhile
from tests.web.answers import problem
from tests.web.site import Site

CLIENTS = 8


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Engine(str(tmp_path / "hack.db")) as engine, league(tmp_path, engine) as served:
        yield served


@pytest.fixture
def team(site: Site) -> Team:
    return Team(site)


def at_once(number: int, act: Callable[[int], httpx.Response]) -> list[httpx.Response]:
    """The responses to this many calls, eight at a time."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(act, range(number)))


def insisting(act: Callable[[int], httpx.Response]) -> Callable[[int], httpx.Response]:
    """The same for a client that retries if a change lost too many races."""

    def tried(number: int) -> httpx.Response:
        for _ in range(20):
            answer = act(number)
            if answer.status_code != 409 or answer.json()["code"] != "conflict":
                break
        return answer

    return tried


def statuses(answers: list[httpx.Response]) -> Counter[int]:
    return Counter(answer.status_code for answer in answers)


def verified(site: Site, folder: Path) -> None:
    """All data is consistent, and `keyplan verify` says so, too."""
    assert site.running.store.verify() == []
    command = [sys.executable, "-m", "keyplan.cli", "verify", "hacktracker", "--path", str(folder / "hack.db")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


def test_one_roster(team: Team, site: Site, tmp_path: Path) -> None:
    """Forty players for twenty numbers: each number is given once, and every accepted player is on the roster."""

    def add(number: int) -> httpx.Response:
        body = {"first_name": "P", "last_name": str(number), "player_number": 30 + number % 20}
        return team.owner.post(f"{team.path}/players", json=body)

    answers = at_once(40, add)
    assert statuses(answers) == {201: 20, 409: 20}
    ids = {answer.json()["player_id"] for answer in answers if answer.is_success}
    players = team.players()
    assert ids <= {each["player_id"] for each in players}
    numbers = [each["player_number"] for each in players if each["player_number"] is not None]
    assert len(numbers) == len(set(numbers))

    def edit(number: int) -> httpx.Response:
        path = f"{team.path}/players/{team.ghosts[0]}"
        fields = ({"first_name": f"N{number}"}, {"last_name": f"L{number}"}, {"positions": ["C"]}, {"status": "sub"})
        return team.owner.patch(path, json=fields[number % 4], headers=ANY)

    assert statuses(at_once(16, insisting(edit))) == {200: 16}
    seven = made(team.owner.get(f"{team.path}/players/{team.ghosts[0]}"), 200)
    assert (seven["positions"], seven["status"], seven["version"]) == (["C"], "sub", 11), "nothing is lost"
    verified(site, tmp_path)


def test_the_last_places_of_a_roster(team: Team, site: Site) -> None:
    for number in range(10, 62):
        team.add(number)
    assert len(team.players()) == 56
    body = {"first_name": "Last", "last_name": "One"}
    assert statuses(at_once(16, lambda _: team.owner.post(f"{team.path}/players", json=body))) == {201: 4, 409: 12}
    assert len(team.players()) == made(team.owner.get(team.path), 200)["player_count"] == 60
    assert site.running.store.verify() == []


def test_one_lineup_while_players_go(team: Team, site: Site) -> None:
    """Line-ups are set while their players are removed: no game starts with a removed player."""
    for turn in range(4):
        guests = [team.add(None) for _ in range(4)]
        game = team.game(lineup=team.ghosts)

        def act(number: int, guests: list[str] = guests, game: str = game) -> httpx.Response:
            if number % 4 == 3:
                return team.owner.post(f"/games/{game}/status", json={"status": "IN_PROGRESS"})
            if number % 2:
                return team.owner.delete(f"{team.path}/players/{guests[number // 4]}", headers=ANY)
            return team.owner.put(f"/games/{game}/lineup", json={"lineup": [*team.ghosts, *guests[number // 4 :]]})

        found = statuses(at_once(16, act))
        assert not {status for status in found if status >= 500}, found
        state = made(team.owner.get(f"/games/{game}"), 200)
        roster = {each["player_id"] for each in team.players()}
        if state["status"] == "IN_PROGRESS":
            assert set(state["lineup"]) <= roster, turn
            team.move(game, "FINAL")
    assert site.running.store.verify() == []


def test_one_game_is_scored_by_eight(team: Team, site: Site, tmp_path: Path) -> None:
    game = team.game(play=True)

    def bat(number: int) -> httpx.Response:
        body = {"player_id": team.ghosts[number % 3], **PLAY, "runs": number % 3}
        return team.owner.post(f"/games/{game}/at-bats", json=body)

    assert statuses(at_once(48, bat)) == {201: 48}
    assert made(team.owner.get(f"/games/{game}"), 200)["team_score"] == sum(number % 3 for number in range(48))
    counts = [made(team.owner.get(f"{team.path}/players/{each}"), 200)["at_bat_count"] for each in team.ghosts]
    assert counts == [16, 16, 16]

    def mixed(number: int) -> httpx.Response:
        match number % 4:
            case 0:
                return bat(number)
            case 1:
                return team.owner.post(f"/games/{game}/at-bats/undo")
            case 2:
                return team.owner.patch(f"/games/{game}", json={"opponent_score": number}, headers=ANY)
            case _:
                return team.owner.put(f"/games/{game}/lineup", json={"lineup": team.ghosts[:: 1 if number % 3 else -1]})

    found = statuses(at_once(32, mixed))
    assert set(found) <= {200, 201, 409}, found
    at_bats = made(team.owner.get(f"/games/{game}/at-bats?limit=100"), 200)["items"]
    assert made(team.owner.get(f"/games/{game}"), 200)["team_score"] == sum(each["runs"] for each in at_bats)
    verified(site, tmp_path)


def test_one_game_is_moved_by_eight(team: Team, site: Site) -> None:
    """Whichever date wins, all at-bats have it, including those that were scored in the meantime."""
    game = team.game(play=True, scheduled_start="2026-05-01T18:00:00Z")
    for _ in range(20):
        team.bat(game)

    def act(number: int) -> httpx.Response:
        if number % 4 == 3:
            return team.owner.post(f"/games/{game}/at-bats", json={"player_id": team.ghosts[0], **PLAY})
        start = f"2026-05-{number + 2:02}T18:00:00Z"
        return team.owner.patch(f"/games/{game}", json={"scheduled_start": start}, headers=ANY)

    assert statuses(at_once(24, insisting(act))) == {200: 18, 201: 6}
    stored = site.running.store.run(site.running.design.game(game))
    at_bats = site.running.store.run(site.running.design.game_at_bats(game)).items
    assert [each.game_date for each in at_bats] == [stored.scheduled_start] * 26
    assert site.running.store.verify() == []


def test_nothing_is_scored_after_the_end(team: Team, site: Site) -> None:
    for _ in range(4):
        game = team.game(play=True)

        def act(number: int, game: str = game) -> httpx.Response:
            if number == 4:
                return team.owner.post(f"/games/{game}/status", json={"status": "FINAL"})
            return team.owner.post(f"/games/{game}/at-bats", json={"player_id": team.ghosts[0], **PLAY, "runs": 1})

        answers = at_once(12, act)
        scored = statuses(answers)[201]
        assert set(statuses(answers)) <= {200, 201, 409}
        assert made(team.owner.get(f"/games/{game}"), 200)["team_score"] == scored
    assert site.running.store.verify() == []


def test_one_game_of_many_begins(team: Team, site: Site) -> None:
    games = [team.game(lineup=team.ghosts) for _ in range(CLIENTS)]
    answers = at_once(CLIENTS, lambda n: team.owner.post(f"/games/{games[n]}/status", json={"status": "IN_PROGRESS"}))
    assert statuses(answers) == {200: 1, 409: CLIENTS - 1}
    playing = [each for each in games if made(team.owner.get(f"/games/{each}"), 200)["status"] == "IN_PROGRESS"]
    assert playing == [made(team.owner.get(team.path), 200)["active_game_id"]]
    assert site.running.store.verify() == []


def test_one_invitation_for_eight(team: Team, site: Site) -> None:
    people = [site.as_(f"guest-{number}", verify=False) for number in range(CLIENTS)]
    for path, body in ((f"{team.path}/invitations", {"role": "player"}), (_link(team), None)):
        secret = made(team.owner.post(path, json=body))["secret"]
        answers = at_once(CLIENTS, lambda n, s=secret: people[n].post("/invitations/accept", json={"secret": s}))  # type: ignore[misc]
        assert statuses(answers)[200] == 1, statuses(answers)
        assert set(statuses(answers)) <= {200, 404, 409}
    assert site.running.store.verify() == []


def test_the_inviter_is_removed_just_before_the_invitation_is_accepted(team: Team, site: Site) -> None:
    """Everything was read and was valid; the transaction notices that it no longer is."""
    guest, member = site.as_("guest", verify=False), f"{team.path}/members/manager"
    guest.get("/me")
    ways: tuple[tuple[Callable[[], object], Callable[[], object]], ...] = (
        (
            lambda: team.owner.put(f"{member}/role", json={"role": "player"}),
            lambda: team.owner.put(f"{member}/role", json={"role": "manager"}),
        ),
        (lambda: team.owner.delete(member, headers=ANY), lambda: team.join("manager", "manager")),
    )
    for (end, back), path in product(ways, (f"{team.path}/invitations", _link(team))):
        secret = made(team.as_("manager").post(path, json={"role": "player"}))["secret"]
        site.running.store.client = Meanwhile(site.engine, end)
        problem(guest.post("/invitations/accept", json={"secret": secret}), 409, "invitation-lapsed")
        assert guest.get(team.path).status_code == 404
        back()
    assert site.running.store.verify() == []


def test_the_rules_are_evaluated_again_when_something_changed_just_before_the_write(team: Team, site: Site) -> None:
    """Everything was read and the write was allowed; the response is as if it had come a moment later."""
    first, second = team.game(lineup=team.ghosts), team.game(lineup=team.ghosts)
    guest = team.add(None)
    at_bats = f"/games/{first}/at-bats"
    player = team.as_("player")

    def start(game: str) -> httpx.Response:
        return team.owner.post(f"/games/{game}/status", json={"status": "IN_PROGRESS"})

    def meanwhile(act: Callable[[], object], call: Callable[[], httpx.Response], status: int, code: str) -> None:
        site.running.store.client = Meanwhile(site.engine, act)
        problem(call(), status, code)

    meanwhile(lambda: start(first), lambda: start(second), 409, "another-game")
    meanwhile(
        lambda: team.owner.put(f"/games/{first}/lineup", json={"lineup": team.ghosts[1:]}),
        lambda: team.owner.post(at_bats, json={"player_id": team.ghosts[0], **PLAY}),
        422,
        "not-in-lineup",
    )
    meanwhile(
        lambda: team.owner.put(f"/games/{first}/lineup", json={"lineup": [*team.ghosts, guest]}),
        lambda: team.owner.delete(f"{team.path}/players/{guest}", headers=ANY),
        409,
        "in-lineup",
    )
    batted = team.bat(first)["at_bat_id"]
    meanwhile(
        lambda: team.owner.delete(f"{at_bats}/{batted}", headers=ANY),
        lambda: team.owner.post(f"{at_bats}/undo"),
        409,
        "undone-already",
    )
    meanwhile(
        lambda: team.move(first, "FINAL"),
        lambda: team.owner.post(at_bats, json={"player_id": team.ghosts[0], **PLAY}),
        409,
        "not-in-progress",
    )
    meanwhile(
        lambda: player.delete("/me", headers=ANY),
        lambda: team.owner.post(f"{team.path}/transfer", json={"user_id": "player"}),
        422,
        "not-a-member",
    )
    for path, body in (
        (f"{team.path}/players", {"first_name": "A", "last_name": "B"}),
        (f"{team.path}/games", {}),
        (f"{team.path}/invitations", {"role": "player"}),
    ):
        meanwhile(
            lambda: team.owner.delete(team.path, headers=ANY),
            lambda path=path, body=body: team.as_("manager").post(path, json=body),  # type: ignore[misc]
            404,
            "not-found",
        )
        made(team.owner.post(f"{team.path}/restore"), 200)
    assert site.running.store.verify() == []


def test_a_version_that_was_named_is_compared_again(team: Team, site: Site) -> None:
    game = team.game(lineup=team.ghosts)
    tag = team.owner.get(f"/games/{game}").headers["ETag"]
    # Another game of the team changes the team's item, whose version the caller didn't send.
    other = team.game(play=True)
    site.running.store.client = Meanwhile(site.engine, lambda: team.move(other, "FINAL"))
    renamed = team.owner.patch(team.path, json={"name": "Renamed"}, headers=ANY)
    assert made(renamed, 200)["name"] == "Renamed"
    site.running.store.client = Meanwhile(
        site.engine, lambda: team.owner.patch(team.path, json={"description": "x"}, headers=ANY)
    )
    body = {"status": "IN_PROGRESS"}
    assert made(team.owner.post(f"/games/{game}/status", json=body, headers={"If-Match": tag}), 200)["status"]
    problem(team.owner.post(f"/games/{game}/status", json=body, headers={"If-Match": tag}), 412, "stale-version")


def test_nobody_joins_after_the_inviter_was_removed(team: Team, site: Site) -> None:
    """Eight people accept while the manager is removed: some are in time, and nobody gets in afterwards."""
    people = [site.as_(f"guest-{number}", verify=False) for number in range(CLIENTS)]
    path, body = f"{team.path}/invitations", {"role": "player"}
    secrets = [made(team.as_("manager").post(path, json=body))["secret"] for _ in range(2 * CLIENTS)]

    def act(number: int) -> httpx.Response:
        if number == CLIENTS // 2:
            assert team.owner.delete(f"{team.path}/members/manager", headers=ANY).is_success
        return people[number].post("/invitations/accept", json={"secret": secrets[number]})

    answers = at_once(CLIENTS, act)
    assert set(statuses(answers)) <= {200, 409}
    problem(answers[CLIENTS // 2], 409, "invitation-lapsed")
    late = at_once(
        CLIENTS,
        lambda n: site.as_(f"late-{n}", verify=False).post(
            "/invitations/accept", json={"secret": secrets[CLIENTS + n]}
        ),
    )
    assert {answer.json()["code"] for answer in late} == {"invitation-lapsed"}
    members = site.running.store.run(site.running.design.members(team.id)).items
    joined = {each.user_id for each in members if each.user_id.startswith("guest-")}
    assert len(joined) == statuses(answers)[200]
    assert site.running.store.verify() == []


def _link(team: Team) -> str:
    return f"{team.path}/players/{team.ghosts[0]}/invitations"


def test_a_team_has_one_owner_whatever_happens(team: Team, site: Site) -> None:
    """Concurrent transfers, removals, role changes and departures, repeated."""
    everybody = ("owner", "manager", "scorekeeper", "player")
    for _ in range(4):

        def act(number: int) -> httpx.Response:
            who, other = everybody[number % 4], everybody[(number // 4 + 1) % 4]
            client = team.as_(who)
            match number % 3:
                case 0:
                    return client.post(f"{team.path}/transfer", json={"user_id": other})
                case 1:
                    return client.put(f"{team.path}/members/{other}/role", json={"role": "player"})
                case _:
                    return client.patch(team.path, json={"name": f"Name {number}"}, headers=ANY)

        found = statuses(at_once(24, act))
        assert not {status for status in found if status >= 500}, found
        members = site.running.store.run(site.running.design.members(team.id)).items
        (owner,) = [each.user_id for each in members if each.role == "owner"]
        stored = site.running.store.run(site.running.design.team(team.id))
        assert stored.owner_id == owner
        assert site.running.store.verify() == []


def test_deleting_an_account_while_making_teams(site: Site) -> None:
    for turn in range(4):
        client = site.as_(f"user-{turn}", verify=False)
        client.get("/me")

        def act(number: int, client: httpx.Client = client) -> httpx.Response:
            if number == 3:
                return client.delete("/me", headers=ANY)
            return client.post("/teams", json={"name": f"Team {number}"})

        answers = at_once(8, act)
        assert not {status for status in statuses(answers) if status >= 500}, statuses(answers)
        user = site.running.store.run(site.running.design.user(f"user-{turn}"))
        assert user.deleted_at is None or user.owned_team_count == 0
    assert site.running.store.verify() == []


def test_deleting_an_account_while_a_team_is_restored(site: Site) -> None:
    """Nobody can rejoin a team whose owner deleted their account."""
    for turn in range(6):
        client = site.as_(f"user-{turn}", verify=False)
        path = f"/teams/{made(client.post('/teams', json={'name': 'Team'}))['team_id']}"
        client.delete(path, headers=ANY)

        def act(number: int, client: httpx.Client = client, path: str = path) -> httpx.Response:
            return client.delete("/me", headers=ANY) if number % 2 else client.post(f"{path}/restore")

        found = statuses(at_once(8, act))
        assert not {status for status in found if status >= 500}, found
        user = site.running.store.run(site.running.design.user(f"user-{turn}"))
        team = site.running.store.run(site.running.design.team(path.removeprefix("/teams/")))
        assert (user.deleted_at is None) == (team.deleted_at is None), turn
    assert site.running.store.verify() == []


def test_restoring_while_it_is_removed(tmp_path: Path) -> None:
    """The team expires just when the owner restores it: it is either deleted or restored, never half of each."""
    moment = 1_790_000_000.0
    with Engine(clock=lambda: moment) as engine, league(tmp_path, engine) as site:
        team = Team(site)
        team.owner.delete(team.path, headers=ANY)
        moment += 400 * 86400

        def act(number: int) -> httpx.Response:
            if number == 0:
                engine.sweep_expired()
            return team.owner.post(f"{team.path}/restore")

        found = statuses(at_once(8, act))
        restored = found[200] > 0
        assert (made(team.owner.get("/teams"), 200)["items"] != []) == restored
        assert set(found) <= {200, 404, 409, 412}
        assert (site.running.store.run(site.running.design.team(team.id)) is not None) == restored
