"""Reads: single items, lookups, batches, lists with their cursors, and counts. Knows the codec and expressions.

| module | what it is |
| --- | --- |
| `reader` | `Reader`: the steps of every read operation |
| `lists` | `ListReader`: queries, scans and merges, page by page, and counts |
| `key_conditions` | the condition on keys that a query sends |
| `partitions` | queries over date buckets and shards, as one list |
| `batch_get` | many items by their keys |
| `large` | the parts and objects of large values |
| `cursors` | `Cursors`: seals and opens positions in lists |
"""
