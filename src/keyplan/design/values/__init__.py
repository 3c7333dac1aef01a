"""Types of values: what is in an annotation, what can be stored, and within which limits. Knows no entities.

| module | what it is |
| --- | --- |
| `annotations` | a field's annotation: its type without None, its markers, and the type it has in a key |
| `aliases` | types under another name |
| `storable` | which types can be stored |
| `limits` | `Limit`: what a value must be besides its type |
| `relaxed` | types without their limits, with which entities are made and read |
| `text` | `OneLine`: names, titles and tags |
| `emails` | how e-mail addresses are compared, and which ones are refused |
| `ids` | new ids: UUIDs and ULIDs |
| `absence` | what a missing attribute means |
"""
