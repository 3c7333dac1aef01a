"""Clients that write to an endpoint that may be killed at any moment, and record the responses.

Each client has its own items. Acknowledged writes are in `known`. The one write in progress when the endpoint was
killed may or may not have been applied, so both states are right.
"""

import random
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from tests.engine.durability.wire import Refused, Wire

Item: TypeAlias = dict[str, Any]
State: TypeAlias = dict[tuple[str, str, str], Item]
"""Items by table, partition key and sort key."""

TABLES = ("Left", "Right")
GROUPS = ("g0", "g1", "g2")
EXTRA = "extra"


def place(table: str, item: Item) -> tuple[str, str, str]:
    return table, item["pk"]["S"], item["sk"]["N"]


class Writer:
    """One client."""

    def __init__(self, number: int, seed: int) -> None:
        self.name = f"writer-{number}"
        self.known: State = {}
        self.possible: State = {}
        self.written = 0
        self._chance = random.Random(seed)
        self._wire: Wire | None = None
        self._step = 0

    def run(self, port: int) -> None:
        """Write until the endpoint ends."""
        try:
            with Wire(port) as self._wire:
                while True:
                    self._write()
                    self.written += 1
        except OSError:
            pass

    def settle(self, found: State) -> None:
        """Compare with the content after a crash, and continue from there."""
        mine = {place: item for place, item in found.items() if place[1] == self.name}
        assert mine in (self.known, self.possible), self._difference(mine)
        self.known = mine
        self.possible = mine

    def _difference(self, mine: State) -> str:
        lost = [place for place, item in self.known.items() if mine.get(place) not in (item, self.possible.get(place))]
        return f"{self.name}: {len(lost)} items are not as they were acknowledged: {lost[:5]}"

    def _write(self) -> None:
        self._step += 1
        write = self._chance.choice(
            (self._put, self._put, self._put_large, self._update, self._delete, self._batch, self._transact)
        )
        write()

    def _send(self, operation: str, change: Callable[[State], None], **request: Any) -> None:
        after = dict(self.known)
        change(after)
        self.possible = after
        assert self._wire is not None
        self._wire.call(operation, **request)
        self.known = after

    def _item(self, sk: int, size: int = 0) -> Item:
        item: Item = {
            "pk": {"S": self.name},
            "sk": {"N": str(sk)},
            "step": {"N": str(self._step)},
            "body": {"S": "x" * (size or self._chance.randrange(1500))},
        }
        if self._chance.random() < 0.8:
            item["grp"] = {"S": self._chance.choice(GROUPS)}
        return item

    def _number(self) -> int:
        return self._chance.randrange(12)

    def _put(self, size: int = 0) -> None:
        table, item = self._chance.choice(TABLES), self._item(self._number(), size)
        self._send("PutItem", lambda state: state.update({place(table, item): item}), TableName=table, Item=item)

    def _put_large(self) -> None:
        self._put(self._chance.randrange(5_000, 60_000))

    def _update(self) -> None:
        """A counter, and an index key that changes."""
        table, sk, group = self._chance.choice(TABLES), self._number(), self._chance.choice(GROUPS)
        key = {"pk": {"S": self.name}, "sk": {"N": str(sk)}}

        def change(state: State) -> None:
            item = state[place(table, key)] = dict(state.get(place(table, key), key))
            item["counter"] = {"N": str(int(item.get("counter", {"N": "0"})["N"]) + 1)}
            item["grp"] = {"S": group}

        self._send(
            "UpdateItem",
            change,
            TableName=table,
            Key=key,
            UpdateExpression="SET grp = :g ADD #c :one",
            ExpressionAttributeNames={"#c": "counter"},
            ExpressionAttributeValues={":g": {"S": group}, ":one": {"N": "1"}},
        )

    def _delete(self) -> None:
        table = self._chance.choice(TABLES)
        key = {"pk": {"S": self.name}, "sk": {"N": str(self._number())}}

        def change(state: State) -> None:
            state.pop(place(table, key), None)

        self._send("DeleteItem", change, TableName=table, Key=key)

    def _batch(self) -> None:
        items = [self._item(sk) for sk in self._chance.sample(range(12), 6)]

        def change(state: State) -> None:
            state.update({place(table, item): item for table in TABLES for item in items})

        writes = [{"PutRequest": {"Item": item}} for item in items]
        self._send("BatchWriteItem", change, RequestItems=dict.fromkeys(TABLES, writes))

    def _transact(self) -> None:
        """The same item in both tables, and one less somewhere."""
        item = self._item(100)
        gone = {"pk": {"S": self.name}, "sk": {"N": str(self._number())}}

        def change(state: State) -> None:
            state.update({place(table, item): item for table in TABLES})
            state.pop(place("Left", gone), None)

        self._send(
            "TransactWriteItems",
            change,
            TransactItems=[
                *({"Put": {"TableName": table, "Item": item}} for table in TABLES),
                {"Delete": {"TableName": "Left", "Key": gone}},
            ],
        )


class IndexChanger:
    """Adds an index to a table that is being written to, and removes it, again and again."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._there = False
        self.changes = 0

    def run(self, port: int) -> None:
        try:
            with Wire(port) as wire:
                while True:
                    self._change(wire)
        except OSError:
            pass

    def _change(self, wire: Wire) -> None:
        self._there = not self._there
        schema = [{"AttributeName": "step", "KeyType": "HASH"}]
        create = {"IndexName": EXTRA, "KeySchema": schema, "Projection": {"ProjectionType": "KEYS_ONLY"}}
        try:
            wire.call(
                "UpdateTable",
                TableName="Left",
                AttributeDefinitions=[{"AttributeName": "step", "AttributeType": "N"}],
                GlobalSecondaryIndexUpdates=[{"Create": create} if self._there else {"Delete": {"IndexName": EXTRA}}],
            )
            self.changes += 1
        except Refused as refused:
            # It was there already when the endpoint was killed, or is still being filled.
            if refused.status != 400:
                raise
        threading.Event().wait(self._chance.random() * 0.05)


def create_tables(wire: Wire) -> None:
    for table in TABLES:
        wire.call(
            "CreateTable",
            TableName=table,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": name, "AttributeType": kind}
                for name, kind in (("pk", "S"), ("sk", "N"), ("grp", "S"))
            ],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "by-group",
                    "KeySchema": [{"AttributeName": "grp", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
            LocalSecondaryIndexes=[
                {
                    "IndexName": "local",
                    "KeySchema": [
                        {"AttributeName": "pk", "KeyType": "HASH"},
                        {"AttributeName": "grp", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        )
