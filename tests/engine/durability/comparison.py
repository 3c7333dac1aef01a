"""Random operations on the engine and on the model, which must agree."""

from collections.abc import Callable
from itertools import groupby
from typing import Any

from botocore.exceptions import ClientError
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from keyplan.engine import Engine
from tests.engine.durability import model
from tests.engine.durability.model import CONDITIONS, GSI, LSI, UPDATES, Condition, Item, Key, Update, canonical

START = 1_700_000_000

NAMES = ["first", "second"]
names = st.sampled_from(NAMES)
partitions = st.sampled_from(["a", "b"])
keys: st.SearchStrategy[Key] = st.tuples(partitions, st.integers(-1, 3))
conditions = st.none() | st.sampled_from(CONDITIONS)
updates = st.sampled_from(UPDATES)
bodies: st.SearchStrategy[Item] = st.fixed_dictionaries(
    {},
    optional={
        "grp": st.sampled_from(["x", "y"]).map(lambda text: {"S": text}),
        "weight": st.sampled_from(["-1.5", "0", "7", "12"]).map(lambda text: {"N": text}),
        "n": st.integers(0, 6).map(lambda count: {"N": str(count)}),
        "tags": st.sampled_from([["t1"], ["t1", "t2"], ["t3"]]).map(lambda tags: {"SS": tags}),
        "expires": st.integers(START - 100, START + 100).map(lambda at: {"N": str(at)}),
        # Over a page, so that it goes to overflow pages.
        "long": st.integers(0, 20_000).map(lambda length: {"S": "x" * length}),
    },
)


def item(key: Key, body: Item) -> Item:
    return {**model.key_item(key), **body}


def code(call: Callable[[], object]) -> str | None:
    """The error code of a call."""
    try:
        call()
    except ClientError as error:
        return error.response["Error"]["Code"]
    return None


def expression(name: str, found: Condition | Update | None, **others: Item) -> dict[str, Any]:
    """The parameters for a condition or update, and values of another expression."""
    values = {**(found.values if found else {}), **others.get("values", {})}
    return {
        **({name: found.text} if found else {}),
        **({"ExpressionAttributeValues": values} if values else {}),
    }


class Comparison(RuleBasedStateMachine):
    """Each step runs one operation on both; the invariant compares their contents."""

    path = ":memory:"

    def __init__(self) -> None:
        super().__init__()
        self.now = float(START)
        self.tables: dict[str, model.Table] = {}
        self.tokens = 0
        self.sweeps = 0
        self.engine = self.open()

    def open(self) -> Engine:
        return Engine(self.path, clock=lambda: self.now)

    def teardown(self) -> None:
        self.engine.close()

    # Tables

    @initialize()
    def begin(self) -> None:
        self.create("first", with_gsi=True)

    @rule(name=names, with_gsi=st.booleans())
    def create(self, name: str, with_gsi: bool) -> None:
        types = {"pk": "S", "sk": "N", "weight": "N", **({"grp": "S"} if with_gsi else {})}
        request: dict[str, Any] = {
            "TableName": name,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": key, "AttributeType": kind} for key, kind in types.items()],
            "KeySchema": model.schema("pk", "sk"),
            "LocalSecondaryIndexes": [
                {
                    "IndexName": LSI,
                    "KeySchema": model.schema("pk", "weight"),
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ],
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        }
        if with_gsi:
            request["GlobalSecondaryIndexes"] = [model.gsi()]
        expected = "ResourceInUseException" if name in self.tables else None
        assert code(lambda: self.engine.create_table(**request)) == expected
        if expected is None:
            self.tables[name] = model.Table(with_gsi)
            self.engine.update_time_to_live(
                TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}
            )

    @rule(name=names)
    def delete(self, name: str) -> None:
        expected = None if name in self.tables else "ResourceNotFoundException"
        assert code(lambda: self.engine.delete_table(TableName=name)) == expected
        self.tables.pop(name, None)
        # A new stream's label is a time in milliseconds.
        self.now += 1

    @precondition(lambda self: self.tables)
    @rule(data=st.data())
    def change_indexes(self, data: st.DataObject) -> None:
        """Add the index, filled from the existing items, or remove it."""
        name, table = self.some_table(data)
        if table.has_gsi:
            update: dict[str, Any] = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": GSI}}]}
        else:
            update = {
                "GlobalSecondaryIndexUpdates": [{"Create": model.gsi()}],
                "AttributeDefinitions": [
                    {"AttributeName": "grp", "AttributeType": "S"},
                    {"AttributeName": "weight", "AttributeType": "N"},
                ],
            }
        self.engine.update_table(TableName=name, **update)
        table.has_gsi = not table.has_gsi

    def some_table(self, data: st.DataObject) -> tuple[str, model.Table]:
        name = data.draw(st.sampled_from(sorted(self.tables)))
        return name, self.tables[name]

    # Items

    @rule(name=names, key=keys, body=bodies, condition=conditions)
    def put(self, name: str, key: Key, body: Item, condition: Condition | None) -> None:
        table = self.tables.get(name)
        request = {"TableName": name, "Item": item(key, body), **expression("ConditionExpression", condition)}
        if table is None:
            assert code(lambda: self.engine.put_item(**request)) == "ResourceNotFoundException"
        elif not table.holds(key, condition):
            assert code(lambda: self.engine.put_item(**request)) == "ConditionalCheckFailedException"
        else:
            answer = self.engine.put_item(**request, ReturnValues="ALL_OLD")
            assert model.canonical_or_none(answer.get("Attributes")) == model.canonical_or_none(table.get(key))
            table.write(key, item(key, body))

    @precondition(lambda self: self.tables)
    @rule(data=st.data(), key=keys, update=updates, condition=conditions)
    def update(self, data: st.DataObject, key: Key, update: Update, condition: Condition | None) -> None:
        name, table = self.some_table(data)
        request = {
            "TableName": name,
            "Key": model.key_item(key),
            **expression("ConditionExpression", condition),
            **expression("UpdateExpression", update, values=condition.values if condition else {}),
        }
        if not table.holds(key, condition):
            assert code(lambda: self.engine.update_item(**request)) == "ConditionalCheckFailedException"
            return
        if not table.fits(key, update):
            assert code(lambda: self.engine.update_item(**request)) == "ValidationException"
            return
        new = table.updated(key, update)
        answer = self.engine.update_item(**request, ReturnValues="ALL_NEW")
        assert model.canonical_or_none(answer.get("Attributes")) == model.canonical_or_none(new)
        table.write(key, new)

    @precondition(lambda self: self.tables)
    @rule(data=st.data(), key=keys, condition=conditions)
    def remove(self, data: st.DataObject, key: Key, condition: Condition | None) -> None:
        name, table = self.some_table(data)
        request = {"TableName": name, "Key": model.key_item(key), **expression("ConditionExpression", condition)}
        if not table.holds(key, condition):
            assert code(lambda: self.engine.delete_item(**request)) == "ConditionalCheckFailedException"
            return
        answer = self.engine.delete_item(**request, ReturnValues="ALL_OLD")
        assert model.canonical_or_none(answer.get("Attributes")) == model.canonical_or_none(table.get(key))
        table.write(key, None)

    @precondition(lambda self: self.tables)
    @rule(data=st.data(), writes=st.dictionaries(keys, st.none() | bodies, min_size=1, max_size=8))
    def write_batch(self, data: st.DataObject, writes: dict[Key, Item | None]) -> None:
        name, table = self.some_table(data)
        requests: list[Any] = [
            {"DeleteRequest": {"Key": model.key_item(key)}}
            if body is None
            else {"PutRequest": {"Item": item(key, body)}}
            for key, body in writes.items()
        ]
        assert not self.engine.batch_write_item(RequestItems={name: requests})["UnprocessedItems"]
        for key, body in writes.items():
            table.write(key, None if body is None else item(key, body))

    @precondition(lambda self: self.tables)
    @rule(
        data=st.data(),
        actions=st.dictionaries(
            keys,
            st.tuples(st.sampled_from(["Put", "Update", "Delete", "ConditionCheck"]), bodies, updates, conditions),
            min_size=1,
            max_size=5,
        ),
        repeat=st.booleans(),
    )
    def transact(
        self, data: st.DataObject, actions: dict[Key, tuple[str, Item, Update, Condition | None]], repeat: bool
    ) -> None:
        """All actions or none; and only once, however often it is sent."""
        name, table = self.some_table(data)
        self.tokens += 1
        request: Any = {
            "TransactItems": [self.action(name, key, *action) for key, action in actions.items()],
            "ClientRequestToken": f"token-{self.tokens}",
        }
        needed = {
            key: condition or CONDITIONS[0] if kind == "ConditionCheck" else condition
            for key, (kind, _, _, condition) in actions.items()
        }
        fit = all(table.fits(key, update) for key, (kind, _, update, _) in actions.items() if kind == "Update")
        if not fit or not all(table.holds(key, condition) for key, condition in needed.items()):
            assert code(lambda: self.engine.transact_write_items(**request)) == "TransactionCanceledException"
            return
        self.engine.transact_write_items(**request)
        for key, (kind, body, update, _) in actions.items():
            if kind == "Put":
                table.write(key, item(key, body))
            elif kind == "Update":
                table.write(key, table.updated(key, update))
            elif kind == "Delete":
                table.write(key, None)
        if repeat:
            self.engine.transact_write_items(**request)

    @staticmethod
    def action(name: str, key: Key, kind: str, body: Item, update: Update, condition: Condition | None) -> Item:
        if kind == "ConditionCheck":
            condition = condition or CONDITIONS[0]
        checked = expression("ConditionExpression", condition)
        if kind == "Put":
            return {kind: {"TableName": name, "Item": item(key, body), **checked}}
        request: dict[str, Any] = {"TableName": name, "Key": model.key_item(key), **checked}
        if kind == "Update":
            request |= expression("UpdateExpression", update, values=condition.values if condition else {})
        return {kind: request}

    @rule(seconds=st.integers(0, 60))
    def expire(self, seconds: int) -> None:
        self.now += seconds
        self.sweeps += 1
        expected = 0
        for table in self.tables.values():
            for key in table.expired(self.now):
                table.write(key, None, sweep=self.sweeps)
                expected += 1
        assert self.engine.sweep_expired() == expected

    # Reading

    @precondition(lambda self: self.tables)
    @rule(data=st.data(), wanted=st.lists(keys, min_size=1, max_size=6, unique=True))
    def read_batch(self, data: st.DataObject, wanted: list[Key]) -> None:
        name, table = self.some_table(data)
        expected = canonical(found for found in map(table.get, wanted) if found)
        keys = [model.key_item(key) for key in wanted]
        assert canonical(self.engine.batch_get_item(RequestItems={name: {"Keys": keys}})["Responses"][name]) == expected
        gets: Any = [{"Get": {"TableName": name, "Key": key}} for key in keys]
        answers = self.engine.transact_get_items(TransactItems=gets)["Responses"]
        assert [model.canonical_or_none(answer.get("Item")) for answer in answers] == [
            model.canonical_or_none(table.get(key)) for key in wanted
        ]

    @precondition(lambda self: self.tables)
    @rule(
        data=st.data(),
        pk=partitions,
        test=st.sampled_from(["=", "<", "<=", ">", ">=", "BETWEEN"]),
        bounds=st.tuples(st.integers(-2, 4), st.integers(0, 3)),
        forward=st.booleans(),
        limit=st.none() | st.integers(1, 3),
    )
    def query(
        self, data: st.DataObject, pk: str, test: str, bounds: tuple[int, int], forward: bool, limit: int | None
    ) -> None:
        name, table = self.some_table(data)
        low, high = bounds[0], bounds[0] + bounds[1]
        right = "BETWEEN :low AND :high" if test == "BETWEEN" else f"{test} :low"
        values = {":pk": {"S": pk}, ":low": {"N": str(low)}, ":high": {"N": str(high)}}
        if test != "BETWEEN":
            del values[":high"]
        found = self.pages(
            self.engine.query,
            limit,
            TableName=name,
            KeyConditionExpression=f"pk = :pk AND sk {right}",
            ExpressionAttributeValues=values,
            ScanIndexForward=forward,
        )
        expected = [it for it in table.partition(pk) if model.compares(test, model.key_of(it)[1], low, high)]
        assert [model.normal(it) for it in found] == [
            model.normal(it) for it in (expected if forward else reversed(expected))
        ]

    @precondition(lambda self: self.tables)
    @rule(data=st.data(), segments=st.integers(1, 4), limit=st.none() | st.integers(1, 3), tagged=st.booleans())
    def scan(self, data: st.DataObject, segments: int, limit: int | None, tagged: bool) -> None:
        name, table = self.some_table(data)
        more: dict[str, Any] = {"FilterExpression": "attribute_exists(tags)"} if tagged else {}
        found = [
            it
            for segment in range(segments)
            for it in self.pages(
                self.engine.scan, limit, TableName=name, Segment=segment, TotalSegments=segments, **more
            )
        ]
        assert canonical(found) == canonical(it for it in table.items.values() if not tagged or "tags" in it)

    @staticmethod
    def pages(read: Any, limit: int | None, **request: Any) -> list[Item]:
        """All items, page by page."""
        found: list[Item] = []
        if limit:
            request["Limit"] = limit
        while True:
            answer = read(**request)
            found += answer["Items"]
            assert not limit or answer["ScannedCount"] <= limit
            if "LastEvaluatedKey" not in answer:
                return found
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    @invariant()
    def agrees(self) -> None:
        self.compare(self.engine)

    def compare(self, engine: Engine) -> None:
        """Items and indexes of all tables equal the model's."""
        assert sorted(engine.list_tables()["TableNames"]) == sorted(self.tables)
        for name, table in self.tables.items():
            assert canonical(engine.scan(TableName=name)["Items"]) == canonical(table.items.values())
            for pk in ("a", "b"):
                found = self.by_index(engine, name, LSI, "pk", pk, Select="ALL_ATTRIBUTES")
                model.check_order(found, table.weighed(pk))
            if table.has_gsi:
                for group in ("x", "y"):
                    model.check_order(self.by_index(engine, name, GSI, "grp", group), table.group(group))

    @staticmethod
    def by_index(engine: Engine, name: str, index: str, attribute: str, value: str, **more: Any) -> list[Item]:
        return engine.query(
            TableName=name,
            IndexName=index,
            KeyConditionExpression=f"{attribute} = :v",
            ExpressionAttributeValues={":v": {"S": value}},
            **more,
        )["Items"]

    @rule()
    def compare_streams(self) -> None:
        """The stream of each table has its whole history."""
        for name, table in self.tables.items():
            arn = self.engine.describe_table(TableName=name)["Table"]["LatestStreamArn"]
            shards = self.engine.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
            iterator = self.engine.get_shard_iterator(
                StreamArn=arn, ShardId=shards[0]["ShardId"], ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            found: list[Any] = []
            while answer := self.engine.get_records(ShardIterator=iterator):
                if not answer["Records"]:
                    break
                found += answer["Records"]
                iterator = answer["NextShardIterator"]
            assert [record["eventName"] for record in found] == [change.name for change in table.changes]
            position = 0
            for _, together in groupby(table.changes, lambda change: change.sweep or object()):
                changes = list(together)
                images = [record["dynamodb"] for record in found[position : position + len(changes)]]
                position += len(changes)
                for side, expected in (
                    ("OldImage", [change.old for change in changes]),
                    ("NewImage", [change.new for change in changes]),
                ):
                    assert canonical(image.get(side) or {} for image in images) == canonical(
                        it or {} for it in expected
                    )
