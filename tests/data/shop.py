"""A design with orders and their lines in one partition, and indexes that project only some attributes."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, field_validator

from keyplan.design import (
    KEYS_ONLY,
    Aggregate,
    Created,
    Design,
    Entity,
    Fields,
    Id,
    ItemOp,
    OrderedList,
    Query,
    Ref,
    Table,
    belongs_to,
    collection,
    created,
    get,
    include,
    index,
    key,
    on_top,
    pattern,
    query,
    ref,
    unique,
)

shop = Table(
    "Shop",
    key("PK", "SK"),
    case="camel",
    type_attribute="kind",
    indexes={
        "GSI1": index(key("GSI1PK", "GSI1SK"), include("title", "price")),
        "GSI2": index(key("GSI2PK", "GSI2SK"), KEYS_ONLY),
        "GSI3": key("GSI3PK", "GSI3SK"),
    },
)


class Size(BaseModel):
    width: int
    unit: str = "cm"


class ProductFields(Fields):
    title: str
    price: Decimal = Decimal(0)


class Product(ProductFields, Entity, table=shop, type="PRODUCT"):
    sku: Id
    brand: Id = "b"
    added: date = date(2026, 1, 1)
    text: str = ""
    size: Size = Size(width=1)
    tags: set[str] = Field(default_factory=set)
    note: str | None = None
    made_at: Created = created()

    primary = key("PRODUCT#{sku}", "PRODUCT")
    by_brand = shop.GSI1("BRAND#{brand}", "{added}#{sku}")
    by_day = shop.GSI2("DAY#{added}", "{sku}")
    sku_guard = unique("SKU#{sku.lower}", carries="sku")


class Card(ProductFields):
    """A view of a product."""

    sku: Id


class Pair(NamedTuple):
    sku: str
    width: int


class Pin(Entity, table=shop, type="PIN"):
    """All that it has besides its keys is in the index."""

    board: Id
    number: int
    title: str
    color: str | None = None

    primary = key("PIN#{number:04}", "PIN")
    by_board = shop.GSI1("BOARD#{board}", "{color|none}#{number:04}")


class Order(Entity, table=shop, type="ORDER"):
    order_id: Id
    customer: Id = "c"
    batch: Id = "x"

    primary = key("ORDER#{order_id}", "ORDER")
    by_batch = shop.GSI3("BATCH#{batch}", "{order_id}")


class Line(Entity, table=shop, type="LINE"):
    order: Id
    number: int
    sku: Id
    run: Id = "x"

    primary = key("ORDER#{order}", "LINE#{number:03}")
    by_run = shop.GSI3("BATCH#{run}", "{order}#{number:03}")

    @belongs_to(on_delete="cascade")
    def of_order(self) -> Ref[Order]:
        return ref(Order, order_id=self.order)


class Invoice(Entity, table=shop, type="INVOICE"):
    order: Id
    total: Decimal

    primary = key("ORDER#{order}", "INVOICE")


class Older(Entity, table=shop, type="OLDER"):
    """Converts items of an older form, and validates texts."""

    older_id: Id
    name: str
    shelf: Id = "s"

    primary = key("OLDER#{older_id}", "OLDER")
    by_shelf = shop.GSI1("SHELF#{shelf}", "{older_id}")

    @classmethod
    def evolve(cls, item: dict[str, Any]) -> dict[str, Any]:
        if "label" in item:
            item["name"] = {"S": item.pop("label")["S"].upper()}
        return item

    @field_validator("name")
    @classmethod
    def _clean(cls, value: str) -> str:
        return value.strip()


sheets = Table(
    "Sheets",
    key("pk", "sk"),
    envelope="data",
    indexes={
        "ByKeys": index(key("owner_pk", "owner_sk"), KEYS_ONLY),
        "ByData": index(key("data_pk"), include("data")),
        "ByRows": key("owner", "rows:N"),
    },
)


class Sheet(Entity, table=sheets):
    sheet_id: Id
    title: str
    rows: int = 0
    owner: Id = "ann"
    color: Annotated[str, on_top()] = "red"

    primary = key("SHEET#{sheet_id}", "SHEET")
    by_keys = sheets.ByKeys("OWNER#{owner}", "{rows:03}")
    by_data = sheets.ByData("OWNER#{owner}")
    by_rows = sheets.ByRows("{owner}", "{rows}")


class OrderWithLines(Aggregate):
    order: Order
    lines: list[Line]
    invoice: Invoice | None


class Batch(Aggregate, index=shop.GSI3):
    order: Order
    lines: list[Line]


class Shop(Design):
    tables = (shop, sheets)
    entities = (Product, Pin, Order, Line, Invoice, Older, Sheet)

    @pattern("Cards of a brand")
    def cards(self, brand: str) -> OrderedList[Card]:
        return query(Product.by_brand, brand=brand).only(Card)

    @pattern("The title of a product")
    def title(self, sku: str) -> ItemOp[str | None]:
        return get(Product, sku=sku).only(lambda product: product.title)

    @pattern("Orders and lines of a batch")
    def batch(self, batch: str) -> Query[Order | Line]:
        return collection(Order.by_batch, Line.by_run, batch=batch)


NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
