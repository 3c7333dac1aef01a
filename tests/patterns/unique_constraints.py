# pyright: strict
"""# Unique constraints

No two users with the same e-mail address or handle. DynamoDB only knows one unique value for each item, its primary
key; for any other, a guard item whose key is the value is written in the same transaction.

Use it for e-mail addresses, user names, slugs, license plates, external ids.

**Not for** a value that is unique because of where it comes from (a UUID), or that can be the primary key itself: a
guard doubles the cost of creating the item.
"""

import pytest

from keyplan.data import Store, UniqueViolation, create, delete, update
from keyplan.design import Design, Entity, GuardTaken, Id, Lookup, Table, key, lookup, new_id, pattern, taken, unique

accounts = Table("Accounts", key("PK", "SK"))


class User(Entity, table=accounts):
    user_id: Id = new_id("u-")
    email: str
    handle: str
    verified: bool = False

    primary = key("USER#{user_id}", "USER")
    email_guard = unique("EMAIL#{email.address}", carries="user_id")
    handle_guard = unique("HANDLE#{handle.lower}", carries="user_id", when="verified")


class Accounts(Design):
    tables = (accounts,)
    entities = (User,)

    @pattern("Get user by e-mail address")
    def by_email(self, email: str) -> Lookup[User]:
        return lookup(User.email_guard, email=email)

    @pattern("Get verified user by handle")
    def by_handle(self, handle: str) -> Lookup[User]:
        return lookup(User.handle_guard, handle=handle)

    @pattern("Ask whether a handle is free")
    def handle_taken(self, handle: str) -> GuardTaken:
        return taken(User.handle_guard, handle=handle)


def use(store: Store[Accounts]) -> None:
    """`.address` and `.lower` decide what counts as the same value. With `when`, only items in which that field is true
    claim theirs. A changed value moves the guard in the same transaction."""
    ada = store.run(create(User(email="Ada@Example.org", handle="Ada")))
    with pytest.raises(UniqueViolation) as refused:
        store.run(create(User(email="ada@example.org", handle="imposter")))
    assert refused.value.constraint == "email_guard"

    assert not store.run(store.design.handle_taken("ada"))  # not verified yet
    ada.verified, ada.email = True, "ada@lovelace.org"
    store.run(update(ada))
    assert store.run(store.design.by_email("ada@example.org")) is None
    found = store.run(store.design.by_handle("ADA"))
    assert found is not None
    assert found.email == "ada@lovelace.org"
    store.run(delete(found))  # and both guards
    assert not store.run(store.design.handle_taken("ada"))
