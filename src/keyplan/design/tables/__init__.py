"""Tables and their indexes, in DynamoDB's terms.

| module | what it is |
| --- | --- |
| `attributes` | attributes of keys, with their types, and which attributes an index has |
| `vector_indexes` | the vector indexes of a table |
| `tables` | `Table`, its keys and its indexes |
"""
