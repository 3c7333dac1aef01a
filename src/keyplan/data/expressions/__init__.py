"""Conditions on stored items, and the expressions of requests. Knows the codec.

| module | what it is |
| --- | --- |
| `conditions` | conditions as trees over stored attributes |
| `texts` | `Expression`: trees as the texts of a request, with placeholders |
| `evaluation` | `holds`: whether an item meets a condition, as DynamoDB decides it |
| `requirements` | `Requirement`: conditions that a write relies on, with the error for an item that doesn't meet them |
"""
