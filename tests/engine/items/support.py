"""Helpers for the tests of items."""

from typing import Any

KEY: dict[str, Any] = {"pk": {"S": "a"}}


def item_of(size: int, **attributes: Any) -> dict[str, Any]:
    """An item of exactly this size; the names and the strings of the given attributes have one letter."""
    return {**KEY, **attributes, "t": {"S": "x" * (size - 4 - 2 * len(attributes))}}
