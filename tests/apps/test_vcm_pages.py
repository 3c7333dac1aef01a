"""The club's pages over real HTTP: for every page who gets it, what its forms refuse, and the calendar."""

import re
from collections.abc import Iterator
from html import unescape

import httpx
import pytest

from keyplan.apps.vcm.pages import pages
from tests.apps.vcm_site import ROLES, add, announce, club, doc, editor, put_media, write
from tests.web.site import Site


class Reader:
    """Somebody with a browser that runs no scripts."""

    def __init__(self, site: Site, role: str) -> None:
        self.client = httpx.Client(base_url=f"{site.url}/vcm", timeout=30)
        sub, groups = ROLES[role]
        if sub is not None:
            self.send("/sign-in", sub=sub, groups=" ".join(groups))

    def token(self) -> str:
        page = self.client.get("/sign-in").text
        found = re.search(r'name="csrf" value="([^"]+)"', page)
        assert found is not None
        return unescape(found[1])

    def send(self, path: str, **values: object) -> httpx.Response:
        return self.client.post(path, data={**values, "csrf": self.token()})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with club(tmp_path_factory.mktemp("pages")) as served:
        put_media(served, "m")
        write(served, "Derby", publish=True)
        write(served, "Entwurf")
        announce(
            served, "Fest; mit Kuchen, und\nmehr", publish=True, description=doc("Ä" * 60),
            address={"name": "Halle", "city": "Mannheim"}, endDate="2030-07-01T20:00:00Z",
        )  # fmt: skip
        announce(served, "Geheim")
        add(served, "/teams", name="Damen 1", gender="woman", publish=True)
        yield served


@pytest.fixture(scope="module")
def readers(site: Site) -> Iterator[dict[str, Reader]]:
    made = {role: Reader(site, role) for role in ROLES}
    yield made
    for reader in made.values():
        reader.client.close()


@pytest.fixture(scope="module")
def known(site: Site) -> dict[str, str]:
    """Ids of things, by the folder of their pages."""
    client = editor(site)
    ids = {kind: client.get(path).json()["items"][0]["id"] for kind, path in (
        ("news", "/news"), ("termine", "/events"), ("teams", "/teams/all"), ("medien", "/media"),
    )}  # fmt: skip
    ids["rollen"] = add(site, "/roles", name="Trainer")["id"]
    ids["orte"] = add(site, "/locations", name="Halle", street="S", postalCode="1", city="C")["id"]
    ids["mitglieder"] = add(site, "/members", name="Ida", email="ida@example.org")["id"]
    ids["sponsoren"] = add(site, "/sponsors", name="Bäcker")["id"]
    return ids


SLUGS = {"/news/{slug}": "derby", "/termine/{slug}": "fest-mit-kuchen-und-mehr", "/teams/{slug}": "damen-1"}


def filled(path: str, known: dict[str, str]) -> str:
    return path.format(slug=SLUGS.get(path), id=known.get(path.split("/")[2] if path.count("/") > 1 else "", ""))


@pytest.mark.parametrize("path", sorted({page.path for page in pages.pages if page.verb == "GET"}))
def test_every_page_for_every_role(readers: dict[str, Reader], known: dict[str, str], path: str) -> None:
    expected = {"anyone": 200, "signed in": 200, "Moderator": 200, "Admin": 200}
    if path.startswith("/redaktion"):
        expected = {"anyone": 303, "signed in": 403, "Moderator": 200, "Admin": 200}
    if path == "/redaktion/sams":
        expected["Moderator"] = 403
    answers = {role: reader.client.get(filled(path, known)) for role, reader in readers.items()}
    assert {role: answer.status_code for role, answer in answers.items()} == expected
    for role in ("anyone", "signed in"):
        assert "Entwurf" not in answers[role].text
        assert "Geheim" not in answers[role].text
        assert "ida@example.org" not in answers[role].text


@pytest.mark.parametrize("path", sorted({page.path for page in pages.pages if page.verb == "POST"}))
def test_every_form_for_who_may_not(readers: dict[str, Reader], known: dict[str, str], path: str) -> None:
    """With what each form needs to be read at all, a visitor is told to sign in, and others that they may not."""
    values = {
        "version": "1", "title": "T", "name": "N", "startDate": "2030-01-01T10:00", "gender": "men", "street": "S",
        "postalCode": "1", "city": "C", "contentType": "image/png", "uploadId": "u", "file": "{}", "alt": "A",
    }  # fmt: skip
    names = _fields_of(path)
    given = {name: value for name, value in values.items() if name in names}
    assert readers["anyone"].send(filled(path, known), **given).status_code == 401
    assert readers["signed in"].send(filled(path, known), **given).status_code == 403
    if path == "/redaktion/sams":
        assert readers["Moderator"].send(path, **given).status_code == 403
    assert readers["Moderator"].client.post(filled(path, known), data=given).status_code == 403, "without its token"


def _fields_of(path: str) -> set[str]:
    (page,) = [page for page in pages.pages if (page.verb, page.path) == ("POST", path)]
    hints = [hint for hint in page.function.__annotations__.values() if hasattr(hint, "model_fields")]
    return {field.alias or name for hint in hints for name, field in hint.model_fields.items()}


def test_what_a_form_refuses_is_shown_in_it(readers: dict[str, Reader]) -> None:
    mona = readers["Moderator"]
    answer = mona.send("/redaktion/news/neu", title="", content="Text bleibt", contentJson="", excerpt="")
    assert answer.status_code == 422
    assert "Das wird gebraucht." in answer.text
    assert "Text bleibt" in answer.text
    answer = mona.send("/redaktion/news/neu", title="T", content="x", contentJson='{"type": "script"}')
    assert answer.status_code == 422
    answer = mona.send("/redaktion/news/neu", title="T", content="x", contentJson="no json")
    assert "Der Text kann nicht gelesen werden." in answer.text
    answer = mona.send("/redaktion/termine/neu", title="T", startDate="2030-01-02T10:00", endDate="2030-01-01T10:00")
    assert "Ein Termin endet nicht, bevor er beginnt." in answer.text
    answer = mona.send("/redaktion/rollen/neu", name="")
    assert answer.status_code == 422


def test_times_are_those_of_berlin(readers: dict[str, Reader], site: Site) -> None:
    answer = readers["Moderator"].send("/redaktion/termine/neu", title="Sommerzeit", startDate="2030-07-01T18:00")
    assert answer.status_code == 303
    assert editor(site).get("/events/by-slug/sommerzeit").json()["startDate"] == "2030-07-01T16:00:00.000Z"
    assert "1. Juli 2030</time>, 18:00 Uhr" in readers["Moderator"].client.get("/termine/sommerzeit").text


def test_a_sponsor_stays_until_its_last_day_is_over(readers: dict[str, Reader], site: Site) -> None:
    assert readers["Moderator"].send("/redaktion/sponsoren/neu", name="Bis Silvester", lastDay="2030-12-31").is_redirect
    (sponsor,) = [each for each in editor(site).get("/sponsors").json()["items"] if each["name"] == "Bis Silvester"]
    assert sponsor["expiryTimestamp"] == 1924988400  # midnight in Berlin
    assert 'value="2030-12-31"' in readers["Moderator"].client.get(f"/redaktion/sponsoren/{sponsor['id']}").text


def test_the_calendar(readers: dict[str, Reader], site: Site) -> None:
    answer = readers["anyone"].client.get("/termine.ics")
    assert answer.headers["content-type"].startswith("text/calendar")
    raw = answer.content
    assert raw.endswith(b"\r\n")
    assert max(len(line) for line in raw.split(b"\r\n")) <= 75
    lines = raw.decode().replace("\r\n ", "").split("\r\n")
    assert lines[0] == "BEGIN:VCALENDAR"
    event = lines[lines.index("BEGIN:VEVENT") : lines.index("END:VEVENT")]
    assert "SUMMARY:Fest\\; mit Kuchen\\, und\\nmehr" in event
    assert "DTSTART:20300701T160000Z" in event
    assert "DTEND:20300701T200000Z" in event
    assert "LOCATION:Halle\\, Mannheim" in event
    assert f"DESCRIPTION:{'Ä' * 60}" in event
    assert f"URL:{site.url}/vcm/termine/fest-mit-kuchen-und-mehr" in event
    assert b"Geheim" not in raw


def test_public_pages_are_german(readers: dict[str, Reader]) -> None:
    page = readers["anyone"].client.get("/").text
    assert '<html lang="de">' in page
    missing = readers["anyone"].client.get("/news/none")
    assert (missing.status_code, "Diese News gibt es nicht." in missing.text) == (404, True)
