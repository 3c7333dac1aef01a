"""Pages in the language of a system's users: translations of the messages of the kit and of the rules."""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from keyplan.web import GERMAN, Language, Pages, folder_of
from keyplan.web.identity import sessions
from keyplan.web.media import uploads
from keyplan.web.models import problems, refusals
from keyplan.web.pages import forms, messages, sent_forms, serving, signin
from keyplan.web.pages.editors import SENTENCES
from keyplan.web.server import edge
from keyplan.web.settings import Settings
from tests.web.library_pages import WITH_PAGES
from tests.web.page_forms import send
from tests.web.sentences import problem_sentences
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


WITH_VALUES = (
    "The body is larger than 1,048,576 bytes.",
    "This file type isn't supported. Upload PNG.",
    "Too many requests. Try again in 3 seconds.",
    "Too many requests. Try again in 1 second.",
)
TEMPLATES = ("shell", "base", "macros", "problem", "signin", "confirm")


class Anything(dict[str, str]):
    """Some value for every name in braces."""

    def __missing__(self, name: str) -> str:
        return "7"


def test_the_kit_has_german_for_everything_that_it_says() -> None:
    kit = folder_of("keyplan.web") / "templates"
    pages = {page: (kit / f"{page}.html").read_text("utf-8") for page in TEMPLATES}
    said = [name for page in pages.values() for name in re.findall(r'"([^"]+)" \| said', page)]
    titles = re.search(r"set titles = ({.*?}) %}", pages["problem"])
    assert titles is not None
    said += ast.literal_eval(titles[1]).values()
    for module in (edge, forms, problems, refusals, sent_forms, serving, sessions, signin, uploads):
        said += problem_sentences(inspect.getsource(module))
    said += [words.format_map(Anything()) for words in messages.WORDS.values()]
    said += [*WITH_VALUES, *SENTENCES]
    assert len(said) > 50
    assert [each for each in said if GERMAN.say(each) == each] == []


def test_a_system_adds_its_own_words_which_come_first() -> None:
    club = GERMAN.with_words({"Sign in": "Hereinspaziert", "Title": "Titel"})
    assert (club.code, club.say("Sign in"), club.say("Title")) == ("de", "Hereinspaziert", "Titel")
    assert club.say("Sign out") == GERMAN.say("Sign out") == "Abmelden"
    assert GERMAN.say("Sign in") == "Anmelden"


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
