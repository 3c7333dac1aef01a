"""Forms that are kept while nobody is signed in, until the person whose form it is has signed in again.

A form says whose it is, in its token. If that person has no session any more, what was entered is kept for an hour,
encrypted with a key that only the browser has, in a cookie. The form comes back in a browser with this cookie, for this
person: somebody else who signs in there never sees it. Until it was shown or discarded, every page has a link to it,
however that person signed in. A form that was saved, in whatever way, is no longer kept: its one-time key tells.

At most 512 KB of a form are kept, and from one address 64 forms and 8 MB, since whoever sends a form without a session
may be anybody. Passwords are never kept. What isn't kept is still shown for copying.
"""

import hashlib
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from keyplan.data import NotFound, Store, delete, put
from keyplan.design import HOUSEKEEPING, Design, Entity, Id, Ttl, key, query
from keyplan.web.identity.sessions import Visitor
from keyplan.web.pages.forms import KEY, Typed

COOKIE, UNSEEN = "keyplan-kept", "keyplan-unsent"
"""The cookies: the key of the browser's kept forms, and the IDs of those that weren't shown again yet."""
KEPT = "kept"
"""The query parameter of a page with the ID of a form that was kept for it."""
LASTS = timedelta(hours=1)
LONGEST = 512 * 1024
MOST_FORMS, MOST_BYTES = 64, 8 * 1024 * 1024
_PART = 300_000
"""The bytes of a part: an item can't have more than 400 KB."""
_NONCE = 12
_ID = re.compile("[0-9a-f]{16}")
_MOST_UNSEEN = 3
"""So many forms are looked for on a page, the latest first."""


class KeptForm(Entity, table=HOUSEKEEPING):
    """From where a kept form was sent, and how large it is."""

    address: Id
    form: Id
    size: int
    expires_at: Ttl

    primary = key("KEPT#{address}", "FORM#{form}")


class KeptPart(Entity, table=HOUSEKEEPING):
    """What was entered, or a part of it, encrypted."""

    form: Id
    number: Id
    owner: str
    content: bytes
    expires_at: Ttl

    primary = key("KEPTPART#{form}", "PART#{number}")


@dataclass(frozen=True)
class Entered:
    """What was entered in a form: which form of which page, and where it was to be sent."""

    at: str
    """The URL of the page with the form."""
    route: str
    """The path of what takes the form, as it was declared."""
    name: str
    typed: Typed
    """What was entered, and the form's key."""
    called: str = ""
    """The first text that was entered, such as a title, by which people know the form."""
    kept_at: datetime | None = None

    def address(self, form: str) -> str:
        """The URL of the page that shows the form, which is kept under this ID."""
        return f"{self.at}{'&' if '?' in self.at else '?'}{urlencode({KEPT: form})}"


@dataclass(frozen=True)
class Unsent:
    """A kept form that wasn't shown again yet."""

    form: str
    entered: Entered

    @property
    def address(self) -> str:
        """The URL of the page that shows it."""
        return self.entered.address(self.form)


class Keeping:
    """The kept forms of a system."""

    def __init__(self, store: Store[Any]) -> None:
        self._store: Store[Design] = store

    def keep(self, visitor: Visitor, owner: str, address: str, entered: Entered) -> str | None:
        """Keep a form. Returns the ID to find it by; None if it isn't kept."""
        plain = orjson.dumps([entered.at, entered.route, entered.name, entered.typed, entered.called])
        sent_from = _digest(address)
        if len(plain) > LONGEST or not self._has_room(sent_from, len(plain)):
            return None
        secret = visitor.cookies.get(COOKIE) or secrets.token_urlsafe(32)
        form, expires_at = _id(secret, next(iter(entered.typed.get(KEY, ())), "")), self._store.clock() + LASTS
        self._remove(form)  # it was sent before
        nonce = secrets.token_bytes(_NONCE)
        sealed = nonce + AESGCM(_key(secret, form)).encrypt(nonce, plain, owner.encode())
        self._store.run(put(KeptForm(address=sent_from, form=form, size=len(plain), expires_at=expires_at)))
        for number, begin in enumerate(range(0, len(sealed), _PART)):
            content = sealed[begin : begin + _PART]
            part = KeptPart(form=form, number=str(number), owner=owner, content=content, expires_at=expires_at)
            self._store.run(put(part))
        others = [each for each in _unseen(visitor) if each != form]
        visitor.cookies.set(COOKIE, secret, LASTS)
        visitor.cookies.set(UNSEEN, ".".join([form, *others][:_MOST_UNSEEN]), LASTS)
        return form

    def find(self, visitor: Visitor, form: str) -> Entered | None:
        """A kept form of the person who is signed in; None if there is none, or it is somebody else's."""
        secret = visitor.cookies.get(COOKIE)
        if secret is None or not visitor.owner or not _ID.fullmatch(form):
            return None
        parts = self._parts(form)
        if not parts or any(part.owner != visitor.owner for part in parts):
            return None
        sealed = b"".join(part.content for part in parts)
        try:
            plain = AESGCM(_key(secret, form)).decrypt(sealed[:_NONCE], sealed[_NONCE:], visitor.owner.encode())
        except (InvalidTag, ValueError):
            return None  # of another browser
        at, route, name, typed, *called = orjson.loads(plain)
        return Entered(at, route, name, typed, "".join(called), parts[0].expires_at - LASTS)

    def unsent(self, visitor: Visitor) -> Unsent | None:
        """The latest kept form of the person who is signed in that wasn't shown again yet."""
        found = ((form, self.find(visitor, form)) for form in _unseen(visitor)[:_MOST_UNSEEN])
        return next((Unsent(form, entered) for form, entered in found if entered is not None), None)

    def has_shown(self, visitor: Visitor, form: str) -> None:
        """Don't lead to a form any more: it was shown again."""
        left = [each for each in _unseen(visitor) if each != form]
        if left:
            visitor.cookies.set(UNSEEN, ".".join(left), LASTS)
        else:
            visitor.cookies.drop(UNSEEN)

    def was_saved(self, visitor: Visitor, key: str) -> None:
        """Keep the form with this key no longer."""
        if (secret := visitor.cookies.get(COOKIE)) is not None and self._remove(form := _id(secret, key)):
            self.has_shown(visitor, form)

    def discard(self, visitor: Visitor, form: str) -> None:
        """Keep a form of the person who is signed in no longer."""
        if self.find(visitor, form) is not None:
            self._remove(form)
        self.has_shown(visitor, form)

    def _remove(self, form: str) -> bool:
        """Delete a form. Returns whether there was one."""
        parts = self._parts(form)
        for part in parts:
            with suppress(NotFound):
                self._store.run(delete(part))
        return bool(parts)

    def _parts(self, form: str) -> Sequence[KeptPart]:
        return list(self._store.each(query(KeptPart.primary, form=form, consistent=True)))

    def _has_room(self, address: str, size: int) -> bool:
        found = list(self._store.each(query(KeptForm.primary, address=address)))
        return len(found) < MOST_FORMS and sum(each.size for each in found) + size <= MOST_BYTES


def _unseen(visitor: Visitor) -> list[str]:
    return [each for each in (visitor.cookies.get(UNSEEN) or "").split(".") if each]


def _id(secret: str, key: str) -> str:
    """The ID of a kept form: the same one if the form is sent twice in a browser."""
    return hashlib.sha256(f"id of form {key} {secret}".encode()).hexdigest()[:16] if key else secrets.token_hex(8)


def _key(secret: str, form: str) -> bytes:
    return hashlib.sha256(f"kept form {form} {secret}".encode()).digest()


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()
