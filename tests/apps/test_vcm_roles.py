"""Who may do what with the club's site: every route for every role, and two editors of the same item."""

from collections.abc import Iterator
from typing import Any

import pytest

from keyplan.apps.vcm.api import SYSTEM
from tests.apps.vcm_site import ANY, ROLES, add, as_role, club, doc, editor, png, put_media, write
from tests.web.answers import problem
from tests.web.site import Site

ROUTES = list(SYSTEM.api.who_may_do_what())
BODIES: dict[str, Any] = {
    "POST /news": {"title": "T", "content": doc("x")},
    "PATCH /news/{id}": {"title": "T"},
    "POST /events": {"title": "T", "startDate": "2030-01-01T00:00:00Z"},
    "PATCH /events/{id}": {"title": "T"},
    "POST /teams": {"name": "T", "gender": "mixed"},
    "PATCH /teams/{id}": {"name": "T"},
    "POST /members": {"name": "M"},
    "PATCH /members/{id}": {"name": "M"},
    "POST /media": {"uploadId": "none"},
    "POST /media/upload": {"contentType": "image/png", "size": len(png())},
    "PATCH /media/{id}": {"alt": "A"},
    "POST /sponsors": {"name": "S"},
    "PATCH /sponsors/{id}": {"name": "S"},
    "POST /roles": {"name": "R"},
    "PATCH /roles/{id}": {"name": "R"},
    "POST /locations": {"name": "L", "street": "S", "postalCode": "1", "city": "C"},
    "PATCH /locations/{id}": {"name": "L"},
    "POST /sams/import": {"clubs": [], "teams": []},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with club(tmp_path_factory.mktemp("roles")) as served:
        yield served


@pytest.mark.parametrize(("verb", "path", "may"), ROUTES, ids=[f"{verb} {path}" for verb, path, _ in ROUTES])
def test_every_route_for_every_role(site: Site, verb: str, path: str, may: dict[str, str]) -> None:
    body = BODIES.get(f"{verb} {path}")
    assert (body is None) == (verb in ("GET", "DELETE") or path.endswith("publish"))
    for role in ROLES:
        filled = path.format(id="none", slug="none", sams_team_id="none", sams_club_id="none")
        params = {"ids": "none"} if path.endswith("by-ids") else {}
        answer = as_role(site, role).request(verb, filled, json=body, headers=ANY, params=params)
        if may[role] == "yes":
            assert answer.status_code in (200, 201, 204, 404), (role, answer.text)
        else:
            problem(answer, *((401, "no-token") if role == "anyone" else (403, "forbidden")))


def test_the_tables_say_who_edits() -> None:
    for verb, path, may in ROUTES:
        if verb == "GET" and not path.endswith("/all") and path not in ("/media", "/media/{id}"):
            assert set(may.values()) == {"yes"}, path
        elif path == "/sams/import":
            assert [role for role, said in may.items() if said == "yes"] == ["Admin"]
        else:
            assert [role for role, said in may.items() if said == "yes"] == ["Moderator", "Admin"], path


@pytest.mark.parametrize("groups", [("admin",), ("moderator",), ("Editors", "Trainer"), ()])
def test_a_token_in_neither_group_edits_nothing_and_sees_no_draft(site: Site, groups: tuple[str, ...]) -> None:
    draft = write(site, "Nur ein Entwurf")
    somebody = site.as_("otto", *groups)
    problem(somebody.get(f"/news/{draft['id']}"), 404, "not-found")
    problem(somebody.patch(f"/news/{draft['id']}", json={"title": "Meins"}, headers=ANY), 403, "forbidden")
    problem(somebody.delete(f"/news/{draft['id']}", headers=ANY), 403, "forbidden")
    assert editor(site).get(f"/news/{draft['id']}").json()["title"] == "Nur ein Entwurf"


def _things(site: Site) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    put_media(site, "two-users")
    yield "news", write(site), {"title": "Neu"}
    yield "events", add(site, "/events", title="E", startDate="2030-01-01T00:00:00Z"), {"title": "Neu"}
    yield "teams", add(site, "/teams", name="T", gender="men"), {"name": "Neu"}
    yield "members", add(site, "/members", name="M"), {"name": "Neu"}
    yield "sponsors", add(site, "/sponsors", name="S"), {"name": "Neu"}
    yield "roles", add(site, "/roles", name="R"), {"name": "Neu"}
    yield "locations", add(site, "/locations", name="L", street="S", postalCode="1", city="C"), {"name": "Neu"}
    yield "media", editor(site).get("/media/two-users").json(), {"alt": "Neu"}


def test_two_editors_at_one_thing(site: Site) -> None:
    """An editor with an outdated version can't overwrite or delete what the other one wrote."""
    anja, mona = as_role(site, "Admin"), as_role(site, "Moderator")
    for kind, thing, change in _things(site):
        path = f"/{kind}/{thing['id']}"
        seen = {"If-Match": mona.get(path).headers["etag"]}
        assert seen["If-Match"].startswith(f'"{thing["version"]}-')
        problem(anja.patch(path, json=change), 428, "if-match-missing")
        problem(anja.delete(path), 428, "if-match-missing")
        changed = anja.patch(path, json=change, headers=seen)
        assert changed.status_code == 200, changed.text
        problem(mona.patch(path, json=change, headers=seen), 412, "stale-version")
        problem(mona.delete(path, headers=seen), 412, "stale-version")
        if kind in ("news", "events", "teams"):
            problem(mona.post(f"{path}/publish", headers=seen), 412, "stale-version")
            published = mona.post(f"{path}/publish", headers={"If-Match": changed.headers["etag"]})
            assert published.json()["status"] == "published"
        assert mona.delete(path, headers=ANY).status_code == 204
        problem(anja.get(path), 404, "not-found")
        problem(anja.patch(path, json=change, headers=ANY), 404, "not-found")
        problem(anja.delete(path, headers=ANY), 404, "not-found")
    assert site.running.store.verify() == []


def test_a_request_that_is_sent_again_has_its_effect_once(site: Site) -> None:
    body = {"title": "Einmal", "content": doc("x")}
    key = {"Idempotency-Key": "einmal"}
    one, two = (editor(site).post("/news", json=body, headers=key) for _ in range(2))
    assert one.json() == two.json()
    assert two.headers["idempotent-replayed"] == "true"
