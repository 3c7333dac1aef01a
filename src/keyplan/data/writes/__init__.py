"""Writes: what they do to their item and to others, as one plan that is sent as one request. Knows reads.

| step of a write | module |
| --- | --- |
| what the caller asks for: `Create`, `Update`, `Delete`, `Move`, `Check`, `Patch`, `Put` | `operations` |
| what changed in the item since it was read | `baseline` |
| when it was created and last changed, and its version | `stamps` |
| the item must not have changed in between | `locking` |
| what follows from it: guards, mirrors, derived items, counters, parents | `effects` |
| how the effects change | `effect_changes` |
| parents must exist, children may refuse | `family` |
| what happens to each item: `Action`; all of them: `Plan` | `actions`, `plan` |
| the request, and what a refusal means | `requests`, `transactions` |

A write of an item that was not read is in `patches` and `puts`; many items without conditions in `batches` and
`imports`.
"""
