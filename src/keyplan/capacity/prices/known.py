"""The prices that come with Keyplan, in `prices.json`."""

import json
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

from keyplan.capacity.prices.model import Charge, Price, PriceError, Prices


@cache
def _regions() -> dict[str, Prices]:
    document: Any = json.loads(files("keyplan.capacity.prices").joinpath("prices.json").read_text("utf-8"))
    sources = document["sources"]
    found = {}
    for region, rows in document["regions"].items():
        prices = {}
        for row in rows:
            source = sources[row["source"]]
            day = date.fromisoformat(source["date"])
            price = Price(row["usd"] / row.get("per", 1), day, source["title"], row.get("free", 0.0))
            prices[Charge(row["item"], row.get("class") == "Standard-IA")] = price
        found[region] = Prices(region, prices)
    return found


def known_regions() -> list[str]:
    """The regions whose prices come with Keyplan."""
    return list(_regions())


def known_prices(region: str) -> Prices:
    """The prices of a region. Raises `PriceError` if they don't come with Keyplan."""
    if region not in _regions():
        known = ", ".join(known_regions())
        remedy = f"Known are {known}. For another region, download AWS's price list and name it with --prices."
        raise PriceError("unknown-region", region, "the prices of this region don't come with Keyplan", remedy)
    return _regions()[region]
