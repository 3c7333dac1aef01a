"""Upkeep: creating the tables of a design, verifying and repairing what they hold.

Knows the codec, expressions and the effects of writes. Main types: `VerifyFinding` (something stored that doesn't agree
with the design), `verify` and `repair`, `create_tables`.
"""
