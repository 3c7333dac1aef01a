"""What hurts when the tables are run.

| module | its rules are about |
| --- | --- |
| `tables` | what protects tables, what shares them, and whether their capacity is enough |
| `streams` | streams and what reads them |
| `regions` | what doesn't hold between the regions of a global table |
| `tenants` | keys and the customers whose data is in the tables |
"""
