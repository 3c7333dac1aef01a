"""Jobs: work larger than one transaction, recorded in the housekeeping table until it is finished.

Knows reads and writes. A journal item is written with the first transaction and removed with the last, so that
`resume` can finish what was interrupted. Main types: `Jobs`, `Cascades` (deletes an item and all that belongs to it),
`Rewrites` (changes all items of a query), `ExpiredCleanups` (cleans up after items that time to live deleted).
"""
