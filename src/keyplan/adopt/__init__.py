"""A table that exists, as a design: `keyplan adopt`.

Reads what a table says about itself and a sample of its items, from a client of boto3's shape or from files, never
writes to it, and works out what a design of it would be. Knows `design` and `data` only; the command makes the clients.

| module | what it is |
| --- | --- |
| `errors` | `AdoptError`: what can't be adopted, where, and what to do |
| `model` | what was found: `Found`, with tables, entities, fields, keys, guards and doubts |
| `tables` | descriptions of DynamoDB as tables of a design |
| `names` | names in Python for what has a name in DynamoDB |
| `envelopes` | items as records, whose fields may be JSON text in one attribute |
| `shapes` | which items are of one kind: by types and by the forms of keys |
| `formats` | in which formats values are in keys |
| `matching` | templates of keys, from texts and values |
| `drafts` | `Draft`: an entity while its keys are worked out |
| `types` | types of fields, from values |
| `homes` | where values are stored, and the fields for them |
| `entities` | the entity of items of one kind |
| `guards` | items that keep values unique |
| `finding` | `find`: from `SampledTable`s to `Found` |
| `patterns` | the access patterns that keys can answer |
| `layout`, `writing` | `design_source`: what was found as a Python module |
| `checking` | `check_items`: whether all items come back through the design as they are |
| `rules` | rules that the code may keep, which items don't say |
| `report` | `adoption_report`: what was found, and what isn't sure |
| `files`, `sources` | tables and items in files: `tables_in` |
| `sampling` | `Source`: a sample of the items of a table that is in use |
"""

from keyplan.adopt.checking import RoundTrip, check_items, loaded
from keyplan.adopt.errors import AdoptError
from keyplan.adopt.finding import SampledTable, find
from keyplan.adopt.model import Doubt, Found, FoundEntity, FoundField, FoundGuard, FoundKey, FoundTable
from keyplan.adopt.report import adoption_report
from keyplan.adopt.sampling import Source
from keyplan.adopt.sources import tables_in
from keyplan.adopt.tables import table_of
from keyplan.adopt.writing import design_source

__all__ = [
    "AdoptError",
    "Doubt",
    "Found",
    "FoundEntity",
    "FoundField",
    "FoundGuard",
    "FoundKey",
    "FoundTable",
    "RoundTrip",
    "SampledTable",
    "Source",
    "adoption_report",
    "check_items",
    "design_source",
    "find",
    "loaded",
    "table_of",
    "tables_in",
]
