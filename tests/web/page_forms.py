"""Sends the forms of pages, as a browser without JavaScript does."""

import re

import httpx


def token_in(page: httpx.Response) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found, page.text
    return found[1]


def send(client: httpx.Client, at: str, to: str, /, **values: str) -> httpx.Response:
    """Get the page with the form, and submit the form."""
    return client.post(to, data={"csrf": token_in(client.get(at)), "form": "main", **values})


def sign_in(client: httpx.Client, sub: str, groups: str = "", to: str = "/library/") -> httpx.Response:
    return send(client, "/sign-in", "/sign-in", sub=sub, groups=groups, to=to)
