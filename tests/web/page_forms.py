"""Sends the forms of pages, as a browser without JavaScript does."""

import re

import httpx


def token_in(page: httpx.Response) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found, page.text
    return found[1]


def send(client: httpx.Client, at: str, to: str, /, **values: str) -> httpx.Response:
    """Get the page with the form, and submit the form."""
    return client.post(to, data={"csrf": token_in(client.get(at)), "form": "main", "confirmed": "yes", **values})


def sign_in(client: httpx.Client, sub: str, groups: str = "", to: str = "/library/") -> httpx.Response:
    return send(client, "/sign-in", "/sign-in", sub=sub, groups=groups, to=to)


def shelf_of(client: httpx.Client) -> str:
    """Create a shelf. Returns its path."""
    sent = client.post("/shelves/new", data={**hidden_in(client, "/shelves/new"), "name": "Novels"})
    return str(sent.headers["location"]).removeprefix("/library")


def hidden_in(client: httpx.Client, at: str) -> dict[str, str]:
    """The hidden fields of the first form of a page that has a name."""
    for form in re.findall(r"<form.*?</form>", client.get(at).text, re.DOTALL):
        found = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form))
        if "form" in found:
            return found
    raise AssertionError(at)
