"""Media items, and what is imported from SAMS, over HTTP."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.apps.vcm_site import (
    ANY,
    add,
    admin,
    as_role,
    club,
    editor,
    made,
    png,
    put_media,
    upload,
    visitor,
    work_off,
    write,
)
from tests.web.answers import pointers, problem
from tests.web.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with club(tmp_path) as served:
        yield served


def test_an_image_is_asked_for_sent_and_added(site: Site) -> None:
    media = upload(site, alt="Die Mannschaft")
    assert media["alt"] == "Die Mannschaft"
    assert media["url"].endswith(media["filename"])
    assert httpx.get(f"{site.url}{media['url']}").content == png()
    stored = site.running.store.run(site.running.design.media(media["id"]))
    assert stored.s3_key == f"media/{media['filename']}"
    assert stored.s3_bucket == site.running.media.bucket
    assert [each["id"] for each in editor(site).get("/media").json()["items"]] == [media["id"]]
    changed = made(editor(site).patch(f"/media/{media['id']}", json={"alt": "Alle"}, headers=ANY))
    assert changed["alt"] == "Alle"
    assert made(editor(site).patch(f"/media/{media['id']}", json={"alt": ""}, headers=ANY))["alt"] is None


def test_an_upload_is_added_once_and_by_its_requester(site: Site) -> None:
    ticket = made(editor(site).post("/media/upload", json={"contentType": "image/png", "size": 1000}))
    body = {"uploadId": ticket["uploadId"]}
    problem(editor(site).post("/media", json=body), 409, "not-sent")
    url = f"{site.url}{ticket['url']}" if ticket["url"].startswith("/") else ticket["url"]
    httpx.post(url, data=ticket["fields"], files={"file": ("x.png", png(), "image/png")})
    problem(as_role(site, "Admin").post("/media", json=body), 404, "no-such-upload")
    assert editor(site).post("/media", json=body).status_code == 201
    problem(editor(site).post("/media", json=body), 409, "added-already")


@pytest.mark.parametrize("kind", ["image/svg+xml", "text/html", "application/pdf"])
def test_a_file_that_is_not_an_image_is_refused(site: Site, kind: str) -> None:
    refused = editor(site).post("/media/upload", json={"contentType": kind, "size": 10})
    assert pointers(problem(refused, 422, "type-not-taken")) == ["/contentType"]
    answer = editor(site).post("/media/upload", json={"contentType": "image/png", "size": 10 * 1024 * 1024 + 1})
    assert pointers(problem(answer, 422, "invalid")) == ["/size"]


def test_media_by_ids_come_in_the_order_asked(site: Site) -> None:
    put_media(site, *(f"m{number:03}" for number in range(100)))
    ids = [f"m{number:03}" for number in reversed(range(100))]
    found = visitor(site).get("/media/by-ids", params={"ids": ids}).json()["items"]
    assert [each["id"] for each in found] == ids
    found = visitor(site).get("/media/by-ids", params={"ids": ["m002", "none", "m001", "m002"]}).json()["items"]
    assert [each["id"] for each in found] == ["m002", "m001"]
    problem(visitor(site).get("/media/by-ids"), 422, "invalid")
    problem(visitor(site).get("/media/by-ids", params={"ids": [*ids, "one-more"]}), 422, "invalid")


def test_a_media_item_in_use_stays(site: Site) -> None:
    put_media(site, "a")
    article = write(site, imageIds=["a"])
    sponsor = add(site, "/sponsors", name="S", logoId="a")
    assert editor(site).get("/media/a").json()["references"] == 2
    problem(editor(site).delete("/media/a", headers=ANY), 409, "in-use")
    editor(site).patch(f"/news/{article['id']}", json={"imageIds": []}, headers=ANY)
    problem(editor(site).delete("/media/a", headers=ANY), 409, "in-use")
    editor(site).patch(f"/sponsors/{sponsor['id']}", json={"logoId": None}, headers=ANY)
    assert editor(site).delete("/media/a", headers=ANY).status_code == 204
    assert site.running.store.verify() == []


def test_what_stops_using_an_image_takes_it_and_its_file_along(site: Site) -> None:
    """A logo that a sponsor and an article share is deleted with the last of them; a replaced logo at once."""
    shared, old, new = (upload(site, png(number)) for number in range(3))
    sponsor = add(site, "/sponsors", name="S", logoId=shared["id"])
    other = add(site, "/sponsors", name="T", logoId=old["id"])
    article = write(site, imageIds=[shared["id"]])

    def there(media: dict[str, Any]) -> tuple[int, int]:
        item, file = editor(site).get(f"/media/{media['id']}"), httpx.get(f"{site.url}{media['url']}")
        return item.status_code, file.status_code

    assert editor(site).delete(f"/sponsors/{sponsor['id']}", headers=ANY).status_code == 204
    made(editor(site).patch(f"/sponsors/{other['id']}", json={"logoId": new["id"]}, headers=ANY))
    work_off(site)
    assert [there(each) for each in (shared, old, new)] == [(200, 200), (404, 404), (200, 200)]
    assert editor(site).delete(f"/news/{article['id']}", headers=ANY).status_code == 204
    work_off(site)
    assert there(shared) == (404, 404)
    assert site.running.store.verify() == []


# SAMS


def sams_club(id: str, **changes: object) -> dict[str, Any]:
    return {"samsClubId": id, "name": f"Club {id}", "nameSlug": f"club-{id}", **changes}


def sams_team(id: str, **changes: object) -> dict[str, Any]:
    values = {"name": f"Team {id}", "leagueName": "Oberliga", "leagueId": "ol", "clubId": "1", "season": "2026/27"}
    return {"samsTeamId": id, **values, **changes}


def test_an_import_inserts_updates_and_removes(site: Site) -> None:
    clubs, teams = [sams_club(str(n)) for n in range(40)], [sams_team(str(n)) for n in range(40)]
    answer = made(admin(site).post("/sams/import", json={"clubs": clubs, "teams": teams}))
    assert answer["clubs"] == {"inserted": 40, "updated": 0, "removed": 0, "unchanged": 0}
    stamp = visitor(site).get("/sams/clubs/3").json()["updatedAt"]
    clubs = [*clubs[:1], sams_club("1", name="Neu", logoUrl="https://example.org/l.png"), *clubs[2:36], sams_club("x")]
    answer = made(admin(site).post("/sams/import", json={"clubs": clubs}))
    assert answer["clubs"] == {"inserted": 1, "updated": 1, "removed": 4, "unchanged": 35}
    assert answer["teams"] == {"inserted": 0, "updated": 0, "removed": 0, "unchanged": 0}
    assert visitor(site).get("/sams/clubs/1").json()["name"] == "Neu"
    assert visitor(site).get("/sams/clubs/3").json()["updatedAt"] == stamp, "what is the same is not written"
    problem(visitor(site).get("/sams/clubs/39"), 404, "not-found")
    assert visitor(site).get("/sams/teams/39").json()["leagueName"] == "Oberliga"
    problem(visitor(site).get("/sams/teams/none"), 404, "not-found")
    again = made(admin(site).post("/sams/import", json={"clubs": clubs, "teams": teams}))
    assert again["clubs"] == {"inserted": 0, "updated": 0, "removed": 0, "unchanged": 37}
    page = visitor(site).get("/sams/teams", params={"limit": 25}).json()
    rest = visitor(site).get("/sams/teams", params={"limit": 25, "cursor": page["next"]}).json()
    assert len({each["samsTeamId"] for each in page["items"] + rest["items"]}) == 40


def test_an_import_removes_a_fifth_at_most_unless_told(site: Site) -> None:
    clubs = [sams_club(str(n)) for n in range(10)]
    admin(site).post("/sams/import", json={"clubs": clubs, "teams": [sams_team("1")]})
    refused = admin(site).post("/sams/import", json={"clubs": [*clubs[:7], sams_club("new")], "teams": []})
    assert "3 of 10 clubs" in str(problem(refused, 409, "removes-many")["detail"])
    problem(admin(site).post("/sams/import", json={"clubs": clubs[:8], "teams": []}), 409, "removes-many")
    assert len(visitor(site).get("/sams/clubs").json()["items"]) == 10, "nothing was written"
    problem(visitor(site).get("/sams/clubs/new"), 404, "not-found")
    assert made(admin(site).post("/sams/import", json={"clubs": clubs[:8]}))["clubs"]["removed"] == 2
    told = made(admin(site).post("/sams/import", json={"clubs": clubs[:1], "teams": [], "removeMany": True}))
    assert (told["clubs"]["removed"], told["teams"]["removed"]) == (7, 1)


@pytest.mark.parametrize(
    ("body", "code", "where"),
    [
        ({"clubs": [sams_club("1"), sams_club("1")]}, "same-id", "/clubs"),
        ({"teams": [sams_team("1"), sams_team("1")]}, "same-id", "/teams"),
        ({"clubs": [sams_club("a#b")]}, "invalid", "/clubs/0/samsClubId"),
        ({"clubs": [sams_club("1", logoUrl="data:x")]}, "invalid", "/clubs/0/logoUrl"),
        ({"teams": [{"samsTeamId": "1"}]}, "invalid", "/teams/0/name"),
        ({"clubs": {}}, "invalid", "/clubs"),
    ],
)
def test_what_cannot_be_imported(site: Site, body: dict[str, Any], code: str, where: str) -> None:
    answer = admin(site).post("/sams/import", json=body)
    assert pointers(problem(answer, 422, code))[0] == where
    assert visitor(site).get("/sams/clubs").json()["items"] == []
