"""Reads: single items, lookups, batches, lists with their cursors, and counts.

Knows the codec and expressions. Main types: `Reader` (the steps of every read operation of a design), `ListReader`
(queries, scans and merges, page by page), `Cursors` (seals and opens the positions of lists), `KeyCondition`.
"""
