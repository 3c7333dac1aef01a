"""Sign-in with a browser: at the system's OpenID issuer, or with `dev` by choosing a user.

At an issuer, it is the authorization code flow with PKCE. State, nonce and verifier of an attempt are derived from one
random secret in a cookie, so nothing is stored before somebody has signed in.
"""

import base64
import hashlib
import hmac
import logging
import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from http.client import HTTPException
from typing import Annotated, Any
from urllib.error import HTTPError
from urllib.parse import quote, unquote, urlencode

from anyio import from_thread
from pydantic import StringConstraints
from starlette.responses import Response

from keyplan.design import Id, about
from keyplan.web.identity.jwks import IssuerKeys, check_address, discovered, fetched_json
from keyplan.web.identity.tokens import TokenIdentity
from keyplan.web.models.bodies import In
from keyplan.web.models.problems import BadRequest, Forbidden, Unavailable
from keyplan.web.pages.rendering import Site
from keyplan.web.pages.views import View
from keyplan.web.settings import IssuerSettings
from keyplan.web.system.access import Caller
from keyplan.web.system.directions import isolated
from keyplan.web.system.page_routes import PageRoute, Person

SIGN_IN, SIGN_OUT, CALLBACK = "/sign-in", "/sign-out", "/sign-in/callback"
_MINUTES = timedelta(minutes=10)
"""How long signing in at the issuer may take."""
_DISCOVERY_SECONDS = 3600.0
_RATE = 60
_logger = logging.getLogger(__name__)

AnyView = View[Any]


def can_sign_in(site: Site) -> bool:
    """Whether the kit can sign people in."""
    settings = site.running.settings
    issuer = settings.issuer_of(site.running.system.name)
    return settings.dev or (issuer is not None and issuer.client_id is not None)


def sign_in_pages(site: Site, people: Sequence[Person]) -> list[PageRoute]:
    """The pages for signing in and out, for a system without its own accounts."""
    if site.running.settings.dev:
        return [*_dev_pages(people), SIGN_OUT_PAGE]
    issuer = site.running.settings.issuer_of(site.running.system.name)
    if issuer is None or issuer.client_id is None:
        return []
    return [*_issuer_pages(site, OpenIdClient(issuer, site)), SIGN_OUT_PAGE]


def sign_out(view: AnyView) -> Response:
    """Close the session."""
    view.sign_out()
    return view.redirect("/", notice="Signed out")


SIGN_OUT_PAGE = PageRoute("POST", SIGN_OUT, sign_out, once=False)


# With dev


class ChosenUser(In):
    """The user to sign in as."""

    sub: Annotated[Id, about("User ID")]
    groups: Annotated[str, StringConstraints(max_length=1000), about("Groups")] = ""
    to: Annotated[str, StringConstraints(max_length=2000), about("")] = ""


def _dev_pages(people: Sequence[Person]) -> list[PageRoute]:
    known = {person.sub: person for person in people}

    def choose(view: AnyView, to: str = "") -> Response:
        return view.render("signin.html", people=people, to=view.site.local(to))

    def become(view: AnyView, chosen: ChosenUser) -> Response:
        person = known.get(chosen.sub) or Person(chosen.sub, chosen.sub, chosen.groups.replace(",", " ").split())
        view.sign_in(person.caller())
        return view.redirect_to(view.site.local(chosen.to), notice=f"Signed in as {isolated(person.name)}")

    return [
        PageRoute("GET", SIGN_IN, choose),
        PageRoute("POST", SIGN_IN, become, again=choose, again_at=SIGN_IN, once=False),
    ]


# At an issuer


@dataclass(frozen=True)
class Attempt:
    """A browser's attempt to sign in, and the page to return to."""

    secret: str
    to: str

    def _derived(self, what: str) -> str:
        mac = hmac.new(self.secret.encode(), what.encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(mac).decode().rstrip("=")

    @property
    def state(self) -> str:
        """`state`, which comes back with the response."""
        return self._derived("state")

    @property
    def nonce(self) -> str:
        """`nonce`, which comes back in the ID token."""
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        """`code_verifier`, which proves that the code comes from who asked for it."""
        return self._derived("verifier")

    @property
    def challenge(self) -> str:
        """`code_challenge`, the hash of the verifier."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).decode().rstrip("=")


def _cookie(state: str) -> str:
    """The name of the cookie. Each attempt has its own, so that several tabs can sign in at once."""
    return f"keyplan-signin-{hashlib.sha256(state.encode()).hexdigest()[:12]}"


def _issuer_pages(site: Site, client: "OpenIdClient") -> list[PageRoute]:
    site.let_forms_lead_to(client.issuer.issuer)

    def begin(view: AnyView, to: str = "") -> Response:
        attempt = Attempt(secrets.token_urlsafe(32), view.site.local(to))
        view.visitor.cookies.set(_cookie(attempt.state), f"{attempt.secret}.{quote(attempt.to)}", _MINUTES)
        return view.redirect_to(client.authorization(attempt, _callback_address(view)))

    def finish(view: AnyView, state: str = "", code: str = "", error: str = "", iss: str | None = None) -> Response:
        cookie = _cookie(state)
        kept = view.visitor.cookies.get(cookie)
        if kept is None:
            raise BadRequest(
                "sign-in-lost", "This sign-in was started in another browser, or has expired. Sign in again."
            )
        view.visitor.cookies.drop(cookie)
        secret, _, to = kept.partition(".")
        attempt = Attempt(secret, unquote(to))
        if not hmac.compare_digest(attempt.state.encode(), state.encode()) or iss not in (None, client.issuer.issuer):
            raise BadRequest("sign-in-lost", "This response doesn't belong to your sign-in. Sign in again.")
        if error or not code:
            raise Forbidden("sign-in-refused", "The identity provider refused to sign you in.")
        view.sign_in(client.signed_in(attempt, code, _callback_address(view)))
        return view.redirect_to(view.site.local(attempt.to))

    return [PageRoute("GET", SIGN_IN, begin, rate=_RATE), PageRoute("GET", CALLBACK, finish, rate=_RATE)]


def _callback_address(view: AnyView) -> str:
    base = view.site.running.settings.base_url or f"{view.request.url.scheme}://{view.request.url.netloc}"
    return f"{base}{view.site.url(CALLBACK)}"


class OpenIdClient:
    """Our client at an OpenID issuer."""

    def __init__(self, issuer: IssuerSettings, site: Site) -> None:
        self.issuer = issuer
        self._site = site
        self._identity = TokenIdentity(issuer, IssuerKeys(issuer), site.running.store.clock)
        self._lock = threading.Lock()
        self._known: dict[str, object] = {}
        self._read_at = 0.0

    def authorization(self, attempt: Attempt, callback: str) -> str:
        """The URL for signing in at the issuer."""
        endpoint = self._endpoint("authorization_endpoint")
        query = {
            "response_type": "code",
            "client_id": self.issuer.client_id or "",
            "redirect_uri": callback,
            "scope": "openid profile email",
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    def signed_in(self, attempt: Attempt, code: str, callback: str) -> Caller:
        """The user to chosen the issuer gave the code."""
        id_token = self._exchanged(code, attempt.verifier, callback)
        # Pages are made in threads, but checking a token, which may wait for the issuer's keys, needs the event loop.
        return from_thread.run(self._identity.signed_in, id_token, attempt.nonce)

    def _exchanged(self, code: str, verifier: str, callback: str) -> str:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": callback,
            "client_id": self.issuer.client_id or "",
            "code_verifier": verifier,
        }
        try:
            answer = fetched_json(self._endpoint("token_endpoint"), form=form, headers=self._credentials())
        except HTTPError as error:
            _logger.warning("the issuer refused a code: %s", error)
            error.close()
            raise BadRequest("sign-in-failed", "The sign-in wasn't completed in time. Sign in again.") from None
        except (OSError, HTTPException, ValueError) as error:
            raise self._silent(error) from error
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise self._silent(ValueError("its response has no ID token"))
        return token

    def _credentials(self) -> dict[str, str]:
        secret = self.issuer.client_secret
        if secret is None:
            return {}
        pair = f"{quote(self.issuer.client_id or '', safe='')}:{quote(secret.get_secret_value(), safe='')}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}

    def _endpoint(self, name: str) -> str:
        """A URL from the issuer's discovery document, which is read once an hour."""
        with self._lock:
            if not self._known or time.monotonic() - self._read_at > _DISCOVERY_SECONDS:
                try:
                    self._known = discovered(self.issuer.issuer)
                except (OSError, HTTPException, ValueError) as error:
                    if not self._known:
                        raise self._silent(error) from error
                self._read_at = time.monotonic()
        address = self._known.get(name)
        try:
            check_address(str(address))
        except ValueError as error:
            raise self._silent(error) from error
        if name == "authorization_endpoint":
            self._site.let_forms_lead_to(str(address))
        return str(address)

    def _silent(self, error: Exception) -> Unavailable:
        _logger.warning("sign-in at %s failed: %s", self.issuer.issuer, error)
        return Unavailable("issuer-unavailable", "Signing in isn't possible right now. Try again in a moment.")
