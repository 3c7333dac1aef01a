"""Reads: single items, lookups, batches, lists with their cursors, and counts. Knows the codec and expressions.

| module | what it is |
| --- | --- |
| `reader` | `Reader`: the steps of every read operation |
| `recording` | which patterns are run, if tests ask for it |
| `fetching` | items by their keys: what is read of them, and what is returned |
| `lists` | `ListReader`: queries, scans and merges, page by page |
| `list_requests` | the requests of lists |
| `aggregates` | the items of a partition as one object |
| `segments` | a scan in several parts that are read at the same time |
| `nearest` | searches for the nearest vectors |
| `counting` | the number of items of a list |
| `taking` | what a list returns of the items that were read |
| `sealing` | `Sealer`: positions in the lists of a design as cursors |
| `key_conditions` | the condition on keys that a query sends |
| `partitions` | queries over date buckets and shards, as one list |
| `batch_get` | many items by their keys |
| `large` | the parts and objects of large values |
| `cursors` | `Cursors`: seals and opens positions in lists |
"""
