"""Operations: what to read, as plain data in terms of entities and fields. A store carries them out.

| module | what it is |
| --- | --- |
| `reading` | `Op`, the base of all read operations, and `Page` |
| `bounds` | bounds on a field of the sort key |
| `conditions` | conditions and filters, written as Python |
| `selections` | which fields are read |
| `key_values` | checks of the values for a query's key, and of the fields in its filter |
| `item_reads` | `Get`, `Lookup`, and reads of many items by their keys |
| `queries` | `Query`, `Scan`, and what combines them: `Merge`, `Follow`, `ItemCount` |
| `item_collections` | items of several entities in one partition, read with one query |
| `nearest` | searches for the nearest vectors |
| `operation_entities` | the entities that an operation reads |
| `rewrites` | `Rewrite`: a change of many items |
"""
