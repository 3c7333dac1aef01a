# pyright: strict
"""# Audit log

Who changed what, and when: an entry for each change, in the same transaction as the change, so that neither is ever
without the other.

Use it where someone will ask later: prices, permissions, medical and financial data.

**Not for** debugging: write log lines. If it's enough that the entry comes a moment later, and you need no actor, a
[stream handler](../streams.md) sees every change of the table, also those by other programs.
"""

from datetime import datetime

from keyplan.data import Store, create, update
from keyplan.design import (
    Created,
    Design,
    Entity,
    Get,
    Id,
    Query,
    Table,
    Version,
    at_least,
    created,
    get,
    key,
    new_id,
    pattern,
    query,
)

prices = Table("Prices", key("PK", "SK"), indexes={"ByActor": key("actor_key", "at_key")})


class Price(Entity, table=prices):
    sku: Id
    cents: int
    version: Version = 0

    primary = key("PRICE#{sku}", "PRICE")


class Entry(Entity, table=prices):
    sku: Id
    entry_id: Id = new_id()
    at: Created = created()
    actor: Id
    before: dict[str, int]
    after: dict[str, int]

    primary = key("PRICE#{sku}", "AUDIT#{at}#{entry_id}")
    by_actor = prices.ByActor("ACTOR#{actor}", "{at}#{entry_id}")


class Prices(Design):
    tables = (prices,)
    entities = (Price, Entry)

    @pattern("Get price")
    def price(self, sku: str) -> Get[Price]:
        return get(Price, sku=sku)

    @pattern("List changes of a price, newest first")
    def history(self, sku: str) -> Query[Entry]:
        return query(Entry.primary, sku=sku, newest_first=True)

    @pattern("List what an actor changed since a time")
    def changes_by(self, actor: str, since: datetime) -> Query[Entry]:
        return query(Entry.by_actor, actor=actor, at=at_least(since))


def set_price(store: Store[Prices], price: Price, cents: int, actor: str) -> None:
    """Change a price and log who did it. Refused if somebody else changed it since it was read."""
    entry = Entry(sku=price.sku, actor=actor, at=store.clock(), before={"cents": price.cents}, after={"cents": cents})
    price.cents = cents
    store.transact(update(price), create(entry))


def use(store: Store[Prices]) -> None:
    """The entry is in the partition of what it is about, so both come and go together."""
    start = store.clock()
    price = store.run(create(Price(sku="ink", cents=500)))
    set_price(store, price, 550, actor="ann")
    set_price(store, price, 450, actor="joe")

    changes = store.run(store.design.history("ink")).items
    assert sorted((each.before["cents"], each.after["cents"]) for each in changes) == [(500, 550), (550, 450)]
    assert [each.sku for each in store.run(store.design.changes_by("joe", start)).items] == ["ink"]
