# pyright: strict
"""# Outbox

Write an order and tell the rest of the world, without losing either. The message is an item that is written in the same
transaction as the order. A stream handler sends it and deletes it.

Use it for e-mails, webhooks, messages to a queue, calls of other services: whatever follows from a write.

**Not for** things that must have happened before the caller gets an answer: delivery is soon, not at once. If the items
themselves are message enough, you need no outbox: handle the [stream](../streams.md) of the order.
"""

from keyplan.data import Store, create, delete
from keyplan.data.streams import ItemChange, StreamRunner, on
from keyplan.design import Design, Entity, Id, Query, Table, key, new_id, pattern, query

shop = Table("Shop", key("PK", "SK"), stream="NEW_AND_OLD_IMAGES")


class Order(Entity, table=shop):
    order_id: Id = new_id()
    customer: str

    primary = key("ORDER#{order_id}", "ORDER")


class Message(Entity, table=shop):
    message_id: Id = new_id()
    topic: str
    body: dict[str, str]

    primary = key("OUTBOX", "{message_id}")


class Shop(Design):
    tables = (shop,)
    entities = (Order, Message)

    @pattern("List messages that were not sent yet, oldest first")
    def unsent(self) -> Query[Message]:
        return query(Message.primary)


class Postman:
    """Sends messages. Here, it keeps them in a list."""

    def __init__(self, store: Store[Shop]) -> None:
        self.store = store
        self.sent: list[str] = []


@on(Message, "INSERT")
def send(change: ItemChange[Message], postman: Postman) -> None:
    """Send the message, with its id, by which the receiver knows it again if it is sent twice."""
    message = change.after
    if message is not None:
        postman.sent.append(f"{message.message_id} {message.topic}: {message.body['order']}")
        postman.store.run(delete(message))


def use(store: Store[Shop], streams: object) -> None:
    """A message is sent at least once: if the process is lost between sending and the checkpoint, it is sent again.
    Receivers ignore what they know: see [idempotent consumer](idempotent_consumer.md)."""
    order = Order(customer="ada")
    store.transact(create(order), create(Message(topic="order-placed", body={"order": order.order_id})))
    assert len(store.run(store.design.unsent()).items) == 1

    postman = Postman(store)
    StreamRunner(store, shop, [send], postman, streams).run_once()
    assert len(postman.sent) == 1
    assert store.run(store.design.unsent()).items == []
