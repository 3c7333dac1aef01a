"""Pages in the language of a system's users: translations of the messages of the kit and of the rules."""

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from keyplan.web import Language, Pages
from keyplan.web.settings import Settings
from tests.web.library_pages import WITH_PAGES
from tests.web.page_forms import send
from tests.web.site import Site, site

FRENCH = Language(
    "fr",
    {
        "Sign in": "Se connecter",
        "Sign out": "Se déconnecter",
        "Signed in as {name}": "Bonjour, {name} !",
        "Not found": "Introuvable",
        "{gone} of {there} are gone.": "Il en manque {gone} sur {there}.",
        "Is {this} it?": "{this} ?",
    },
)


def test_messages_are_translated() -> None:
    assert FRENCH.say("Sign in") == "Se connecter"
    assert FRENCH.say("Nobody knows this.") == "Nobody knows this."
    assert FRENCH.say("3 of 10 are gone.") == "Il en manque 3 sur 10."
    assert FRENCH.say("3 of 10 are gone. Really") == "3 of 10 are gone. Really"
    assert FRENCH.say("Is {other} (a+b)\n it?") == "{other} (a+b)\n ?", "values for placeholders are not translated"
    assert Language().say("Sign in") == "Sign in"


@pytest.fixture
def started(settings: Settings) -> Iterator[Site]:
    assert isinstance(WITH_PAGES.pages, Pages)
    french = Pages(WITH_PAGES.pages.package, language=FRENCH)
    french.routes = WITH_PAGES.pages.routes
    with site(replace(WITH_PAGES, pages=french), settings) as running:
        yield running


def test_pages_are_translated(started: Site) -> None:
    with httpx.Client(base_url=f"{started.url}/library", timeout=30, follow_redirects=True) as visitor:
        page = visitor.get("/sign-in").text
        assert '<html lang="fr">' in page
        assert "<button>Se connecter</button>" in page
        page = send(visitor, "/sign-in", "/sign-in", sub="<b>alice</b>").text
        assert "Bonjour, &lt;b&gt;alice&lt;/b&gt; !" in page
        assert "Se déconnecter" in page
        assert "<h1>Introuvable</h1>" in visitor.get("/none").text
    assert '<html lang="en">' in httpx.get(f"{started.url}/").text, "pages outside of any system are in English"
