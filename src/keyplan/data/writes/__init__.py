"""Writes: what they do to their item and to others, as one plan that is sent as one request. Knows reads.

| step of a write | module |
| --- | --- |
| what the caller asks for: `Create`, `Update`, `Delete`, `Move`, `Check`, `Put` | `operations` |
| what changed in the item since it was read | `baseline` |
| when it was created and last changed, and its version | `stamps` |
| the item must not have changed in between | `locking` |
| what follows from it: guards, mirrors, derived items, counters, parents | `effects` |
| how the effects change | `effect_changes` |
| parents must exist, children may refuse | `family` |
| large values that are written to object storage first, or that a move needs | `large` |
| what a move takes along that wasn't read | `moves` |
| what happens to each item: `Action`; all of them: `Plan` | `actions`, `plan` |
| the request, and what a refusal means | `requests`, `transactions` |

A write of an item that was not read is a `Patch`, `Upsert` or `DeleteByKey` (`key_operations`), or a `Put`:

| step of a write by key | module |
| --- | --- |
| what happens to each value: `Clause`, from `at(...)` | `clauses` |
| whether the item has to be read, and which index keys change | `patch_routes` |
| terms of the update expression, or new values of an item that was read | `clause_terms` |
| limits of values that DynamoDB computes | `computed_limits` |
| the write itself | `patches`, `upserts`, `key_deletes`, `puts` |
| what is read first, and what is tried again | `preparing` |
| what is returned: an entity, or a `Partial` | `returning`, `partial` |

Many items without conditions are in `batches` and `imports`.
"""
