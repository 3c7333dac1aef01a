"""funkedupshift with concurrent clients: counts, sums and permissions stay exact."""

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import httpx
import pytest

from keyplan.apps.funkedupshift.design import FunkedUpShiftDesign
from keyplan.apps.funkedupshift.entities import Profile
from keyplan.apps.funkedupshift.service import squash
from keyplan.data import Store, touch, update, utc_now
from keyplan.design import ref
from keyplan.engine import Engine
from tests.apps.fus_site import ANY, FusSite, all_of, fus, match, match_body, png, reset, send_avatar, somebody
from tests.apps.support import Meanwhile
from tests.web.answers import problem
from tests.web.site import Site

RATERS, CHANGES = 8, 1000


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FusSite]:
    folder = tmp_path_factory.mktemp("fus")
    with Engine(str(folder / "fus.db")) as engine, fus(folder, engine) as started:
        yield started


@pytest.fixture
def site(served: FusSite) -> Site:
    return reset(served)


def at_once(number: int, act: Callable[[int], httpx.Response]) -> Counter[int]:
    """How often each status was returned, with this many concurrent calls."""
    with ThreadPoolExecutor(min(number, 8)) as pool:
        return Counter(answer.status_code for answer in pool.map(act, range(number)))


def verified(site: Site) -> None:
    """The output of `keyplan verify` for the file."""
    folder = Path(site.running.settings.path).parent
    command = [sys.executable, "-m", "keyplan.cli", "verify", "funkedupshift", "--path", str(folder / "fus.db")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


def test_count_and_sum_after_eight_raters_with_a_thousand_changes(site: Site) -> None:
    clients = [site.as_(f"rater-{number}") for number in range(RATERS)]

    def rate(number: int) -> dict[int, int]:
        """All changes of one user, one after the other. Returns how often each status was returned."""
        made, client = random.Random(number), clients[number]
        seen: Counter[int] = Counter()
        for _ in range(CHANGES // RATERS):
            if made.random() < 0.15:
                answer = client.delete("/sites/one/rating", headers=ANY)
            else:
                answer = client.put("/sites/one/rating", json={"stars": made.randint(1, 5)})
            seen[answer.status_code] += 1
        return seen

    with ThreadPoolExecutor(RATERS) as pool:
        seen = sum(map(Counter, pool.map(rate, range(RATERS))), Counter[int]())
    assert sum(seen.values()) == CHANGES
    assert seen.keys() <= {200, 204, 404}, seen
    stars = [answer.json()["stars"] for client in clients if (answer := client.get("/sites/one/rating")).is_success]
    summary = site.as_().get("/sites/one/rating-summary").json()
    assert (summary["rating_count"], summary["rating_sum"]) == (len(stars), sum(stars))
    assert {int(each): number for each, number in summary["stars"].items() if number} == Counter(stars)
    assert site.running.store.verify() == []
    verified(site)


def test_one_rater_with_two_browsers(site: Site) -> None:
    ada = site.as_("ada")
    counted = at_once(24, lambda number: ada.put("/sites/one/rating", json={"stars": 1 + number % 5}))
    assert counted == {200: 24}
    summary = site.as_().get("/sites/one/rating-summary").json()
    assert (summary["rating_count"], summary["rating_sum"]) == (1, ada.get("/sites/one/rating").json()["stars"])
    assert site.running.store.verify() == []


def test_a_site_is_deleted_while_it_is_rated_and_commented(site: Site) -> None:
    root = somebody(site, "admin")

    def act(number: int) -> httpx.Response:
        user = site.as_(f"user-{number % 6}")
        if number == 20:
            return root.delete("/sites/one", headers=ANY)
        if number % 2:
            return user.put("/sites/one/rating", json={"stars": 3})
        return user.post("/sites/one/comments", json={"body": "x"})

    counted = at_once(60, act)
    assert counted[204] == 1, counted
    assert counted.keys() <= {200, 201, 204, 404}, counted
    site.running.store.resume()
    items = site.engine.scan(TableName="fus-main")["Items"]
    assert not [item for item in items if "SITE#one" in item["PK"]["S"] + item["SK"]["S"]]
    assert site.running.store.verify() == []


def test_a_player_is_deleted_while_matches_name_them(site: Site) -> None:
    root = somebody(site, "admin")
    for turn in range(5):
        player = root.post("/squash/players", json={"name": f"Turn {turn}"}).json()["player_id"]

        def act(number: int, player: str = player) -> httpx.Response:
            if number:
                return root.post("/squash/matches", json=match_body(players=f"p1 p2 p3 {player}"))
            return root.delete(f"/squash/players/{player}", headers=ANY)

        with ThreadPoolExecutor(2) as pool:
            deleted, played = pool.map(act, range(2))
        assert (deleted.status_code, played.status_code) in {(204, 422), (409, 201)}
    assert site.running.store.verify() == []


def test_a_player_s_last_places_are_given_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(squash, "MAX_MATCHES", 3)
    root = somebody(site, "admin")
    counted = at_once(8, lambda number: root.post("/squash/matches", json=match_body()))
    assert counted == {201: 3, 409: 5}
    assert len(all_of(root, "/squash/matches", player="p1")) == 3
    assert site.running.store.verify() == []


def test_matches_are_changed_by_many(site: Site) -> None:
    root = somebody(site, "admin")
    paths = [f"/squash/matches/{match(root)['match_id']}" for _ in range(4)]

    def act(number: int) -> httpx.Response:
        path = paths[number % 4]
        if number % 8 == 7:
            return root.delete(path, headers=ANY)
        change = {"team_a_player1_id": ("p1", "p5")[number % 2], "date": f"2026-05-{1 + number % 28:02}"}
        return root.patch(path, json=change, headers=ANY)

    counted = at_once(48, act)
    assert counted.keys() <= {200, 204, 404, 412}, counted
    matches = all_of(root, "/squash/matches")
    names = [name for each in matches for field, name in each.items() if "player" in field]
    assert {each["player_id"]: each["match_count"] for each in all_of(root, "/squash/players")} == {
        player: Counter(names)[player] for player in ("p1", "p2", "p3", "p4", "p5")
    }
    assert site.running.store.verify() == []


def test_tags_of_many_at_once(site: Site) -> None:
    root = somebody(site, "admin")
    counted = at_once(
        24, lambda number: root.patch("/sites/one", json={"tags": [f"t{number % 5}", f"u{number % 3}"]}, headers=ANY)
    )
    assert counted.keys() <= {200, 412}, counted
    tags = root.get("/sites/one").json()["tags"]
    found = [tag for tag in ("web", *(f"{kind}{n}" for kind in "tu" for n in range(5))) if by_tag(root, tag)]
    assert sorted(found) == sorted(tags)
    assert site.running.store.verify() == []


def by_tag(client: httpx.Client, tag: str) -> bool:
    return bool(client.get("/sites", params={"tag": tag}).json()["items"])


def test_a_manager_joins_a_group_that_is_given_squash_this_moment(site: Site) -> None:
    """They read the group before the change, and write after it."""
    manager = somebody(site, "manager")
    admin = Store(FunkedUpShiftDesign(), site.engine)

    def give() -> None:
        group = admin.run(admin.design.group("walkers"))
        assert group is not None
        group.permissions = ["squash:read"]
        admin.run(update(group))

    site.running.store.client = Meanwhile(site.engine, give)
    problem(manager.post("/groups/walkers/members", json={"user_id": "max"}), 409, "group-changed")
    problem(manager.post("/groups/walkers/members", json={"user_id": "max"}), 403, "forbidden")
    problem(manager.get("/squash/players"), 404, "not-found")
    assert site.running.store.verify() == []


def test_of_two_visits_at_once_one_is_noted(site: Site) -> None:
    ada = site.as_("ada")
    ada.patch("/me", json={"display_name": "Ada"}, headers=ANY)
    other = Store(FunkedUpShiftDesign(), site.engine)
    first = utc_now().replace(microsecond=0)

    def visit() -> None:
        other.run(touch(ref(Profile, user_id="ada"), last_login_at=first, last_login_ip="192.0.2.1"))

    site.running.store.client = Meanwhile(site.engine, visit)
    shown = ada.get("/me").json()
    site.running.store.client = site.engine
    assert (datetime.fromisoformat(shown["last_login_at"]), shown["last_login_ip"]) == (first, "192.0.2.1")
    assert ada.get("/me").json() == shown


def test_avatars_of_many_at_once_leave_one_file(site: Site) -> None:
    ada = site.as_("ada")
    uploads = [send_avatar(ada, png(shade=number)) for number in range(5)]  # as many as may be pending
    counted = at_once(5, lambda number: ada.put("/me/avatar", json={"upload_id": uploads[number]}))
    assert counted == {200: 5}, counted
    folder = Path(site.running.settings.path).parent
    kept = [path for path in folder.rglob("*.png") if "avatars" in path.parts]
    assert [path.name for path in kept] == [ada.get("/me").json()["avatar_url"].rpartition("/")[2]]
    assert site.running.store.verify() == []
