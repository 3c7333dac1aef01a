"""What runs into limits of partitions and items, or costs more than it has to.

| module | its rules are about |
| --- | --- |
| `partitions` | keys that put too much into one partition |
| `sizes` | what grows without a limit |
| `reads` | reads that cost more than they have to |
| `writes` | what a write costs, and items that all writes have in common |
| `indexes` | indexes that cost more than they give |
"""
