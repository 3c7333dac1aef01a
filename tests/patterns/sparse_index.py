# pyright: strict
"""# Sparse index

Orders that still have to be shipped, among millions that were. Only items that have all fields of an index key are in
the index, so an index of open orders is as large as the number of open orders.

Use it for work queues, drafts, flagged or featured items, "due before" lists.

**Not for** a condition that most items meet: then a query with a filter costs about the same, without an index.
"""

from datetime import datetime, timedelta

from keyplan.data import Store, create, update
from keyplan.design import KEYS_ONLY, Design, Entity, Id, Query, Table, at_most, index, key, new_id, pattern, query

shop = Table(
    "Shop",
    key("PK", "SK"),
    indexes={"Open": key("open", "due"), "Featured": index(key("featured", "SK"), KEYS_ONLY)},
)


class Order(Entity, table=shop):
    order_id: Id = new_id()
    warehouse: Id
    due_at: datetime | None = None
    gift: bool = False

    primary = key("ORDER#{order_id}", "ORDER#{order_id}")
    by_due = shop.Open("WAREHOUSE#{warehouse}", "{due_at}#{order_id}")
    gifts = shop.Featured("GIFTS#{warehouse}", when="gift")


class Shop(Design):
    tables = (shop,)
    entities = (Order,)

    @pattern("List open orders of a warehouse that are due, most urgent first")
    def due(self, warehouse: str, now: datetime) -> Query[Order]:
        return query(Order.by_due, warehouse=warehouse, due_at=at_most(now))

    @pattern("List orders of a warehouse to wrap as gifts")
    def to_wrap(self, warehouse: str) -> Query[Order]:
        return query(Order.gifts, warehouse=warehouse)


def use(store: Store[Shop]) -> None:
    """There are two ways into a sparse index: a field of its key that may be None (`due_at`), or a field that says so
    (`when="gift"`). An update that sets `due_at` to None takes the order out."""
    now = store.clock()
    urgent = store.run(create(Order(warehouse="north", due_at=now - timedelta(hours=1), gift=True)))
    store.run(create(Order(warehouse="north", due_at=now + timedelta(days=2))))

    assert [each.order_id for each in store.run(store.design.due("north", now)).items] == [urgent.order_id]
    assert [each.order_id for each in store.run(store.design.to_wrap("north")).items] == [urgent.order_id]
    urgent.due_at, urgent.gift = None, False  # shipped
    store.run(update(urgent))
    assert store.run(store.design.due("north", now)).items == []
    assert store.run(store.design.to_wrap("north")).items == []
