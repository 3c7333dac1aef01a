"""Designs whose tables are hard to run, and designs whose tables aren't."""

from typing import Annotated, Literal

from keyplan.design import (
    Count,
    Design,
    Entity,
    Get,
    Id,
    Query,
    Ref,
    Table,
    Ttl,
    Version,
    belongs_to,
    consumer,
    expect,
    get,
    key,
    large,
    pattern,
    query,
    ref,
    unique,
)
from keyplan.review import Reviewed
from tests.review.rules.cases import Cases

CASES = Cases()


def with_table(declared: Table, *names: str) -> type[Design]:
    class Things(Design):
        tables = (declared,)
        regions = names

    return Things


# Streams

careless = Table("Careless", key("id"), stream="NEW_IMAGE", consumers=(consumer("search"),))
careful = Table("Careful", key("id"), stream="NEW_IMAGE", consumers=(consumer("search", failures="search-failures"),))
unread = Table("Unread", key("id"), stream="NEW_IMAGE")
crowded = Table("Crowded", key("id"), stream="NEW_IMAGE", consumers=tuple(map(consumer, ("a", "b", "c"))))
shared = Table("Shared", key("id"), stream="NEW_IMAGE", consumers=tuple(map(consumer, ("a", "b"))))


@CASES.finds("KP501", "Careless")
def records_that_have_nowhere_to_go() -> type[Design]:
    return with_table(careless)


@CASES.finds_nothing("KP501", "KP510")
def records_that_go_to_a_queue() -> type[Design]:
    return with_table(careful)


@CASES.cannot_judge("KP501", "Unread")
def a_stream_that_somebody_may_read() -> type[Design]:
    return with_table(unread)


@CASES.finds("KP504", "Crowded")
def three_consumers() -> type[Design]:
    return with_table(crowded)


@CASES.finds_nothing("KP504")
def two_consumers() -> type[Design]:
    return with_table(shared)


@CASES.finds("KP510", "Careful")
def a_consumer_in_two_regions() -> type[Design]:
    return with_table(careful, "eu-central-1", "us-east-1")


# Tables

plain = Table("Plain", key("id"))
deliberate = Table("Deliberate", key("id"), protected=False, recovery=False)
guarded = Table("Guarded", key("id"), protected=True, recovery=7)


@CASES.finds("KP502", "Plain")
@CASES.finds("KP503", "Plain")
def a_table_about_which_nothing_is_said() -> type[Design]:
    return with_table(plain)


@CASES.finds_nothing("KP502", "KP503")
def a_table_that_may_be_lost() -> type[Design]:
    return with_table(deliberate)


@CASES.finds_nothing("KP502", "KP503")
def a_table_that_is_protected() -> type[Design]:
    return with_table(guarded)


kept = Table("Kept", key("PK"), ttl="expires_at", recovery=7)
unkept = Table("Unkept", key("PK"), ttl="expires_at", recovery=False)


def users_and_sessions(table: Table) -> type[Design]:
    class User(Entity, table=table):
        name: Id
        primary = key("USER#{name}")

    class Session(Entity, table=table):
        session_id: Id
        expires_at: Ttl
        primary = key("SESSION#{session_id}")

    class Things(Design):
        tables = (table,)
        entities = (User, Session)

    return Things


@CASES.finds("KP505", "Session.expires_at")
def sessions_that_are_kept_with_users() -> type[Design]:
    return users_and_sessions(kept)


@CASES.finds_nothing("KP505")
def sessions_that_are_not_kept() -> type[Design]:
    return users_and_sessions(unkept)


@CASES.finds_nothing("KP505")
def sessions_alone() -> type[Design]:
    class Session(Entity, table=kept):
        session_id: Id
        expires_at: Ttl
        primary = key("SESSION#{session_id}")

    class Things(Design):
        tables = (kept,)
        entities = (Session,)

    return Things


small = Table("Small", key("PK"), indexes={"GSI1": key("GSI1PK")}, billing="PROVISIONED", capacity=(10, 5))


class Order(Entity, table=small):
    order_id: Id
    customer: Id

    primary = key("ORDER#{order_id}")
    by_customer = small.GSI1("{customer}")


class Orders(Design):
    tables = (small,)
    entities = (Order,)

    @pattern("Get order")
    def order(self, order_id: str) -> Get[Order]:
        return get(Order, order_id=order_id)

    @pattern("Orders of a customer")
    def by_customer(self, customer: str) -> Query[Order]:
        return query(Order.by_customer, customer=customer)


@CASES.finds("KP506", "Small", "Small")
def traffic_that_is_too_much() -> Reviewed:
    return Reviewed(Orders, rates={"order": 21, "Order.create": 4, "Order.update": 2})


metered = Table("Metered", key("PK"), billing="PROVISIONED", capacity=(10, 5))


@CASES.finds("KP506", "Metered")
def more_new_items_than_the_capacity_takes() -> type[Design]:
    class Reading(Entity, table=metered, expected=expect(growth=100_000_000)):
        reading_id: Id
        primary = key("READING#{reading_id}")

    class Readings(Design):
        tables, entities = (metered,), (Reading,)

    return Readings


@CASES.finds_nothing("KP506")
def traffic_that_fits() -> Reviewed:
    return Reviewed(Orders, rates={"order": 20, "by_customer": 100, "Order.create": 5, "Other.create": 100})


@CASES.cannot_judge("KP506", "Small")
def traffic_that_is_not_known() -> Reviewed:
    return Reviewed(Orders)


kept_parts = Table("Parts", key("PK", "SK"), recovery=7)


@CASES.finds("KP515", "Page.text")
def large_values_in_objects() -> type[Design]:
    class Page(Entity, table=kept):
        page_id: Id
        text: Annotated[str, large(kept_in="objects")]
        primary = key("PAGE#{page_id}")

    class Things(Design):
        tables = (kept,)
        entities = (Page,)

    return Things


@CASES.finds_nothing("KP515")
def large_values_in_parts() -> type[Design]:
    class Page(Entity, table=kept_parts):
        page_id: Id
        text: Annotated[str, large()]
        primary = key("PAGE#{page_id}", "PAGE")

    class Things(Design):
        tables = (kept_parts,)
        entities = (Page,)

    return Things


# Expired items

fading = Table("Fading", key("PK", "SK"), ttl="expires_at")
watched = Table("Watched", key("PK", "SK"), ttl="expires_at", stream="NEW_AND_OLD_IMAGES")


def games_and_moves(table: Table, moves_of: type[Entity] | None = None) -> type[Design]:
    class Game(Entity, table=table):
        game_id: Id
        expires_at: Ttl
        primary = key("GAME#{game_id}", "GAME")

    class Move(moves_of or Entity, table=table):  # type: ignore[misc,call-arg]  # a class that is chosen
        game_id: Id
        number: int
        primary = key("GAME#{game_id}", "MOVE#{number:04}")

        @belongs_to(on_delete="cascade")
        def game(self) -> Ref[Game]:
            return ref(Game, game_id=self.game_id)

    class Things(Design):
        tables = (table,)
        entities = (Game, Move)

    return Things


class Fading(Entity, abstract=True):
    expires_at: Ttl


@CASES.finds("KP517", "Game.expires_at")
def moves_that_stay() -> type[Design]:
    return games_and_moves(fading)


@CASES.finds_nothing("KP517")
def moves_that_a_handler_can_delete() -> type[Design]:
    return games_and_moves(watched)


@CASES.finds_nothing("KP517")
def moves_that_expire_too() -> type[Design]:
    return games_and_moves(fading, Fading)


# Regions

world = Table("World", key("PK", "SK"))


class Author(Entity, table=world):
    name: Id
    email: Id
    books: Count = 0
    version: Version = 0

    primary = key("AUTHOR#{name}", "AUTHOR")
    email_guard = unique("EMAIL#{email}")


def authors_in(*names: str) -> type[Design]:
    class Authors(Design):
        tables = (world,)
        entities = (Author,)
        regions = names

    return Authors


@CASES.finds("KP507", "Author.books")
@CASES.finds("KP508", "Author.email_guard")
@CASES.finds("KP509", "Author.version")
def authors_in_two_regions() -> type[Design]:
    return authors_in("eu-central-1", "us-east-1")


@CASES.finds_nothing("KP507", "KP508", "KP509")
def authors_in_one_region() -> type[Design]:
    return authors_in("eu-central-1")


# Tenants

crm = Table("Crm", key("PK", "SK"), indexes={f"GSI{n}": key(f"GSI{n}PK") for n in (1, 2, 3)})


class Deal(Entity, table=crm):
    deal_id: Id
    firm: Id
    number: Id
    code: Id

    primary = key("DEAL#{deal_id}", "DEAL")
    by_number = crm.GSI1("{number}")
    by_firm = crm.GSI2("{firm}#{number}")
    by_code = crm.GSI3("{code}")
    number_guard = unique("NUMBER#{number}")
    code_guard = unique("CODE#{firm}#{code}")


class Contact(Entity, table=crm):
    contact_id: Id
    firm: Id

    primary = key("FIRM#{firm}", "CONTACT#{contact_id}")


class Firm(Entity, table=crm):
    """The tenants themselves, whose list is of all tenants by its nature."""

    firm: Id
    plan: Literal["free", "paid"]
    address: str

    primary = key("FIRM#{firm}", "FIRM")
    by_plan = crm.GSI1("PLAN#{plan}")
    by_address = crm.GSI2("ADDRESS#{address}")


class Country(Entity, table=crm):
    country: Id

    primary = key("COUNTRIES", "COUNTRY#{country}")


class Crm(Design):
    tables = (crm,)
    entities = (Deal, Contact, Country)
    tenant_field = "firm"


@CASES.finds("KP511", "Deal.primary")
@CASES.finds("KP512", "Deal.by_code")
@CASES.finds("KP513", "Deal.number_guard")
def deals_that_can_be_another_firms() -> type[Design]:
    return Crm


@CASES.finds_nothing("KP511", "KP512", "KP513")
def contacts_of_a_firm() -> type[Design]:
    class Contacts(Design):
        tables = (crm,)
        entities = (Contact, Country, Firm)
        tenant_field = "firm"

    return Contacts


@CASES.cannot_judge("KP511", "Contacts")
@CASES.cannot_judge("KP512", "Contacts")
@CASES.cannot_judge("KP513", "Contacts")
def contacts_of_whom_it_is_not_said_whose_they_are() -> type[Design]:
    class Contacts(Design):
        tables = (crm,)
        entities = (Contact,)

    return Contacts
