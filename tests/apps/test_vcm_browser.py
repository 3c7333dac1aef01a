"""The club's pages in a real browser, as readers and editors use them; with and without the editor's bundle."""

# ruff: noqa: F811 - fixtures are imported by their names

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Locator, Page, Route, expect

from keyplan.apps.vcm.api import SYSTEM
from keyplan.apps.vcm.pages import editing
from tests.apps.vcm_site import add, announce, club, doc, editor, png, upload, write
from tests.web.browser import browser, browser_page, confirm, plain_page, screenshots  # noqa: F401 - fixtures
from tests.web.site import Site

BUNDLE = Path(str(editing.__file__)).parent.parent / "static" / "editor.js"
needs_bundle = pytest.mark.skipif(not BUNDLE.is_file(), reason="the editor was not built: make editor (needs npm)")
PICTURE: FilePayload = {"name": "jubel-am-netz.png", "mimeType": "image/png", "buffer": png(7)}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with club(tmp_path) as served:
        yield served


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The club with its demo data."""
    with club(tmp_path_factory.mktemp("demo")) as served:
        assert SYSTEM.demo is not None
        SYSTEM.demo(served.running, lambda done, total: None)
        yield served


def sign_in(page: Page, site: Site, name: str = "Mona", to: str = "/") -> None:
    page.goto(f"{site.url}/vcm/sign-in?to=/vcm{to}")
    page.get_by_role("button", name=name).click()


def test_the_public_site(browser_page: Page, demo: Site) -> None:
    page = browser_page
    page.goto(f"{demo.url}/vcm/")
    assert page.locator("html").get_attribute("lang") == "de"
    screenshots(page, "vcm-front")
    page.get_by_role("link", name="News", exact=True).click()
    screenshots(page, "vcm-news")
    page.locator(".stories a").first.click()
    expect(page.locator(".text h2")).to_contain_text("Satz")
    screenshots(page, "vcm-article")
    page.get_by_role("link", name="Termine", exact=True).click()
    screenshots(page, "vcm-events")
    page.locator(".rows a").first.click()
    expect(page.get_by_text("Wann")).to_be_visible()
    screenshots(page, "vcm-event")
    page.get_by_role("link", name="Teams", exact=True).click()
    screenshots(page, "vcm-teams")
    page.get_by_role("link", name="Damen 1", exact=True).click()
    expect(page.get_by_role("heading", name="Ansprechpersonen")).to_be_visible()
    screenshots(page, "vcm-team")
    page.get_by_role("link", name="Mitglieder", exact=True).click()
    screenshots(page, "vcm-members")
    page.get_by_role("link", name="Sponsoren", exact=True).click()
    screenshots(page, "vcm-sponsors")
    page.goto(f"{demo.url}/vcm/news/gibt-es-nicht")
    expect(page.get_by_role("heading", level=1)).to_have_text("Nicht gefunden")


def text_of(page: Page) -> Locator:
    """The editable area, once the editor has replaced the Markdown field."""
    expect(page.locator("[data-ready=editor]")).to_be_visible()
    return page.get_by_role("textbox", name="Text", exact=True)


@needs_bundle
def test_writing_with_the_editor(browser_page: Page, site: Site) -> None:
    page = browser_page
    sign_in(page, site, to="/redaktion")
    page.get_by_role("link", name="News anlegen").click()
    page.get_by_label("Titel").fill("Aufstieg!")
    text = text_of(page)
    text.click()
    page.keyboard.type("Wir sind ")
    page.get_by_role("button", name="Fett").click()
    page.keyboard.type("aufgestiegen")
    page.get_by_role("button", name="Fett").click()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Liste").click()
    page.keyboard.type("Erstens")
    _drop(page, ".ProseMirror")
    expect(page.get_by_text("jubel-am-netz.png hochgeladen.")).to_be_visible()
    expect(text.locator("img[alt='jubel am netz']")).to_be_visible()
    screenshots(page, "vcm-editor")
    page.get_by_role("button", name="Vorschau").click()
    expect(page.locator("#vorschau strong")).to_have_text("aufgestiegen")
    expect(page.locator("#vorschau img")).to_be_visible()
    expect(text_of(page)).to_contain_text("Wir sind aufgestiegen")
    page.get_by_role("button", name="Speichern", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("News als Entwurf gespeichert")
    expect(page.get_by_text("Vorschau: Das ist ein Entwurf")).to_be_visible()
    screenshots(page, "vcm-draft")
    page.get_by_role("button", name="Veröffentlichen").click()
    article = editor(site).get("/news/by-slug/aufstieg").json()
    assert article["status"] == "published"
    assert len(article["imageIds"]) == 1
    assert "<strong>aufgestiegen</strong>" in article["html"]
    assert "<li><p>Erstens</p>" in article["html"]
    page.get_by_role("link", name="Bearbeiten").click()
    expect(text_of(page)).to_contain_text("aufgestiegen")
    page.get_by_label("Titel").fill("Aufstieg und Fest")
    page.get_by_role("button", name="Speichern", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Aufstieg und Fest")
    assert editor(site).get("/news/by-slug/aufstieg-und-fest").json()["html"] == article["html"]
    assert site.running.store.verify() == []


@needs_bundle
def test_nobody_begins_to_write_where_the_editor_will_be(browser_page: Page, site: Site) -> None:
    """While the editor loads there is no field for the text, so nothing that is typed is lost."""
    page = browser_page
    held: list[Route] = []
    page.route("**/editor.js*", lambda route: held.append(route))
    sign_in(page, site, to="/redaktion/news/neu")
    page.get_by_label("Titel").fill("Spät")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_count(0)
    held.pop().continue_()
    text_of(page).fill("Im Editor.")
    page.get_by_role("button", name="Speichern", exact=True).click()
    expect(page.locator(".text p")).to_have_text("Im Editor.")


@needs_bundle
def test_where_the_editor_does_not_come_one_writes_markdown(browser_page: Page, site: Site) -> None:
    page = browser_page
    held: list[Route] = []
    page.route("**/editor.js*", lambda route: held.append(route))
    sign_in(page, site, to="/redaktion/news/neu")
    page.get_by_label("Titel").fill("Ohne Editor")
    page.evaluate("document.getAnimations().forEach((each) => each.finish())")  # a while later
    page.get_by_label("Text", exact=True).fill("Mit **Markdown**.")
    held.pop().continue_()  # now the editor loads: what was typed stays
    expect(page.locator("[data-ready=markdown]")).to_be_visible()
    page.get_by_role("button", name="Speichern", exact=True).click()
    expect(page.locator(".text strong")).to_have_text("Markdown")


@needs_bundle
def test_links_and_pictures_by_the_keyboard(browser_page: Page, site: Site) -> None:
    """People who can't drag choose a picture instead. Pasting from another page brings no pictures along."""
    page = browser_page
    sign_in(page, site, to="/redaktion/news/neu")
    page.get_by_label("Titel").fill("Auswahl")
    text = text_of(page)
    text.fill("Zum Spiel")
    text.press("Control+a")
    page.once("dialog", lambda dialog: dialog.accept("example.org/spiel"))
    page.get_by_role("button", name="Link", exact=True).click()
    expect(text.locator("a")).to_have_attribute("href", "https://example.org/spiel")
    text.press("End")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Bild", exact=True).click()
    chooser.value.set_files([PICTURE])
    expect(text.locator("img[alt='jubel am netz']")).to_be_visible()
    page.keyboard.type("Danach. ")
    _paste(page, "<p>Fremdes <img src='/static/icon.svg'> Bild</p>")
    expect(text).to_contain_text("Fremdes")
    page.get_by_role("button", name="Speichern", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("News als Entwurf gespeichert")
    html = editor(site).get("/news/by-slug/auswahl").json()["html"]
    assert html.count("<img") == 1
    assert html.index("<img") < html.index("Danach. Fremdes")
    assert '<a href="https://example.org/spiel"' in html


@needs_bundle
def test_whatever_the_editor_lets_one_do_can_be_saved(browser_page: Page, site: Site) -> None:
    """A line break in bold text, and the formatting of pasted text."""
    page = browser_page
    sign_in(page, site, to="/redaktion/news/neu")
    page.get_by_label("Titel").fill("Allerlei")
    text = text_of(page)
    text.click()
    page.keyboard.type("Oben")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Unten")
    text.press("Control+a")
    page.get_by_role("button", name="Fett").click()
    expect(text.locator("strong").first).to_be_visible()
    # The editor takes the focus back, with what was selected, when the browser draws the next time.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    text.press("Control+End")
    page.wait_for_function("() => getSelection().isCollapsed")
    page.keyboard.press("Enter")
    page.keyboard.type("Danach")
    _paste(
        page,
        """<h5>Kopf</h5><table><tr><td>Zelle</td></tr></table><p align="center">
        <a href="HTTPS://example.org">A</a><a href="https://me@example.org/">B</a><a href="/rel">C</a>
        <a href="https://example.org/d">D</a></p><ol type="a" start="3"><li><h2>E</h2></li></ol>
        <pre><code class="language-foo_bar">F</code></pre><hr>""",
    )
    expect(text).to_contain_text("Zelle")
    page.get_by_role("button", name="Speichern", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("News als Entwurf gespeichert")
    html = editor(site).get("/news/by-slug/allerlei").json()["html"]
    assert "<strong>Oben</strong><br><strong>Unten</strong>" in html
    assert re.findall('href="([^"]+)"', html) == ["https://example.org/d"]
    assert all(letter in html for letter in "ABCDEF")


@needs_bundle
def test_the_editor_shows_what_will_be_saved_after_somebody_else_was_faster(browser_page: Page, site: Site) -> None:
    page = browser_page
    article = write(site, "Derby", content=doc("Von Mona."))
    sign_in(page, site, to=f"/redaktion/news/{article['id']}")
    expect(text_of(page)).to_have_text("Von Mona.")
    editor(site).patch(f"/news/{article['id']}", json={"content": doc("Von Anja.")}, headers={"If-Match": "*"})
    page.get_by_label("Titel").fill("Pokal")
    page.get_by_role("button", name="Speichern", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Der Inhalt wurde inzwischen geändert.")
    shown = text_of(page).inner_text().strip()
    page.get_by_role("button", name="Speichern", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Pokal")
    assert shown == "Von Anja.", "nobody typed into the text, so it is the newer one"
    assert editor(site).get(f"/news/{article['id']}").json()["html"] == f"<p>{shown}</p>"


def _paste(page: Page, html: str) -> None:
    """Paste into the editor, as from another page."""
    page.evaluate(
        """(html) => {
            const data = new DataTransfer();
            data.setData("text/html", html);
            document.querySelector(".ProseMirror")
                .dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
        html,
    )


def _drop(page: Page, where: str, *names: str) -> None:
    """Drop pictures, as from a folder."""
    transfer = page.evaluate_handle(
        """([names, bytes]) => {
            const transfer = new DataTransfer();
            for (const name of names)
                transfer.items.add(new File([new Uint8Array(bytes)], name, { type: "image/png" }));
            return transfer;
        }""",
        [names or [PICTURE["name"]], list(PICTURE["buffer"])],
    )
    box = page.locator(where).bounding_box()
    assert box is not None
    at = {"clientX": box["x"] + 20, "clientY": box["y"] + 20, "dataTransfer": transfer}
    for event in ("dragover", "drop"):
        page.dispatch_event(where, event, {**at, "bubbles": True, "cancelable": True})


@needs_bundle
def test_pictures_stand_where_they_were_dropped_in_their_order(browser_page: Page, site: Site) -> None:
    """Uploads may take any time, and the text may change meanwhile."""
    page = browser_page
    held: list[Route] = []
    page.route("**/redaktion/medien/neu", lambda route: held.append(route) if not held else route.continue_())
    sign_in(page, site, to="/redaktion/news/neu")
    page.get_by_label("Titel").fill("Drei Bilder")
    text = text_of(page)
    text.click()
    page.keyboard.type("Oben")
    page.keyboard.press("Enter")
    page.keyboard.type("Das fällt weg")
    _drop(page, ".ProseMirror > :last-child", "eins.png", "zwei.png", "drei.png")
    expect(page.get_by_text("eins.png wird hochgeladen")).to_be_visible()
    text.press("Control+a")
    page.keyboard.type("x")
    held[0].continue_()
    expect(page.get_by_text("drei.png hochgeladen.")).to_be_visible()
    page.get_by_role("button", name="Speichern", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("News als Entwurf gespeichert")
    html = editor(site).get("/news/by-slug/drei-bilder").json()["html"]
    assert re.findall('alt="([a-z]+)"|<p>(x)', html) == [("", "x"), ("eins", ""), ("zwei", ""), ("drei", "")]


def test_without_the_editor_pictures_are_dropped_on_markdown(
    browser_page: Page, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Node.js there is no bundle, and the same form accepts Markdown."""
    monkeypatch.setattr(editing, "_has_editor", lambda: False)
    page = browser_page
    sign_in(page, site, to="/redaktion/news/neu")
    page.get_by_label("Titel").fill("Ohne Bündel")
    text = page.get_by_label("Text", exact=True)
    text.fill("Ein **Satz**.")
    expect(page.locator("[data-scripted]")).to_be_visible()
    _drop(page, "textarea[name=content]", "eins_[1].png", "zwei.png")
    expect(page.get_by_text("zwei.png hochgeladen.")).to_be_visible()
    screenshots(page, "vcm-markdown-pictures")
    page.get_by_role("button", name="Vorschau").click()
    expect(page.locator("#vorschau img")).to_have_count(2)
    page.get_by_role("button", name="Speichern und veröffentlichen").click()
    expect(page.get_by_role("status")).to_have_text("News veröffentlicht")
    article = editor(site).get("/news/by-slug/ohne-buendel").json()
    assert re.findall('alt="([^"]+)"', article["html"]) == ["eins [1]", "zwei"]
    assert len(article["imageIds"]) == 2
    page.get_by_role("link", name="Bearbeiten").click()
    text.fill(f"{text.input_value()}\n\nUnd weiter.")
    page.get_by_role("button", name="Speichern", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("News gespeichert")
    assert editor(site).get(f"/news/{article['id']}").json()["html"] == f"{article['html']}<p>Und weiter.</p>"


def test_dropping_a_picture_beside_the_text(browser_page: Page, site: Site) -> None:
    page = browser_page
    sign_in(page, site, to="/redaktion/sponsoren/neu")
    page.get_by_label("Name", exact=True).fill("Bäckerei Groß")
    expect(page.locator("[data-scripted]")).to_be_visible()
    _drop(page, ".drop")
    expect(page.get_by_text("jubel-am-netz.png hochgeladen.")).to_be_visible()
    expect(page.get_by_role("radio").nth(0)).to_be_checked()
    screenshots(page, "vcm-sponsor")
    page.get_by_role("button", name="Speichern", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("Sponsor angelegt")
    (sponsor,) = editor(site).get("/sponsors").json()["items"]
    assert sponsor["logo"]["alt"] == "jubel am netz"


def test_a_stale_change_is_told_and_nothing_typed_is_lost(browser_page: Page, site: Site) -> None:
    page = browser_page
    event = announce(site, description=doc("Mit Kuchen."))
    sign_in(page, site, to=f"/redaktion/termine/{event['id']}")
    editor(site).patch(f"/events/{event['id']}", json={"title": "Von Anja"}, headers={"If-Match": "*"})
    page.get_by_label("Titel").fill("Von Mona")
    page.get_by_role("button", name="Speichern", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Der Inhalt wurde inzwischen geändert.")
    expect(page.get_by_label("Titel")).to_have_value("Von Mona")
    page.get_by_role("button", name="Speichern", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Von Mona")


def test_all_of_it_without_javascript(plain_page: Page, site: Site) -> None:
    page = plain_page
    media = upload(site)
    sign_in(page, site, to="/redaktion/news/neu")
    page.get_by_label("Titel").fill("Von Hand")
    page.get_by_label("Text", exact=True).fill(f"## Oben\n\n__Unter__ und **fett**.\n\n![Netz](media:{media['id']})")
    page.get_by_role("button", name="Vorschau").click()
    expect(page.locator("#vorschau .text h2")).to_have_text("Oben")
    expect(page.locator("#vorschau img")).to_be_visible()
    page.get_by_role("button", name="Speichern und veröffentlichen").click()
    expect(page.get_by_role("status")).to_have_text("News veröffentlicht")
    expect(page.locator(".text u")).to_have_text("Unter")
    page.get_by_role("link", name="Bearbeiten").click()
    expect(page.get_by_label("Text", exact=True)).to_have_value(
        f"## Oben\n\n__Unter__ und **fett**.\n\n![Netz](media:{media['id']})"
    )
    screenshots(page, "vcm-markdown")
    page.get_by_label("Titel").fill("")
    page.get_by_role("button", name="Vorschau").click()
    page.get_by_role("button", name="News löschen").click()
    confirm(page)
    expect(page.get_by_role("status")).to_have_text("News gelöscht")
    assert editor(site).get("/news/all").json()["items"] == []


def test_a_team_with_everything(browser_page: Page, site: Site) -> None:
    page = browser_page
    add(site, "/locations", name="Halle Ost", street="Ring 1", postalCode="68161", city="Mannheim")
    add(site, "/members", name="Ida Lang", phone="0621 99", showContact=True)
    sign_in(page, site, to="/redaktion/teams/neu")
    page.get_by_label("Name", exact=True).fill("Damen 1")
    page.locator("#field-coachIds").get_by_label("Ida Lang").check()
    first = page.get_by_role("group", name="Training 1")
    first.get_by_label("Mo").check()
    first.get_by_label("Von").fill("20:00")
    first.get_by_label("Bis").fill("18:00")
    page.get_by_role("button", name="Speichern und veröffentlichen").click()
    expect(page.get_by_role("alert")).to_contain_text("Pflichtfeld.")  # the place: nothing is left out without a word
    first.get_by_label("Ort").select_option("Halle Ost")
    page.get_by_role("button", name="Speichern und veröffentlichen").click()
    expect(page.get_by_role("alert")).to_contain_text("Das Training endet, bevor es beginnt.")
    screenshots(page, "vcm-team-form")
    page.get_by_role("group", name="Training 1").get_by_label("Bis").fill("22:00")
    page.get_by_role("button", name="Speichern und veröffentlichen").click()
    expect(page.get_by_role("cell", name="Montag")).to_be_visible()
    expect(page.get_by_text("20:00 bis 22:00")).to_be_visible()
    expect(page.get_by_role("link", name="0621 99")).to_be_visible()
    page.get_by_role("button", name="Abmelden").click()
    page.goto(f"{site.url}/vcm/teams/damen-1")
    expect(page.get_by_role("link", name="0621 99")).to_be_visible()


def test_the_desk(browser_page: Page, demo: Site) -> None:
    page = browser_page
    write(demo, "Ein Entwurf für den Schreibtisch")
    sign_in(page, demo, "Anja", to="/redaktion")
    screenshots(page, "vcm-desk")
    newest = upload(demo, alt="Ganz neu")
    page.get_by_role("link", name="Medien").click()
    assert newest["url"] in str(page.locator("main img").first.get_attribute("src"))  # also before ids that sort later
    screenshots(page, "vcm-media")
    # A picture that is uploaded while something is typed beside another one: the page isn't loaded again.
    described = page.get_by_label("Beschreibung").first
    described.fill("Beschreibung, die noch nicht gespeichert ist")
    page.get_by_label("Bilder hierher ziehen oder auswählen").set_input_files(PICTURE)
    expect(page.locator("[data-status]")).to_contain_text("Speichere zuerst deine Eingaben auf dieser Seite.")
    expect(described).to_have_value("Beschreibung, die noch nicht gespeichert ist")
    page.get_by_role("button", name="Speichern").first.click()
    expect(page.get_by_label("Beschreibung").first).to_have_value("jubel am netz")
    expect(page.get_by_label("Beschreibung").nth(1)).to_have_value("Beschreibung, die noch nicht gespeichert ist")
    page.goto(f"{demo.url}/vcm/redaktion/medien?added=gone")
    expect(page.get_by_role("heading", level=1)).to_have_text("Medien")
    page.goto(f"{demo.url}/vcm/redaktion/news")
    screenshots(page, "vcm-desk-news")
    page.goto(f"{demo.url}/vcm/redaktion/sams")
    page.get_by_label("Datei mit clubs").fill("kein JSON")
    page.get_by_role("button", name="Datei importieren").click()
    expect(page.get_by_role("alert")).to_contain_text("Die Datei enthält kein gültiges JSON.")
    screenshots(page, "vcm-sams")
    file: FilePayload = {"name": "sams.json", "mimeType": "application/json", "buffer": b'{"clubs": []}'}
    expect(page.get_by_label("Datei wählen")).to_be_visible()  # the script is loaded
    page.get_by_label("Datei wählen").set_input_files([file])
    expect(page.get_by_label("Datei mit clubs")).to_have_value('{"clubs": []}')
    page.get_by_role("button", name="Datei importieren").click()
    expect(page.get_by_role("alert")).to_contain_text("110 von 110 Vereinen würden entfernt.")
