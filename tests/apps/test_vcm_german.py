"""Everything that the club's pages say is German: rules, fields, and the pages for every problem."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import httpx
import pytest

from keyplan.apps.vcm.pages.editing import EDITORS
from keyplan.apps.vcm.pages.german import GERMAN
from keyplan.web import Language
from keyplan.web.identity.admission import Admission
from keyplan.web.pages.editors import SENTENCES
from keyplan.web.pages.rendering import folder_of
from tests.apps.vcm_site import club, editor, made, write
from tests.web.sentences import sentences
from tests.web.site import Site

WITH_VALUES = (
    "Can't delete this media item: at least one article refers to it.",
    "Can't delete this role: at least one member refers to it.",
    "Can't delete this location: at least one team refers to it.",
    "Use at most 20 images, in the text and beside it.",
    "This removes 3 of 10 clubs. Set removeMany to confirm.", "This removes 3 of 10 teams. Set removeMany to confirm.",
    "The text nests more than 31 levels deep, which can't be stored.",
    "The text has 300,001 bytes. At most 300,000 can be stored.",
)  # fmt: skip


def test_all_that_the_rules_say_is_german() -> None:
    """Every sentence of the club's service has a German translation; the kit has its own."""
    said = [*WITH_VALUES]
    club = folder_of("keyplan.apps.vcm")
    for path in sorted([*(club / "service").glob("*.py"), *(club / f"{each}.py" for each in _WITH_RULES)]):
        said += [each.replace("{}", "7") for each in sentences(path.read_text("utf-8")) if each not in _ELSEWHERE]
    assert len(said) > 25
    assert [each for each in said if GERMAN.say(each) == each] == []


_WITH_RULES = ("entities", "fields", "models")
_ELSEWHERE = {
    "This removes {} of {} {}. Set removeMany to confirm.",  # see above
    "Unix timestamp. If empty, the sponsor stays.",  # the form asks for the last day instead
    # in the OpenAPI document only
    "The subjects of their tokens.",
    "The number of things that use it.",
    "The number of members who have it.",
    "The number of teams that train there.",
}


def test_all_that_editors_read_about_fields_is_german() -> None:
    """Labels and help texts are declared in English; the catalog has German for each that a form shows."""
    kit = folder_of("keyplan.web") / "templates"
    pages = [(kit / f"{page}.html").read_text("utf-8") for page in ("editor", "editor_list")]
    said = {*SENTENCES, *(name for page in pages for name in re.findall(r'(?:say\()?"([^"]+)"(?:\)| \| said)', page))}
    assert {"Save {noun}", "Delete {noun}", "Cancel"} <= said
    for each_editor in EDITORS:
        said |= {each_editor.noun, each_editor.plural}
        infos = [each_editor.body.model_fields[name] for name in each_editor.asked]
        infos += [info for name, info in each_editor.form.model_fields.items() if name in _WITH_LABEL]
        own = [text for each in each_editor.asked.values() for text in (each.label, each.help)]
        said |= {text for text in (*own, *(text for each in infos for text in (each.title, each.description))) if text}
        assert [name for name in each_editor.asked if not each_editor.body.model_fields[name].title] == []
    without = {"Unix timestamp. If empty, the sponsor stays.", "Expiry"}  # the form asks for the last day instead
    assert sorted(said - without - GERMAN.words.keys()) == []


_WITH_LABEL = {"place", "street", "postal_code", "city", "last_day"}


# Pages for problems

PAGE = {"Accept": "text/html"}


class Browser:
    """Somebody who is signed in, and the sentences that their pages have no German for."""

    def __init__(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        self.site = site
        self.client = httpx.Client(base_url=f"{site.url}/vcm", timeout=30, headers=PAGE)
        self.english: set[str] = set()
        say = Language.say

        def listened(language: Language, text: str) -> str:
            said = say(language, text)
            if said == text and " " in text and text not in language.words:
                self.english.add(text)
            return said

        monkeypatch.setattr(Language, "say", listened)
        self.send("/sign-in", "/sign-in", sub="mona", groups="Moderator")

    def send(self, at: str, to: str, **values: str) -> httpx.Response:
        token = re.search(r'name="csrf" value="([^"]+)"', self.client.get(at).text)
        assert token
        return self.client.post(to, data={"form": "main", **values, "csrf": token[1]})

    def expect(self, page: httpx.Response, status: int, *texts: str) -> None:
        """The page for a problem, in German and in the club's design."""
        assert page.status_code == status
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert '<html lang="de">' in page.text
        assert '<a class="brand" href="/vcm/">' in page.text
        for text in texts:
            assert text in page.text
        assert self.english == set()

    @contextmanager
    def limited(self, **given: float) -> Iterator[None]:
        """Other limits within the block. The server reads them with each request."""
        values = self.site.running.settings.__dict__
        before = {name: values[name] for name in given}
        values.update(given)
        yield
        values.update(before)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with club(tmp_path_factory.mktemp("german")) as served:
        write(served, "Derby", publish=True)
        yield served


@pytest.fixture
def mona(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Browser]:
    browser = Browser(site, monkeypatch)
    yield browser
    browser.client.close()


def test_what_does_not_exist(mona: Browser) -> None:
    mona.expect(mona.client.get("/none"), 404, "<h1>Nicht gefunden</h1>", "Diese Seite gibt es nicht.")
    mona.expect(mona.client.get("/news/none"), 404, "Diese News gibt es nicht.")
    mona.expect(mona.client.put("/"), 405, "<h1>Methode nicht erlaubt</h1>")
    mona.expect(mona.client.get("/news?cursor=none"), 400, "<h1>Ungültige Anfrage</h1>")
    mona.expect(httpx.get(f"{mona.site.url}/media/vcm/none.png", headers=PAGE), 404, "<h1>Nicht gefunden</h1>")


def test_what_is_not_permitted(mona: Browser) -> None:
    with httpx.Client(base_url=mona.client.base_url, headers=PAGE) as visitor:
        mona.expect(visitor.post("/redaktion/news/neu", data={"form": "main", "title": "Neu"}), 403, "abgelaufen")
        visitor.cookies = mona.client.cookies
        mona.expect(mona.send("/redaktion/news/neu", "/redaktion/news/neu", title=""), 422, "Titel: Pflichtfeld.")
        foreign = {"Sec-Fetch-Site": "cross-site"}
        mona.expect(visitor.post("/redaktion/news/neu", data={"form": "main"}, headers=foreign), 403, "anderen Website")
    mona.send("/", "/sign-out")
    mona.expect(mona.send("/sign-in", "/sign-in", sub=""), 422, "Benutzer-ID: Pflichtfeld.")
    mona.send("/sign-in", "/sign-in", sub="gast")
    mona.expect(mona.client.get("/redaktion"), 403, "<h1>Kein Zugriff</h1>")


def test_a_form_that_is_too_large(mona: Browser) -> None:
    with mona.limited(body_limit=10 * 1024):
        for content in (b"x" * 10_241, iter([b"x" * 10_241])):  # by its announced length, and as it arrives
            page = mona.client.post("/redaktion/news/neu", content=content, headers=FORM)
            mona.expect(
                page,
                413,
                "<h1>Zu groß</h1>",
                "höchstens 10 KB gesendet werden.",
                "Dein Browser hat deine Eingaben noch",
            )


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def test_a_form_that_does_not_arrive(mona: Browser) -> None:
    host, port = mona.site.url.removeprefix("http://").split(":")
    with mona.limited(body_seconds=0.2), socket.create_connection((host, int(port)), timeout=30) as slow:
        head = "POST /vcm/redaktion/news/neu HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\nAccept: text/html\r\n"
        slow.sendall(f"{head}Content-Type: {FORM['Content-Type']}\r\n\r\ntitle=".encode())
        received = b"".join(iter(lambda: slow.recv(65536), b""))
    head, _, body = received.decode().partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 408 ")
    page = httpx.Response(408, text=body, headers={"content-type": "text/html; charset=utf-8"})
    mona.expect(page, 408, "<h1>Das hat zu lange gedauert</h1>", "Die Anfrage kam nicht vollständig an.")


def test_what_takes_too_long(mona: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Event()
    monkeypatch.setattr(Admission, "admit", lambda *given: gate.wait(30))
    with mona.limited(request_seconds=0.3):
        page = mona.client.get("/news")
        gate.set()
    mona.expect(page, 503, "<h1>Vorübergehend nicht verfügbar</h1>", "Die Anfrage hat zu lange gedauert.")


def test_what_fails(mona: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Admission, "admit", lambda *given: 1 / 0)
    mona.expect(
        mona.client.get("/news"), 500, "<h1>Etwas ist schiefgegangen</h1>", "Bei uns ist ein Fehler aufgetreten."
    )


def test_too_many_requests(mona: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    with club(tmp_path_factory.mktemp("busy"), rate_address=3) as busy:
        pages = [httpx.get(f"{busy.url}/vcm/", headers=PAGE) for _ in range(7)]  # in two minutes, if one ends meanwhile
        pages.sort(key=lambda page: page.status_code)
    mona.expect(pages[-1], 429, "<h1>Zu viele Anfragen</h1>", "höchstens 3 pro Minute")


def test_an_upload_that_is_refused(mona: Browser) -> None:
    """Files go to an address outside of the club's pages."""
    ticket = made(editor(mona.site).post("/media/upload", json={"contentType": "image/png", "size": 10}))
    sent_from = {**PAGE, "Referer": f"{mona.site.url}/vcm/redaktion/medien"}

    def post(fields: dict[str, str], size: int) -> httpx.Response:
        files = {"file": ("bild.png", b"x" * size, "image/png")}
        return httpx.post(f"{mona.site.url}/media/upload", data=fields, files=files, headers=sent_from)

    large = post(ticket["fields"], 11)
    mona.expect(large, 413, "Die Datei ist größer als 10 bytes.")
    assert "Anmelden" not in large.text, "its cookies aren't sent there"
    assert '<a class="button" href="/vcm/redaktion/medien">Zurück zur Seite</a>' in large.text
    mona.expect(post({**ticket["fields"], "Content-Type": "image/gif"}, 10), 403, "Dieses Formular ist nicht gültig.")
    mona.expect(post({}, 10), 403, "Hier werden keine Dateien angenommen.")
