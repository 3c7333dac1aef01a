# pyright: strict
"""# Sessions

Signed-in users: a session is found by its token, ends by itself, and all sessions of a user can be ended at once.

Use it for sign-ins, password resets, invitations, shopping carts: whatever ends by time.

**Not for** access tokens that services check without a database (signed tokens), unless they can be revoked.
"""

from datetime import datetime, timedelta
from hashlib import sha256

from keyplan.data import Store, create, delete, touch
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
    """Who has this token. DynamoDB deletes expired items late, so reads leave them out."""
    session = store.run(store.design.session(digest(token)))
    return session.user_id if session is not None else None


def use(store: Store[Web]) -> None:
    """`touch` extends a session without reading it. One that has ended is refused with `NotFound`."""
    sign_in(store, "ada", "token on the phone")
    sign_in(store, "ada", "token on the laptop")
    assert user_of(store, "token on the phone") == "ada"
    phone = ref(Session, token_digest=digest("token on the phone"))
    store.run(touch(phone, expires=store.clock() + LASTS))

    for session in store.each(store.design.sessions_of("ada")):  # sign out everywhere
        store.run(delete(session))
    assert user_of(store, "token on the laptop") is None
