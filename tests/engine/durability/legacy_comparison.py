"""The same random operations, and those with the parameters from before expressions."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.engine.durability import model
from tests.engine.durability.comparison import Comparison, bodies, code, item, keys, names
from tests.engine.durability.model import (
    LEGACY_CONDITIONS,
    LEGACY_UPDATES,
    Item,
    Key,
    LegacyCondition,
    LegacyUpdate,
    canonical,
)

some_condition = st.sampled_from(LEGACY_CONDITIONS)
conditions = st.none() | some_condition
FAILED = "ConditionalCheckFailedException"


def members(name: str, condition: LegacyCondition | None) -> dict[str, Any]:
    """The parameters for a condition."""
    if condition is None:
        return {}
    joined = {} if condition.operator is None else {"ConditionalOperator": condition.operator}
    return {name: condition.conditions, **joined}


class LegacyComparison(Comparison):
    """Also compares writes with Expected and AttributeUpdates, and reads with KeyConditions and filters."""

    @rule(name=names, key=keys, body=bodies, condition=conditions)
    def legacy_put(self, name: str, key: Key, body: Item, condition: LegacyCondition | None) -> None:
        table = self.tables.get(name)
        request = {"TableName": name, "Item": item(key, body), **members("Expected", condition)}
        if table is None:
            assert code(lambda: self.engine.put_item(**request)) == "ResourceNotFoundException"
        elif not table.holds(key, condition):
            assert code(lambda: self.engine.put_item(**request)) == FAILED
        else:
            self.engine.put_item(**request)
            table.write(key, item(key, body))

    @precondition(lambda self: self.tables)
    @rule(data=st.data(), key=keys, update=st.sampled_from(LEGACY_UPDATES), condition=conditions)
    def legacy_update(
        self, data: st.DataObject, key: Key, update: LegacyUpdate, condition: LegacyCondition | None
    ) -> None:
        name, table = self.some_table(data)
        request = {
            "TableName": name,
            "Key": model.key_item(key),
            "AttributeUpdates": update.updates,
            **members("Expected", condition),
        }
        if not table.holds(key, condition):
            assert code(lambda: self.engine.update_item(**request)) == FAILED
            return
        new = table.updated(key, update)
        answer = self.engine.update_item(**request, ReturnValues="UPDATED_NEW")
        updated = {name: value for name, value in (new or {}).items() if name in update.updates}
        assert canonical([answer.get("Attributes", {})]) == canonical([updated])
        table.write(key, new)

    @precondition(lambda self: self.tables)
    @rule(data=st.data(), key=keys, condition=conditions)
    def legacy_remove(self, data: st.DataObject, key: Key, condition: LegacyCondition | None) -> None:
        name, table = self.some_table(data)
        request = {"TableName": name, "Key": model.key_item(key), **members("Expected", condition)}
        if not table.holds(key, condition):
            assert code(lambda: self.engine.delete_item(**request)) == FAILED
            return
        self.engine.delete_item(**request)
        table.write(key, None)

    @precondition(lambda self: self.tables)
    @rule(data=st.data(), condition=some_condition, pk=st.sampled_from(["a", "b"]), low=st.integers(-1, 3))
    def legacy_read(self, data: st.DataObject, condition: LegacyCondition, pk: str, low: int) -> None:
        name, table = self.some_table(data)
        found = self.engine.scan(TableName=name, **members("ScanFilter", condition))
        assert canonical(found["Items"]) == canonical(it for it in table.items.values() if condition.holds(it))
        key: Any = {
            "pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": pk}]},
            "sk": {"ComparisonOperator": "GE", "AttributeValueList": [{"N": str(low)}]},
        }
        filtered = {} if "pk" in condition.conditions else members("QueryFilter", condition)
        queried = self.engine.query(TableName=name, KeyConditions=key, AttributesToGet=["sk", "n"], **filtered)
        expected: list[Item] = [
            {wanted: it[wanted] for wanted in ("sk", "n") if wanted in it}
            for it in table.partition(pk)
            if model.key_of(it)[1] >= low and (not filtered or condition.holds(it))
        ]
        assert list(map(model.normal, queried["Items"])) == list(map(model.normal, expected))
