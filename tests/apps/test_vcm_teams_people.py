"""Teams, members, roles, locations and sponsors over HTTP."""

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from keyplan.apps.vcm.entities import Sponsor
from keyplan.data import create
from tests.apps.vcm_site import ANY, add, as_role, club, editor, made, put_media, visitor
from tests.web.answers import pointers, problem
from tests.web.site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with club(tmp_path) as served:
        yield served


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A club for requests that are refused, and so change nothing."""
    with club(tmp_path_factory.mktemp("steady")) as served:
        yield served


def hall(site: Site, name: str = "Halle") -> str:
    place: str = add(site, "/locations", name=name, street="Ring 1", postalCode="68161", city="Mannheim")["id"]
    return place


def training(place: str, **changes: object) -> dict[str, Any]:
    return {"day": [3, 1, 3], "startTime": "18:30", "endTime": "20:00", "locationId": place, **changes}


# Teams


def test_a_team_comes_with_all_that_it_points_at(site: Site) -> None:
    put_media(site, "gruppenbild", "portrait")
    place, role = hall(site), add(site, "/roles", name="Trainer")["id"]
    ada = add(site, "/members", name="Ada", roleIds=[role], avatarId="portrait")["id"]
    bea = add(site, "/members", name="Bea", phone="0621 123", showContact=True)["id"]
    team = add(
        site,
        "/teams",
        name="Damen 1",
        gender="woman",
        age=16,
        league="Oberliga",
        sbvvTeamId="sams-1",
        description="Die Ersten.",
        coachIds=[ada, ada],
        contactPersonIds=[bea],
        schedules=[training(place)],
        imageIds=["gruppenbild"],
        instagram="vcm.damen1",
        publish=True,
    )
    shown = visitor(site).get(f"/teams/{team['id']}").json()
    assert shown["slug"] == "damen-1"
    assert shown["schedules"] == [training(place, day=[1, 3])]
    assert [each["name"] for each in shown["locations"]] == ["Halle"]
    assert [(each["name"], each["roles"], each["avatar"]["id"]) for each in shown["coaches"]] == [
        ("Ada", ["Trainer"], "portrait")
    ]
    assert [(each["name"], each["phone"]) for each in shown["contactPeople"]] == [("Bea", "0621 123")]
    assert [each["id"] for each in shown["images"]] == ["gruppenbild"]
    assert shown["instagram"] == "vcm.damen1"
    assert visitor(site).get("/teams/by-slug/damen-1").json() == shown
    by_sams = visitor(site).get("/teams/by-sams-id/sams-1").json()["items"]
    assert [each["id"] for each in by_sams] == [team["id"]]
    assert editor(site).delete(f"/members/{ada}", headers=ANY).status_code == 204
    assert visitor(site).get(f"/teams/{team['id']}").json()["coaches"] == []
    assert site.running.store.verify() == []


def test_teams_are_listed_by_name_and_drafts_for_editors_only(site: Site) -> None:
    for name, publish in (("Herren 1", True), ("Damen 2", True), ("Damen 1", True), ("Erwachsene", False)):
        add(site, "/teams", name=name, gender="mixed", publish=publish, sbvvTeamId="s")
    names = [each["name"] for each in visitor(site).get("/teams").json()["items"]]
    assert names == ["Damen 1", "Damen 2", "Herren 1"]
    everything = editor(site).get("/teams/all").json()["items"]
    assert [each["name"] for each in everything] == ["Damen 1", "Damen 2", "Erwachsene", "Herren 1"]
    draft = everything[2]
    for path in (f"/teams/{draft['id']}", "/teams/by-slug/erwachsene"):
        problem(visitor(site).get(path), 404, "not-found")
        assert editor(site).get(path).status_code == 200
    assert len(visitor(site).get("/teams/by-sams-id/s").json()["items"]) == 3
    assert len(editor(site).get("/teams/by-sams-id/s").json()["items"]) == 4
    editor(site).post(f"/teams/{draft['id']}/publish")
    assert visitor(site).get("/teams/by-slug/erwachsene").status_code == 200
    editor(site).post(f"/teams/{draft['id']}/unpublish")
    problem(visitor(site).get("/teams/by-slug/erwachsene"), 404, "not-found")


def test_drafts_do_not_shorten_pages_of_a_sams_team(site: Site) -> None:
    for number in range(8):
        add(site, "/teams", name=f"T{number}", gender="men", publish=number % 3 == 0, sbvvTeamId="s")
    page = visitor(site).get("/teams/by-sams-id/s", params={"limit": 2}).json()
    assert len(page["items"]) == 2
    rest = visitor(site).get("/teams/by-sams-id/s", params={"limit": 2, "cursor": page["next"]}).json()
    assert {each["name"] for each in page["items"] + rest["items"]} == {"T0", "T3", "T6"}


def test_changing_a_team(site: Site) -> None:
    team = add(site, "/teams", name="Damen 1", gender="woman", age=16, sbvvTeamId="s")
    path = f"/teams/{team['id']}"
    change = {"name": "Frauen 1", "age": None, "sbvvTeamId": None, "gender": "mixed"}
    changed = made(editor(site).patch(path, json=change, headers=ANY))
    assert (changed["slug"], changed["age"], changed["sbvvTeamId"], changed["gender"]) == (
        "frauen-1",
        None,
        None,
        "mixed",
    )
    assert editor(site).get("/teams/by-sams-id/s").json()["items"] == []
    assert editor(site).delete(path, headers=ANY).status_code == 204
    assert site.running.store.verify() == []


@pytest.mark.parametrize(
    ("change", "code", "where"),
    [
        ({"name": ""}, "invalid", "/name"),
        ({"name": "x" * 101}, "invalid", "/name"),
        ({"gender": "women"}, "invalid", "/gender"),
        ({"age": -1}, "invalid", "/age"),
        ({"instagram": "@vcm"}, "invalid", "/instagram"),
        ({"schedules": [training("h")] * 8}, "invalid", "/schedules"),
        ({"schedules": [training("h", day=[7])]}, "invalid", "/schedules/0/day/0"),
        ({"schedules": [training("h", startTime="24:00")]}, "invalid", "/schedules/0/startTime"),
        ({"schedules": [training("h", startTime="1٨:00")]}, "invalid", "/schedules/0/startTime"),
        ({"schedules": [training("h", coach="me")]}, "invalid", "/schedules/0/coach"),
        ({"schedules": [training("h", day=[])]}, "no-day", "/schedules/0/day"),
        ({"schedules": [training("h", endTime="18:30")]}, "ends-too-early", "/schedules/0/endTime"),
        ({"schedules": [training("none")]}, "no-such-location", "/schedules"),
        ({"coachIds": ["none"]}, "no-such-member", "/coachIds"),
        ({"contactPersonIds": ["none"]}, "no-such-member", "/contactPersonIds"),
        ({"imageIds": ["none"]}, "no-such-media", "/imageIds"),
    ],
)
def test_what_a_team_cannot_be(steady: Site, change: dict[str, Any], code: str, where: str) -> None:
    answer = editor(steady).post("/teams", json={"name": "T", "gender": "men", **change})
    assert pointers(problem(answer, 422, code)) == [where]
    team = add(steady, "/teams", name="T", gender="men")
    answer = editor(steady).patch(f"/teams/{team['id']}", json=change, headers=ANY)
    assert pointers(problem(answer, 422, code)) == [where]


def test_a_location_in_use_stays(site: Site) -> None:
    place = hall(site)
    team = add(site, "/teams", name="T", gender="men", schedules=[training(place)])
    problem(editor(site).delete(f"/locations/{place}", headers=ANY), 409, "in-use")
    assert editor(site).get(f"/locations/{place}").json()["teams"] == 1
    editor(site).patch(f"/teams/{team['id']}", json={"schedules": []}, headers=ANY)
    changed = made(editor(site).patch(f"/locations/{place}", json={"name": "Neu", "street": "Weg 2"}, headers=ANY))
    assert (changed["name"], changed["street"], changed["city"]) == ("Neu", "Weg 2", "Mannheim")
    assert [each["id"] for each in visitor(site).get("/locations").json()["items"]] == [place]
    assert editor(site).delete(f"/locations/{place}", headers=ANY).status_code == 204


# Members


def test_contact_data_is_public_for_contacts_of_published_teams_who_agree(site: Site) -> None:
    contact = {"email": "x@example.org", "phone": "0621 1"}
    ids = {
        name: add(site, "/members", name=name, showContact=shows, **contact)["id"]
        for name, shows in (("coach", True), ("contact", True), ("shy", False), ("drafted", True), ("nobody", True))
    }
    team = add(
        site,
        "/teams",
        name="T",
        gender="men",
        coachIds=[ids["coach"], ids["shy"]],
        contactPersonIds=[ids["contact"]],
        publish=True,
    )
    add(site, "/teams", name="Entwurf", gender="men", coachIds=[ids["drafted"]])

    def seen(role: str) -> set[str]:
        client = as_role(site, role)
        listed = {each["name"] for each in client.get("/members").json()["items"] if each["email"] and each["phone"]}
        alone = {name for name, id in ids.items() if client.get(f"/members/{id}").json()["email"]}
        assert listed == alone
        return listed

    assert seen("anyone") == seen("signed in") == {"coach", "contact"}
    assert seen("Moderator") == set(ids)
    shown = visitor(site).get(f"/teams/{team['id']}").json()
    assert [(each["name"], each["email"]) for each in shown["coaches"]] == [("coach", "x@example.org"), ("shy", None)]
    assert visitor(site).get(f"/members/{ids['coach']}").json()["showContact"] is None
    editor(site).post(f"/teams/{team['id']}/unpublish")
    assert seen("anyone") == set()


def test_changing_a_member(site: Site) -> None:
    put_media(site, "portrait")
    role = add(site, "/roles", name="Vorstand")["id"]
    member = add(site, "/members", name="Ada", email="ada@example.org", roleIds=[role, role], avatarId="portrait")
    path = f"/members/{member['id']}"
    assert member["roleIds"] == [role]
    assert member["roles"] == ["Vorstand"]
    problem(editor(site).delete(f"/roles/{role}", headers=ANY), 409, "in-use")
    change: dict[str, Any] = {"name": "Ada L.", "email": None, "roleIds": [], "avatarId": None, "showContact": True}
    changed = made(editor(site).patch(path, json=change, headers=ANY))
    assert (changed["name"], changed["email"], changed["roles"], changed["avatar"]) == ("Ada L.", None, [], None)
    assert made(editor(site).patch(f"/roles/{role}", json={"name": "Beirat"}, headers=ANY))["name"] == "Beirat"
    assert [each["name"] for each in visitor(site).get("/roles").json()["items"]] == ["Beirat"]
    assert editor(site).delete(f"/roles/{role}", headers=ANY).status_code == 204
    assert site.running.store.verify() == []


@pytest.mark.parametrize(
    ("change", "code", "where"),
    [
        ({"name": "x" * 101}, "invalid", "/name"),
        ({"email": "ada"}, "invalid", "/email"),
        ({"phone": "call me"}, "invalid", "/phone"),
        ({"roleIds": ["r"] * 21}, "invalid", "/roleIds"),
        ({"showContact": "yes"}, "invalid", "/showContact"),
        ({"roleIds": ["none"]}, "no-such-role", "/roleIds"),
        ({"avatarId": "none"}, "no-such-media", "/avatarId"),
    ],
)
def test_what_a_member_cannot_be(steady: Site, change: dict[str, Any], code: str, where: str) -> None:
    answer = editor(steady).post("/members", json={"name": "M", **change})
    assert pointers(problem(answer, 422, code)) == [where]
    member = add(steady, "/members", name="M")
    answer = editor(steady).patch(f"/members/{member['id']}", json=change, headers=ANY)
    assert pointers(problem(answer, 422, code)) == [where]


# Sponsors


def test_an_expired_sponsor_is_not_found(site: Site) -> None:
    put_media(site, "logo")
    later = int(time.time()) + 3600
    sponsor = add(site, "/sponsors", name="Bäcker", website="https://example.org", logoId="logo", expiryTimestamp=later)
    forever = add(site, "/sponsors", name="Stadtwerke")
    assert sponsor["expiryTimestamp"] == later
    assert {each["name"] for each in visitor(site).get("/sponsors").json()["items"]} == {"Bäcker", "Stadtwerke"}
    assert visitor(site).get(f"/sponsors/{sponsor['id']}").json()["logo"]["id"] == "logo"
    clock = site.running.store.clock
    site.running.store.clock = lambda: clock() + timedelta(hours=2)
    assert [each["name"] for each in visitor(site).get("/sponsors").json()["items"]] == ["Stadtwerke"]
    for role in ("anyone", "Moderator"):
        problem(as_role(site, role).get(f"/sponsors/{sponsor['id']}"), 404, "not-found")
    problem(editor(site).patch(f"/sponsors/{sponsor['id']}", json={"name": "B"}, headers=ANY), 404, "not-found")
    assert visitor(site).get(f"/sponsors/{forever['id']}").json()["expiryTimestamp"] is None


def test_sponsors_that_have_expired_do_not_shorten_pages(site: Site) -> None:
    now = site.running.store.clock()
    for number in range(30):
        expiry = now + timedelta(hours=-1 if number % 3 else 1)
        site.running.store.run(create(Sponsor(id=f"s{number:02}", name=f"S{number}", expiry_timestamp=expiry)))
    page = visitor(site).get("/sponsors", params={"limit": 8}).json()
    assert len(page["items"]) == 8
    rest = visitor(site).get("/sponsors", params={"limit": 8, "cursor": page["next"]}).json()
    assert (len(rest["items"]), rest["next"]) == (2, None)


def test_changing_a_sponsor(site: Site) -> None:
    put_media(site, "logo", "other")
    sponsor = add(site, "/sponsors", name="S", logoId="logo", expiryTimestamp=int(time.time()) + 3600)
    path = f"/sponsors/{sponsor['id']}"
    change = {"name": "T", "logoId": "other", "expiryTimestamp": None, "website": "http://example.org"}
    changed = made(editor(site).patch(path, json=change, headers=ANY))
    assert (changed["name"], changed["logo"]["id"], changed["expiryTimestamp"]) == ("T", "other", None)
    assert editor(site).delete(path, headers=ANY).status_code == 204
    assert site.running.store.verify() == []


@pytest.mark.parametrize(
    ("change", "code", "where"),
    [
        ({"name": ""}, "invalid", "/name"),
        ({"website": "javascript:alert(1)"}, "invalid", "/website"),
        ({"website": "ftp://example.org"}, "invalid", "/website"),
        ({"expiryTimestamp": "2030-01-01"}, "invalid", "/expiryTimestamp"),
        ({"expiryTimestamp": 1}, "expired", "/expiryTimestamp"),
        ({"logoId": "none"}, "no-such-media", "/logoId"),
    ],
)
def test_what_a_sponsor_cannot_be(steady: Site, change: dict[str, Any], code: str, where: str) -> None:
    answer = editor(steady).post("/sponsors", json={"name": "S", **change})
    assert pointers(problem(answer, 422, code)) == [where]
    sponsor = add(steady, "/sponsors", name="S")
    answer = editor(steady).patch(f"/sponsors/{sponsor['id']}", json=change, headers=ANY)
    assert pointers(problem(answer, 422, code)) == [where]
