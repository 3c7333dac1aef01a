"""The club's pages over real HTTP: who may open each page, what its forms refuse, and the calendar."""

import json
import re
from collections.abc import Iterator
from html import unescape

import httpx
import orjson
import pytest

from keyplan.apps.vcm.pages import pages
from tests.apps.vcm_site import ROLES, add, announce, club, doc, editor, put_media, write
from tests.web.site import Site


class Reader:
    """A browser without JavaScript."""

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
        return self.client.post(path, data={"form": "main", "confirmed": "yes", **values, "csrf": self.token()})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with club(tmp_path_factory.mktemp("pages")) as served:
        put_media(served, "m")
        write(served, "Derby", publish=True)
        write(served, "Entwurf")
        event = announce(
            served, "Fest; mit Kuchen, und mehr", publish=True, description=doc("Ä" * 60),
            address={"name": "Halle", "city": "Mannheim"}, endDate="2030-07-01T20:00:00Z",
        )  # fmt: skip
        served.engine.update_item(  # a title of two lines, from before titles had one
            TableName="vcm-events",
            Key={"id": {"S": event["id"]}},
            UpdateExpression="SET title = :title",
            ExpressionAttributeValues={":title": {"S": "Fest; mit Kuchen, und\nmehr"}},
        )
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
    """IDs by the folder of their pages."""
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


@pytest.mark.parametrize("path", sorted({page.path for page in pages.routes if page.verb == "GET"}))
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


@pytest.mark.parametrize("path", sorted({page.path for page in pages.routes if page.verb == "POST"}))
def test_every_form_is_refused_without_permission(readers: dict[str, Reader], known: dict[str, str], path: str) -> None:
    """Sends each form with its minimal fields: visitors are asked to sign in, and others get 403."""
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
    (page,) = [page for page in pages.routes if (page.verb, page.path) == ("POST", path)]
    hints = [hint for hint in page.function.__annotations__.values() if hasattr(hint, "model_fields")]
    return {field.alias or name for hint in hints for name, field in hint.model_fields.items()}


def test_what_a_form_refuses_is_shown_in_it(readers: dict[str, Reader]) -> None:
    mona = readers["Moderator"]
    answer = mona.send("/redaktion/news/neu", title="", content="Text bleibt", contentJson="", excerpt="")
    assert answer.status_code == 422
    assert "Pflichtfeld." in answer.text
    assert "Text bleibt" in answer.text
    answer = mona.send("/redaktion/news/neu", title="T", content="x", contentJson='{"type": "script"}')
    assert answer.status_code == 422
    answer = mona.send("/redaktion/news/neu", title="T", content="x", contentJson="no json")
    assert "Der Text kann nicht gelesen werden." in answer.text
    answer = mona.send("/redaktion/termine/neu", title="T", startDate="2030-01-02T10:00", endDate="2030-01-01T10:00")
    assert "Der Termin endet, bevor er beginnt." in answer.text
    assert "Ende: Der Termin endet, bevor er beginnt." in answer.text, "with the name of the field"
    answer = mona.send("/redaktion/rollen/neu", name="")
    assert answer.status_code == 422
    answer = mona.send("/redaktion/mitglieder/neu", name="Ida", email="ida at example.org")
    assert "E-Mail-Adresse: Bitte eine gültige E-Mail-Adresse eingeben." in answer.text
    answer = mona.send("/redaktion/sponsoren/neu", name="Bäcker", lastDay="2001-01-01")
    assert '<a href="#field-lastDay">Letzter Tag: Dieser Tag ist schon vorbei.' in answer.text
    answer = mona.send("/redaktion/termine/neu", title="T", startDate="2030-01-01T10:00", city="x" * 201)
    assert "Stadt: Bitte höchstens 200 Zeichen eingeben." in answer.text
    answer = mona.send("/redaktion/news/neu", title="x" * 201, content="x")
    assert "Titel: Bitte höchstens 200 Zeichen eingeben." in answer.text


def test_what_was_written_with_the_editor_can_be_copied(site: Site) -> None:
    """After the session has ended, people get Markdown and the names of what they chose, in German."""
    mona = Reader(site, "Moderator")
    [days] = re.findall(r'name="day0\.names" value="([^"]*)"', mona.client.get("/redaktion/teams/neu").text)
    token = mona.token()
    for name in [each for each in mona.client.cookies if "session" in each]:
        mona.client.cookies.delete(name)
    document = {"type": "doc", "content": [{"type": "paragraph", "content": [{"type": "text", "text": "Neu."}]}]}
    typed = {"csrf": token, "form": "main", "title": "T", "content": "Alt."}
    answer = mona.client.post("/redaktion/news/neu", data={**typed, "contentJson": orjson.dumps(document).decode()})
    copied = dict(re.findall(r'<label for="typed-\d+">(.*?)</label>\s*<input [^>]*value="([^"]*)"', answer.text))
    assert (answer.status_code, copied) == (401, {"Titel": "T", "Text": "Neu."})
    answer = mona.client.post("/redaktion/news/neu", data={**typed, "contentJson": "no json"})
    assert '<input id="typed-2" readonly value="Alt.">' in answer.text
    upload = {"csrf": token, "form": "added", "uploadId": f"20300101000000-{'a' * 32}", "alt": "Jubel"}
    answer = mona.client.post("/redaktion/medien/hinzufuegen", data=upload)
    assert "Jubel" in answer.text
    assert upload["uploadId"] not in answer.text
    team = {"csrf": token, "form": "main", "name": "Damen 9", "day0": ["1", "3"], "day0.names": unescape(days)}
    answer = mona.client.post("/redaktion/teams/neu", data=team)
    assert "Training 1, Wochentage" in answer.text
    assert "Montag\nMittwoch" in answer.text
    mona.send("/sign-in", sub="mona", groups="Moderator")
    found = re.search(r"data-unsent><p>(.*?)<time", mona.client.get("/").text)
    assert found is not None
    assert "„" in found[1], found[1]
    assert "“," in found[1]
    mona.client.close()


@pytest.mark.parametrize(("folder", "field"), [("news", "content"), ("termine", "description")])
def test_a_preview_stores_nothing_and_keeps_what_was_typed(
    readers: dict[str, Reader], site: Site, known: dict[str, str], folder: str, field: str
) -> None:
    """Other fields may still be invalid."""
    for of in ("", f"?of={known[folder]}"):
        before = editor(site).get("/news/all").json(), editor(site).get("/events/all").json()
        typed = {"title": "", field: "**Neu** ![Netz](media:m)", "version": "alt"}
        answer = readers["Moderator"].send(f"/redaktion/{folder}/vorschau{of}", **typed)
        assert answer.status_code == 200
        assert "<strong>Neu</strong>" in answer.text
        assert 'id="vorschau"' in answer.text
        assert "![Netz](media:m)" in answer.text
        assert "&#34;src&#34;:&#34;/" in answer.text, "the editor shows the picture"
        assert (editor(site).get("/news/all").json(), editor(site).get("/events/all").json()) == before
    answer = readers["Moderator"].send(f"/redaktion/{folder}/vorschau", **{field: "[x](javascript:y)"})
    assert (answer.status_code, "Ein Link beginnt mit" in answer.text) == (422, True)


def test_publishing_and_deleting_by_buttons(readers: dict[str, Reader], site: Site) -> None:
    """The same for news, events and teams; a newer version is never overwritten."""
    made = {
        ("news", "news"): write(site, "Knopf"),
        ("termine", "events"): announce(site, "Knopf"),
        ("teams", "teams"): add(site, "/teams", name="Knopf", gender="men"),
    }
    mona = readers["Moderator"]
    for (folder, path), thing in made.items():
        at = f"/redaktion/{folder}/{thing['id']}"
        answer = mona.send(f"{at}/veroeffentlichen", version="1")
        assert (answer.status_code, answer.headers["location"]) == (303, f"/vcm/{folder}/knopf")
        assert editor(site).get(f"/{path}/{thing['id']}").json()["status"] == "published"
        assert mona.send(f"{at}/zurueckziehen", version="1").status_code == 412
        assert mona.send(f"{at}/zurueckziehen", version="2").status_code == 303
        assert editor(site).get(f"/{path}/{thing['id']}").json()["status"] == "draft"
        assert mona.send(f"{at}/loeschen", version="2").status_code == 412
        assert mona.send(f"{at}/loeschen", version="3").headers["location"] == f"/vcm/redaktion/{folder}"
        assert editor(site).get(f"/{path}/{thing['id']}").status_code == 404


def test_seconds_that_a_form_does_not_show_stay(readers: dict[str, Reader], site: Site) -> None:
    event = announce(site, "Pünktlich", startDate="2030-07-01T16:00:42.500Z", endDate="2030-07-01T17:00:42.500Z")
    typed = {"title": "Pünktlich", "startDate": "2030-07-01T18:00", "version": "1"}
    typed["startDate.before"] = event["startDate"]
    path = f"/redaktion/termine/{event['id']}"
    assert readers["Moderator"].send(path, **typed, endDate="2030-07-01T20:00").status_code == 303
    changed = editor(site).get(f"/events/{event['id']}").json()
    assert (changed["startDate"], changed["endDate"]) == ("2030-07-01T16:00:42.500Z", "2030-07-01T18:00:00.000Z")


def test_the_desk_shows_drafts_however_old(readers: dict[str, Reader], site: Site) -> None:
    write(site, "Vergessener Entwurf", publishedDate="2001-01-01T00:00:00Z")
    for number in range(55):
        write(site, f"Viel {number}", publish=True)
    assert "Vergessener Entwurf" in readers["Moderator"].client.get("/redaktion").text


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


def test_an_event_that_lasts_no_second_has_no_end_in_the_calendar(readers: dict[str, Reader], site: Site) -> None:
    """RFC 5545 requires an end after the start."""
    for title, end in (("Jetzt", "2031-01-01T10:00:00.000Z"), ("Gleich", "2031-01-01T10:00:00.900Z")):
        announce(site, title, startDate="2031-01-01T10:00:00.000Z", endDate=end, publish=True)
    lines = readers["anyone"].client.get("/termine.ics").text.split("\r\n")
    assert lines.count("DTSTART:20310101T100000Z") == 2
    assert "DTEND:20310101T100000Z" not in lines


def test_sams_is_imported_by_a_form(readers: dict[str, Reader], site: Site) -> None:
    clubs = [{"samsClubId": str(n), "name": f"Club {n}", "nameSlug": f"club-{n}"} for n in range(4)]
    anja = readers["Admin"]
    assert anja.send("/redaktion/sams", file=json.dumps({"clubs": clubs})).status_code == 303
    assert "4 neu, 0 geändert, 0 entfernt" in anja.client.get("/redaktion/sams").text
    refused = anja.send("/redaktion/sams", file=json.dumps({"clubs": clubs[:2]}))
    assert refused.status_code == 409
    assert "2 von 4 Vereinen würden entfernt." in refused.text
    assert anja.send("/redaktion/sams", file=json.dumps({"clubs": clubs[:2]}), removeMany="true").status_code == 303
    assert len(editor(site).get("/sams/clubs").json()["items"]) == 2


def test_signing_in_and_out_is_german(site: Site) -> None:
    mona = Reader(site, "Moderator")
    assert "Angemeldet als Mona Moderatorin" in mona.client.get("/").text
    assert "Benutzer auswählen" in mona.client.get("/sign-in").text
    mona.send("/sign-out")
    assert "Abgemeldet" in mona.client.get("/").text
    mona.client.close()


def test_public_pages_are_german(readers: dict[str, Reader]) -> None:
    page = readers["anyone"].client.get("/").text
    assert '<html lang="de">' in page
    missing = readers["anyone"].client.get("/news/none")
    assert (missing.status_code, "Diese News gibt es nicht." in missing.text) == (404, True)
