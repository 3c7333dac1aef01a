"""Random requests for one table, right ones and wrong ones, from a seed: the same seed gives the same requests."""

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

Request: TypeAlias = dict[str, Any]
Call: TypeAlias = tuple[str, Request]

TABLE = "Things"
GSI, LSI = "by-group", "by-label"
CREATE_TABLE: Request = {
    "TableName": TABLE,
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": kind}
        for name, kind in (("pk", "S"), ("sk", "N"), ("grp", "S"), ("weight", "N"), ("label", "S"))
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "BillingMode": "PAY_PER_REQUEST",
    "GlobalSecondaryIndexes": [
        {
            "IndexName": GSI,
            "KeySchema": [{"AttributeName": "grp", "KeyType": "HASH"}, {"AttributeName": "weight", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "LocalSecondaryIndexes": [
        {
            "IndexName": LSI,
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "label", "KeyType": "RANGE"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
}

PARTITIONS, SORTS = ("a", "b"), ("1", "2", "2.5", "-7")
ATTRIBUTES = ("num", "txt", "tags", "nums", "doc", "arr", "flag", "grp", "weight", "label")
VALUES: tuple[Request, ...] = (
    {"S": "x"},
    {"S": "xyz"},
    {"S": ""},
    {"N": "1"},
    {"N": "-2.50"},
    {"N": "1e3"},
    {"BOOL": True},
    {"NULL": True},
    {"B": "eA=="},
    {"SS": ["x", "y"]},
    {"NS": ["1", "2.0"]},
    {"L": []},
    {"L": [{"S": "x"}, {"N": "1"}]},
    {"M": {}},
    {"M": {"in": {"S": "x"}, "deep": {"L": [{"N": "5"}]}}},
)
WRONG_VALUES: tuple[Request, ...] = (
    {"N": "x"},
    {"N": "1" * 39},
    {"N": "1e126"},
    {"N": "0e126"},
    {"SS": []},
    {"SS": ["x", "x"]},
    {"NS": ["1", "1.0"]},
    {"NULL": False},
    {},
    {"S": "x", "N": "1"},
)
PATHS = (*ATTRIBUTES, "doc.deep", "doc.deep[0]", "doc.lost.more", "arr[0]", "arr[7]", "txt.inner", "lost", "num[0]")
COMPARATORS = ("=", "<>", "<", "<=", ">", ">=")
TYPE_NAMES = ("S", "N", "SS", "M", "L", "NULL", "X")


class Requests:
    """A sequence of requests."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self._operations: tuple[tuple[int, Callable[[], Call]], ...] = (
            (14, self._put),
            (24, self._update),
            (6, self._delete),
            (6, self._get),
            (16, self._query),
            (8, self._scan),
            (4, self._batch_get),
            (5, self._batch_write),
            (6, self._transact_write),
            (3, self._transact_get),
        )

    def next(self) -> Call:
        """Return an operation and its request, in the wire's form."""
        weights, makers = zip(*self._operations, strict=True)
        operation, request = self.random.choices(makers, weights)[0]()
        if self._rarely(0.03):
            request = self._spoilt(request)
        return operation, request

    def _rarely(self, chance: float) -> bool:
        return self.random.random() < chance

    def _spoilt(self, request: Request) -> Request:
        """The request with one member of a wrong value, or without it."""
        name = self.random.choice(
            ["TableName", "ReturnValues", "Select", "Limit", "ReturnConsumedCapacity", "IndexName"]
        )
        wrong: dict[str, list[Any]] = {
            "TableName": ["", "a!b", "Nowhere"],
            "Limit": [0, -1],
            "IndexName": ["no-index", "a;"],
        }
        return {**request, name: self.random.choice(wrong.get(name, ["WRONG"]))}

    def _value(self) -> Request:
        return self.random.choice(WRONG_VALUES if self._rarely(0.02) else VALUES)

    def _key(self) -> Request:
        key: Request = {"pk": {"S": self.random.choice(PARTITIONS)}, "sk": {"N": self.random.choice(SORTS)}}
        if self._rarely(0.02):
            key = self.random.choice(
                [{"pk": key["pk"]}, {**key, "more": {"S": "x"}}, {**key, "sk": {"S": "1"}}, {**key, "pk": {"S": ""}}]
            )
        return key

    def _item(self) -> Request:
        names = self.random.sample(ATTRIBUTES, self.random.randint(0, 5))
        item = {**self._key(), **{name: self._value() for name in names}}
        for name, kind in (("grp", "S"), ("weight", "N"), ("label", "S")):
            # Most items fit the indexes.
            if name in item and not self._rarely(0.05):
                item[name] = {kind: self.random.choice(("1", "2"))}
        return item

    # Expressions.

    def _operand(self, values: Request) -> str:
        if self._rarely(0.5):
            return self.random.choice(PATHS)
        name = f":v{len(values)}"
        values[name] = self._value()
        return name

    def _leaf(self, values: Request) -> str:
        pick = self.random.choice
        path = pick(PATHS)
        match self.random.randrange(9):
            case 0:
                return f"attribute_exists({path})"
            case 1:
                return f"attribute_not_exists({path})"
            case 2:
                values[name := f":v{len(values)}"] = {"S": pick(TYPE_NAMES)}
                return f"attribute_type({path}, {name})"
            case 3:
                return f"begins_with({path}, {self._operand(values)})"
            case 4:
                return f"contains({path}, {self._operand(values)})"
            case 5:
                return f"size({path}) {pick(COMPARATORS)} {self._operand(values)}"
            case 6:
                return f"{path} BETWEEN {self._operand(values)} AND {self._operand(values)}"
            case 7:
                return f"{path} IN ({self._operand(values)}, {self._operand(values)})"
            case _:
                return f"{self._operand(values)} {pick(COMPARATORS)} {self._operand(values)}"

    def _condition(self, values: Request) -> str:
        text = self._leaf(values)
        while self._rarely(0.35):
            joint = self.random.choice((" AND ", " OR "))
            text = f"{text}{joint}{'NOT ' if self._rarely(0.2) else ''}{self._leaf(values)}"
        if self._rarely(0.03):
            text = self.random.choice(["", f"({text}", f"(({text}))", f"{text} AND", f"{text} AND status = :lost"])
        return text

    def _set(self, values: Request) -> str:
        path = self.random.choice(PATHS)
        match self.random.randrange(6):
            case 0:
                return f"{path} = {self._operand(values)} + {self._operand(values)}"
            case 1:
                return f"{path} = if_not_exists({self.random.choice(PATHS)}, {self._operand(values)})"
            case 2:
                return f"{path} = list_append({self._operand(values)}, {self._operand(values)})"
            case _:
                return f"{path} = {self._operand(values)}"

    def _update_expression(self, values: Request) -> str:
        sections = []
        if self._rarely(0.7):
            sections.append("SET " + ", ".join(self._set(values) for _ in range(self.random.randint(1, 2))))
        if self._rarely(0.3):
            sections.append("REMOVE " + ", ".join(self.random.sample(PATHS, self.random.randint(1, 2))))
        for section in ("ADD", "DELETE"):
            if self._rarely(0.2):
                values[name := f":v{len(values)}"] = self._value()
                sections.append(f"{section} {self.random.choice(PATHS)} {name}")
        return " ".join(sections)

    def _with_values(self, request: Request, values: Request) -> Request:
        if self._rarely(0.02):
            values[":unused"] = {"S": "x"}
        return {**request, "ExpressionAttributeValues": values} if values else request

    def _conditioned(self, request: Request, values: Request) -> Request:
        if self._rarely(0.4):
            request["ConditionExpression"] = self._condition(values)
        return self._with_values(request, values)

    def _returning(self, request: Request, *wanted: str) -> Request:
        if self._rarely(0.4):
            request["ReturnValues"] = self.random.choice(wanted)
        return request

    def _projected(self, request: Request) -> Request:
        if self._rarely(0.3):
            request["ProjectionExpression"] = ", ".join(self.random.sample(PATHS, self.random.randint(1, 3)))
        return request

    # Operations.

    def _put(self) -> Call:
        request = self._returning({"TableName": TABLE, "Item": self._item()}, "NONE", "ALL_OLD", "ALL_NEW")
        return "PutItem", self._conditioned(request, {})

    def _update(self) -> Call:
        request = self._returning(
            {"TableName": TABLE, "Key": self._key()}, "NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"
        )
        values: Request = {}
        if text := self._update_expression(values):
            request["UpdateExpression"] = text
        return "UpdateItem", self._conditioned(request, values)

    def _delete(self) -> Call:
        request = self._returning({"TableName": TABLE, "Key": self._key()}, "NONE", "ALL_OLD")
        return "DeleteItem", self._conditioned(request, {})

    def _get(self) -> Call:
        return "GetItem", self._projected({"TableName": TABLE, "Key": self._key(), "ConsistentRead": True})

    def _query(self) -> Call:
        values: Request = {":p": {"S": self.random.choice((*PARTITIONS, "1"))}}
        where, hash_name, range_name = self.random.choice(
            [({}, "pk", "sk"), ({"IndexName": LSI}, "pk", "label"), ({"IndexName": GSI}, "grp", "weight")]
        )
        text = f"{hash_name} = :p"
        match self.random.randrange(8):
            case 0 | 1:
                values[":r"] = self.random.choice(({"N": "2"}, {"S": "1"}))
                text += f" AND {range_name} {self.random.choice(COMPARATORS)} :r"
            case 2:
                values |= {":r": {"N": self.random.choice(("1", "3"))}, ":t": {"N": "2"}}
                text += f" AND {range_name} BETWEEN :r AND :t"
            case 3:
                values[":r"] = {"S": "1"}
                text += f" AND begins_with({range_name}, :r)"
            case 4 if self._rarely(0.3):
                text = self.random.choice(
                    [f"{hash_name} > :p", f"{text} OR {text}", f"{text} AND {text}", "num = :p", ""]
                )
        request: Request = {"TableName": TABLE, **where, "KeyConditionExpression": text}
        if self._rarely(0.2):
            request["ScanIndexForward"] = False
        return "Query", self._with_values(self._selected(request, values), values)

    def _scan(self) -> Call:
        values: Request = {}
        where = self.random.choice(({}, {}, {"IndexName": LSI}, {"IndexName": GSI}))
        return "Scan", self._with_values(self._selected({"TableName": TABLE, **where}, values), values)

    def _selected(self, request: Request, values: Request) -> Request:
        if self._rarely(0.3):
            request["FilterExpression"] = self._condition(values)
        request = self._projected(request)
        if self._rarely(0.1):
            request["Select"] = self.random.choice(
                ("COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES")
            )
        return request

    def _batch_get(self) -> Call:
        keys = [self._key() for _ in range(self.random.randint(1, 4))]
        return "BatchGetItem", {"RequestItems": {TABLE: self._projected({"Keys": keys, "ConsistentRead": True})}}

    def _batch_write(self) -> Call:
        writes = [
            {"PutRequest": {"Item": self._item()}} if self._rarely(0.6) else {"DeleteRequest": {"Key": self._key()}}
            for _ in range(self.random.randint(1, 3))
        ]
        return "BatchWriteItem", {"RequestItems": {TABLE: writes}}

    def _transact_write(self) -> Call:
        return "TransactWriteItems", {"TransactItems": [self._action() for _ in range(self.random.randint(1, 3))]}

    def _action(self) -> Request:
        values: Request = {}
        match self.random.randrange(4):
            case 0:
                return {"Put": self._conditioned({"TableName": TABLE, "Item": self._item()}, values)}
            case 1:
                return {"Delete": self._conditioned({"TableName": TABLE, "Key": self._key()}, values)}
            case 2:
                text = self._update_expression(values) or "REMOVE lost"
                request = {"TableName": TABLE, "Key": self._key(), "UpdateExpression": text}
                return {"Update": self._conditioned(request, values)}
            case _:
                request = {"TableName": TABLE, "Key": self._key(), "ConditionExpression": self._condition(values)}
                return {"ConditionCheck": self._with_values(request, values)}

    def _transact_get(self) -> Call:
        gets = [{"Get": self._projected({"TableName": TABLE, "Key": self._key()})} for _ in range(2)]
        return "TransactGetItems", {"TransactItems": gets}
