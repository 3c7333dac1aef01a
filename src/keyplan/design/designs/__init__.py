"""Designs as a whole: entities together with the access patterns that they answer.

| module | what it is |
| --- | --- |
| `patterns` | `Design`, `Pattern`, departures and jobs |
| `checks` | checks of all entities together, and of what they refer to |
| `transaction_size` | the largest number of items that one write can affect |
"""
