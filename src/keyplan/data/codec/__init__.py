"""Entities to items and back.

Knows the design's specs of entities, keys and templates, and nothing of requests. Main types: `AttributeValue` and
`Item` (a value and an item in DynamoDB's form), `EntityCodec` (encodes and decodes the items of one entity; `codec_of`
gives it), `ValueCodec` (the same for one type of values), `Address` (the table and key of an item).
"""
