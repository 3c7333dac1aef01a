# pyright: strict
"""# Sessions

Signed-in users: a session is found by its token, ends by itself, and all sessions of a user can be ended at once.

Use it for sign-ins, password resets, invitations, shopping carts: whatever ends by time.

**Not for** access tokens that services check without a database (signed tokens), unless they can be revoked.
"""

from datetime import datetime, timedelta
from hashlib import sha256

import pytest

from keyplan.data import NotFound, Store, create, delete, touch
from keyplan.design import Design, Entity, Get, Id, Query, Table, Ttl, get, key, pattern, query, ref

web = Table("Web", key("PK", "SK"), indexes={"ByUser": key("user_key", "started_key")}, ttl="expires")

LASTS = timedelta(hours=8)


def digest(token: str) -> str:
    """What is stored of a token: whoever reads the table can't sign in."""
    return sha256(token.encode()).hexdigest()


class Session(Entity, table=web):
    token_digest: Id
    user_id: Id
    started_at: datetime
    expires: Ttl

    primary = key("SESSION#{token_digest}", "SESSION")
    by_user = web.ByUser("USER#{user_id}", "{started_at}#{token_digest}")


class Web(Design):
    tables = (web,)
    entities = (Session,)

    @pattern("Get session by its token")
    def session(self, token_digest: str) -> Get[Session]:
        return get(Session, token_digest=token_digest)

    @pattern("List sessions of a user")
    def sessions_of(self, user_id: str) -> Query[Session]:
        return query(Session.by_user, user_id=user_id)


def sign_in(store: Store[Web], user_id: str, token: str) -> Session:
    now = store.clock()
    session = Session(token_digest=digest(token), user_id=user_id, started_at=now, expires=now + LASTS)
    return store.run(create(session))


def user_of(store: Store[Web], token: str) -> str | None:
    """Who has this token."""
    session = store.run(store.design.session(digest(token)))
    return session.user_id if session is not None else None


def use(store: Store[Web]) -> None:
    """DynamoDB deletes expired items late, often after hours. Reads leave them out by the store's clock, and writes
    treat them as absent: `touch` extends a session without reading it, but doesn't revive one that has ended."""
    sign_in(store, "ada", "on the phone")
    sign_in(store, "ada", "on the laptop")
    assert user_of(store, "on the phone") == "ada"
    store.run(touch(ref(Session, token_digest=digest("on the phone")), expires=store.clock() + 2 * LASTS))

    tonight = Store(store.design, store.client, clock=lambda: store.clock() + LASTS + timedelta(minutes=1))
    assert user_of(tonight, "on the phone") == "ada"
    assert user_of(tonight, "on the laptop") is None
    with pytest.raises(NotFound):
        tonight.run(touch(ref(Session, token_digest=digest("on the laptop")), expires=tonight.clock() + LASTS))

    for session in tonight.each(tonight.design.sessions_of("ada")):  # sign out everywhere
        tonight.run(delete(session))
    assert user_of(tonight, "on the phone") is None
