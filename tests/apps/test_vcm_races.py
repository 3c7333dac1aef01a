"""The club's site with concurrent clients: slugs, references, counts and deletions."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from keyplan.engine import Engine
from tests.apps.vcm_site import ANY, add, announce, club, doc, editor, put_media, work_off, write
from tests.web.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Engine(str(tmp_path / "vcm.db")) as engine, club(tmp_path, engine) as served:
        yield served


def at_once(number: int, act: Callable[[int], httpx.Response]) -> Counter[int]:
    """How often each status was returned, with this many concurrent calls."""
    with ThreadPoolExecutor(8) as pool:
        return Counter(answer.status_code for answer in pool.map(act, range(number)))


def test_articles_of_one_title_get_slugs_of_their_own(site: Site) -> None:
    client = editor(site)
    body = {"title": "Derby", "content": doc("x")}
    assert at_once(16, lambda number: client.post("/news", json=body)) == {201: 16}
    slugs = {each["slug"] for each in client.get("/news/all").json()["items"]}
    assert slugs == {"derby", *(f"derby-{number}" for number in range(2, 17))}
    assert site.running.store.verify() == []


def test_references_are_exact_after_parallel_edits(site: Site, tmp_path: Path) -> None:
    """Eight articles, events, teams and sponsors pass six images around, while others are deleted and renamed."""
    client = editor(site)
    images = [f"m{number}" for number in range(6)]
    put_media(site, *images, "spare")
    paths = [f"/news/{write(site, f'N{n}', imageIds=images)['id']}" for n in range(4)]
    paths += [f"/events/{announce(site, f'E{n}', imageIds=images[:3])['id']}" for n in range(4)]
    teams = [f"/teams/{add(site, '/teams', name=f'T{n}', gender='men', imageIds=images)['id']}" for n in range(3)]
    sponsors = [f"/sponsors/{add(site, '/sponsors', name=f'S{n}', logoId=images[n])['id']}" for n in range(3)]

    def act(number: int) -> httpx.Response:
        some = [images[(number + step) % 6] for step in range(number % 4)]
        match number % 5:
            case 0 | 1:
                return client.patch(paths[number % 8], json={"imageIds": some}, headers=ANY)
            case 2:
                return client.patch(teams[number % 3], json={"imageIds": some, "name": f"T{number % 2}"}, headers=ANY)
            case 3:
                return client.patch(sponsors[number % 3], json={"logoId": some[0] if some else None}, headers=ANY)
        return client.delete(f"/media/{images[number % 6]}", headers=ANY)

    counted = at_once(80, act)
    assert not {status for status in counted if status >= 500 and status != 503}, counted
    store = site.running.store
    assert store.verify() == []
    for id in images:
        media = store.run(store.design.media(id))
        if media is not None:
            assert media.references == len(store.run(store.design.media_references(id)).items)
    work_off(site)
    assert store.verify() == []
    command = [sys.executable, "-m", "keyplan.cli", "verify", "vcm", "--path", str(tmp_path / "vcm.db")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("kind", ["roles", "locations", "media"])
def test_a_thing_is_deleted_while_somebody_begins_to_use_it(site: Site, kind: str) -> None:
    client = editor(site)
    for turn in range(4):
        if kind == "roles":
            id = add(site, "/roles", name="R")["id"]
            user, body = f"/members/{add(site, '/members', name='M')['id']}", {"roleIds": [id]}
        elif kind == "locations":
            id = add(site, "/locations", name="L", street="S", postalCode="1", city="C")["id"]
            training = {"day": [1], "startTime": "18:00", "endTime": "20:00", "locationId": id}
            user, body = f"/teams/{add(site, '/teams', name='T', gender='men')['id']}", {"schedules": [training]}
        else:
            id = f"image-{turn}"
            put_media(site, id)
            user, body = f"/news/{write(site)['id']}", {"imageIds": [id]}

        def act(number: int, user: str = user, body: object = body, id: str = id) -> httpx.Response:
            if number:
                return client.patch(user, json=body, headers=ANY)
            return client.delete(f"/{kind}/{id}", headers=ANY)

        with ThreadPoolExecutor(2) as pool:
            deleted, used = pool.map(act, range(2))
        assert (deleted.status_code, used.status_code) in {(204, 422), (409, 200)}, (deleted.text, used.text)
    assert site.running.store.verify() == []
