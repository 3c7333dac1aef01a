"""What differs between two designs, or between a design and what is deployed, and how to get from one to the other.

`snapshot_of(design)` describes a design by values that can be written as JSON and read again (`as_json`, `from_json`);
`deployed(client, names)` describes tables that exist. `compare(before, after)` gives the `Differences`: each `Change`
with its effect, the `Step`s that DynamoDB takes in this order, and what has to be migrated. `report` writes them as
text, Markdown or JSON.

| module | what is in it |
| --- | --- |
| `snapshots` | `Snapshot` and its parts, and their JSON |
| `fields` | types, limits and defaults of fields as text |
| `requests` | what an access pattern asks for, as text |
| `deployed` | tables that exist, through a client of boto3's shape |
| `changes` | `Change`, `Step` and `Differences` |
| `tables` | what differs between tables, and which of it can be changed in place |
| `steps` | the requests that change a table in place, in order |
| `entities` | what differs between entities and between patterns |
| `comparing` | `compare`, which puts these together |
| `report` | the differences as text, Markdown and JSON |
"""

from keyplan.publish.differences.changes import Change, Differences, Effect, Migration, Step
from keyplan.publish.differences.comparing import compare, replaced
from keyplan.publish.differences.deployed import deployed
from keyplan.publish.differences.report import REPORTS, ReportFormat, report
from keyplan.publish.differences.snapshots import Snapshot, SnapshotError, as_json, from_json, snapshot_of

__all__ = [
    "REPORTS",
    "Change",
    "Differences",
    "Effect",
    "Migration",
    "ReportFormat",
    "Snapshot",
    "SnapshotError",
    "Step",
    "as_json",
    "compare",
    "deployed",
    "from_json",
    "replaced",
    "report",
    "snapshot_of",
]
