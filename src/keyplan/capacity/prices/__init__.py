"""AWS's prices: those that come with Keyplan, and those in AWS's own price list.

Every price has its region, its date and its source. `prices.json` holds those that could be confirmed; a price that
isn't there is missing, and whoever calculates with it says so.

| module | what it is |
| --- | --- |
| `model` | `Price` and `Prices`, and what can have a price |
| `known` | the prices that come with Keyplan |
| `offers` | the prices in a file of AWS's Price List API |
"""

from keyplan.capacity.prices.known import known_prices, known_regions
from keyplan.capacity.prices.model import ITEMS, Charge, Price, PriceError, Prices
from keyplan.capacity.prices.offers import read_price_list

__all__ = [
    "ITEMS",
    "Charge",
    "Price",
    "PriceError",
    "Prices",
    "known_prices",
    "known_regions",
    "read_price_list",
]
