"""Modules with a design, as users write them, for the tests of the command."""

from pathlib import Path

HEAD = """from keyplan.design import Design, Entity, Id, Query, Table, accept, consumer, key, pattern, query
"""
SHOP = f"""{HEAD}
shop = Table(
    "Shop",
    key("PK", "SK"),
    indexes={{"GSI1": key("GSI1PK")}},
    stream="NEW_IMAGE",
    consumers=(consumer("search"),),
)


class Customer(Entity, table=shop, claims=("email",)):
    customer_id: Id
    email: str

    primary = key("CUSTOMER#{{customer_id}}", "CUSTOMER")


class Shop(Design):
    tables = (shop,)
    entities = (Customer,)

    @pattern("Get customer")
    def customer(self, customer_id: str) -> Query[Customer]:
        return query(Customer.primary, customer_id=customer_id)
"""
"""Has an error (KP301 Customer.email) and warnings (KP401 Shop.GSI1, KP501 Shop)."""
BROKEN = SHOP.replace('key("CUSTOMER#{customer_id}", "CUSTOMER")', 'key("CUSTOMER#{number}", "CUSTOMER")').replace(
    'stream="NEW_IMAGE"', 'stream="NEW_IMAGE",\n    recovery=99'
)
"""Can't be imported: KP012 and KP026."""


def module(folder: Path, name: str, source: str) -> str:
    """Write a module into a folder, and return what it is called on the command line."""
    (folder / f"{name}.py").write_text(source, "utf-8")
    return f"{name}:Shop"
