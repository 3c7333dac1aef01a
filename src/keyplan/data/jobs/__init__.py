"""Jobs: work larger than one transaction. Knows reads and writes.

A journal item in the housekeeping table is written with the first transaction and removed with the last, so that
what was interrupted can be finished.

| module | what it is |
| --- | --- |
| `cascades` | `Cascades`: deletes an item and all that belongs to it |
| `rewrites` | `Rewrites`: changes all items of a query |
| `rekeying` | gives all items of an entity their present index keys |
| `expirations` | `ExpiredCleanups`: cleans up after items that time to live deleted |
| `replacements` | `Replacements`: writes over items that have expired |
| `journals` | the journal items |
| `resuming` | `Jobs`: all of these, and finishing what was interrupted |
"""
