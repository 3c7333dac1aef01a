"""The session of a browser, its cookies, and the tokens that prove that a form is ours.

A session's ID is 256 random bits in a cookie. The system's housekeeping table has only its hash, stored under the
person, so that all sessions of a person can be closed at once. A form's token is an HMAC with the session's ID, or for
visitors without a session with a random cookie, so only a page that we sent to this browser can contain it.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from keyplan.addresses import is_loopback
from keyplan.data import NotFound, Store, create, delete
from keyplan.design import HOUSEKEEPING, Created, Design, Entity, Id, Ttl, created, get, key, query
from keyplan.web.models.problems import Forbidden, Unauthorized
from keyplan.web.system.access import Caller

LASTS = timedelta(hours=12)
"""The default lifetime of a session. A change of someone's groups at the issuer takes effect after that time."""
SESSION_ENDED, OTHER_USER = "session-ended", "other-user"
"""The codes of problems with a form whose session has ended, and with one of somebody else."""
_OWNER = 32
SESSION, VISITOR, NOTICE = "keyplan-session", "keyplan-visitor", "keyplan-notice"


class BrowserSession(Entity, table=HOUSEKEEPING):
    """A signed-in browser: its user, by the hash of the session's ID."""

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
        """Open a session. Returns its only proof, which belongs in the browser's cookie."""
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
        """The user of the session; None if there is no such session or it has expired."""
        session = self._stored(proof)
        if session is None:
            return None
        return Caller(session.sub, frozenset(session.groups), json.loads(session.claims))

    def close(self, proof: str) -> None:
        """End a session, if it exists."""
        session = self._stored(proof)
        if session is not None:
            self._remove(session)

    def close_all(self, sub: str) -> None:
        """End all sessions of a person, for example after the password was changed."""
        for session in self._store.each(query(BrowserSession.primary, owner=_digest(sub), consistent=True)):
            self._remove(session)

    def _remove(self, session: BrowserSession) -> None:
        with suppress(NotFound):  # it was closed twice at the same time
            self._store.run(delete(session))

    def _stored(self, proof: str) -> BrowserSession | None:
        owner, _, token = proof.partition(".")
        if len(owner) != 64 or not owner.isalnum() or not token:
            return None
        return self._store.run(get(BrowserSession, owner=owner, token=_digest(token), consistent=True))


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


# Form tokens


def form_token(secret: str, owner: str = "") -> str:
    """A token for a form, valid in the browser that has the secret; a different one each time.

    It says whose form it is, which is still known when the secret is gone: after the session has ended.
    """
    nonce = secrets.token_urlsafe(12)
    return ".".join(filter(None, (nonce, _mac(secret, nonce, owner), owner)))


def is_form_token(secret: str, token: str) -> bool:
    """Whether a form's token was made with the secret."""
    nonce, mac, owner = _parts_of(token)
    return hmac.compare_digest(mac.encode(), _mac(secret, nonce, owner).encode())


def owner_of(token: str) -> str:
    """Whose form it is, as the token says; empty if nobody was signed in."""
    owner = _parts_of(token)[2]
    return owner if len(owner) == _OWNER and owner.isalnum() else ""


def _parts_of(token: str) -> tuple[str, str, str]:
    nonce, _, rest = token.partition(".")
    mac, _, owner = rest.partition(".")
    return nonce, mac, owner


def _mac(secret: str, nonce: str, owner: str) -> str:
    return hmac.new(secret.encode(), f"form {nonce} {owner}".encode(), hashlib.sha256).hexdigest()


# Cookies


@dataclass(frozen=True)
class _Cookie:
    value: str
    seconds: int


class Cookies:
    """The cookies of one request to a system: those that were sent, and those that the response sets.

    Only this system's pages get them, never scripts. With TLS, their names have the prefix that keeps others from
    setting them over plain HTTP.
    """

    def __init__(self, sent: Mapping[str, str], path: str, *, secure: bool) -> None:
        self._sent = sent
        self._path = path
        self._secure = secure
        self._changed: dict[str, _Cookie | None] = {}

    def name(self, name: str) -> str:
        """The name of a cookie, as browsers know it."""
        return f"__Secure-{name}" if self._secure else name

    def get(self, name: str) -> str | None:
        """The value of a cookie, as it was sent or has been changed."""
        if name in self._changed:
            changed = self._changed[name]
            return None if changed is None else changed.value
        return self._sent.get(self.name(name))

    def new(self, name: str) -> str | None:
        """The value that the response sets; None if it doesn't."""
        changed = self._changed.get(name)
        return None if changed is None else changed.value

    def set(self, name: str, value: str, lasts: timedelta) -> None:
        """Set a cookie."""
        self._changed[name] = _Cookie(value, int(lasts.total_seconds()))

    def drop(self, name: str) -> None:
        """Delete a cookie, if it exists."""
        self._changed[name] = None

    def send(self, response: Response) -> None:
        """Add the changes to a response."""
        for name, cookie in self._changed.items():
            if cookie is None and self.name(name) not in self._sent:
                continue
            response.set_cookie(
                self.name(name),
                cookie.value if cookie else "",
                max_age=cookie.seconds if cookie else 0,
                path=self._path,
                secure=self._secure,
                httponly=True,
                samesite="lax",
            )


def only_tls(request: Request, base_url: str | None) -> bool:
    """Whether cookies are sent over TLS only: always, except on this machine without TLS."""
    seen = urlsplit(base_url or str(request.base_url))
    return seen.scheme == "https" or not is_loopback(seen.hostname)


def check_origin(request: Request, base_url: str | None) -> None:
    """Refuse what a page of another site sent, as far as the browser tells."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Forbidden("foreign-form", "This form was sent from another site.")
    origin = request.headers.get("origin")
    if origin is None:
        return
    # Without the scheme: behind a proxy that terminates TLS we can't know it.
    ours = {request.headers.get("host", ""), *([urlsplit(base_url).netloc] if base_url else [])}
    if urlsplit(origin).netloc not in ours - {""}:
        raise Forbidden("foreign-form", "This form was sent from another site.")


class Visitor:
    """The browser that sends a request: its cookies, and who is signed in."""

    def __init__(self, request: Request, sessions: Sessions, path: str, base_url: str | None) -> None:
        self.cookies = Cookies(request.cookies, path, secure=only_tls(request, base_url))
        self._request = request
        self._base_url = base_url
        self._sessions = sessions
        self.caller: Caller | None = None

    @property
    def proof(self) -> str | None:
        """What the browser sent to prove that it has a session."""
        return self.cookies.get(SESSION)

    def recognize(self) -> Caller | None:
        """Find out who is signed in. The cookie of an expired session is deleted."""
        if self.proof is not None:
            self.caller = self._sessions.find(self.proof)
            if self.caller is None:
                self.cookies.drop(SESSION)
        return self.caller

    def sign_in(self, caller: Caller, lasts: timedelta) -> None:
        """Open a session, always with a new ID."""
        self.sign_out()
        self.cookies.set(SESSION, self._sessions.open(caller, lasts), lasts)
        self.cookies.drop(VISITOR)
        self.caller = caller

    def sign_out(self) -> None:
        """Close the session, if there is one."""
        if proof := self.cookies.get(SESSION):
            self._sessions.close(proof)
            self.cookies.drop(SESSION)
        self.caller = None

    def form_token(self) -> str:
        """A form token for a page in this browser."""
        secret = self.cookies.get(SESSION) or self.cookies.get(VISITOR)
        if not secret:
            secret = secrets.token_urlsafe(32)
            self.cookies.set(VISITOR, secret, LASTS)
        return form_token(secret, self.owner)

    @property
    def owner(self) -> str:
        """What forms say about who is signed in: the same in all sessions of a person; empty if nobody is."""
        return "" if self.caller is None else _digest(self.caller.sub)[:_OWNER]

    @property
    def anonymous(self) -> str:
        """What tells this browser from others while nobody is signed in."""
        return "" if self.caller else self.cookies.get(VISITOR) or ""

    def check_form(self, token: str) -> None:
        """Refuse a form that isn't from a page that we sent to this browser."""
        check_origin(self._request, self._base_url)
        secret = self.cookies.get(SESSION) or self.cookies.get(VISITOR)
        if secret and is_form_token(secret, token):
            return
        owner = owner_of(token)
        if owner and self.caller is None:
            raise Unauthorized(SESSION_ENDED, "Nothing was saved, because you are no longer signed in.")
        if owner and owner != self.owner:
            raise Forbidden(OTHER_USER, "This form was opened by another user. Nothing was saved.")
        raise Forbidden("old-form", "This form has expired. Check what you entered and send it again.")
