"""Upkeep: creating the tables of a design, verifying and repairing what they hold. Knows the effects of writes.

| module | what it is |
| --- | --- |
| `provisioning` | the requests that create tables |
| `verify` | compares all stored items with the design |
| `findings` | `VerifyFinding`: what is wrong with an item, and how to repair it |
| `repair` | the requests that repair findings |
| `objects` | deletes objects of large values that no item names |
"""
