"""A browser without JavaScript for tests of funkedupshift's pages."""

import re
from html import unescape

import httpx

from keyplan.web import Caller
from keyplan.web.identity.sessions import SESSION, Sessions
from tests.apps.fus_site import PEOPLE
from tests.web.site import Site


class Reader:
    """A browser without JavaScript."""

    def __init__(self, site: Site, kind: str) -> None:
        self.client = httpx.Client(base_url=f"{site.url}/funkedupshift", timeout=30, verify=False)
        site._stack.enter_context(self.client)
        if PEOPLE[kind]:
            sub, *groups = PEOPLE[kind]
            proof = Sessions(site.running.store).open(Caller(sub, frozenset(groups), {"name": sub.title()}))
            self.client.cookies.set(SESSION, proof, domain="127.0.0.1", path="/funkedupshift/")

    def get(self, path: str) -> httpx.Response:
        return self.client.get(path.removeprefix("/funkedupshift"))

    def send(self, to: str, /, **values: str | list[str]) -> httpx.Response:
        """Send a form, with the token of a form that every signed-in user can see."""
        token = hidden(self.get("/sign-in"), "csrf")
        return self.client.post(to, data={"csrf": token, "form": "main", "confirmed": "yes", **values})

    def follow(self, answer: httpx.Response) -> httpx.Response:
        """The page that a form redirects to."""
        assert answer.status_code == 303, answer.text
        return self.get(answer.headers["location"])


def hidden(page: httpx.Response, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'name="{name}" value="([^"]*)"', page.text)
    assert found, page.text
    return unescape(found[1])


def notice_of(page: httpx.Response) -> str:
    found = re.search(r'role="status">([^<]*)</p>', page.text)
    return unescape(found[1]) if found else ""


def text_of(page: httpx.Response) -> str:
    """What a page says, without its tags."""
    main = page.text.partition("<main")[2]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", main)))
