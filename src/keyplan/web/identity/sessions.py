"""Who a browser is: its cookies, its session, and the tokens that show a form to be ours.

A session's id is 256 random bits in a cookie; the system's housekeeping table has only its hash, under the person
whose session it is, so that all sessions of a person can be closed at once. A form's token is an HMAC with the
session's id, or for visitors without a session with a random cookie: only a page that we sent to this very browser
can hold it.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from keyplan.data import NotFound, Store, create, delete
from keyplan.design import HOUSEKEEPING, Created, Design, Entity, Id, Ttl, created, get, key, query
from keyplan.web.models.problems import Forbidden
from keyplan.web.system.access import Caller

LASTS = timedelta(hours=12)
"""How long a session lasts where nothing else is said: what an issuer says about groups is believed that long."""
SESSION, VISITOR, NOTICE = "keyplan-session", "keyplan-visitor", "keyplan-notice"


class BrowserSession(Entity, table=HOUSEKEEPING):
    """A signed-in browser: who it is, by the hash of its session's id."""

    owner: Id
    token: Id
    sub: str
    groups: list[str]
    claims: str
    created_at: Created = created()
    expires_at: Ttl

    primary = key("SESSIONS#{owner}", "SESSION#{token}")


class Sessions:
    """The sessions of a system."""

    def __init__(self, store: Store[Any]) -> None:
        self._store: Store[Design] = store

    def open(self, caller: Caller, lasts: timedelta = LASTS) -> str:
        """A new session; what it returns is the only proof of it and belongs into the browser's cookie."""
        owner, token = _digest(caller.sub), secrets.token_urlsafe(32)
        session = BrowserSession(
            owner=owner,
            token=_digest(token),
            sub=caller.sub,
            groups=sorted(caller.groups),
            claims=json.dumps(dict(caller.claims)),
            expires_at=self._store.clock() + lasts,
        )
        self._store.run(create(session))
        return f"{owner}.{token}"

    def find(self, proof: str) -> Caller | None:
        """Who has the session; none where there is no such session or it is over."""
        session = self._stored(proof)
        if session is None or session.expires_at <= self._store.clock():
            return None
        return Caller(session.sub, frozenset(session.groups), json.loads(session.claims))

    def close(self, proof: str) -> None:
        """End a session, where there is one."""
        session = self._stored(proof)
        if session is not None:
            self._remove(session)

    def close_all(self, sub: str) -> None:
        """End every session of a person: the password was changed, or the account is gone."""
        for session in self._store.each(query(BrowserSession.primary, owner=_digest(sub), consistent=True)):
            self._remove(session)

    def _remove(self, session: BrowserSession) -> None:
        with suppress(NotFound):  # it was closed twice at once
            self._store.run(delete(session))

    def _stored(self, proof: str) -> BrowserSession | None:
        owner, _, token = proof.partition(".")
        if len(owner) != 64 or not owner.isalnum() or not token:
            return None
        return self._store.run(get(BrowserSession, owner=owner, token=_digest(token), consistent=True))


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


# Tokens of forms


def form_token(secret: str) -> str:
    """A token for a form, good in the browser that has the secret; another one each time."""
    nonce = secrets.token_urlsafe(12)
    return f"{nonce}.{_mac(secret, nonce)}"


def is_form_token(secret: str, token: str) -> bool:
    """Whether a form's token was made with the secret."""
    nonce, _, mac = token.partition(".")
    return hmac.compare_digest(mac.encode(), _mac(secret, nonce).encode())


def _mac(secret: str, nonce: str) -> str:
    return hmac.new(secret.encode(), f"form {nonce}".encode(), hashlib.sha256).hexdigest()


# Cookies


@dataclass(frozen=True)
class _Cookie:
    value: str
    seconds: int


class Cookies:
    """The cookies of one request to a system: those that came with it, and those that its answer sets.

    They are seen by this system's pages only, and never by scripts. Where all goes over TLS their names have the
    prefix that keeps others from setting them over plain HTTP.
    """

    def __init__(self, sent: Mapping[str, str], path: str, *, secure: bool) -> None:
        self._sent = sent
        self._path = path
        self._secure = secure
        self._changed: dict[str, _Cookie | None] = {}

    def _name(self, name: str) -> str:
        return f"__Secure-{name}" if self._secure else name

    def get(self, name: str) -> str | None:
        """The value of a cookie, as it came or as it will be."""
        if name in self._changed:
            changed = self._changed[name]
            return None if changed is None else changed.value
        return self._sent.get(self._name(name))

    def set(self, name: str, value: str, lasts: timedelta) -> None:
        """Give the browser a cookie."""
        self._changed[name] = _Cookie(value, int(lasts.total_seconds()))

    def drop(self, name: str) -> None:
        """Take a cookie away, where there is one."""
        self._changed[name] = None

    def send(self, response: Response) -> None:
        """Put the changes into an answer."""
        for name, cookie in self._changed.items():
            if cookie is None and self._name(name) not in self._sent:
                continue
            response.set_cookie(
                self._name(name),
                cookie.value if cookie else "",
                max_age=cookie.seconds if cookie else 0,
                path=self._path,
                secure=self._secure,
                httponly=True,
                samesite="lax",
            )


def is_loopback(host: str | None) -> bool:
    """Whether a host name is this very machine."""
    if host is None:
        return False
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def only_tls(request: Request, base_url: str | None) -> bool:
    """Whether cookies go over TLS alone: always, but on this machine without it."""
    seen = urlsplit(base_url or str(request.base_url))
    return seen.scheme == "https" or not is_loopback(seen.hostname)


def check_origin(request: Request, base_url: str | None) -> None:
    """Refuse what another site's page sends, as far as the browser says where it is from."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Forbidden("foreign-form", "This form was sent from another site.")
    origin = request.headers.get("origin")
    if origin is None:
        return
    # The scheme is left out: behind a proxy that speaks TLS for us we can not know it.
    ours = {request.headers.get("host", ""), *([urlsplit(base_url).netloc] if base_url else [])}
    if urlsplit(origin).netloc not in ours - {""}:
        raise Forbidden("foreign-form", "This form was sent from another site.")


class Visitor:
    """The browser that sends a request: its cookies, and who is signed in there."""

    def __init__(self, request: Request, sessions: Sessions, path: str, base_url: str | None) -> None:
        self.cookies = Cookies(request.cookies, path, secure=only_tls(request, base_url))
        self._request = request
        self._base_url = base_url
        self._sessions = sessions
        self.caller: Caller | None = None

    def recognise(self) -> None:
        """Find out who it is. A session that is over leaves no cookie."""
        proof = self.cookies.get(SESSION)
        if proof is not None:
            self.caller = self._sessions.find(proof)
            if self.caller is None:
                self.cookies.drop(SESSION)

    def sign_in(self, caller: Caller, lasts: timedelta) -> None:
        """Open a session, under a new id in any case."""
        self.sign_out()
        self.cookies.set(SESSION, self._sessions.open(caller, lasts), lasts)
        self.cookies.drop(VISITOR)
        self.caller = caller

    def sign_out(self) -> None:
        """Close the session, where there is one."""
        if proof := self.cookies.get(SESSION):
            self._sessions.close(proof)
            self.cookies.drop(SESSION)
        self.caller = None

    def form_token(self) -> str:
        """A token for a form on a page for this browser."""
        secret = self.cookies.get(SESSION) or self.cookies.get(VISITOR)
        if not secret:
            secret = secrets.token_urlsafe(32)
            self.cookies.set(VISITOR, secret, LASTS)
        return form_token(secret)

    def check_form(self, token: str) -> None:
        """Refuse a form that is not from a page that this browser got from us."""
        check_origin(self._request, self._base_url)
        secret = self.cookies.get(SESSION) or self.cookies.get(VISITOR)
        if not secret or not is_form_token(secret, token):
            raise Forbidden("old-form", "This form has expired. Go back, reload the page and submit it again.")
