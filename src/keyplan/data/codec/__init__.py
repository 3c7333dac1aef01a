"""Entities to items and back. Knows the design's specs of entities and keys, and nothing of requests.

| module | what it is |
| --- | --- |
| `values` | how the values of each type are stored: `ValueCodec`; `AttributeValue` and `Item` are DynamoDB's forms |
| `times` | times as they are stored: in UTC, cut to the table's precision |
| `entities` | `EntityCodec`, which encodes and decodes the items of an entity; `codec_of` gives it |
| `settled` | what an entity holds after a write |
| `encoding`, `decoding`, `codegen` | functions that are generated for one entity, for items as they nearly always are |
| `key_codec` | `KeyCodec`: primary keys and index keys |
| `large` | large values: in the item, in parts or in object storage |
| `partial` | some fields of an item, and items of an index that lacks attributes |
| `unreadable` | the error for an item that doesn't fit its entity |
| `guards` | the items that keep unique values |
| `envelopes` | an item's fields as one JSON text |
| `value_paths` | `ValuePath`: the type of a value inside a field, and how it is stored |
| `sizes` | sizes of items and keys by DynamoDB's rules |
| `addresses` | `Address`: the table and key of an item, to be compared |
"""
