"""What DynamoDB stores: attribute values, numbers, items and the bytes that their keys are sorted by.

`attribute_values` says which values are legal, their normal form and their size; `numbers` does the same for numbers,
with exact arithmetic; `plain_items` recognizes items that are in normal form already; `row_keys` turns keys into bytes
that sort as DynamoDB sorts. Nothing here knows of tables, files or requests: only `keyplan.engine.errors`.

The main types are `AttributeValue`, `Item` and `PlainItem` (an item that needs no more work) and `KeySchema`.
"""
