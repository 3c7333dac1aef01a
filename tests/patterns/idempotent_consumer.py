# pyright: strict
"""# Idempotent consumer

A queue delivers a message twice, and the money is booked once. The id of the message is written in the same transaction
as its effect; the second time, that item exists already, and nothing is booked.

Use it for handlers of queues, streams and webhooks, and for requests that clients repeat.

**Not for** effects that are the same when repeated ("set the status to paid"): they need nothing. An effect outside of
DynamoDB (an e-mail) can't be in the transaction; there, pass the id on to the receiver.
"""

from datetime import timedelta

from keyplan.data import AlreadyExists, Store, at, create, patch
from keyplan.design import Design, Entity, Get, Id, Table, Ttl, get, key, pattern, ref

bank = Table("Bank", key("PK", "SK"), ttl="expires")

REMEMBERED = timedelta(days=7)


class Account(Entity, table=bank):
    account_id: Id
    cents: int = 0

    primary = key("ACCOUNT#{account_id}", "ACCOUNT")


class Handled(Entity, table=bank):
    message_id: Id
    expires: Ttl

    primary = key("HANDLED#{message_id}", "HANDLED")


class Bank(Design):
    tables = (bank,)
    entities = (Account, Handled)

    @pattern("Get account")
    def account(self, account_id: str) -> Get[Account]:
        return get(Account, account_id=account_id, consistent=True)


def book(store: Store[Bank], message_id: str, account_id: str, cents: int) -> bool:
    """Add to the account; returns False if the message was handled before."""
    handled = Handled(message_id=message_id, expires=store.clock() + REMEMBERED)
    try:
        add = patch(ref(Account, account_id=account_id), lambda account: at(account.cents).add(cents))
        store.transact(create(handled), add)
    except AlreadyExists:
        return False
    return True


def use(store: Store[Bank]) -> None:
    """DynamoDB deletes the ids after a week. Keep them longer than the queue keeps its messages."""
    store.run(create(Account(account_id="ada")))
    assert book(store, "m1", "ada", 500)
    assert not book(store, "m1", "ada", 500)  # delivered again
    account = store.run(store.design.account("ada"))
    assert account is not None
    assert account.cents == 500
