"""Writes: what they do to their item and to others, as one plan that is sent as one request.

Knows the codec, expressions and reads. A write goes through these modules:

| step | module |
| --- | --- |
| what the caller asks for | `operations` (`Create`, `Update`, `Delete`, `Move`, `Check`, `Patch`, `Put`) |
| what changed in the item since it was read | `baseline` |
| created, updated and version | `stamps` |
| the item must not have changed in between | `locking` |
| other items that follow from it: guards, mirrors, derived items, counters, parents | `effects` |
| the difference in effects before and after | `effect_changes` |
| parents must exist, children may refuse | `relations`, `children` |
| one action for each item | `actions`, `plan` |
| the request, and what a refusal means | `requests`, `transactions` |
| an item that was not read | `patches`, `puts` |
| many items at once, without conditions | `batches`, `imports` |

Main types: `Plan` (the actions of one write), `Action` (what happens to one item), `Effects` (what follows from one
item), `Baseline` (an item as it was read).
"""
