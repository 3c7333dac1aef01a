"""Designs that can't be imported are reviewed as far as they go."""

from pathlib import Path
from typing import Any

from keyplan.design import (
    Design,
    DesignError,
    Entity,
    Id,
    Query,
    Table,
    accept,
    consumer,
    key,
    pattern,
    query,
    unique,
)
from keyplan.review import Reviewed, errors_recorded, find_rule, review, review_of_errors


def shop_with_errors() -> type[Design]:
    """A design with errors, an index that only a wrong pattern reads, and something to find in what is left."""
    table = Table(
        "Shop",
        key("PK", "SK"),
        indexes={
            "GSI1": key("GSI1PK"),
            "GSI2": key("GSI2PK:BOOL"),
        },
        stream="NEW_IMAGE",
        consumers=(consumer("search"),),
        recovery=99,
    )

    class Order(Entity, table=table):
        order_id: Id
        customer: Id

        primary = key("ORDER#{order_id}", "ORDER")
        by_customer = table.GSI1("{customer}")
        code_guard = unique("CODE#{postcode}")

    class Shop(Design):
        tables = (table,)
        entities = (Order,)
        accepted = (accept("KP401", "Shop.GSI1", because="it is read by reports"),)

        @pattern("Orders of a customer")
        def by_customer(self, customer: str) -> Query[Order]:
            return query(Order.by_customer, customer=customer, consistent=True)

    return Shop


def lines_of(reviewed_file: str) -> list[str]:
    return [line.strip() for line in Path(reviewed_file).read_text("utf-8").splitlines()]


def test_errors_are_findings_with_the_line_of_what_is_wrong() -> None:
    with errors_recorded() as errors:
        shop = shop_with_errors()
    findings = review(Reviewed(shop, errors=errors)).findings
    lines = lines_of(__file__)
    found = {each.rule.name: each for each in findings if each.rule.is_imported}
    assert {name: lines[(each.place.line or 0) - 1] for name, each in found.items()} == {
        "key-type": '"GSI2": key("GSI2PK:BOOL"),',
        "recovery": "table = Table(",
        "no-such-field": 'code_guard = unique("CODE#{postcode}")',
        "consistent-index": "return query(Order.by_customer, customer=customer, consistent=True)",
    }
    assert found["recovery"].place.table == "Shop"
    assert (found["no-such-field"].place.entity, found["no-such-field"].place.attribute) == ("Order", "code_guard")
    assert found["consistent-index"].place.pattern == "by_customer"
    assert {each.place.file for each in found.values()} == {__file__}
    assert found["recovery"].remedy.startswith("Use 1 to 35")


def test_what_is_left_is_reviewed_except_by_rules_that_need_the_whole() -> None:
    """The index isn't unused: the pattern that reads it was left out. Nothing is said about it, or its acceptance."""
    with errors_recorded() as errors:
        shop = shop_with_errors()
    codes = {each.rule.code for each in review(Reviewed(shop, errors=errors)).findings}
    assert "KP501" in codes
    assert codes & {"KP401", "KP901"} == set()
    assert "KP401" in {each.rule.code for each in review(Reviewed(shop)).accepted}


def test_an_error_that_ends_the_import_is_recorded_too() -> None:
    with errors_recorded() as errors:
        shop = shop_with_errors()
        order: Any = shop.entities[0]
        query(order.primary)
    (finding,) = [each for each in review_of_errors(errors).findings if each.rule.name == "key-fields"]
    assert finding.place.text == "Order.primary"
    assert "query(order.primary)" in lines_of(__file__)[(finding.place.line or 0) - 1]


def test_an_error_with_a_code_of_its_own_is_passed_on() -> None:
    def refuse() -> None:
        raise DesignError("our-code", "Shop", "it has too many entities", "Remove some.")

    with errors_recorded() as errors:
        refuse()
    (finding,) = review_of_errors(errors).findings
    assert finding.rule is find_rule("other-error")
    assert finding.happens == "it has too many entities"
