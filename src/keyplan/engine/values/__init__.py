"""What DynamoDB stores: attribute values, numbers, items and the bytes that their keys are sorted by.

`attribute_values` has the types and the sizes of values and items; `normal_form` checks and normalizes them in one
walk; `plain_items` quickly recognizes items that are in normal form already; `numbers` has exact arithmetic, the
normal form and the sort order of numbers; `row_keys` turns keys into bytes that sort as DynamoDB sorts. Nothing here
knows of tables, files or requests: only of errors.

The main types are `AttributeValue`, `Item`, `NormalItem` and `SizedItem` (items that need no more work), `Normalizer`
and `KeySchema`.
"""
