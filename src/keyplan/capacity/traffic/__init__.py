"""Traffic files: how often the patterns and writes of a design run, on how many items.

A traffic file is YAML. Its sections are declared in one place, `sections.SECTIONS`: each with how it is read, its part
of the JSON schema, and its part of the starter. Everything that a file names (patterns, entities, tables) is compared
with the design, and an error says the line and the nearest name.

| module | what it is |
| --- | --- |
| `errors` | `TrafficError`, with file and line |
| `nodes` | the parts of a YAML file, which know their lines |
| `model` | `Traffic` and its parts: what a file says, as values |
| `shape` | the shape of the load: hours, popularity, jobs |
| `sections` | the sections: how each is read, and its schema |
| `reading` | a file as `Traffic`, and the JSON schema of all files |
| `starter` | a traffic file to begin with, and a `Traffic` as a file |
"""

from keyplan.capacity.quantities import QuantityError, parse_count
from keyplan.capacity.traffic.errors import TrafficError
from keyplan.capacity.traffic.model import ItemTraffic, PatternTraffic, TableUse, Traffic, WriteKind, WriteTraffic
from keyplan.capacity.traffic.reading import read_traffic, traffic_of, traffic_schema
from keyplan.capacity.traffic.shape import Job, Popularity
from keyplan.capacity.traffic.starter import starter, traffic_text

__all__ = [
    "ItemTraffic",
    "Job",
    "PatternTraffic",
    "Popularity",
    "QuantityError",
    "TableUse",
    "Traffic",
    "TrafficError",
    "WriteKind",
    "WriteTraffic",
    "parse_count",
    "read_traffic",
    "starter",
    "traffic_of",
    "traffic_schema",
    "traffic_text",
]
