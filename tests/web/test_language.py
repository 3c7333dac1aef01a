"""Pages in the language of a system's users: translations of the messages of the kit and of the rules."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from jinja2 import nodes

from keyplan.web import GERMAN, Language, Pages, folder_of
from keyplan.web.pages import messages
from keyplan.web.pages.editors import SENTENCES
from keyplan.web.pages.rendering import environment
from keyplan.web.settings import Settings
from tests.web.library_pages import WITH_PAGES
from tests.web.page_forms import send
from tests.web.sentences import sentences
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
    "This file type isn't supported. Upload PNG.",
    "Too many requests. Try again in 3 seconds.",
    "Too many requests. Try again in 1 second.",
    "Too many requests: you may send 7 a minute. Try again in 7 seconds.",
    "Too many requests from your network address: it may send 7 a minute. Try again in 7 seconds.",
    "Too many of these requests from your network address: it may send 7 a minute. Try again in 7 seconds.",
    "You have 1 unfinished upload. Finish one of them, or try again in 1 minute.",
    "You have 7 unfinished uploads. Finish one of them, or try again in 7 minutes.",
    "Your unfinished uploads may have up to 7. Finish one of them, or try again in 1 minute.",
    "Your unfinished uploads may have up to 7. Finish one of them, or try again in 7 minutes.",
    "The picture is damaged or incomplete. Save the picture again in another program and upload the new file.",
    "The item has 7 bytes, more than 7. Shorten this value, the largest.",
    "This text isn't valid Unicode: it contains a lone surrogate.",
    "This value is too long for a key.",
    "This value is too long: a key with it has more than 7 bytes.",
    "The values don't go together.",
    "Signed in as Ada",
    "Signed out",
    "Times are in the time zone of your device",
    "Times are in Europe/Paris",
    "That of my device",
    "Time zone",
    "Time zone: Europe/Paris",
)
"""What is put together from several parts, what the data layer says about a value, and notices."""
_ONLY_FOR_PROGRAMS = {
    # with an Authorization header or a body in JSON, which pages don't take
    "Invalid token: {}.",
    "Send one Authorization header, with Bearer and a token.",
    "This system doesn't trust the token's issuer.",
    "This system accepts no tokens, because no issuer is configured for it.",
    "Tokens can't be checked right now: the issuer's keys can't be read.",
    "Send the body as JSON, with Content-Type: application/json.",
    "The body isn't valid JSON.",
    "The body isn't valid JSON: {}.",
    "The body is nested more than {} levels deep.",
    "Send If-Match with the ETag of the version you want to change.",
    'If-Match must be a quoted entity tag, such as "3".',
    "This Idempotency-Key was already used for a different request.",  # in a form, it is another submission
    "Development tokens are available on this machine only.",  # on the page about the API, which is English
    # plain text, before it is known which system it is for
    "The headers of the request are too large.",
    "The headers of the request took too long.",
    "There are too many connections. Try again in a moment.",
    # for those who run the server
    "The database isn't responding correctly.",
    "{} contains no signing key: {}. Delete the file, and a new key is created.",
    # parts of other sentences, see above
    "{} Try again in {}.",
    "Finish one of them, or try again in {} {}.",
    "You have {} unfinished {}. {}",
    "Your unfinished uploads may have up to {}. {}",
    "Save the picture again in another program and upload the new file.",
    "Too many requests: you may send {} a minute.",
    "Too many requests from your network address: it may send {} a minute.",
    "Too many of these requests from your network address: it may send {} a minute.",
}
_NOT_FOR_VISITORS = {
    "settings.py": "help of the command",
    "system/german.py": "the translations themselves",
    "routes/document.py": "descriptions in the OpenAPI document",
    "pages/reference.py": "the pages about an API, which are English",
}
_ENGLISH_PAGES = {"index.html", "kit.html", "reference.html"}
"""Pages outside of all systems."""


def said_by_the_kit() -> list[str]:
    """All sentences of the kit that a visitor of a system's pages can see."""
    kit = folder_of("keyplan.web")
    said = [words.format_map(Anything()) for words in messages.WORDS.values()]
    said += [*WITH_VALUES, *SENTENCES]
    for path in sorted(kit.rglob("*.py")):
        if path.relative_to(kit).as_posix() not in _NOT_FOR_VISITORS:
            found = [each for each in sentences(path.read_text("utf-8")) if each not in _ONLY_FOR_PROGRAMS]
            said += [each.replace("{}", "7") for each in found]
    for path in sorted((kit / "templates").rglob("*.html")):
        if path.name not in _ENGLISH_PAGES:
            said += _said_in(path)
    return said


def _said_in(template: Path) -> Iterator[str]:
    """The texts that a template translates."""
    tree = environment().parse(template.read_text("utf-8"))
    filters = [each for each in tree.find_all(nodes.Filter) if each.name == "said"]
    calls = [each for each in tree.find_all(nodes.Call) if getattr(each.node, "name", "") == "say"]
    for said in (*filters, *calls):
        texts = [each.value for each in said.find_all(nodes.Const) if isinstance(each.value, str)]
        yield from (each for each in texts if not _NAME.fullmatch(each))


_NAME = re.compile(r"[a-z-]+|Time zone: |")
"""Names and codes beside the sentences, and the beginning of one that is tested with its value."""


class Anything(dict[str, str]):
    """Some value for every name in braces."""

    def __missing__(self, name: str) -> str:
        return "7"


def test_the_kit_has_german_for_everything_that_it_says() -> None:
    said = said_by_the_kit()
    titles = re.search(
        r"set titles = ({.*?}) %}", (folder_of("keyplan.web") / "templates/problem.html").read_text("utf-8")
    )
    assert titles
    said += ast.literal_eval(titles[1]).values()
    assert len(said) > 150
    assert sorted({each for each in said if GERMAN.say(each) == each}) == []


def test_templates_say_nothing_without_translating_it() -> None:
    """Text between the tags of a template, outside of any expression, would be English in every language."""
    for path in sorted((folder_of("keyplan.web") / "templates").rglob("*.html")):
        if path.name not in _ENGLISH_PAGES:
            page = re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}", "", path.read_text("utf-8"), flags=re.DOTALL)
            page = re.sub(r'<[^>]*>|[\w-]+="[^"]*"', " ", page)
            assert set(re.findall(r"[A-Za-z]{2,}", page)) <= _IN_EVERY_LANGUAGE, path.name


_IN_EVERY_LANGUAGE = {"Keyplan", "API", "narrow", "column"}
"""Names, and classes of `main`."""


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
