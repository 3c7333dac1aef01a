"""funkedupshift's profiles over HTTP: names, visits and avatars, with every rule and refusal."""

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from keyplan.apps.funkedupshift.api import SYSTEM
from keyplan.apps.funkedupshift.service.access import ALLOWS
from keyplan.apps.funkedupshift.upkeep import sweep_files
from keyplan.engine import Engine
from keyplan.web import Caller
from keyplan.web.identity.sessions import SESSION, Sessions
from tests.apps.fus_site import ANY, FusSite, fus, png, reset, send_avatar, somebody
from tests.web.answers import pointers, problem
from tests.web.command import locked
from tests.web.media_support import GIF, JPEG, WEBP
from tests.web.site import Site, settings_of
from tests.web.site import site as site_of


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FusSite]:
    with fus(tmp_path_factory.mktemp("fus")) as started:
        yield started


@pytest.fixture
def site(served: FusSite) -> Site:
    return reset(served)


def test_a_profile_is_one_s_own(site: Site) -> None:
    ada = site.as_("ada")
    shown = ada.get("/me")
    assert shown.json() | {"updated_at": None, "last_login_at": None} == {
        "user_id": "ada",
        "display_name": None,
        "description": None,
        "avatar_url": None,
        "roles": [],
        "permissions": [],
        "last_login_at": None,
        "last_login_ip": "127.0.0.1",
        "updated_at": None,
        "version": 1,
    }
    changed = ada.patch("/me", json={"display_name": " Ada ", "description": "x" * 100}, headers={"If-Match": '"1"'})
    assert (changed.json()["display_name"], changed.json()["description"]) == ("Ada", "x" * 100)
    problem(ada.patch("/me", json={"description": "y"}, headers={"If-Match": '"1"'}), 412, "stale-version")
    problem(ada.patch("/me", json={"description": "y"}), 428, "if-match-missing")
    for name in ("display_name", "description"):
        assert pointers(problem(ada.patch("/me", json={name: "x" * 101}, headers=ANY), 422, "invalid")) == [f"/{name}"]
        assert ada.patch("/me", json={name: ""}, headers=ANY).json()[name] is None
    problem(ada.patch("/me", json={"last_login_ip": "x"}, headers=ANY), 422, "invalid")
    assert site.as_("bob").get("/me").json()["display_name"] is None


def test_powers_are_shown_to_their_owner(site: Site) -> None:
    assert somebody(site, "admin").get("/me").json()["roles"] == ["SuperAdmin"]
    assert somebody(site, "admin").get("/me").json()["permissions"] == sorted(ALLOWS)
    mia = somebody(site, "manager in Squash").get("/me").json()
    assert (mia["roles"], mia["permissions"]) == (["manager"], ["groups:write", "squash:read", "squash:write"])
    assert somebody(site, "member").get("/me").json()["permissions"] == ["squash:read"]
    assert somebody(site, "squash:write").get("/me").json()["permissions"] == ["squash:read", "squash:write"]


def test_a_visit_is_noted_once_a_minute_at_most(site: Site) -> None:
    ada = site.as_("ada")
    clock = site.running.store.clock
    began = clock()
    site.running.store.clock = lambda: began
    first = ada.get("/me").json()["last_login_at"]
    site.running.store.clock = lambda: began + timedelta(seconds=59)
    assert ada.get("/me").json()["last_login_at"] == first
    site.running.store.clock = lambda: began + timedelta(seconds=60)
    later = ada.get("/me").json()
    assert later["last_login_at"] > first
    assert later["version"] == 1, "a visit is no change"
    assert ada.get("/me").json() == later


# Avatars


def test_avatars(site: Site) -> None:
    ada = site.as_("ada")
    first = ada.put("/me/avatar", json={"upload_id": send_avatar(ada, png())})
    assert first.status_code == 200, first.text
    url = first.json()["avatar_url"]
    assert url.startswith("/media/funkedupshift/profile/avatars/ada/")
    assert url.endswith(".png")
    served = httpx.get(site.url + url)
    assert served.content == png()
    assert served.headers["x-content-type-options"] == "nosniff"
    second = ada.put("/me/avatar", json={"upload_id": send_avatar(ada, png(shade=9))}).json()["avatar_url"]
    assert second != url
    assert httpx.get(site.url + url).status_code == 404, "the old one is deleted"
    assert httpx.get(site.url + second).status_code == 200
    assert ada.delete("/me/avatar").status_code == 204
    assert httpx.get(site.url + second).status_code == 404
    assert ada.get("/me").json()["avatar_url"] is None
    assert ada.delete("/me/avatar").status_code == 204
    assert site.running.store.verify() == []


PICTURES = {
    "png": ("image/png", png()),
    "jpg": ("image/jpeg", JPEG),
    "gif": ("image/gif", GIF),
    "webp": ("image/webp", WEBP),
}


@pytest.mark.parametrize("extension", PICTURES)
def test_the_four_kinds_of_avatars(site: Site, extension: str) -> None:
    content_type, data = PICTURES[extension]
    ada = site.as_("ada")
    shown = ada.put("/me/avatar", json={"upload_id": send_avatar(ada, data, content_type)}).json()
    served = httpx.get(site.url + shown["avatar_url"])
    assert (served.content, served.headers["content-type"]) == (data, content_type)
    assert "sandbox" in served.headers["content-security-policy"]
    key = {"PK": {"S": "USER#ada"}, "SK": {"S": "PROFILE"}}
    stored = site.engine.get_item(TableName="fus-main", Key=key)["Item"]["avatarKey"]["S"]
    assert re.fullmatch(rf"profile/avatars/ada/[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}\.{extension}", stored)


def test_an_avatar_has_5_megabytes_at_most(site: Site) -> None:
    ada, most = site.as_("ada"), 5 * 1024 * 1024
    ticket = ada.post("/me/avatar/upload", json={"content_type": "image/png", "size": most}).json()
    assert ticket["max_bytes"] == most
    large = {"file": ("a.png", png().ljust(most + 1, b"x"), "image/png")}
    problem(httpx.post(site.url + ticket["url"], data=ticket["fields"], files=large), 413, "entity-too-large")
    problem(ada.put("/me/avatar", json={"upload_id": ticket["upload_id"]}), 409, "not-sent")
    whole = send_avatar(ada, png().ljust(most, b"\0"))
    assert ada.put("/me/avatar", json={"upload_id": whole}).status_code == 200


def test_avatars_that_are_refused(site: Site) -> None:
    ada, bob = site.as_("ada"), site.as_("bob")
    for body in (
        {"content_type": "image/svg+xml", "size": 10},
        {"content_type": "image/png", "size": 5 * 1024 * 1024 + 1},
        {"content_type": "image/png", "size": 0},
        {"content_type": "image/png"},
    ):
        problem(ada.post("/me/avatar/upload", json=body), 422, "invalid")
    fake = send_avatar(ada, b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    problem(ada.put("/me/avatar", json={"upload_id": fake}), 422, "wrong-type")
    hers = send_avatar(ada, png())
    problem(bob.put("/me/avatar", json={"upload_id": hers}), 404, "no-such-upload")
    problem(ada.put("/me/avatar", json={"upload_id": "nothing"}), 404, "no-such-upload")
    problem(ada.put("/me/avatar", json={"upload_id": hers}, headers={"If-Match": '"9"'}), 412, "stale-version")
    assert ada.put("/me/avatar", json={"upload_id": hers}).status_code == 200
    assert ada.put("/me/avatar", json={"upload_id": hers}).status_code == 200, "it is so already"
    ada.delete("/me/avatar")
    problem(ada.put("/me/avatar", json={"upload_id": hers}), 404, "no-such-upload")
    problem(ada.delete("/me/avatar", headers={"If-Match": '"1"'}), 412, "stale-version")


def test_an_old_avatar_is_deleted_even_if_the_process_is_killed_first(site: Site) -> None:
    ada = site.as_("ada")
    url = ada.put("/me/avatar", json={"upload_id": send_avatar(ada, png())}).json()["avatar_url"]
    media = site.running.media
    keep, media.delete = media.delete, _stopped  # type: ignore[method-assign]  # the process ends here
    assert ada.delete("/me/avatar").status_code == 500
    media.delete = keep  # type: ignore[method-assign]
    assert httpx.get(site.url + url).status_code == 200
    sweep_files(site.running)
    assert httpx.get(site.url + url).status_code == 404
    assert list(site.running.store.each(site.running.design.leftover_files())) == []


def _stopped(name: str) -> None:
    raise RuntimeError("the process is gone")


def test_requests_that_note_a_visit_behind_a_held_lock_let_others_read(tmp_path: Path) -> None:
    """They are GET requests, which otherwise only read, and begin on the event loop."""
    file = tmp_path / "held.db"
    with Engine(str(file)) as engine, site_of(SYSTEM, settings_of(dev=True, path=file), engine) as held:
        ada, bob = held.as_("ada", limits=httpx.Limits(max_connections=80)), held.as_("bob")
        assert bob.get("/sites").status_code == 200
        session = Sessions(held.running.store).open(Caller("ada"))
        with ThreadPoolExecutor(60) as pool, httpx.Client(cookies={SESSION: session}, timeout=30) as browser:
            addresses = [f"{held.url}/api/funkedupshift/me", f"{held.url}/funkedupshift/profile"]
            with locked(file):
                visits = [pool.submit((ada, browser)[n % 2].get, addresses[n % 2]) for n in range(60)]
                time.sleep(0.3)
                longest = 0.0
                for path in ("/healthz", "/api/funkedupshift/sites", "/funkedupshift/") * 4:
                    began = time.monotonic()
                    assert bob.get(f"{held.url}{path}").status_code == 200
                    longest = max(longest, time.monotonic() - began)
            assert {each.result().status_code for each in visits} == {200}
    assert longest < 2
