"""Entities: their keys, their limits, and what must change together with their items.

| module | what it is |
| --- | --- |
| `entity` | `Entity`, from which all entities inherit |
| `entity_spec` | `EntitySpec`: everything that is declared about an entity, computed once |
| `specs` | `FieldSpec` and `KeySpec`: what is declared about a field and about a key |
| `checks` | checks of an entity's fields, and of the names they are stored under |
| `abstract` | entities without items of their own, for others to inherit from |
| `effects` | guards, mirrors, derived items, counters and parents |
| `refusals` | `Refusal`: what callers are told when a rule refuses a write |
| `standins` | items that the design calls methods with, to learn which other items they refer to |
| `joint_limits`, `limit_checks` | limits on several fields together, and the check of all limits on write |
| `large_values`, `large_checks` | values that may be larger than an item, and where they may be |
| `vectors` | fields that hold a vector, and where an entity's vectors are found |
"""
