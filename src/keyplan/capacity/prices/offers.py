"""The prices in a file of AWS's Price List API: the offer index of AmazonDynamoDB as JSON.

The file has `products` by SKU, whose `usagetype` says what is charged for ("EUC1-IA-WriteRequestUnits"), and `terms`
with `priceDimensions` for each SKU. A dimension with the price 0 at the beginning is what is free each month. The usage
types are explained in "Best practices for understanding your AWS billing and usage reports in DynamoDB" of the
Developer Guide. What AWS Backup charges (cold backups) isn't in this file.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Literal, TypeAlias

from keyplan.capacity.prices.model import Charge, Item, Price, PriceError, Prices

_USAGE: Mapping[str, Item] = {
    "WriteRequestUnits": "write request",
    "ReadRequestUnits": "read request",
    "WriteCapacityUnit-Hrs": "write capacity",
    "ReadCapacityUnit-Hrs": "read capacity",
    "TimedStorage-ByteHrs": "storage",
    "VectorWriteRequest": "vector write",
    "VectorSearch": "vector search",
    "Streams-Requests": "stream read",
    "ChangeDataCaptureUnits-Kinesis": "Kinesis",
    "TimedPITRStorage-ByteHrs": "recovery",
    "TimedBackupStorage-ByteHrs": "backup",
    "RestoreDataSize-Bytes": "restore",
    "ExportDataSize-Bytes": "export",
    "ImportDataSize-Bytes": "import",
}
_USAGE_TYPE = re.compile(rf"(?:(?!IA-)[A-Z]+[0-9]*-)?(?P<infrequent>IA-)?(?P<name>{'|'.join(_USAGE)})")
_LENGTHS: Mapping[str, Literal["1 year", "3 years"]] = {"1yr": "1 year", "3yr": "3 years"}
_REMEDY = (
    "Download https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonDynamoDB/current/REGION/index.json, with "
    "the name of your region."
)
Document: TypeAlias = Mapping[str, Any]
"""A part of the file."""


def read_price_list(file: Path, region: str | None = None) -> Prices:
    """The prices of a region in a file; without a region, those of the only region in it. Raises `PriceError`."""
    try:
        document: Document = json.loads(file.read_text("utf-8"))
    except ValueError:
        raise PriceError("not-a-price-list", str(file), "this isn't JSON", _REMEDY) from None
    if not isinstance(document, dict) or document.get("offerCode") != "AmazonDynamoDB":
        raise PriceError("not-a-price-list", str(file), "this isn't AWS's price list of DynamoDB", _REMEDY)
    try:
        return _prices(document, str(file), region)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problem = f"it isn't built like AWS's price list ({type(error).__name__}: {error})"
        raise PriceError("not-a-price-list", str(file), problem, _REMEDY) from error


def _prices(document: Document, file: str, region: str | None) -> Prices:
    products: Document = document["products"]
    regions = sorted({each["attributes"].get("regionCode", "") for each in products.values()} - {""})
    if region is None and len(regions) == 1:
        region = regions[0]
    if region is None or region not in regions:
        problem = f"it has no prices of {region}" if region else "it has prices of several regions"
        raise PriceError("other-region", file, problem, f"Choose one with --region: {', '.join(regions)}.")
    day = date.fromisoformat(document["publicationDate"][:10])
    found: dict[Charge, Price] = {}
    for sku, product in products.items():
        attributes = product["attributes"]
        if attributes.get("regionCode") != region:
            continue
        usage = _USAGE_TYPE.fullmatch(attributes.get("usagetype", ""))
        if usage is None:
            continue
        charge = Charge(_USAGE[usage["name"]], bool(usage["infrequent"]))
        source = f"AWS price list, {attributes['usagetype']}"
        price = _on_demand(document["terms"]["OnDemand"].get(sku, {}), day, source)
        if price is not None and (charge not in found or price.free > found[charge].free):
            found[charge] = price
        for item, usd in _reserved(document["terms"].get("Reserved", {}).get(sku, {}), charge):
            found[Charge(item)] = Price(usd, day, source)
    return Prices(region, found)


def _on_demand(offers: Document, day: date, source: str) -> Price | None:
    """The price after what is free. Where it falls with the quantity, the price of the first units."""
    dimensions = [each for offer in offers.values() for each in offer["priceDimensions"].values()]
    free = 0.0
    for each in sorted(dimensions, key=lambda each: float(each["beginRange"])):
        usd = float(each["pricePerUnit"]["USD"])
        if usd:
            return Price(usd, day, source, free)
        free = float(each["endRange"])
    return None


def _reserved(offers: Document, charge: Charge) -> Iterator[tuple[Item, float]]:
    """What reserved capacity costs at once and per hour, for each unit."""
    for offer in offers.values():
        length = _LENGTHS.get(offer["termAttributes"].get("LeaseContractLength", ""))
        if length is None or charge.item not in ("write capacity", "read capacity"):
            continue
        for each in offer["priceDimensions"].values():
            name = f"reserved {charge.item.split()[0]} {length}{' upfront' if each['unit'] == 'Quantity' else ''}"
            yield name, float(each["pricePerUnit"]["USD"])  # type: ignore[misc]  # one of the items, by its parts
