"""Conditions on stored items, and the expressions of requests. Knows the codec.

| module | what it is |
| --- | --- |
| `conditions` | conditions as trees over stored attributes |
| `texts` | `Expression`: trees as the texts of a request, with placeholders |
| `updates` | `UpdateTerm`: what an update expression does at a path, as text and as DynamoDB computes it |
| `expiry` | whether the time to live of an item has passed |
| `evaluation` | `holds`: whether an item meets a condition, as DynamoDB decides it |
| `requirements` | `Requirement`: conditions that a write relies on, with the error for an item that doesn't meet them |
"""
