"""One table of journeys: for each system, who signs in, a form that changes something, and one that adds something.

A system that is listed here gets all tests of `test_journeys.py`; one that isn't listed fails them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page, expect

from keyplan.apps.funkedupshift.api import SYSTEM as FUNKEDUPSHIFT
from keyplan.apps.hacktracker.api import SYSTEM as HACKTRACKER
from keyplan.apps.threefc.api import SYSTEM as THREEFC
from keyplan.apps.vcm.api import SYSTEM as VCM
from keyplan.apps.wavyblog.api import SYSTEM as WAVYBLOG
from keyplan.apps.wavyblog.entities import Category, Post
from keyplan.data import create, delete
from keyplan.design import make_id
from keyplan.web import System
from tests.apps import threefc_site
from tests.apps.blog_site import PASSWORD, add_user
from tests.apps.hack_site import Team
from tests.apps.threefc_site import Club
from tests.web.site import Site

LONG = "It took three days to write all of this down.\n\nAnd it is <b>good</b>."


@dataclass(frozen=True)
class Entry:
    """What somebody enters in a form of a page, and the button that sends it."""

    path: str
    values: Mapping[str, str]
    button: str
    form: str = "main"
    """The name of the form in its page."""

    @property
    def selector(self) -> str:
        """The form in its page."""
        return f'form:has(> input[name="form"][value="{self.form}"])'


@dataclass(frozen=True)
class Journey:
    """A system, as somebody uses it."""

    system: System[Any]
    person: tuple[str, ...]
    """The ID and the groups of who uses it."""
    other: tuple[str, ...]
    """Somebody else."""
    begin: Callable[[Site], None]
    """Makes what there has to be first, once."""
    thing: Callable[[Site], str]
    """Makes something that can be changed. Returns its ID."""
    change: Entry
    """Changes it: the path has its ID."""
    stored: Callable[[Site, str], Mapping[str, object]]
    """What is stored of it."""
    remove: Callable[[Site, str], object]
    """Deletes it."""
    add: Entry
    """Adds something else."""
    count: Callable[[Site], int]
    """How many of those there are."""
    line: str = "name"
    """The field of the form that changes something with a name or a title."""
    places: Callable[[Site], Mapping[str, str]] = lambda site: {}
    """What paths have in braces, besides the ID of what is changed."""
    has_passwords: bool = False
    """Whether people sign in with a password, as the system's own accounts do."""

    def sign_in(self, page: Page, who: tuple[str, ...]) -> None:
        """Sign in on the page for that."""
        if self.has_passwords:
            page.locator("[name=user]").fill(who[0])
            page.locator("[name=password]").fill(PASSWORD)
            page.locator("main form button").click()
            return
        page.locator("[name=sub]:not(button)").fill(who[0])
        page.locator("[name=groups]").fill(" ".join(who[1:]))
        page.locator("main form:has([name=groups]) button").click()


def enter(page: Page, entry: Entry, **other: str) -> None:
    """Fill in a form."""
    for name, value in {**entry.values, **other}.items():
        field = page.locator(f'{entry.selector} [name="{name}"]')
        kind = field.first.evaluate("element => element.type")
        if kind == "select-one":
            field.select_option(value)
        elif kind == "radio":
            page.locator(f'{entry.selector} [name="{name}"][value="{value}"]').check(force=True)
        else:
            field.fill(value)


def send(page: Page, entry: Entry) -> None:
    page.locator(f"{entry.selector} {entry.button}").first.click()


def expect_entered(page: Page, entry: Entry) -> None:
    """What was entered is in the form."""
    for name, value in entry.values.items():
        field = f'{entry.selector} [name="{name}"]'
        if page.locator(f"{field}[type=radio]").count():
            expect(page.locator(f'{field}[value="{value}"]')).to_be_checked()
        else:
            expect(page.locator(field)).to_have_value(value)


ANY = {"If-Match": "*"}


def _made(site: Site, who: tuple[str, ...], path: str, key: str, **body: object) -> str:
    answer = site.as_(*who).post(path, json=body)
    assert answer.status_code == 201, answer.text
    made: str = answer.json()[key]
    return made


def _stored(site: Site, who: tuple[str, ...], path: str, *names: str) -> dict[str, object]:
    answer = site.as_(*who).get(path)
    assert answer.status_code == 200, answer.text
    return {name: answer.json()[name] for name in names}


def _removed(site: Site, who: tuple[str, ...], path: str) -> None:
    assert site.as_(*who).delete(path, headers=ANY).status_code == 204


def _listed(site: Site, who: tuple[str, ...], path: str) -> int:
    return len(site.as_(*who).get(path, params={"limit": 100}).json()["items"])


# wavyblog


def _begin_blog(site: Site) -> None:
    add_user(site, "ada")
    add_user(site, "bob")
    site.running.store.run(create(Category(slug="travel", name="Travel")))


def _post(site: Site) -> str:
    slug = make_id()
    post = Post(slug=slug, title="A title", content="Some text.", author_id="ada")
    site.running.store.run(create(post))
    return slug


def _stored_post(site: Site, slug: str) -> dict[str, object]:
    post = site.running.store.run(site.running.design.post(slug))
    return {"content": post.content, "category": post.category}


def _remove_post(site: Site, slug: str) -> None:
    site.running.store.run(delete(site.running.store.run(site.running.design.post(slug))))


# funkedupshift

_ROOT, _MAX = ("root", "admin"), ("max", "manager")


def _begin_catalog(site: Site) -> None:
    _made(site, _ROOT, "/sites", "site_id", url="https://one.example.org", title="One")


def _one_of(site: Site) -> str:
    """The site that gets comments."""
    found = site.as_().get("/sites", params={"limit": 100}).json()["items"]
    [one] = [each["site_id"] for each in found if each["title"] == "One"]
    return str(one)


# hacktracker and threefc have a game each


def _begin_league(site: Site) -> None:
    team = Team(site)
    site.__dict__["journey_game"] = team.game(play=True)


def _begin_football(site: Site) -> None:
    threefc_site.fill(site.running.store)
    Club.game(_Games(site))  # type: ignore[arg-type]  # it needs a site and a client only
    site.__dict__["journey_game"] = "g1"


class _Games:
    def __init__(self, site: Site) -> None:
        self.site, self.olga = site, site.as_("olga")


def game_of(site: Site) -> str:
    """The game that is scored."""
    return str(site.__dict__["journey_game"])


_OWNER, _OLGA, _MONA = ("owner",), ("olga",), ("mona", "Moderator")

JOURNEYS = (
    Journey(
        WAVYBLOG,
        ("ada",),
        ("bob",),
        _begin_blog,
        _post,
        Entry("/posts/{id}/edit", {"content": LONG, "category": "travel"}, "button:not([name]):not([formaction])"),
        _stored_post,
        _remove_post,
        Entry("/write", {"title": "Twice", "content": LONG}, "button:not([name]):not([formaction])"),
        lambda site: len(site.running.store.run(site.running.design.posts_by_user("ada").limit(100)).items),
        line="title",
        has_passwords=True,
    ),
    Journey(
        FUNKEDUPSHIFT,
        _ROOT,
        _MAX,
        _begin_catalog,
        lambda site: _made(site, _ROOT, "/sites", "site_id", url="https://x.example.org", title="X"),
        Entry("/sites/{id}/edit", {"title": "A short title", "description": LONG, "tags": "web"}, "button"),
        lambda site, id: _stored(site, _ROOT, f"/sites/{id}", "title", "description"),
        lambda site, id: _removed(site, _ROOT, f"/sites/{id}"),
        Entry("/sites/{one}", {"body": LONG}, "button", form="comment"),
        lambda site: _listed(site, _ROOT, f"/sites/{_one_of(site)}/comments"),
        line="title",
        places=lambda site: {"one": _one_of(site)},
    ),
    Journey(
        HACKTRACKER,
        _OWNER,
        ("stranger",),
        _begin_league,
        lambda site: _made(site, _OWNER, "/teams", "team_id", name="Herons"),
        Entry("/teams/{id}/edit", {"name": "Harbor Herons", "description": LONG}, "button"),
        lambda site, id: _stored(site, _OWNER, f"/teams/{id}", "name", "description"),
        lambda site, id: _removed(site, _OWNER, f"/teams/{id}"),
        Entry("/games/{game}/score", {"inning": "1"}, "button[value=HR]"),
        lambda site: _listed(site, _OWNER, f"/games/{game_of(site)}/at-bats"),
        places=lambda site: {"game": game_of(site)},
    ),
    Journey(
        THREEFC,
        _OLGA,
        ("nils",),
        _begin_football,
        lambda site: _made(site, _OLGA, "/leagues", "league_id", name="East", slug=f"east-{make_id()[-8:]}"),
        Entry("/leagues/{id}/edit", {"name": "Eastern League"}, "button"),
        lambda site, id: _stored(site, _OLGA, f"/leagues/{id}", "name"),
        lambda site, id: _removed(site, _OLGA, f"/leagues/{id}"),
        Entry("/games/{game}", {"conceding_team_id": "red", "minute": "7"}, "button[value=blue]"),
        lambda site: len(site.as_(*_OLGA).get(f"/games/{game_of(site)}/sheet").json()["timeline"]),
        places=lambda site: {"game": game_of(site)},
    ),
    Journey(
        VCM,
        _MONA,
        ("gast",),
        lambda site: None,
        lambda site: _made(site, _MONA, "/locations", "id", name="Halle", street="Weg 1", postalCode="1", city="M"),
        Entry("/redaktion/orte/{id}", {"name": "Sporthalle West", "street": "Langer Weg 12"}, "button:not([name])"),
        lambda site, id: _stored(site, _MONA, f"/locations/{id}", "name", "street"),
        lambda site, id: _removed(site, _MONA, f"/locations/{id}"),
        Entry(
            "/redaktion/orte/neu",
            {"name": "Neue Halle", "street": "Weg 2", "postalCode": "12345", "city": "Mainz"},
            "button:not([name])",
        ),
        lambda site: _listed(site, _MONA, "/locations"),
    ),
)
