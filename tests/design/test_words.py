"""What a design can say beyond its keys, and how a wrong use of each word is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from keyplan.data import Store, create_table_requests
from keyplan.design import (
    Design,
    Entity,
    Get,
    Id,
    Query,
    Table,
    accept,
    consumer,
    expect,
    get,
    index,
    key,
    local,
    pattern,
    query,
)
from keyplan.engine import Engine
from tests.design.support import wrong

orders = Table(
    "Orders",
    key("PK", "SK"),
    indexes={"ByDay": index(key("day"), why="The daily report"), "ByState": local("state", why="Open orders")},
    stream="NEW_AND_OLD_IMAGES",
    protected=True,
    recovery=7,
    table_class="STANDARD_INFREQUENT_ACCESS",
    encryption="AWS_MANAGED",
    tags={"team": "shop", "cost-center": "12"},
    consumers=(consumer("search", failures="search-failures"), consumer("mail")),
    why="One table: an order and its lines are read together.",
)
plain = Table("Plain", key("id"))


class Order(
    Entity,
    table=orders,
    expected=expect(items=1_000, size=400, partition=50, growth=0),
    claims=("number", ("org", "at")),
):
    org: Id
    number: Id
    at: str
    state: str = "open"

    primary = key("ORG#{org}", "ORDER#{number}")


class Shop(Design):
    """Orders
    of organizations."""

    tables = (orders, plain)
    entities = (Order,)
    tenant_field = "org"
    regions = ("eu-central-1", "us-east-1")
    accepted = (accept("KP402", "Order.primary", because="there are few"),)

    @pattern("Get order", decides="whether it may be shipped", returns=1)
    def order(self, org: str, number: str) -> Get[Order]:
        return get(Order, org=org, number=number, consistent=True)

    @pattern("Orders of an organization")
    def orders(self, org: str) -> Query[Order]:
        return query(Order.primary, org=org)


def test_an_entity_says_what_is_expected_and_what_is_claimed() -> None:
    expected = Order.spec.expected
    assert expected is not None
    assert (expected.items, expected.size, expected.partition, expected.growth) == (1_000, 400, 50, 0)
    assert Order.spec.claims == (("number",), ("org", "at"))


def test_a_pattern_says_what_is_decided_and_how_much_it_returns() -> None:
    assert (Shop.patterns["order"].decides, Shop.patterns["order"].returns) == ("whether it may be shipped", 1)
    assert (Shop.patterns["orders"].decides, Shop.patterns["orders"].returns) == (None, None)


def test_a_table_says_why_it_has_an_index_and_who_reads_its_stream() -> None:
    assert [each.why for each in orders.by_name.values()] == ["The daily report", "Open orders"]
    assert [(each.name, each.failures) for each in orders.consumers] == [("search", "search-failures"), ("mail", None)]


def test_the_purpose_of_a_design_is_its_docstring() -> None:
    assert Shop.purpose == "Orders\nof organizations."

    class Silent(Shop):
        pass

    assert Silent.purpose == ""


def requests(table: Table) -> dict[str, Any]:
    class Only(Design):
        tables = (table,)

    return next(create_table_requests(Only()))[0]


def test_tables_are_created_as_they_are_declared() -> None:
    assert requests(plain).keys() == {"TableName", "AttributeDefinitions", "KeySchema", "BillingMode"}
    request = requests(orders)
    assert request["DeletionProtectionEnabled"] is True
    assert request["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    assert request["SSESpecification"] == {"Enabled": True, "SSEType": "KMS"}
    assert request["Tags"] == [{"Key": "team", "Value": "shop"}, {"Key": "cost-center", "Value": "12"}]
    own = "arn:aws:kms:eu-central-1:111122223333:key/1234"
    assert requests(Table("Own", key("id"), encryption=own))["SSESpecification"]["KMSMasterKeyId"] == own
    assert requests(Table("Aws", key("id"), encryption="AWS_OWNED"))["SSESpecification"] == {"Enabled": False}


def test_a_store_turns_on_what_is_declared() -> None:
    with Engine() as engine:
        Store(Shop(), engine).create_tables()
        table = engine.describe_table(TableName="Orders")["Table"]
        assert table["DeletionProtectionEnabled"] is True
        for name, status in (("Orders", "ENABLED"), ("Plain", "DISABLED")):
            described = engine.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
            recovery = described["PointInTimeRecoveryDescription"]
            assert recovery["PointInTimeRecoveryStatus"] == status
            assert recovery.get("RecoveryPeriodInDays") == (7 if status == "ENABLED" else None)


WRONG: list[tuple[str, str, str, Callable[[], object]]] = []
"""Code, place, remedy, and the declaration."""


def declares(code: str, place: str, remedy: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    def add(declaration: Callable[[], object]) -> Callable[[], object]:
        WRONG.append((code, place, remedy, declaration))
        return declaration

    return add


WHOLE = "Give a whole number above 0, or leave it out."


@declares("expectation", "expect.items", WHOLE)
def fewer_items_than_none() -> object:
    return expect(items=-1)


@declares("expectation", "expect.size", WHOLE)
def a_size_that_is_text() -> object:
    return expect(size="2 KB")  # type: ignore[arg-type]


CONSUMER = 'Write consumer("search", failures="name of a queue").'


@declares("consumer", "consumer", CONSUMER)
def a_consumer_without_a_name() -> object:
    return consumer(" ")


@declares("consumer", "Orders", 'Write consumers=(consumer("search"),), with the comma.')
def a_consumer_without_the_comma() -> object:
    return Table("Orders", key("id"), stream="KEYS_ONLY", consumers=consumer("search"))  # type: ignore[arg-type]


@declares("consumer", "Orders.search", 'Give the table stream="NEW_AND_OLD_IMAGES", or another view.')
def a_consumer_of_no_stream() -> object:
    return Table("Orders", key("id"), consumers=(consumer("search"),))


@declares("acceptance", "accept", 'Write a code such as "KP402", or the name of a rule.')
def an_accepted_code_that_is_none() -> object:
    return accept("KP 31", "Order", because="it is")


REASON = "Say which finding is accepted, and why: readers of the design need the reason."


@declares("acceptance", "accept('KP402')", REASON)
def an_acceptance_without_a_reason() -> object:
    return accept("KP402", "Order", because="")


@declares(
    "acceptance",
    "Wrong.accepted",
    'Write accepted = (accept("KP402", "Post.by_type", because="..."),), with the comma.',
)
def an_acceptance_without_the_comma() -> object:
    class Wrong(Design):
        accepted = accept("KP402", "Order", because="it is")  # type: ignore[assignment]

    return Wrong


@declares("claims", "Wrong", 'Write claims=("email",), with the comma.')
def a_claim_without_the_comma() -> object:
    class Wrong(Entity, table=plain, claims="email"):
        id: Id
        email: str
        primary = key("{id}")

    return Wrong


@declares("no-such-field", "Wrong.claims", "The fields are: id.")
def a_claim_about_no_field() -> object:
    class Wrong(Entity, table=plain, claims=("email",)):
        id: Id
        primary = key("{id}")

    return Wrong


@declares("abstract-entity", "Wrong", "Give these to the entities that inherit from it.")
def an_abstract_entity_with_expectations() -> object:
    class Wrong(Entity, table=plain, expected=expect(items=1), abstract=True):
        id: Id

    return Wrong


DAYS = "Use 1 to 35, True for 35, or False for none."


@declares("recovery", "Orders", DAYS)
def a_recovery_of_too_many_days() -> object:
    return Table("Orders", key("id"), recovery=36)


@declares("recovery", "Orders", DAYS)
def a_recovery_of_no_days() -> object:
    return Table("Orders", key("id"), recovery=0)


@declares("table-class", "Orders", "Use STANDARD or STANDARD_INFREQUENT_ACCESS.")
def an_unknown_table_class() -> object:
    return Table("Orders", key("id"), table_class="CHEAP")  # type: ignore[arg-type]


@declares("table-setting", "Orders", "Use 'KEYS_ONLY', 'NEW_IMAGE', 'OLD_IMAGE' or 'NEW_AND_OLD_IMAGES'.")
def an_unknown_view_of_a_stream() -> object:
    return Table("Orders", key("id"), stream="NEW")  # type: ignore[arg-type]


@declares("table-setting", "Orders", "Use 'PAY_PER_REQUEST' or 'PROVISIONED'.")
def an_unknown_way_to_pay() -> object:
    return Table("Orders", key("id"), billing="ON_DEMAND")  # type: ignore[arg-type]


@declares("encryption", "Orders", "Use AWS_OWNED, AWS_MANAGED, or the ARN of a key.")
def an_unknown_encryption() -> object:
    return Table("Orders", key("id"), encryption="ROT13")


@declares(
    "tags",
    "Orders.aws:team",
    "Use up to 128 letters, digits, spaces and . : / = + @ - _ (256 in values), and not aws: in front.",
)
def a_tag_of_aws() -> object:
    return Table("Orders", key("id"), tags={"aws:team": "shop"})


@declares("tags", "Orders", "Use at most 50.")
def too_many_tags() -> object:
    return Table("Orders", key("id"), tags={f"tag-{number}": "" for number in range(51)})


@declares("decides", "nothing_is_decided.<locals>.Wrong.order", 'Say what: decides="whether the user may publish".')
def nothing_is_decided() -> object:
    class Wrong(Design):
        tables = (orders,)
        entities = (Order,)

        @pattern("Get order", decides="")
        def order(self, org: str, number: str) -> Get[Order]:
            return get(Order, org=org, number=number)

    return Wrong


@declares("returns", "a_negative_number.<locals>.Wrong.order", "Give the usual number of items that it returns.")
def a_negative_number() -> object:
    class Wrong(Design):
        tables = (orders,)
        entities = (Order,)

        @pattern("Get order", returns=-1)
        def order(self, org: str, number: str) -> Get[Order]:
            return get(Order, org=org, number=number)

    return Wrong


@declares(
    "tenant-field",
    "Wrong.tenant_field",
    "Name the field that says whose data an item is. The fields are: at, number, org, state.",
)
def a_tenant_that_no_entity_has() -> object:
    class Wrong(Design):
        tables = (orders,)
        entities = (Order,)
        tenant_field = "customer"

    return Wrong


@declares("regions", "Wrong.regions", "Write it as AWS does, such as eu-central-1.")
def a_region_that_is_none() -> object:
    class Wrong(Design):
        regions = ("Frankfurt",)

    return Wrong


@declares("regions", "Wrong.regions", 'Write regions = ("eu-central-1",), with the comma.')
def a_region_without_the_comma() -> object:
    class Wrong(Design):
        regions = "eu-central-1"

    return Wrong


@pytest.mark.parametrize(
    ("code", "place", "remedy", "declaration"), WRONG, ids=[declaration.__name__ for *_, declaration in WRONG]
)
def test_a_wrong_use_of_a_word_is_refused(
    code: str, place: str, remedy: str, declaration: Callable[[], object]
) -> None:
    with wrong(code, place, remedy):
        declaration()
