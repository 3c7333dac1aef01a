"""Signing in with a browser: at an OpenID issuer over real HTTP, and with `dev` by choosing a user."""

from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from pydantic import SecretStr

from keyplan.addresses import is_loopback
from keyplan.web.identity.sessions import Sessions
from keyplan.web.settings import IssuerSettings, Settings
from tests.web.library_pages import WITH_PAGES
from tests.web.openid import FakeIssuer, a_key, fake_issuer
from tests.web.page_forms import sign_in
from tests.web.site import Site, site


@pytest.fixture
def issuer() -> Iterator[FakeIssuer]:
    with fake_issuer() as running:
        yield running


@contextmanager
def library_at(issuer: FakeIssuer, settings: Settings, base_url: str | None = None) -> Iterator[Site]:
    secret = issuer.client_secret
    known = IssuerSettings(
        issuer=issuer.url,
        client_id=issuer.client_id,
        client_secret=None if secret is None else SecretStr(secret),
        groups_claim="groups",
        audience=None,
        jwks_uri=None,
    )
    changes = {"dev": False, "issuers": {"library": known}, "base_url": base_url}
    with site(WITH_PAGES, settings.model_copy(update=changes)) as started:
        yield started


@pytest.fixture
def library(issuer: FakeIssuer, settings: Settings) -> Iterator[Site]:
    with library_at(issuer, settings) as started:
        yield started


@pytest.fixture
def browser(library: Site) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=library.url, timeout=30) as client:
        yield client


def at_issuer(browser: httpx.Client, to: str = "/library/") -> str:
    """Start signing in, and return the address of the issuer."""
    answer = browser.get("/library/sign-in", params={"to": to})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def back(address: str) -> str:
    """Sign in at the issuer, and return the address it redirects to."""
    answer = httpx.get(address)
    assert answer.status_code == 302, answer.text
    return answer.headers["location"]


def test_signing_in(library: Site, issuer: FakeIssuer, browser: httpx.Client) -> None:
    address = at_issuer(browser, "/library/shelves/new")
    asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    assert asked["redirect_uri"] == f"{library.url}/library/sign-in/callback"
    assert len(asked["state"]) >= 43
    assert len(asked["nonce"]) >= 43
    answer = browser.get(back(address))
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"] == "/library/shelves/new"
    page = browser.get("/library/shelves/new")
    assert page.status_code == 200
    assert "Ursula" in page.text
    proof = next(cookie.value or "" for cookie in browser.cookies.jar if cookie.name == "keyplan-session")
    caller = Sessions(library.running.store).find(proof)
    assert caller is not None
    assert (caller.sub, caller.groups) == ("u-1", frozenset({"admin"}))
    assert not [cookie.name for cookie in browser.cookies.jar if "signin" in cookie.name]


def test_a_client_with_a_secret(settings: Settings) -> None:
    with (
        fake_issuer(client_secret="s3cr3t") as issuer,
        library_at(issuer, settings) as library,
        httpx.Client(base_url=library.url) as browser,
    ):
        assert browser.get(back(at_issuer(browser))).status_code == 303


def test_a_page_that_requires_sign_in_leads_to_the_issuer_and_back(browser: httpx.Client) -> None:
    first = browser.get("/library/shelves/new")
    assert first.status_code == 303
    begun = browser.get(first.headers["location"])
    answer = browser.get(back(begun.headers["location"]))
    assert answer.headers["location"] == "/library/shelves/new"


def test_two_tabs_can_sign_in_at_once(browser: httpx.Client) -> None:
    first, second = at_issuer(browser, "/library/?limit=1"), at_issuer(browser, "/library/?limit=2")
    assert browser.get(back(first)).headers["location"] == "/library/?limit=1"
    assert browser.get(back(second)).headers["location"] == "/library/?limit=2"


def test_another_browser_cannot_finish_signing_in(library: Site, browser: httpx.Client) -> None:
    address = back(at_issuer(browser))
    stranger = httpx.get(address)
    assert stranger.status_code == 400
    assert "sign-in-lost" in stranger.text
    assert "set-cookie" not in stranger.headers


def test_a_callback_can_be_used_once(browser: httpx.Client) -> None:
    address = back(at_issuer(browser))
    assert browser.get(address).status_code == 303
    assert browser.get(address).status_code == 400


@pytest.mark.parametrize("change", ["state", "none", "iss"])
def test_an_invalid_callback_is_refused(browser: httpx.Client, issuer: FakeIssuer, change: str) -> None:
    address = back(at_issuer(browser))
    if change == "iss":
        address = address.replace("iss=http%3A", "iss=https%3A")
    else:
        state = parse_qs(urlsplit(address).query)["state"][0]
        address = address.replace(state, "x" * 43 if change == "state" else "")
    page = browser.get(address)
    assert page.status_code == 400
    assert issuer.exchanges == 0


def test_pkce_refuses_the_code_of_another_attempt(browser: httpx.Client) -> None:
    """An attacker who puts a different code into a callback doesn't have its verifier."""
    other = parse_qs(urlsplit(back(at_issuer(browser))).query)["code"][0]
    mine = back(at_issuer(browser))
    page = browser.get(mine.replace(parse_qs(urlsplit(mine).query)["code"][0], other))
    assert page.status_code == 400
    assert "sign-in-failed" in page.text


def test_an_error_from_the_issuer_is_shown(issuer: FakeIssuer, browser: httpx.Client) -> None:
    issuer.refuses = "access_denied"
    page = browser.get(back(at_issuer(browser)))
    assert page.status_code == 403
    assert "Sign in again" in page.text


@pytest.mark.parametrize(
    "wrong",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another"},
        {"aud": ["library-pages", "another"]},
        {"iss": "https://evil.example"},
        {"exp": 1},
        {"exp": None},
        {"sub": None},
        {"sub": "a#b"},
        {"token_use": "access"},
    ],
    ids=str,
)
def test_an_invalid_id_token_is_refused(issuer: FakeIssuer, browser: httpx.Client, wrong: dict[str, Any]) -> None:
    issuer.wrong = wrong
    page = browser.get(back(at_issuer(browser)))
    assert page.status_code == 401
    assert "keyplan-session" not in browser.cookies


def test_an_id_token_with_another_signature_is_refused(issuer: FakeIssuer, browser: httpx.Client) -> None:
    issuer.key = a_key(1)
    assert browser.get(back(at_issuer(browser))).status_code == 401


@pytest.mark.parametrize(
    "to",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "/library/\\evil",
        "/other/",
        "/librarying/",
        "javascript:alert(1)",
        "/library/\r\nSet-Cookie: x=1",
        "",
    ],
)
def test_redirects_after_sign_in_stay_in_the_system(browser: httpx.Client, to: str) -> None:
    assert browser.get(back(at_issuer(browser, to))).headers["location"] == "/library/"


def test_an_unreachable_issuer_is_shown_as_a_page(settings: Settings) -> None:
    with (
        library_at(FakeIssuer(url="http://127.0.0.1:1"), settings) as library,
        httpx.Client(base_url=library.url) as browser,
    ):
        page = browser.get("/library/sign-in")
        assert page.status_code == 503
        assert "Signing in isn't possible right now. Try again in a moment." in unescape(page.text)


def test_forms_may_redirect_to_the_issuer(library: Site, issuer: FakeIssuer, browser: httpx.Client) -> None:
    policy = browser.get("/library/").headers["content-security-policy"]
    assert f"form-action 'self' {issuer.url};" in policy


def test_behind_a_proxy_the_public_address_is_used(issuer: FakeIssuer, settings: Settings) -> None:
    with library_at(issuer, settings, base_url="https://books.example") as library:
        answer = httpx.get(f"{library.url}/library/sign-in")
    asked = parse_qs(urlsplit(answer.headers["location"]).query)
    assert asked["redirect_uri"] == ["https://books.example/library/sign-in/callback"]
    assert answer.headers["set-cookie"].startswith("__Secure-keyplan-signin-")


# Without an issuer, and with dev


def test_without_an_issuer_nobody_can_sign_in(settings: Settings) -> None:
    with site(WITH_PAGES, settings.model_copy(update={"dev": False})) as library:
        assert "Sign in" not in httpx.get(f"{library.url}/library/").text
        assert httpx.get(f"{library.url}/library/sign-in").status_code == 404
        assert httpx.post(f"{library.url}/library/sign-in", data={"sub": "root"}).status_code == 404
        refused = httpx.get(f"{library.url}/library/shelves/new")
        assert refused.status_code == 401
        assert "You need to be signed in to do this." in refused.text


def test_with_an_issuer_nobody_can_choose_a_user(browser: httpx.Client) -> None:
    assert browser.post("/library/sign-in", data={"sub": "root"}).status_code == 405


def test_with_dev_users_are_offered(settings: Settings) -> None:
    with site(WITH_PAGES, settings) as library, httpx.Client(base_url=library.url) as browser:
        page = browser.get("/library/sign-in?to=//evil.example/")
        assert page.status_code == 200
        for shown in ("Alice Archer", "Rita Root", "runs the library", '<span class="tag">admin</span>'):
            assert shown in page.text
        assert "//evil" not in page.text  # escaped in a link, it is checked again


def test_with_dev_one_can_sign_in_as_anyone(settings: Settings) -> None:
    with site(WITH_PAGES, settings) as library, httpx.Client(base_url=f"{library.url}/library") as browser:
        answer = sign_in(browser, "carol", "admin, staff", to="//evil.example/")
        assert answer.headers["location"] == "/library/"
        proof = next(cookie.value or "" for cookie in browser.cookies.jar if cookie.name == "keyplan-session")
        caller = Sessions(library.running.store).find(proof)
        assert caller is not None
        assert (caller.sub, caller.groups) == ("carol", frozenset({"admin", "staff"}))
        assert "Signed in as carol" in browser.get("/").text
        refused = sign_in(browser, "a#b")
        assert refused.status_code == 422
        assert 'value="a#b"' in refused.text


@pytest.mark.parametrize(
    ("host", "here"),
    [
        *((host, True) for host in ("localhost", "a.localhost", "127.0.0.1", "127.8.8.8", "[::1]", "::1")),
        *((host, False) for host in ("10.0.0.1", "localhost.evil.example", "", None)),
    ],
)
def test_loopback_addresses(host: str | None, here: bool) -> None:
    assert is_loopback(host) is here
