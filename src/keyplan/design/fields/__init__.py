"""Fields: declared once, with all that bodies, answers, forms and entities need to know about them.

| module | what it is |
| --- | --- |
| `declarations` | `Fields`; stamps, versions, counts and secrets; labels; who may set and see a field |
| `common_types` | types that many designs use: links and user ids |
"""
