"""Prices: those that come with Keyplan, and AWS's own price list."""

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from keyplan.capacity.prices import ITEMS, Charge, PriceError, known_prices, known_regions, read_price_list


@pytest.mark.parametrize("region", known_regions())
def test_every_price_has_a_date_and_a_source(region: str) -> None:
    prices = known_prices(region)
    assert prices.region == region
    assert {charge.item for charge in prices.by_charge} <= ITEMS.keys()
    for charge, price in prices.by_charge.items():
        assert 0 < price.usd < 2, charge
        assert date(2024, 1, 1) < price.date <= date(2026, 12, 31)
        assert price.source


def test_what_requests_cost_in_the_largest_region() -> None:
    prices = known_prices("us-east-1")
    write, read = prices.find(Charge("write request")), prices.find(Charge("read request"))
    assert write is not None
    assert read is not None
    assert (write.usd * 1_000_000, read.usd * 1_000_000) == (0.625, 0.125)
    storage = prices.find(Charge("storage"))
    assert storage is not None
    assert (storage.usd, storage.free) == (0.25, 25)
    assert prices.find(Charge("cold backup")) is None  # it couldn't be confirmed


def test_a_region_that_is_not_known_is_refused() -> None:
    with pytest.raises(PriceError, match=r"sa-east-1: .* Known are us-east-1, .* --prices") as caught:
        known_prices("sa-east-1")
    assert caught.value.code == "unknown-region"


def test_prices_that_are_older_than_a_year_are_known() -> None:
    prices = known_prices("eu-central-1")
    newest = max(price.date for price in prices.by_charge.values())
    assert list(prices.old(newest + timedelta(days=365))) == []
    assert len(list(prices.old(newest + timedelta(days=366)))) == len(prices.by_charge)


def offer(*products: dict[str, Any], published: str = "2026-09-11T12:44:22Z") -> dict[str, Any]:
    """AWS's price list with some products, as the Price List API documents it."""
    terms: dict[str, dict[str, Any]] = {"OnDemand": {}, "Reserved": {}}
    for product in products:
        for kind, offers in product.pop("terms").items():
            terms[kind][product["sku"]] = {each["offerTermCode"]: each for each in offers}
    return {
        "formatVersion": "v1.0",
        "disclaimer": "This pricing list is for informational purposes only.",
        "offerCode": "AmazonDynamoDB",
        "version": "20260911124422",
        "publicationDate": published,
        "products": {each["sku"]: each for each in products},
        "terms": terms,
        "attributesList": {},
    }


def product(
    sku: str,
    usagetype: str,
    dimensions: list[tuple[str, str, str, str]],
    reserved: list[tuple[str, list[tuple[str, str]]]] | None = None,
    region: str = "sa-east-1",
    **attributes: str,
) -> dict[str, Any]:
    """A product with its price by quantity (unit, from, to, USD), and for reserved capacity (length, unit, USD)."""

    def term(code: str, length: str | None, rows: list[tuple[str, str, str, str]]) -> dict[str, Any]:
        named = {"LeaseContractLength": length, "PurchaseOption": "Heavy Utilization"} if length else {}
        return {
            "offerTermCode": code,
            "sku": sku,
            "effectiveDate": "2026-09-01T00:00:00Z",
            "priceDimensions": {
                f"{sku}.{code}.{number}": {
                    "rateCode": f"{sku}.{code}.{number}",
                    "description": f"${usd} per {unit}",
                    "beginRange": begin,
                    "endRange": end,
                    "unit": unit,
                    "pricePerUnit": {"USD": usd},
                    "appliesTo": [],
                }
                for number, (unit, begin, end, usd) in enumerate(rows)
            },
            "termAttributes": named,
        }

    terms = [
        term(f"R{number}", length, [(unit, "0", "Inf", usd) for unit, usd in rows])
        for number, (length, rows) in enumerate(reserved or [])
    ]
    return {
        "sku": sku,
        "productFamily": "Database Storage",
        "attributes": {
            "servicecode": "AmazonDynamoDB",
            "location": "South America (Sao Paulo)",
            "locationType": "AWS Region",
            "usagetype": usagetype,
            "regionCode": region,
            **attributes,
        },
        "terms": {"OnDemand": [term("JRTCKXETXF", None, dimensions)], **({"Reserved": terms} if terms else {})},
    }


PRODUCTS = (
    ("A1", "SAE1-WriteRequestUnits", [("WriteRequestUnits", "0", "Inf", "0.0000009375")]),
    ("A2", "SAE1-IA-WriteRequestUnits", [("WriteRequestUnits", "0", "Inf", "0.0000011700")]),
    ("A3", "SAE1-ReplWriteRequestUnits", [("ReplWriteRequestUnits", "0", "Inf", "0.0000099999")]),
    (
        "A4",
        "SAE1-TimedStorage-ByteHrs",
        [("GB-Mo", "25", "Inf", "0.3750000000"), ("GB-Mo", "0", "25", "0.0000000000")],
    ),
    ("A5", "SAE1-IA-TimedStorage-ByteHrs", [("GB-Mo", "0", "Inf", "0.1500000000")]),
    ("A6", "SAE1-TimedPITRStorage-ByteHrs", [("GB-Mo", "0", "Inf", "0.3000000000")]),
    ("A7", "SAE1-VectorSearch", [("GB", "0", "Inf", "0.0030000000")]),
    ("A8", "SAE1-Streams-Requests", [("Requests", "0", "2500000", "0"), ("Requests", "2500000", "Inf", "0.0000003")]),
)


def written(folder: Path, document: object) -> Path:
    file = folder / "index.json"
    file.write_text(json.dumps(document), "utf-8")
    return file


def test_other_regions_are_in_the_price_list_of_aws(tmp_path: Path) -> None:
    capacity = product(
        "B1",
        "SAE1-WriteCapacityUnit-Hrs",
        [("WriteCapacityUnit-Hrs", "0", "18600", "0"), ("WriteCapacityUnit-Hrs", "18600", "Inf", "0.000975")],
        [
            ("1yr", [("Quantity", "2.25"), ("WriteCapacityUnit-Hrs", "0.000192")]),
            ("3yr", [("Quantity", "2.70"), ("WriteCapacityUnit-Hrs", "0.0001215")]),
        ],
        group="DDB-WriteUnits",
        operation="CommittedThroughput",
    )
    document = offer(*(product(*each) for each in PRODUCTS), capacity)
    prices = read_price_list(written(tmp_path, document))
    assert prices.region == "sa-east-1"
    found = {str(charge): (price.usd, price.free) for charge, price in prices.by_charge.items()}
    assert found == {
        "write request": (0.0000009375, 0),
        "write request (Standard-IA)": (0.00000117, 0),
        "storage": (0.375, 25),
        "storage (Standard-IA)": (0.15, 0),
        "recovery": (0.3, 0),
        "vector search": (0.003, 0),
        "stream read": (0.0000003, 2_500_000),
        "write capacity": (0.000975, 18600),
        "reserved write 1 year": (0.000192, 0),
        "reserved write 1 year upfront": (2.25, 0),
        "reserved write 3 years": (0.0001215, 0),
        "reserved write 3 years upfront": (2.70, 0),
    }
    first = prices.find(Charge("write request"))
    assert first is not None
    assert (first.date, first.source) == (date(2026, 9, 11), "AWS price list, SAE1-WriteRequestUnits")


def test_a_price_list_of_all_regions_needs_a_region(tmp_path: Path) -> None:
    other = product("C1", "WriteRequestUnits", [("WriteRequestUnits", "0", "Inf", "0.5")], region="us-east-1")
    file = written(tmp_path, offer(*(product(*each) for each in PRODUCTS), other))
    with pytest.raises(PriceError, match=r"prices of several regions. Choose one with --region: sa-east-1, us-east-1"):
        read_price_list(file)
    with pytest.raises(PriceError, match=r"it has no prices of eu-west-1"):
        read_price_list(file, "eu-west-1")
    assert len(read_price_list(file, "us-east-1").by_charge) == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"offerCode": "AmazonS3"}', '{"offerCode": "AmazonDynamoDB", "products": {"A": {}}}']
)
def test_another_file_is_no_price_list(tmp_path: Path, text: str) -> None:
    file = tmp_path / "index.json"
    file.write_text(text, "utf-8")
    with pytest.raises(PriceError, match=r"index\.json: .* Download https://pricing") as caught:
        read_price_list(file)
    assert caught.value.code == "not-a-price-list"
