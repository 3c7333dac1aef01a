"""What is refused when a design is imported. The checks are in `keyplan.design`; here are their pages.

| module | its rules are about |
| --- | --- |
| `tables` | tables and indexes |
| `entities` | entities and their fields |
| `keys` | keys and their templates |
| `effects` | what changes together: guards, derived items, counters and parents |
| `large` | large values and vectors |
| `reads` | what keys can answer, and what DynamoDB accepts |
| `designs` | designs, access patterns, and what is expected and accepted |
| `around` | stream handlers, and the bodies and answers of an API |
| `other` | errors that aren't Keyplan's own |
"""
