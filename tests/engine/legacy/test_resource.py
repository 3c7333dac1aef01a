"""The legacy parameters through boto3's resources, with Python values."""

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from keyplan.engine import Engine
from tests.engine.support import make_table

if TYPE_CHECKING:
    from types_boto3_dynamodb.service_resource import Table
else:
    Table = object


@pytest.fixture
def table(engine: Engine) -> Table:
    made = engine.boto3_session().resource("dynamodb").Table(make_table(engine, "pk", "sk:N"))
    with made.batch_writer() as batch:
        for number in range(5):
            batch.put_item(Item={"pk": "a", "sk": number, "tags": {"x", f"t{number}"}, "data": b"\x00\xff"})
    return made


def test_attribute_updates(table: Table) -> None:
    updates: dict[str, Any] = {
        "count": {"Action": "ADD", "Value": 3},
        "tags": {"Action": "DELETE", "Value": {"t1"}},
        "data": {"Action": "DELETE"},
        "nested": {"Value": {"list": [1, None, True, b"\x01"]}},
    }
    answer = table.update_item(Key={"pk": "a", "sk": 1}, AttributeUpdates=updates, ReturnValues="ALL_NEW")
    assert answer["Attributes"] == {
        "pk": "a",
        "sk": Decimal(1),
        "count": Decimal(3),
        "tags": {"x"},
        "nested": {"list": [Decimal(1), None, True, b"\x01"]},
    }


def test_conditions(table: Table) -> None:
    item: dict[str, Any] = {"pk": "a", "sk": 1}
    with pytest.raises(table.meta.client.exceptions.ConditionalCheckFailedException):
        table.put_item(Item=item, Expected={"sk": {"Exists": False}})
    expected: dict[str, Any] = {"data": {"Value": b"\x00\xff"}, "tags": {"Value": {"x", "t1"}}}
    table.put_item(Item=item, Expected=expected, ConditionalOperator="AND")
    assert table.get_item(Key=item)["Item"] == item
    table.delete_item(Key=item, Expected={"data": {"Exists": False}})
    assert "Item" not in table.get_item(Key=item)


def test_reading(table: Table) -> None:
    found = table.query(
        KeyConditions={
            "pk": {"ComparisonOperator": "EQ", "AttributeValueList": ["a"]},
            "sk": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [1, Decimal("3.5")]},
        },
        QueryFilter={"tags": {"ComparisonOperator": "NOT_CONTAINS", "AttributeValueList": ["t2"]}},
        AttributesToGet=["sk"],
    )
    assert found["Items"] == [{"sk": 1}, {"sk": 3}]
    scanned = table.scan(ScanFilter={"sk": {"ComparisonOperator": "IN", "AttributeValueList": [2, 4, 9]}})
    assert [item["sk"] for item in scanned["Items"]] == [2, 4]
    assert table.get_item(Key={"pk": "a", "sk": 0}, AttributesToGet=["data", "nothing"])["Item"] == {
        "data": b"\x00\xff"
    }
