"""The filter of an export: which items and attributes are written."""

from typing import TypedDict, cast

from keyplan.engine.errors import validation_error
from keyplan.engine.expressions import (
    Condition,
    Placeholders,
    Projection,
    condition,
    fit_key_parts,
    key_expression,
    key_parts,
    projection,
)
from keyplan.engine.operations.items.key_ranges import Range, check_key_condition, range_of
from keyplan.engine.storage.catalog import Table
from keyplan.engine.values.attribute_values import AttributeValue, Item
from keyplan.engine.values.row_keys import KeySchema


class FilterSpecification(TypedDict, total=False):
    FilterExpression: str
    ProjectionExpression: str
    KeyConditionExpression: str
    ExpressionAttributeNames: dict[str, str]
    ExpressionAttributeValues: dict[str, AttributeValue]


class ExportFilter:
    """A filter that can be applied to any number of items."""

    def __init__(self, given: FilterSpecification, schema: KeySchema) -> None:
        self._filter: Condition | None = None
        self._projection: Projection | None = None
        self._range: Range | None = None
        placeholders = Placeholders(given.get("ExpressionAttributeNames"), given.get("ExpressionAttributeValues"))
        if "FilterExpression" in given:
            self._filter = condition("FilterExpression", given["FilterExpression"], placeholders)
        if "ProjectionExpression" in given:
            self._projection = projection(given["ProjectionExpression"], placeholders)
        if "KeyConditionExpression" in given:
            parts = key_parts(key_expression(given["KeyConditionExpression"], placeholders))
            bound = fit_key_parts(parts, placeholders.values, schema.hash_names, schema.range_names)
            check_key_condition(schema, None, bound)
            self._range = range_of(bound)
            self._refuse_keys(schema)
        placeholders.finish()

    def _refuse_keys(self, schema: KeySchema) -> None:
        for name in schema.names:
            if self._filter is not None and name in self._filter.attributes:
                raise validation_error(
                    "Filter Expression can only contain non-primary key attributes: Primary key attribute: " + name
                )

    def accepts(self, key: bytes, item: Item) -> bool:
        """Whether an item, given with its row key, is exported."""
        if self._range is not None and not self._range.contains(key):
            return False
        return self._filter is None or self._filter.matches(item)

    def project(self, item: Item) -> Item:
        return item if self._projection is None else self._projection.apply(item)


def check_filter(given: dict[str, object], table: Table) -> None:
    """Refuse a filter that isn't valid for a table."""
    ExportFilter(cast(FilterSpecification, given), table.schema)


def filter_of(given: object, schema: KeySchema) -> ExportFilter | None:
    """Return the filter of a stored export, or None if everything is exported."""
    return ExportFilter(cast(FilterSpecification, given), schema) if given else None
