"""A table as programs with boto3 leave it: what is found, and what the report says about the rest."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from keyplan.adopt import adoption_report
from keyplan.engine import Engine
from tests.adopt.support import Adopted, adopted, sampled

START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def app() -> Adopted:
    """Tenants with users and invoices, in one table, with times and totals in several forms."""
    with Engine() as engine:
        created: Any = engine.create_table
        keys = [{"AttributeName": each, "AttributeType": "S"} for each in ("pk", "sk", "gsi1pk", "gsi1sk")]
        created(
            TableName="app-prod",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[*keys, {"AttributeName": "due", "AttributeType": "N"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": f"by-{each}",
                    "KeySchema": [
                        {"AttributeName": "gsi1pk", "KeyType": "HASH"},
                        {"AttributeName": each, "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
                for each in ("gsi1sk", "due")
            ],
        )
        table = engine.boto3_session().resource("dynamodb").Table("app-prod")
        for tenant in ("acme", "globex", "initech"):
            table.put_item(Item={"pk": f"TENANT#{tenant}", "sk": f"TENANT#{tenant}", "name": tenant.title()})
            for number in range(12):
                table.put_item(Item=_user(tenant, number))
                table.put_item(Item=_invoice(tenant, number))
            session = f"SESSION#{tenant}-1"
            table.put_item(Item={"pk": session, "sk": session, "data": json.dumps({"cart": [1]}), "ttl": 1_900_000_000})
        return adopted([sampled(engine, "app-prod")])


def _user(tenant: str, number: int) -> dict[str, Any]:
    time, email = START + timedelta(days=number), f"{'Ann' if number % 2 else 'bob'}{number}@{tenant}.example"
    return {
        "pk": f"TENANT#{tenant}",
        "sk": f"USER#{number}x{tenant}",
        "gsi1pk": f"EMAIL#{email.lower()}",
        "userId": f"{number}x{tenant}",
        "tenantId": tenant,
        "email": email,
        "gsi1sk": "USER",
        "createdAt": time.isoformat() if number % 3 else f"{time:%Y-%m-%dT%H:%M:%SZ}",
    }


def _invoice(tenant: str, number: int) -> dict[str, Any]:
    time, user = START + timedelta(days=number), f"{number}x{tenant}"
    total = Decimal(number) + Decimal("0.5")
    return {
        "pk": f"TENANT#{tenant}",
        "sk": f"INVOICE#{number:06}",
        "number": number,
        "userId": user,
        "gsi1pk": f"USER#{user}",
        "gsi1sk": f"INVOICE#{time:%Y-%m-%d}#{number:06}",
        "issued": f"{time:%Y-%m-%d}",
        "due": int(time.timestamp()),
        "total": str(total) if number == 7 else total,
    }


def test_everything_comes_back_and_keys_are_found(app: Adopted) -> None:
    assert app.checked.same == app.checked.items == 78
    entities = {entity.__name__: entity for entity in app.design.entities}
    assert sorted(entities) == ["Invoice", "Session", "Tenant", "User"]
    assert 'primary = key("TENANT#{tenant_id}", "INVOICE#{number:06}")' in app.source
    assert '("USER#{user_id}", "INVOICE#{issued}#{number:06}")' in app.source
    assert '("EMAIL#{email.lower}", "USER")' in app.source


def test_two_lists_of_the_same_items_have_different_names(app: Adopted) -> None:
    wordings = [pattern.wording for pattern in app.design.patterns.values()]
    assert len({*wordings}) == len(wordings)
    assert "List invoices by user id (by due)" in wordings


def test_the_report_says_what_fields_look_like_and_what_is_a_guess(app: Adopted) -> None:
    text = adoption_report(app.found, app.checked)
    for row in (
        "| Tenant.name | `{name.lower}` in keys is a guess: only 3 values say so | 3 |",
        "| Invoice.total | values of several types, so its type is Any | |",
        "| User.tenant_id | the key of an item of Tenant, in every item | `belongs_to` |",
        "| User.created_at | times in several forms, so its type is text | `datetime`, once all are written alike |",
        "| Session.data | JSON as text | `envelope`, if it has the fields of the items",
        "| Session.ttl | when items expire, but the table has no time to live | `Ttl` |",
    ):
        assert row in text
    assert "globex" not in text.lower(), "no values"


def test_an_envelope_is_found_beside_keys_of_indexes() -> None:
    """Keys beside the JSON are made of its members, whatever they are called."""
    with Engine() as engine:
        created: Any = engine.create_table
        created(
            TableName="docs",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": each, "AttributeType": "S"} for each in ("pk", "sk", "ownerId", "written")
            ],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": "by-owner",
                    "KeySchema": [
                        {"AttributeName": "ownerId", "KeyType": "HASH"},
                        {"AttributeName": "written", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
        )
        table = engine.boto3_session().resource("dynamodb").Table("docs")
        for number in range(20):
            data = {"docId": f"d{number:03}", "owner": f"o{number % 7}", "at": f"2026-01-{number + 1:02}T10:00:00Z"}
            text = json.dumps({**data, "score": number + 0.25}, separators=(",", ":"))
            keys = {"pk": f"DOC#{data['docId']}", "sk": "DOC", "ownerId": f"OWNER#{data['owner']}"}
            table.put_item(Item={**keys, "written": data["at"], "data": text})
        found = adopted([sampled(engine, "docs")])
    assert found.checked.same == found.checked.items == 20
    assert 'envelope="data"' in found.source
    assert 'by_owner = docs["by-owner"]("OWNER#{owner}", "{at}")' in found.source
